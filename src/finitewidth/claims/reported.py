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
from finitewidth.common.reported_numbers import Reported

CONSTANT, MEASURED = "constant", "measured"
REPRODUCED, OFF, NOT_COMPARABLE, NOT_RUN = "reproduced", "off", "not comparable", "not run"
CLOSE, DIFFERS = "close at reduced scale", "differs at reduced scale"
UNTRAINED = "not trained"
OUTCOMES = (REPRODUCED, OFF, CLOSE, DIFFERS, UNTRAINED, NOT_COMPARABLE, NOT_RUN)
IMPRECISE = 0.1  # of a number; the largest standard error with which it is compared
LOSS = "loss"  # the unit of losses
# columns of the table of numbers: what is printed, and what is computed
PRINTED = (
    "artifact",
    "quantity",
    "row",
    "column",
    "unit",
    "place",
    "read_method",
    "printed",
    "printed_spread",
    "note",
)
COMPUTED = (
    "kind",
    "ours",
    "standard_error",
    "runs",
    "difference",
    "difference_low",
    "difference_high",
    "difference_se",
    "allowed",
    "outcome",
    "why",
    "differs",
    "grade",
    "context",
)


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
    counterparts = {
        (artifact, quantity, number.row, number.column): number
        for (artifact, quantity), numbers in ours.items()
        for number in numbers
    }
    rows = []
    for theirs in printed:
        mine = counterparts.get(theirs.key)
        row = {name: getattr(theirs, name) for name in PRINTED}
        parts = bases.get((theirs.artifact, theirs.quantity)) or {"": Basis()}
        if mine is None or not math.isfinite(mine.value):
            basis = next(iter(parts.values()))
            unknown = dict.fromkeys(COMPUTED) | dict.fromkeys(("why", "differs", "grade"), "")
            rows.append(
                {**row, **unknown, "outcome": NOT_RUN, "kind": basis.kind, "context": basis.context}
            )
        else:
            rows.append(row | _compared(theirs, mine, parts[mine.part]))
    return rows


def _compared(theirs: Reported, mine: Ours, basis: Basis) -> dict[str, Any]:
    known = mine.runs != 1 and math.isfinite(mine.standard_error)
    difference, size = mine.value - theirs.value, max(abs(mine.value), abs(theirs.value))
    per_own = per_theirs = 1.0  # derivatives of what is compared by both numbers
    if theirs.unit == LOSS:
        sound = mine.value > 0 and theirs.value > 0
        difference, size = math.log(mine.value / theirs.value) if sound else math.nan, 1.0
        per_own, per_theirs = (1 / mine.value, 1 / theirs.value) if sound else (math.nan,) * 2
    own = mine.standard_error * per_own
    combined, dof = math.nan, math.inf
    if known:
        combined, dof = _combined(theirs, per_theirs, own, mine.runs, basis.kind)
    half = quantile(dof) * combined if combined else 0.0
    allowed = theirs.tolerance if theirs.tolerance is not None else 2 * combined
    too_far = max(difference, 0.0) if mine.bounded else abs(difference)
    near = too_far <= allowed
    why = ""
    if basis.stand_in:
        why = "another dataset"
    elif math.isnan(difference):
        why = "a loss that is not above 0"
    elif math.isnan(allowed):
        why = "a single run has no standard error"
    elif near and theirs.tolerance is None and not mine.bounded and not own <= IMPRECISE * size:
        of = "our value" if theirs.unit == LOSS else "the larger of both numbers"
        why = f"our standard error is {100 * own / size:.0f} % of {of}"
    words = {True: (REPRODUCED, OFF), False: (CLOSE, DIFFERS)}[basis.papers]
    outcome = NOT_COMPARABLE if why else words[not near]
    if mine.untrained and not basis.stand_in:
        outcome, why = UNTRAINED, mine.untrained
    return {
        "ours": mine.value,
        "standard_error": mine.standard_error,
        "runs": mine.runs,
        "difference": difference,
        "difference_low": difference - half if known else None,
        "difference_high": difference + half if known else None,
        "difference_se": difference / combined if known and combined else None,
        "allowed": None if math.isnan(allowed) else allowed,
        "outcome": outcome,
        "why": why,
        "kind": basis.kind,
        "differs": basis.differs,
        "grade": basis.grade,
        "context": basis.context,
    }


def _combined(
    theirs: Reported, per_theirs: float, own: float, runs: int | None, kind: str
) -> tuple[float, float]:
    """Standard error of the difference, and its degrees of freedom (Welch and Satterthwaite)."""
    dof = runs - 1 if runs else math.inf
    parts = [(_rounding(theirs) * per_theirs, math.inf)]
    if theirs.spread is not None:
        count = theirs.runs or 1
        sampling = _sampling(theirs) * per_theirs
        parts += [(own, dof), (sampling, count - 1 if count > 1 else math.inf)]
    elif kind == MEASURED and runs:
        # one estimate of the spread serves both means
        parts.append((own * math.sqrt(1 + runs / (theirs.runs or runs)), dof))
    else:
        parts.append((own, dof))
    combined = math.hypot(*(error for error, _ in parts))
    curvature = sum(error**4 / dof for error, dof in parts)
    return combined, combined**4 / curvature if curvature else math.inf


def _sampling(theirs: Reported) -> float:
    """Standard error of a printed mean: its spread over the square root of the number of runs.

    The number is one less for a population standard deviation.
    """
    spread, runs = theirs.spread or 0.0, theirs.runs or 1
    if theirs.spread_kind == "standard_error":
        return spread
    return spread / math.sqrt(max(1, runs - 1) if theirs.spread_kind == "std_population" else runs)


def _rounding(theirs: Reported) -> float:
    """Half a unit of the last digit, or the error of reading a figure.

    Whole percentages, which are measured, have half a percent.
    """
    if theirs.reading_error is not None:
        return theirs.reading_error
    rounding = half_unit(theirs.printed)
    return 0.5 if theirs.unit == "percent" and not rounding else rounding


def half_unit(printed: str) -> float:
    """Half a unit of the last decimal: 0.005 for ``80.32``; 0 without decimals, as in ``1e-2``.

    A whole number in a paper may be exact (a constant) or rough. If it is rough, its tolerance in
    ``config/reported`` says how far ours may be from it.
    """
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - digits) if digits else 0.0
