"""What a run must have for a claim to be decidable, told from its configuration alone.

Snakemake evaluates the needs of all claims at every start: nothing here reads a table, and nothing
imports numpy or pandas. A path such as ``npf.regimes.rows.*.epochs`` leads to values in the
settings; ``*`` matches every key of a mapping and every entry of a list. The value ``null`` stands
for all images or all depths that there are, and meets every minimum.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
    found = ((need.wording, need.lacking(facts)) for need in needs)
    return [f"needs {wording}; this run has {instead}" for wording, instead in found if instead]


@dataclass(frozen=True)
class AtLeast:
    """Every number that ``path`` leads to is at least ``minimum``.

    Where the last key of ``path`` is missing (a row of a table without a number of its own), the
    value at ``default`` counts.
    """

    path: str
    minimum: float
    default: str | None = None

    @property
    def wording(self) -> str:
        """``npf.theory.mean.draws of at least 2,000``."""
        return f"{self.path} of at least {_number(self.minimum)}"

    def lacking(self, facts: Facts) -> str:
        """The smallest number found, if it is too small."""
        numbers = _numbers_at(facts.settings, self.path, self.default)
        lowest = min(numbers, default=math.inf)
        return _number(lowest) if lowest < self.minimum else ""


@dataclass(frozen=True)
class AtMost:
    """Every number that ``path`` leads to is at most ``maximum``."""

    path: str
    maximum: float

    @property
    def wording(self) -> str:
        """``trust.heat_widths.sigma_w2.*.first of at most 1.5``."""
        return f"{self.path} of at most {_number(self.maximum)}"

    def lacking(self, facts: Facts) -> str:
        """The largest number found, if it is too large."""
        highest = max(_numbers_at(facts.settings, self.path), default=-math.inf)
        return _number(highest) if highest > self.maximum else ""


@dataclass(frozen=True)
class Covers:
    """The numbers that ``path`` leads to, or those in its lists, include all of ``values``."""

    path: str
    values: tuple[float, ...]

    @property
    def wording(self) -> str:
        """``npf.theory.mean.depths to include 3, 5 and 8``."""
        return f"{self.path} to include {_listed(self.values)}"

    def lacking(self, facts: Facts) -> str:
        """All numbers found, if one of the values is not among them."""
        found = _numbers_at(facts.settings, self.path)
        covered = all(any(math.isclose(a, b) for b in found) for a in self.values)
        return "" if covered else _listed(found)


@dataclass(frozen=True)
class Entries:
    """The list at ``path`` has at least ``count`` entries, from ``low`` to ``high``.

    With ``strict`` these two do not count themselves. A ``*`` in the path puts all lists together.
    """

    path: str
    count: int
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    @property
    def wording(self) -> str:
        """``beyond.diagonal.phases.sigma_w2 with at least 2 values above 2``."""
        words = []
        if self.low > -math.inf:
            words.append(f"{'above' if self.strict else 'of at least'} {_number(self.low)}")
        if self.high < math.inf:
            words.append(f"{'below' if self.strict else 'of at most'} {_number(self.high)}")
        values = "one value" if self.count == 1 else f"at least {self.count} values"
        return " ".join(filter(None, [self.path, "with", values, " and ".join(words)]))

    def lacking(self, facts: Facts) -> str:
        """The entries found, if too few of them count."""
        found = [entry for value in _values_at(facts.settings, self.path) for entry in value]
        if sum(map(self._counts, found)) >= self.count:
            return ""
        return _listed(found)

    def _counts(self, entry: Any) -> bool:
        if self.low == -math.inf and self.high == math.inf:
            return True
        if self.strict:
            return self.low < entry < self.high
        return self.low <= entry <= self.high


@dataclass(frozen=True)
class Rates:
    """Each list of initial rates that ``path`` leads to has at least ``count`` of them.

    A list is given by the settings ``values`` or, where these are null, by ``indices`` on a grid.
    """

    path: str
    count: int

    @property
    def wording(self) -> str:
        """``8 or more initial rates in each of collapse.pairs.*.rates``."""
        return f"{self.count} or more initial rates in each of {self.path}"

    def lacking(self, facts: Facts) -> str:
        """The number of rates of the shortest list, if too small."""
        lists = _values_at(facts.settings, self.path)
        found = [rates["indices" if rates["values"] is None else "values"] for rates in lists]
        fewest = min(map(len, found))
        return str(fewest) if fewest < self.count else ""


@dataclass(frozen=True)
class KeptEpochs:
    """A training keeps its weights at ``count`` or more epochs, the start among them.

    ``section`` has the settings ``epochs`` and ``every``.
    """

    section: str
    count: int

    @property
    def wording(self) -> str:
        """``11 or more kept epochs in npf.nu (epochs over every, and the start)``."""
        return f"{self.count} or more kept epochs in {self.section} (epochs / every, and the start)"

    def lacking(self, facts: Facts) -> str:
        """How many are kept, if too few."""
        epochs, every = (
            _numbers_at(facts.settings, f"{self.section}.{key}")[0] for key in ("epochs", "every")
        )
        kept = int(epochs // every) + 1
        return str(kept) if kept < self.count else ""


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


def _numbers_at(settings: Mapping[str, Any], path: str, default: str | None = None) -> list[float]:
    """The numbers at a path, lists taken apart, ``null`` left out."""
    found = []
    for value in _values_at(settings, path, default):
        found += value if isinstance(value, list) else [value]
    return [value for value in found if value is not None]


def _values_at(settings: Mapping[str, Any], path: str, default: str | None = None) -> list[Any]:
    """All values that a path with ``*`` leads to.

    Raises:
        KeyError: the path leads nowhere.
    """
    *parents, last = path.split(".")
    places: list[Any] = [settings]
    for key in parents:
        places = [child for place in places for child in _children(place, key, path)]
    found: list[Any] = []
    for place in places:
        if default is not None and last not in place:
            found += _values_at(settings, default)
        else:
            found += _children(place, last, path)
    return found


def _children(place: Any, key: str, path: str) -> list[Any]:
    if key == "*":
        return list(place.values() if isinstance(place, Mapping) else place)
    if not isinstance(place, Mapping) or key not in place:
        raise KeyError(f"{path}: the settings have no {key} there")
    return [place[key]]


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _listed(values: Sequence[Any]) -> str:
    """``3, 5 and 8``; ``none`` of no value."""
    words = [str(value) if isinstance(value, list) else _number(value) for value in values]
    if not words:
        return "none"
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
