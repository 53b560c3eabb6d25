"""A page of the report: its sections, whose HTML the templates make."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Section:
    """HTML below a heading; without a title it continues the section before it."""

    html: str
    title: str = ""
    anchor: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: the name of its file, its title, and its label in the navigation."""

    name: str
    title: str
    label: str
    sections: tuple[Section, ...]
