"""What a run must have for a claim to be decidable, told from its configuration alone.

Snakemake evaluates the needs of all claims at every start: nothing here reads a table, and nothing
imports numpy or pandas. A path such as ``npf.regimes.rows.*.epochs`` leads to values in the
settings; ``*`` matches every key of a mapping and every entry of a list. The value ``null`` stands
for all images or all depths that there are, and meets every minimum.

A claim needs what no judge can tell from rows: the original data, the paper's sizes, the fewest
runs or draws for an interval. Of rows that are missing a judge says so itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from finitewidth.common.errors import ConfigError
from finitewidth.common.paper_files import refuse_unknown
from finitewidth.data.catalogue import ROLES, SOURCES, describe

# The 95 % interval of the mean of n runs reaches 12.7 standard errors to each side for n = 2,
# 4.3 for n = 3 and 2.8 for n = 5 (Student's t).
FEWEST_RUNS = 3


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a configuration says about the rows that one claim rests on.

    Attributes:
        settings: the whole configuration.
        sources: role (``mnist``) -> name of the source that plays it (``digits``).
        originals: the roles that the original data play, re-encoded ones included.
        paper_scale: whether nothing that the rows rest on is reduced or a stand-in.
    """

    settings: Mapping[str, Any]
    sources: Mapping[str, str]
    originals: frozenset[str]
    paper_scale: bool


def facts_of(settings: Mapping[str, Any], *, paper_scale: bool) -> Facts:
    """The facts of a configuration, for claims that do or do not rest on the paper's scale."""
    sources = {role: settings["data"][role] for role in ROLES}
    originals = frozenset(role for role, source in sources.items() if is_original(source, role))
    return Facts(settings=settings, sources=sources, originals=originals, paper_scale=paper_scale)


def is_original(source: str, role: str) -> bool:
    """Whether a source holds the images of the role's own dataset, re-encoded ones included.

    An image folder that a user names is never one, whatever its name.
    """
    title = SOURCES[source].title if source in SOURCES else ""
    return title == ROLES[role] or title.startswith(f"{ROLES[role]} (")


class Need(Protocol):
    """One thing that must have been run."""

    @property
    def wording(self) -> str:
        """What is needed, as the object of "needs"."""

    def lacking(self, facts: Facts) -> str:
        """What the run has instead, as the object of "this run has"; empty if the need is met."""


def unmet(needs: Sequence[Need], facts: Facts) -> list[str]:
    """Why a run does not meet some needs, one sentence per unmet need; empty if it does.

    Returns:
        ``needs npf.theory.mean.draws of at least 2,000; this run has 10`` and the like.

    Raises:
        KeyError: the path of a need leads nowhere in the settings.
    """
    answers = ((need.wording, need.lacking(facts)) for need in needs)
    return [f"needs {wording}; this run has {instead}" for wording, instead in answers if instead]


@dataclass(frozen=True)
class AtLeast:
    """Every number that ``path`` leads to is at least ``minimum``."""

    path: str
    minimum: float

    @property
    def wording(self) -> str:
        """``npf.theory.mean.draws of at least 2,000``."""
        return f"{self.path} of at least {_number(self.minimum)}"

    def lacking(self, facts: Facts) -> str:
        """The smallest number found, if it is too small."""
        lowest = min(_numbers_at(facts.settings, self.path), default=math.inf)
        return _number(lowest) if lowest < self.minimum else ""


@dataclass(frozen=True)
class Equals:
    """Every value that ``path`` leads to is ``value``."""

    path: str
    value: Any

    @property
    def wording(self) -> str:
        """``dgn.mnist.network.widths of [512, 512, 256, 256, 128, 64]``."""
        return f"{self.path} of {self.value}"

    def lacking(self, facts: Facts) -> str:
        """The first other value."""
        others = (v for v in _values_at(facts.settings, self.path) if v != self.value)
        return str(next(others, ""))


@dataclass(frozen=True)
class Values:
    """Each list that ``path`` leads to has at least ``count`` values.

    A list of learning rates is given by the settings ``values`` or, where these are null, by
    ``indices`` on a grid.
    """

    path: str
    count: int

    @property
    def wording(self) -> str:
        """``trust.heat_biases.sigma_b2 with at least 3 values``."""
        return f"{self.path} with at least {self.count} values"

    def lacking(self, facts: Facts) -> str:
        """The number of values of the shortest list, if too small."""
        fewest = min(len(_listed(values)) for values in _values_at(facts.settings, self.path))
        return str(fewest) if fewest < self.count else ""


@dataclass(frozen=True)
class Original:
    """The original dataset plays its own part, or the same images re-encoded do."""

    role: str

    @property
    def wording(self) -> str:
        """``the original MNIST``."""
        return f"the original {ROLES[self.role]}"

    def lacking(self, facts: Facts) -> str:
        """The dataset in its place, if it is another."""
        if self.role in facts.originals:
            return ""
        trees = facts.settings["data"]["imagefolder"]
        return describe(facts.sources[self.role], self.role, trees)


@dataclass(frozen=True)
class PaperScale:
    """Nothing that the rows rest on is reduced or a stand-in."""

    @property
    def wording(self) -> str:
        """What is needed."""
        return "the paper's own data and sizes"

    def lacking(self, facts: Facts) -> str:
        """What the run has instead."""
        return "" if facts.paper_scale else "other data or other sizes"


def needs_of(where: str, values: Mapping[str, Any]) -> tuple[Need, ...]:
    """The needs that a text file lists, in its order.

    Args:
        where: file and key, for messages.
        values: ``at_least: {path: minimum}``, ``equals: {path: value}``, ``values: {path: count}``,
            ``original: [role]`` and ``paper_scale: true``.

    Raises:
        ConfigError: a key or a role is unknown.
    """
    kinds = {"at_least": AtLeast, "equals": Equals, "values": Values}
    refuse_unknown(where, values, (*kinds, "original", "paper_scale"))
    parsed: list[Need] = []
    for key, value in values.items():
        if key == "original":
            if unknown := set(value) - set(ROLES):
                raise ConfigError(f"{where}: original: {sorted(unknown)}; write {', '.join(ROLES)}")
            parsed += map(Original, value)
        elif key == "paper_scale":
            parsed.append(PaperScale())
        else:
            parsed += (kinds[key](path, limit) for path, limit in value.items())
    return tuple(parsed)


def _numbers_at(settings: Mapping[str, Any], path: str) -> list[float]:
    """The numbers at a path, lists taken apart, ``null`` left out."""
    entries = []
    for value in _values_at(settings, path):
        entries += value if isinstance(value, list) else [value]
    return [value for value in entries if value is not None]


def _values_at(settings: Mapping[str, Any], path: str) -> list[Any]:
    """All values that a path with ``*`` leads to.

    Raises:
        KeyError: the path leads nowhere.
    """
    sections: list[Any] = [settings]
    for key in path.split("."):
        sections = [child for section in sections for child in _children(section, key, path)]
    return sections


def _children(section: Any, key: str, path: str) -> list[Any]:
    if section is None:
        return []
    if key == "*":
        return list(section.values() if isinstance(section, Mapping) else section)
    if not isinstance(section, Mapping) or key not in section:
        raise KeyError(f"{path}: the settings have no {key} there")
    return [section[key]]


def _listed(value: Any) -> list[Any]:
    """The values of a list, or of the learning rates of a section."""
    if isinstance(value, Mapping):
        return value["indices" if value["values"] is None else "values"]
    return value


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
