"""Our numbers beside the printed ones; docs/verdicts.md explains the words of outcomes.

The combined uncertainty of both numbers is made of the standard errors of both and of half a unit
of the last digit printed. A power of ten without decimals, such as 1e-2, has no last digit that
says how exact it is, and nothing is added for it. For a number that was read off a figure the
reading error takes the place of the half unit. Of losses, every entry of the difference is one of
logarithms.

If the paper prints a measured mean without any spread, its standard error is not zero but unknown.
It is then taken to vary from run to run as much as ours does, over as many runs as it names, or
over as many as ours has. Constants have no such error.

That two numbers agree only means that they cannot be told apart, which is easier with fewer runs.
Therefore every difference comes with its 95 % interval, by Student's t: with three runs it reaches
4.3 standard errors to each side, not 2. A claim that numbers are close (N25) needs an interval
inside a margin.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from finitewidth.claims.verdicts import quantile
from finitewidth.declarations.reported_numbers import Reported

CONSTANT, MEASURED = "constant", "measured"
REPRODUCED, OFF, NOT_COMPARABLE, NOT_RUN = "reproduced", "off", "not comparable", "not run"
CLOSE, DIFFERS = "close at reduced scale", "differs at reduced scale"
UNTRAINED = "not trained"
OUTCOMES = (REPRODUCED, OFF, CLOSE, DIFFERS, UNTRAINED, NOT_COMPARABLE, NOT_RUN)
IMPRECISE = 0.1  # of a number; the largest standard error with which it is compared
LOSS = "loss"  # the unit of losses


@dataclass(frozen=True, kw_only=True)
class Ours:
    """One number of a run, with the row, the column and the unit of the printed one."""

    row: str
    column: str
    value: float
    standard_error: float = 0.0  # 0 for an exact number
    runs: int | None = None  # how many it averages; None if it averages none
    part: str = ""  # of its tables that it rests on, one of those of its `ledger.Numbers`
    bounded: bool = False  # whether the printed number is an upper bound of it, not an estimate
    untrained: str = ""  # why a network that it belongs to is not trained; empty if it is


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What our counterparts of some printed numbers were computed with."""

    kind: str = MEASURED
    papers: bool = False  # whether at the paper's own sizes on its own data, as far as that matters
    stand_in: bool = False  # whether another dataset stands in for the paper's
    differs: str = ""  # what differs from the paper, in words
    grade: str = ""  # one of `grades.GRADES`
    context: str = ""  # preset, data, and numbers of runs, in words


def compare(
    printed: Sequence[Reported],
    ours: Mapping[tuple[str, str], Sequence[Ours]],
    bases: Mapping[tuple[str, str], Mapping[str, Basis]],
) -> list[dict[str, Any]]:
    """One row per printed number.

    ``ours`` has (artifact, quantity) -> what the run found, and ``bases`` the same -> part (see
    `Ours`) -> what it was computed with.
    """
    from finitewidth.claims.columns import PRINTED  # it needs numpy

    counterparts = {
        (artifact, quantity, number.row, number.column): number
        for (artifact, quantity), numbers in ours.items()
        for number in numbers
    }
    rows = []
    for number in printed:
        row = {name: getattr(number, name) for name in PRINTED.names}
        counterpart = counterparts.get(number.key)
        parts = bases.get((number.artifact, number.quantity)) or {"": Basis()}
        if counterpart is None or not math.isfinite(counterpart.value):
            basis = next(iter(parts.values()))
            rows.append(row | _not_compared(basis))
        else:
            rows.append(row | _compared(number, counterpart, parts[counterpart.part]))
    return rows


def _not_compared(basis: Basis) -> dict[str, Any]:
    """The columns ``COMPUTED`` of a printed number without a counterpart."""
    from finitewidth.claims.columns import COMPUTED

    empty: dict[str, Any] = dict.fromkeys(COMPUTED.names)
    return empty | {
        "why": "",
        "differs": "",
        "grade": "",
        "outcome": NOT_RUN,
        "kind": basis.kind,
        "context": basis.context,
    }


@dataclass(frozen=True, kw_only=True)
class _Difference:
    """Our number less the printed one; of losses, our logarithm less that of the printed one."""

    value: float  # nan if a loss is not above 0
    scale: float  # what our standard error is compared with
    our_error: float  # standard error of our number
    error: float  # standard error of the difference; nan if it is unknown
    half_width: float | None  # of its 95 % interval; None if it is unknown
    allowed: float  # the tolerance or two standard errors; nan if they are unknown

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half_width is None else self.value - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.half_width is None else self.value + self.half_width

    @property
    def in_errors(self) -> float | None:
        """The difference in standard errors; None without any."""
        if self.half_width is None or not self.error:
            return None
        return self.value / self.error


