"""From estimates and thresholds to verdicts: the statistics that all claims share.

A claim compares one or several estimates with thresholds that are fixed in the code before a run.
It is supported if every comparison is, at a one-sided level of 2.5 % each. It is contradicted if at
least one comparison is, at 2.5 % after Holm's correction for their number (Holm 1979, Scand. J.
Statist. 6). Otherwise it is inconclusive. A single comparison is thus decided by its 95 % interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LEVEL = 0.025  # one-sided

SUPPORTED, CONTRADICTED, INCONCLUSIVE = "supported", "contradicted", "inconclusive"
NOT_DECIDABLE, NOT_RUN = "not decidable at this preset", "not run"
VERDICTS = (SUPPORTED, CONTRADICTED, INCONCLUSIVE, NOT_DECIDABLE, NOT_RUN)


class CannotDecideError(Exception):
    """The rows lack something that a claim is about; the message says what, ``no depth of 20``."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One comparison: is ``value`` on the claimed side?

    Attributes:
        name: what is compared, in words for the report.
        value: the estimate.
        low, high: the claim says ``low <= value <= high``; one of them may be infinite.
        standard_error: of the estimate; 0 if it is computed exactly; nan if it is unknown, and
            then nothing is decided.
        dof: degrees of freedom of the standard error; infinite for a normal estimate.
        strict: the claim excludes the thresholds themselves ("larger", not "at least"), which
            matters for exact values only.
        chance: the probability that all runs fall on one side by chance, for a sample whose runs
            are all alike and thus have no spread. It replaces the p-value from a standard error.
    """

    name: str
    value: float
    low: float = -math.inf
    high: float = math.inf
    standard_error: float = 0.0
    dof: float = math.inf
    strict: bool = False
    chance: float | None = None

    def __post_init__(self) -> None:
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError(f"{self.name}: a comparison needs a threshold")
        if not self.low <= self.high:
            raise ValueError(f"{self.name}: nothing lies between {self.low} and {self.high}")
        if self.standard_error < 0 or self.dof <= 0:
            raise ValueError(f"{self.name}: standard error {self.standard_error}, dof {self.dof}")

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
        """The 95 % interval of the estimate; its width is 0 if all runs are alike."""
        half = self.standard_error and _quantile(1 - LEVEL, self.dof) * self.standard_error
        return self.value - half, self.value + half

    @property
    def p_outside(self) -> float:
        """One-sided p-value of "the truth lies outside": small if the claim is supported.

        It is the larger of those of both ends, as in a test of equivalence.
        """
        if self.exact:
            return float(not self._inside())
        return max(self._tail(self.value - self.low), self._tail(self.high - self.value))

    @property
    def p_inside(self) -> float:
        """One-sided p-value of "the truth lies inside": small if the claim is contradicted."""
        if self.exact:
            return float(self._inside() or self.undefined)
        return min(self._tail(self.low - self.value), self._tail(self.value - self.high))

    def _inside(self) -> bool:
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
        return _upper_tail(distance / self.standard_error, self.dof)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on a claim, its reason, all comparisons, and the one that decided it."""

    verdict: str
    reason: str
    decisive: Part | None
    parts: tuple[dict[str, Any], ...]


def decide(parts: Sequence[Part]) -> Verdict:
    """Judge a claim by its comparisons; it says that all of them hold.

    Raises:
        CannotDecideError: there is no comparison.
    """
    if not parts:
        raise CannotDecideError("no rows to compare")
    contradicting = holm([part.p_inside for part in parts])
    rows = []
    for part, p_holm in zip(parts, contradicting, strict=True):
        rows.append({
            "part": part.name, "value": part.value, "standard_error": part.standard_error,
            "interval_low": part.interval[0], "interval_high": part.interval[1],
            "threshold_low": part.low, "threshold_high": part.high,
            "p_outside": part.p_outside, "p_inside_holm": p_holm,
            "verdict": _verdict_of(part, p_holm),
        })  # fmt: skip
    order = (CONTRADICTED, INCONCLUSIVE, SUPPORTED)
    worst = min((row["verdict"] for row in rows), key=order.index)
    count = sum(row["verdict"] == worst for row in rows)
    decisive = min(
        (index for index, row in enumerate(rows) if row["verdict"] == worst),
        key=lambda index: (rows[index]["p_inside_holm"], -rows[index]["p_outside"]),
    )
    verb = {SUPPORTED: "hold", CONTRADICTED: "fail", INCONCLUSIVE: "are undecided"}[worst]
    return Verdict(
        verdict=worst,
        reason=f"{count} of {len(parts)} comparisons {verb}",
        decisive=parts[decisive],
        parts=tuple(rows),
    )


def _verdict_of(part: Part, p_holm: float) -> str:
    if part.undefined:
        return INCONCLUSIVE
    if p_holm <= LEVEL:
        return CONTRADICTED
    return SUPPORTED if part.p_outside <= LEVEL else INCONCLUSIVE


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's step-down rule, in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _upper_tail(score: float, dof: float) -> float:
    from scipy import stats

    return float(stats.norm.sf(score) if math.isinf(dof) else stats.t.sf(score, dof))


def _quantile(level: float, dof: float) -> float:
    from scipy import stats

    return float(stats.norm.ppf(level) if math.isinf(dof) else stats.t.ppf(level, dof))
