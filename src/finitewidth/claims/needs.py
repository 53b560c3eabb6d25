"""What a run must have for a claim to be decidable, told from its configuration alone.

Snakemake evaluates the needs of all claims at every start: nothing here reads a table, and nothing
imports numpy or pandas. A path such as ``npf.regimes.rows.*.epochs`` leads to values in the
settings; ``*`` matches every key of a mapping and every entry of a list. The value ``null`` stands
for all images or all depths that there are, and meets every minimum.

A claim needs what no judge can tell from rows: the original data, the paper's sizes, the fewest
runs or draws for an interval. Of rows that are missing a judge says so itself.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.data.catalogue import ROLES, SOURCES, describe
from finitewidth.declarations.paper_files import refuse_unknown

# The 95 % interval of the mean of n runs reaches 12.7 standard errors to each side for n = 2,
# 4.3 for n = 3 and 2.8 for n = 5 (Student's t).
FEWEST_RUNS = 3


def is_original(source: str, role: str) -> bool:
    """Whether a source holds the images of the role's own dataset, re-encoded ones included.

    An image folder that a user names is never one, whatever its name.
    """
    title = SOURCES[source].title if source in SOURCES else ""
    return title == ROLES[role] or title.startswith(f"{ROLES[role]} (")


@dataclass(frozen=True)
class Need:
    """One thing that must have been run, as the object of "needs".

    From the settings, and from whether the rows of the claim are at the paper's scale, ``lacking``
    tells what the run has instead, as the object of "this run has"; empty if the need is met.
    """

    wording: str
    lacking: Callable[[Mapping[str, Any], bool], str]


def unmet(needs: Sequence[Need], settings: Mapping[str, Any], *, paper_scale: bool) -> list[str]:
    """Why a run does not meet some needs, one sentence per unmet need; empty if it does.

    For example, ``needs npf.theory.mean.draws of at least 2,000; this run has 10``. At
    ``paper_scale`` nothing that the rows of the claim rest on is reduced or a stand-in.
    """
    sentences = []
    for need in needs:
        instead = need.lacking(settings, paper_scale)
        if instead:
            sentences.append(f"needs {need.wording}; this run has {instead}")
    return sentences


def at_least(path: str, minimum: float) -> Need:
    """Every number that ``path`` leads to is at least ``minimum``."""

    def lacking(settings: Mapping[str, Any], paper_scale: bool) -> str:
        numbers: list[Any] = []
        for value in _values_at(settings, path):
            numbers += value if isinstance(value, list) else [value]
        lowest = min((number for number in numbers if number is not None), default=math.inf)
        return _number(lowest) if lowest < minimum else ""

    return Need(f"{path} of at least {_number(minimum)}", lacking)


def equals(path: str, value: Any) -> Need:
    """Every value that ``path`` leads to is ``value``."""

    def lacking(settings: Mapping[str, Any], paper_scale: bool) -> str:
        return str(next((v for v in _values_at(settings, path) if v != value), ""))

    return Need(f"{path} of {value}", lacking)


def values(path: str, count: int) -> Need:
    """Each list that ``path`` leads to has at least ``count`` values.

    A list of learning rates is given by the settings ``values`` or, where these are null, by
    ``indices`` on a grid.
    """

    def lacking(settings: Mapping[str, Any], paper_scale: bool) -> str:
        lengths = []
        for entries in _values_at(settings, path):
            if isinstance(entries, Mapping):
                grid = entries["values"] is None
                entries = entries["indices"] if grid else entries["values"]
            lengths.append(len(entries))
        fewest = min(lengths)
        return str(fewest) if fewest < count else ""

    return Need(f"{path} with at least {count} values", lacking)


def original(role: str) -> Need:
    """The original dataset plays its own part, or the same images re-encoded do."""

    def lacking(settings: Mapping[str, Any], paper_scale: bool) -> str:
        data = settings["data"]
        if is_original(data[role], role):
            return ""
        return describe(data[role], role, data["imagefolder"])

    return Need(f"the original {ROLES[role]}", lacking)


PAPER_SCALE = Need(
    "the paper's own data and sizes",
    lambda settings, paper_scale: "" if paper_scale else "other data or other sizes",
)


def needs_of(where: str, listed: Mapping[str, Any]) -> tuple[Need, ...]:
    """The needs that a text file lists at ``where``, in its order.

    They are ``at_least: {path: minimum}``, ``equals: {path: value}``, ``values: {path: count}``,
    ``original: [role]`` and ``paper_scale: true``.
    """
    kinds = {"at_least": at_least, "equals": equals, "values": values}
    refuse_unknown(where, listed, (*kinds, "original", "paper_scale"))
    parsed: list[Need] = []
    for key, value in listed.items():
        if key == "original":
            if unknown := set(value) - set(ROLES):
                raise ConfigError(f"{where}: original: {sorted(unknown)}; write {', '.join(ROLES)}")
            parsed += map(original, value)
        elif key == "paper_scale":
            parsed.append(PAPER_SCALE)
        else:
            parsed += (kinds[key](path, limit) for path, limit in value.items())
    return tuple(parsed)


def _values_at(settings: Mapping[str, Any], path: str) -> list[Any]:
    """All values that a path with ``*`` leads to."""
    sections: list[Any] = [settings]
    for key in path.split("."):
        children: list[Any] = []
        for section in sections:
            if section is None:
                continue
            if key == "*":
                children += section.values() if isinstance(section, Mapping) else section
            elif isinstance(section, Mapping) and key in section:
                children.append(section[key])
            else:
                raise KeyError(f"{path}: the settings have no {key} there")
        sections = children
    return sections


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
