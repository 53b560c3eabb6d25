"""Comparisons made from estimates with standard errors, and from curves of such estimates."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from finitewidth.claims.verdicts import LEVEL, CannotDecideError, Part, PartFacts

if TYPE_CHECKING:
    import pandas as pd

# that a number is above or below 0, as the paper says
ABOVE: PartFacts = {"low": 0, "strict": True, "paper": True}
BELOW: PartFacts = {"high": 0, "strict": True, "paper": True}


class Estimate(NamedTuple):
    """A number and its standard error, which is 0 if the number is computed exactly.

    Errors are combined as those of independent estimates. Two estimates from the same random
    numbers mostly err in the same direction. The error of their difference is then too large.
    """

    value: float
    error: float = 0.0

    def log(self) -> "Estimate":
        """The natural logarithm; nan of what is not above 0."""
        if self.value <= 0:
            return Estimate(math.nan, 0.0)
        return Estimate(math.log(self.value), self.error / self.value)

    def shifted(self, by: float) -> "Estimate":
        """Plus an exact number."""
        return Estimate(self.value + by, self.error)

    def scaled(self, by: float) -> "Estimate":
        """Times an exact number."""
        return Estimate(self.value * by, self.error * abs(by))

    def minus(self, other: "Estimate") -> "Estimate":
        """The difference."""
        return Estimate(self.value - other.value, math.hypot(self.error, other.error))

    def over(self, other: "Estimate") -> "Estimate":
        """The ratio, its error at first order; nan where the other is 0."""
        if other.value == 0:
            return Estimate(math.nan, 0.0)
        ratio = self.value / other.value
        return Estimate(ratio, math.hypot(self.error, ratio * other.error) / abs(other.value))

    def part(self, name: str, **thresholds: Unpack[PartFacts]) -> Part:
        """The comparison with ``low`` and/or ``high``, ``strict`` or not."""
        return Part(name=name, value=self.value, standard_error=self.error, **thresholds)


@dataclass(frozen=True, kw_only=True)
class Extreme(Part):
    """The largest of several estimates against ``high``, or the smallest against ``low``.

    All estimates lie on the claimed side if the extreme one does. So the comparison holds if each
    estimate holds on its own, at the same level (an intersection-union test). It fails if one of
    them fails after Bonferroni's correction for their number (a union-intersection test). Both keep
    their level whatever the errors are and however they are correlated.

    The value and the error are those of the estimate that decides. Its error may be much larger
    than that of the extreme estimate.
    """

    others: tuple[Estimate, ...] = ()  # all estimates but the one that decides

    @property
    def exact(self) -> bool:
        """Whether all estimates are computed exactly."""
        return super().exact and not any(other.error for other in self.others)

    @cached_property
    def p_outside(self) -> float:
        """The largest p-value of "this one lies outside": small if all lie inside."""
        return max(super().p_outside, *(part.p_outside for part in self._parts), 0.0)

    @cached_property
    def p_inside(self) -> float:
        """The smallest p-value of "this one lies inside", times the number of estimates."""
        least = min(super().p_inside, *(part.p_inside for part in self._parts), 1.0)
        return min(1.0, (1 + len(self.others)) * least)

    @cached_property
    def _parts(self) -> list[Part]:
        return [
            other.part(self.name, low=self.low, high=self.high, strict=self.strict)
            for other in self.others
        ]


def largest(name: str, candidates: Sequence[Estimate], **facts: Unpack[PartFacts]) -> Part:
    """Whether the largest of several estimates is at most ``high``, by the test of `Extreme`.

    The ``facts`` are those of a `Part`. An estimate that is not a number, or whose error is none,
    leaves open whether all hold. It does not hide another one that fails.

    Raises:
        CannotDecideError: if there are no candidates.
    """
    return _extreme(name, candidates, 1, **facts)


def smallest(name: str, candidates: Sequence[Estimate], **facts: Unpack[PartFacts]) -> Part:
    """Whether the smallest of several estimates is at least ``low``, as `largest`."""
    return _extreme(name, candidates, -1, **facts)


def _extreme(
    name: str, candidates: Sequence[Estimate], sign: int, **facts: Unpack[PartFacts]
) -> Part:
    if not candidates:
        raise CannotDecideError(f"{name}: no rows")
    parts = [candidate.part(name, **facts) for candidate in candidates]
    if not all(part.exact for part in parts):
        name = f"{name}; of {len(parts)} the one that decides"

    def evidence_against(i: int) -> tuple[float, float]:
        return -parts[i].p_inside, sign * parts[i].value

    def doubt(i: int) -> tuple[bool, float, float]:
        return parts[i].undefined, parts[i].p_outside, sign * parts[i].value

    indices = range(len(parts))
    failing = max(indices, key=evidence_against)
    weakest = max(indices, key=doubt)
    fails = len(parts) * parts[failing].p_inside <= LEVEL
    chosen = failing if fails else weakest
    others = tuple(candidates[i] for i in indices if i != chosen)
    value, error = candidates[chosen]
    return Extreme(name=name, value=value, standard_error=error, others=others, **facts)


def estimates(rows: "pd.DataFrame", value: str, error: str) -> list[Estimate]:
    """The estimates of all rows."""
    return [Estimate(*map(float, pair)) for pair in rows[[value, error]].to_numpy()]


def exactly(values: Iterable[float]) -> list[Estimate]:
    """Numbers that are computed exactly."""
    return [Estimate(float(value)) for value in values]


def at(rows: "pd.DataFrame", place: str, x: float, value: str, error: str) -> Estimate:
    """The estimate at ``x`` on a curve, interpolated linearly between the two points beside it."""
    curve = rows.sort_values(place)
    grid = curve[place].to_numpy(float)
    if not len(grid) or not grid[0] - 1e-9 <= x <= grid[-1] + 1e-9:
        span = f"from {grid[0]:g} to {grid[-1]:g}" if len(grid) else "missing"
        raise CannotDecideError(f"no rows at {place} = {x:g}: they are {span}")
    value_at_x = np.interp(x, grid, curve[value].to_numpy(float))
    error_at_x = np.interp(x, grid, curve[error].to_numpy(float))
    return Estimate(float(value_at_x), float(error_at_x))


def mean(terms: Sequence[Estimate]) -> Estimate:
    """The mean of estimates that may be correlated; its error is the mean of their errors."""
    if not terms:
        raise CannotDecideError("no rows to average")
    values, errors = zip(*terms, strict=True)
    return Estimate(float(np.mean(values)), float(np.mean(errors)))


def power_of(x: Sequence[float], values: Sequence[Estimate]) -> Estimate:
    """Exponent p of y ~ x^p from the first and the last of several estimates."""
    span = math.log(x[-1] / x[0])
    return values[-1].log().minus(values[0].log()).scaled(1 / span)


def in_the_limit(widths: Sequence[float], values: Sequence[Estimate]) -> Estimate:
    """The limit M -> infinity of estimates that differ from it by a multiple of 1 / M.

    It is computed from the estimates of the last two widths.
    """
    if len(widths) < 2:
        raise CannotDecideError("a limit needs two widths")
    narrow, wide = widths[-2:]
    at_narrow, at_wide = values[-2:]
    # y(M) = y + c / M at two widths gives y = (wide y(wide) - narrow y(narrow)) / (wide - narrow)
    step = wide - narrow
    return at_wide.scaled(wide / step).minus(at_narrow.scaled(narrow / step))


def required(rows: "pd.DataFrame", what: str) -> "pd.DataFrame":
    """The rows, of which there must be some; `CannotDecideError` otherwise."""
    if rows.empty:
        raise CannotDecideError(f"no rows of {what}")
    return rows


def over_printed(values: list[float], printed: float, name: str) -> Part:
    """The limit of exact values at doubled widths over the printed one, which the paper has as 1.

    It may differ from 1 by the numerical error of the extrapolation only.
    """
    from finitewidth.errata.evidence import extrapolated  # it needs scipy

    if len(values) < 3:
        raise CannotDecideError(f"{name}: {len(values)} widths")
    limit, error = extrapolated(values)
    ratio = limit / printed if printed else math.nan
    room = error / abs(printed) if printed and math.isfinite(error) else 0.0
    name = f"{name} (numerical error {room:.0e})"
    reason = "the numerical error of the extrapolated limit"
    return Part(name=name, value=ratio, low=1 - room, high=1 + room, paper=True, tolerance=reason)
