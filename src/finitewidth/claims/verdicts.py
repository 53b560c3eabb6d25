"""From estimates and thresholds to verdicts: the statistics that all claims share.

A claim compares one or several estimates with thresholds that the code fixes before a run. A
comparison holds if the estimate lies on the claimed side at a one-sided level of 2.5 %. It fails if
the estimate lies on the other side at 2.5 % after Holm's correction for the number of comparisons
(Holm 1979, Scand. J. Statist. 6). Otherwise it is undecided. A claim judged by a single comparison
with one threshold is thus decided by its 95 % interval.

Only *binding* comparisons can contradict a claim. docs/verdicts.md says which ones these are, and
how `decide` combines comparisons to a verdict.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

LEVEL = 0.025  # one-sided

SUPPORTED, CAVEAT = "supported", "supported with a caveat"
IN_PART, CONTRADICTED = "contradicted in part", "contradicted"
INCONCLUSIVE = "inconclusive"
SEEN, NOT_SEEN = "seen on the stand-in", "not seen on the stand-in"
NO_THRESHOLD = "no threshold in the paper"  # and a comparison with one of ours fails
NEEDS_MORE, NOT_RUN = "needs a larger run", "not run"
OPEN = (NO_THRESHOLD, NEEDS_MORE, NOT_RUN)  # without a decision
VERDICTS = (
    SUPPORTED,
    CAVEAT,
    SEEN,
    CONTRADICTED,
    IN_PART,
    NOT_SEEN,
    INCONCLUSIVE,
    NO_THRESHOLD,
    NEEDS_MORE,
    NOT_RUN,
)

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
OUTCOMES = (HOLDS, FAILS, UNDECIDED)
VERBS = {FAILS: ("fails", "fail"), UNDECIDED: ("is undecided", "are undecided")}

# whose threshold it is
PAPER, PAPER_WITH_TOLERANCE, OURS = "the paper", "the paper, with a tolerance of ours", "ours"
PAPER_IN_OUR_RANGE = "the paper, in a range of ours"
PAPER_CERTAIN = "the paper, but sure to hold"

THEOREM, BOUND = "theorem", "bound"
OBSERVATION, HEDGED = "observation", "hedged observation"
KINDS = (THEOREM, BOUND, OBSERVATION, HEDGED)


class CannotDecideError(Exception):
    """The rows lack something that a claim is about; the message says what, ``no depth of 20``."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One comparison: is ``value`` on the claimed side?

    A comparison lies ``outside`` where its sizes are not those that the paper speaks about, and is
    ``cut`` where the paper limits its range by a word without a number, so that the range is ours;
    either says why. It is ``certain`` where it holds, or nearly always, whatever is measured, as an
    inequality of every kernel does; it says why, and is no evidence. A ``chance`` is the
    probability that the estimate falls so far to its side by chance. It replaces the p-value from
    a standard error, for a sample whose runs are all alike and thus have no spread, for a
    permutation test and for a median.
    """

    name: str  # in words for the report
    value: float
    low: float = -math.inf  # the claim says low <= value <= high; one of them may be infinite
    high: float = math.inf
    standard_error: float = 0.0  # 0: computed exactly; nan: unknown, and nothing is decided
    dof: float = math.inf  # of the standard error; infinite for a normal estimate
    strict: bool = False  # whether the thresholds are excluded; of exact values only it matters
    chance: float | None = None
    # what the estimated number can be at all, such as -1 to 1 for a correlation
    bounds: tuple[float, float] = (-math.inf, math.inf)
    limits: tuple[float, float] | None = None  # of the 95 % interval, if no standard error gives it
    paper: bool = False  # the threshold is the paper's: an order, a sign, a printed value
    tolerance: str = ""  # why the paper's value is widened; it makes a contradiction less likely
    ours: str = ""  # the reason for a threshold of ours
    late: bool = False  # whether ours was set or changed after first results had been seen
    outside: str = ""
    cut: str = ""
    artifacts: tuple[str, ...] = ()  # that show what is compared; empty if all of its claim do
    certain: str = ""

    def __post_init__(self) -> None:
        if self.paper and (self.ours or self.late):
            raise ValueError(f"{self.name}: the threshold is either the paper's or ours")
        if (self.tolerance or self.cut or self.certain) and not self.paper:
            raise ValueError(
                f"{self.name}: tolerance, cut and certain belong to a threshold of the paper"
            )
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError(f"{self.name}: a comparison needs a threshold")
        if not self.low <= self.high:
            raise ValueError(f"{self.name}: nothing lies between {self.low} and {self.high}")

    @property
    def binding(self) -> bool:
        """Whether the comparison can contradict its claim."""
        return self.paper and not (self.outside or self.cut or self.certain)

    @property
    def reason(self) -> str:
        """Why the threshold, its tolerance or its range is ours, or why it cannot fail."""
        return self.ours or "; ".join(filter(None, (self.tolerance, self.cut, self.certain)))

    @property
    def origin(self) -> str:
        """Whose threshold it is: ours, or the paper's, with a range or a tolerance of ours."""
        if not self.paper:
            return OURS
        if self.certain:
            return PAPER_CERTAIN
        if self.cut:
            return PAPER_IN_OUR_RANGE
        return PAPER_WITH_TOLERANCE if self.tolerance else PAPER

    @property
    def undefined(self) -> bool:
        """Whether the estimate, or its error, is not a number."""
        return any(map(math.isnan, (self.value, self.standard_error, self.dof)))

    @property
    def exact(self) -> bool:
        """Whether the value is computed, not estimated."""
        return self.standard_error == 0 and self.chance is None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the estimate, cut at the bounds of what it can be.

        The truth lies within the bounds, so that the interval misses it no more often when it is
        cut. Its width is 0 if all runs are alike.
        """
        if self.limits:
            return self.limits
        half = self.standard_error and quantile(self.dof) * self.standard_error
        low = self.value - half
        high = self.value + half
        if math.isnan(half):
            return low, high
        return max(low, self.bounds[0]), min(high, self.bounds[1])

    @property
    def p_outside(self) -> float:
        """One-sided p-value of "the truth lies outside": small if the claim is supported.

        It is the larger of those of both ends, as in a test of equivalence.
        """
        if self.exact:
            return float(not self.inside)
        return max(self._tail(self.value - self.low), self._tail(self.high - self.value))

    @property
    def p_inside(self) -> float:
        """P-value of "the truth lies inside": small if the claim is contradicted.

        It is one-sided if there is one threshold. Between two thresholds the estimate can leave at
        either end, and both tails count. They are largest for a truth at the end where it left: for
        a value above ``high``, the tails beyond ``value - high`` and ``value - low``.
        """
        if self.exact:
            return float(self.inside or self.undefined)
        above = self._tail(self.value - self.high) + self._tail(self.value - self.low)
        below = self._tail(self.low - self.value) + self._tail(self.high - self.value)
        return min(above, below, 1.0)

    @property
    def inside(self) -> bool:
        """Whether the estimate itself lies where the claim says."""
        if self.strict:
            return self.low < self.value < self.high
        return self.low <= self.value <= self.high

    def _tail(self, distance: float) -> float:
        """P-value of the truth being beyond a threshold that is ``distance`` away."""
        if self.undefined or math.isnan(distance):
            return 1.0
        if math.isinf(distance):
            return 0.0 if distance > 0 else 1.0
        if self.chance is not None:
            return self.chance if distance > 0 else 1.0
        from scipy import special  # a tenth of the time of scipy.stats

        score = distance / self.standard_error
        return float(
            special.ndtr(-score) if math.isinf(self.dof) else special.stdtr(self.dof, -score)
        )


class PartFacts(TypedDict, total=False):
    """What a judge says of a comparison beside its name and its estimate: fields of `Part`."""

    low: float
    high: float
    strict: bool
    bounds: tuple[float, float]
    paper: bool
    tolerance: str
    ours: str
    late: bool
    outside: str
    cut: str
    artifacts: tuple[str, ...]
    certain: str


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a verdict depends on beside the comparisons."""

    kind: str = OBSERVATION  # one of `KINDS`
    hedged: bool = False  # whether the paper limits the statement, as by "about" or "typically"
    sizes: bool = True  # whether the comparisons were made at the paper's own sizes
    stand_in: bool = False  # whether another dataset plays the part of the paper's

    @property
    def general(self) -> bool:
        """Whether the statement is a theorem or a bound, which a single failure contradicts."""
        return self.kind in (THEOREM, BOUND)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on a claim, one of `VERDICTS`, and why.

    The ``false_alarm`` bounds the probability that the claim is called contradicted although it
    holds. It is 0 if all binding comparisons are exact or the claim cannot be contradicted here.
    """

    verdict: str
    reason: str  # with the number of failing comparisons
    decisive: Part | None = None  # the comparison that decided it
    outcome: str = ""  # of that comparison
    parts: tuple[dict[str, Any], ...] = ()  # a row per comparison
    caveat: str = ""  # what limits it
    false_alarm: float = 0.0

    def count(self, outcome: str) -> int:
        """Number of comparisons with this outcome."""
        return sum(row["outcome"] == outcome for row in self.parts)


def decide(parts: Iterable[Part], terms: Terms | None = None) -> Verdict:
    """Judge a claim by its comparisons; it says that all of them hold.

    Without ``terms`` it is an observation at the paper's sizes.
    """
    parts = tuple(parts)
    if not parts:
        raise CannotDecideError("no rows to compare")
    if all(part.certain for part in parts):
        raise ValueError(f"{parts[0].name}: a claim needs a comparison that can fail")
    terms = terms or Terms()
    adjusted = holm([part.p_inside for part in parts])
    rows = [_row(part, p_holm) for part, p_holm in zip(parts, adjusted, strict=True)]
    outcomes = [row["outcome"] for row in rows]
    verdict, reason = _combined(parts, outcomes, terms)
    if terms.stand_in and not terms.general:
        verdict = _on_stand_in(verdict, outcomes)
    decisive = _decisive(parts, rows)
    can_contradict = terms.general or (terms.sizes and not terms.stand_in)
    sampled = any(part.binding and not part.exact for part in parts)
    return Verdict(
        verdict=verdict,
        reason=reason + _opposite(parts, outcomes),
        decisive=parts[decisive],
        outcome=outcomes[decisive],
        parts=tuple(rows),
        caveat=_caveat(parts, outcomes, terms),
        false_alarm=LEVEL if can_contradict and sampled else 0.0,
    )


def _on_stand_in(verdict: str, outcomes: Sequence[str]) -> str:
    """The verdict on data that stand in for the paper's, from what it would be on the paper's."""
    if verdict in (SUPPORTED, CAVEAT):
        return SEEN
    return NOT_SEEN if FAILS in outcomes else verdict


def _row(part: Part, p_holm: float) -> dict[str, Any]:
    outcome = HOLDS if part.p_outside <= LEVEL else UNDECIDED
    if p_holm <= LEVEL:
        outcome = FAILS
    if part.undefined:
        outcome = UNDECIDED
    return {
        "part": part.name,
        "value": part.value,
        "standard_error": part.standard_error,
        "interval_low": part.interval[0],
        "interval_high": part.interval[1],
        "threshold_low": part.low,
        "threshold_high": part.high,
        "strict": part.strict,
        "threshold_of": part.origin,
        "reason": part.reason,
        "late": part.late,
        "outside": part.outside,
        "p_outside": part.p_outside,
        "p_inside_holm": p_holm,
        "outcome": outcome,
    }


def _combined(parts: Sequence[Part], outcomes: Sequence[str], terms: Terms) -> tuple[str, str]:
    """The verdict without regard to stand-ins, and the reason."""
    pairs = list(zip(parts, outcomes, strict=True))
    binding = [outcome for part, outcome in pairs if part.binding]
    counts = counted_outcomes(outcomes)
    if FAILS in binding:
        if not (terms.general or terms.sizes):
            return NEEDS_MORE, f"{counts}, but not at the paper's own sizes"
        count = binding.count(FAILS)
        reason = f"{counts}; {count} by the paper's own words in its own range"
        every = count == len(binding) or (terms.general and not terms.hedged)
        return (CONTRADICTED if every else IN_PART), reason
    decisive = binding or [outcome for part, outcome in pairs if not part.certain]
    if FAILS in decisive:
        if any(part.paper and part.outside for part in parts):
            return NEEDS_MORE, f"{counts}, none in the range that the paper speaks about"
        whose = "all thresholds are ours, the paper sets none"
        if any(part.cut for part in parts):
            whose = "all thresholds or their ranges are ours"
        return NO_THRESHOLD, f"{counts}; {whose}, so that no run decides the claim"
    if UNDECIDED in decisive:
        return INCONCLUSIVE, counts
    whole = set(outcomes) == {HOLDS} and (terms.general or terms.sizes)
    return (SUPPORTED if whole else CAVEAT), counts


def counted_outcomes(outcomes: Sequence[str]) -> str:
    """``all 12 comparisons hold``, or how many of them fail and are undecided."""
    total = len(outcomes)
    if total == 1:
        return {
            HOLDS: "the comparison holds",
            FAILS: "the comparison fails",
            UNDECIDED: "the comparison is undecided",
        }[outcomes[0]]
    if set(outcomes) == {HOLDS}:
        return f"all {total} comparisons hold"
    words: list[str] = []
    for outcome, verbs in VERBS.items():
        if count := outcomes.count(outcome):
            of_all = "" if words else f" of {total} comparisons"
            words.append(f"{count}{of_all} {verbs[count > 1]}")
    return " and ".join(words)


def _opposite(parts: Sequence[Part], outcomes: Sequence[str]) -> str:
    """How many undecided estimates lie on the side that the claim excludes, or have its sign."""
    away = [
        part
        for part, outcome in zip(parts, outcomes, strict=True)
        if outcome == UNDECIDED and not part.undefined and not part.inside
    ]
    signs = sum(0 in (part.low, part.high) for part in away)
    counts = {"the opposite sign": signs, "a value beyond the threshold": len(away) - signs}
    text = ""
    for property_, count in counts.items():
        if count:
            text += f"; {count} undecided {'has' if count == 1 else 'have'} {property_}"
    return text


def _decisive(parts: Sequence[Part], rows: Sequence[dict[str, Any]]) -> int:
    """Return the index of the comparison that decides: the one with the worst outcome.

    It is a binding one if there is any; of these, one that does not hold if there is any.
    Otherwise it is one that has a value and can fail, if there is any. Of several that fail it is
    the clearest. Of several that are undecided or hold it is the one that is nearest to failing: by
    its p-value, and of equal ones by its `distance` from the range.
    """
    from_best_to_worst = (HOLDS, UNDECIDED, FAILS)
    indices = [i for i, part in enumerate(parts) if part.binding]
    if any(row["outcome"] != HOLDS for row in rows):
        indices = [i for i in indices if rows[i]["outcome"] != HOLDS]

    def severity(i: int) -> tuple[float, ...]:
        outcome = rows[i]["outcome"]
        evidence = parts[i].p_outside if outcome == HOLDS else -parts[i].p_inside
        return from_best_to_worst.index(outcome), evidence, *distance(parts[i])

    others = [i for i, part in enumerate(parts) if not (part.undefined or part.certain)]
    return max(indices or others or range(len(rows)), key=severity)


def distance(part: Part) -> tuple[float, float]:
    """How far a value lies beyond the range of its comparison; negative within the range.

    Returns:
        The distance in standard errors, and the distance over the size of the nearest threshold.
        If that is 0, as for an order, the second number is the distance itself. A value without a
        standard error is infinitely many of them away. Hence an exact value is always farther away
        than an estimate, and exact values are told apart by the second number. Of what is not a
        number both are minus infinity.
    """
    if part.undefined:
        return -math.inf, -math.inf
    # how far the value lies beyond either threshold, and that threshold
    ends = ((part.low - part.value, part.low), (part.value - part.high, part.high))
    beyond, threshold = max(end for end in ends if math.isfinite(end[1]))
    relative = beyond / (abs(threshold) or 1.0)
    if part.standard_error:
        return beyond / part.standard_error, relative
    return -math.inf if part.inside else math.inf, relative


def _caveat(parts: Sequence[Part], outcomes: Sequence[str], terms: Terms) -> str:
    """What limits a verdict: sizes, comparisons outside the range, thresholds of ours."""
    limits: dict[str, Callable[[Part], object]] = {
        "outside the sizes that the paper speaks about": lambda part: part.outside,
        "in a range of ours": lambda part: part.cut and not part.outside,
        "with a threshold of ours": lambda part: not (part.outside or part.paper),
        "sure to hold": lambda part: part.certain,
    }
    words = []
    if not terms.general and not terms.sizes:
        words.append("not at the paper's own sizes")
    for limit, applies in limits.items():
        limited = [o for part, o in zip(parts, outcomes, strict=True) if applies(part)]
        for outcome, verbs in VERBS.items():
            count = limited.count(outcome)
            if count:
                comparisons = "comparison" if count == 1 else "comparisons"
                words.append(f"{count} {comparisons} {limit} {verbs[count > 1]}")
    return "; ".join(words)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's step-down rule, in the order given."""
    from_smallest = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(from_smallest):
        remaining = len(p_values) - rank
        largest = max(largest, min(1.0, remaining * p_values[index]))
        adjusted[index] = largest
    return adjusted


def quantile(dof: float) -> float:
    """Half the width of a 95 % interval in standard errors, by Student's t."""
    from scipy import special

    return float(special.ndtri(1 - LEVEL) if math.isinf(dof) else special.stdtrit(dof, 1 - LEVEL))
