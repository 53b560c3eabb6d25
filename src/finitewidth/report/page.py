"""A page of the report: its sections, whose HTML the templates make."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Section:
    """HTML below a heading; without a title it continues the section before it."""

    html: str
    title: str = ""
    anchor: str = ""
    level: int = 2


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: the name of its file, its title, and its label in the navigation.

    A page without a label is not in the navigation.
    """

    name: str
    title: str
    label: str
    sections: tuple[Section, ...]