def _compared(printed: Reported, ours: Ours, basis: Basis) -> dict[str, Any]:
    """The columns ``COMPUTED`` of a printed number that has a counterpart."""
    difference = _difference_of(printed, ours, basis.kind)
    near = _is_near(difference, ours)
    why = _obstacle(difference, printed, ours, basis)
    if ours.untrained and not basis.stand_in:
        outcome = UNTRAINED
        why = ours.untrained
    elif why:
        outcome = NOT_COMPARABLE
    elif basis.papers:
        outcome = REPRODUCED if near else OFF
    else:
        outcome = CLOSE if near else DIFFERS
    return {
        "ours": ours.value,
        "standard_error": ours.standard_error,
        "runs": ours.runs,
        "difference": difference.value,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "difference_se": difference.in_errors,
        "allowed": None if math.isnan(difference.allowed) else difference.allowed,
        "outcome": outcome,
        "why": why,
        "kind": basis.kind,
        "differs": basis.differs,
        "grade": basis.grade,
        "context": basis.context,
    }


def _difference_of(printed: Reported, ours: Ours, kind: str) -> _Difference:
    value = ours.value - printed.value
    scale = max(abs(ours.value), abs(printed.value))
    # derivatives of what is compared, f(ours) - f(printed), by both numbers
    by_ours = 1.0
    by_printed = 1.0
    if printed.unit == LOSS:
        value, by_ours, by_printed = _of_logarithms(printed.value, ours.value)
        scale = 1.0
    our_error = ours.standard_error * by_ours
    error = math.nan
    half_width = None
    if ours.runs != 1 and math.isfinite(ours.standard_error):
        error, dof = _combined(printed, by_printed, our_error, ours.runs, kind)
        half_width = quantile(dof) * error if error else 0.0
    return _Difference(
        value=value,
        scale=scale,
        our_error=our_error,
        error=error,
        half_width=half_width,
        allowed=2 * error if printed.tolerance is None else printed.tolerance,
    )


def _of_logarithms(printed: float, ours: float) -> tuple[float, float, float]:
    """log(ours) - log(printed), and the derivatives of both logarithms.

    All are nan unless both losses are above 0.
    """
    if ours > 0 and printed > 0:
        return math.log(ours / printed), 1 / ours, 1 / printed
    return math.nan, math.nan, math.nan


def _is_near(difference: _Difference, ours: Ours) -> bool:
    if ours.bounded:  # the printed number is an upper bound: only a larger one is too far
        return max(difference.value, 0.0) <= difference.allowed
    return abs(difference.value) <= difference.allowed


def _obstacle(difference: _Difference, printed: Reported, ours: Ours, basis: Basis) -> str:
    """Why both numbers cannot be compared; empty if they can."""
    if basis.stand_in:
        return "another dataset"
    if math.isnan(difference.value):
        return "a loss that is not above 0"
    if math.isnan(difference.allowed):
        return "a single run has no standard error"
    # with a large error of ours, all printed numbers would be near
    by_errors = printed.tolerance is None and not ours.bounded
    precise = difference.our_error <= IMPRECISE * difference.scale
    if by_errors and not precise and _is_near(difference, ours):
        number = "our value" if printed.unit == LOSS else "the larger of both numbers"
        share = 100 * difference.our_error / difference.scale
        return f"our standard error is {share:.0f} % of {number}"
    return ""


def _combined(
    printed: Reported, by_printed: float, our_error: float, runs: int | None, kind: str
) -> tuple[float, float]:
    """Standard error of the difference, and its degrees of freedom (Welch and Satterthwaite).

    With independent errors s_i of d_i degrees of freedom, the standard error is s with
    s^2 = sum s_i^2, and its degrees of freedom are s^4 / sum(s_i^4 / d_i).
    """
    our_dof = runs - 1 if runs else math.inf
    parts = [(_rounding(printed) * by_printed, math.inf)]
    if printed.spread is not None:
        count = printed.runs or 1
        printed_dof = count - 1 if count > 1 else math.inf
        parts.append((our_error, our_dof))
        parts.append((_sampling(printed) * by_printed, printed_dof))
    elif kind == MEASURED and runs:
        # one estimate of the spread serves both means
        both = our_error * math.sqrt(1 + runs / (printed.runs or runs))
        parts.append((both, our_dof))
    else:
        parts.append((our_error, our_dof))
    combined = math.hypot(*(error for error, _ in parts))
    curvature = sum(error**4 / dof for error, dof in parts)
    return combined, combined**4 / curvature if curvature else math.inf


def _sampling(printed: Reported) -> float:
    """Standard error of a printed mean: its spread over the square root of the number of runs.

    The number is one less for a population standard deviation.
    """
    spread = printed.spread or 0.0
    runs = printed.runs or 1
    if printed.spread_kind == "standard_error":
        return spread
    if printed.spread_kind == "std_population":
        return spread / math.sqrt(max(1, runs - 1))
    return spread / math.sqrt(runs)


def _rounding(printed: Reported) -> float:
    """Half a unit of the last digit, or the error of reading a figure.

    Whole percentages, which are measured, have half a percent.
    """
    if printed.reading_error is not None:
        return printed.reading_error
    rounding = half_unit(printed.printed)
    return 0.5 if printed.unit == "percent" and not rounding else rounding


def half_unit(printed: str) -> float:
    """Half a unit of the last decimal: 0.005 for ``80.32``; 0 without decimals, as in ``1e-2``.

    A whole number in a paper may be exact (a constant) or rough. If it is rough, its tolerance in
    ``config/reported`` says how far ours may be from it.
    """
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - digits) if digits else 0.0
