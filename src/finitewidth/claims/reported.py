"""Our numbers beside the printed ones.

A printed number is ``reproduced`` if ours lies within its tolerance (``config/reported``). Without
a tolerance, ours must lie within twice the combined uncertainty: the standard errors of both and
half a unit of the last digit printed. Otherwise it is ``off``. ``reproduced`` only means that the
two numbers cannot be told apart, which is easier with fewer runs. A claim that they are close (N25)
needs an interval inside a margin. A number from a stand-in or from reduced sizes is ``not
comparable``, however close it is. A number that depends on no size and no dataset, such as the
constant of a theorem, is compared at every preset.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from finitewidth.claims.ledger import Tables, module_of
from finitewidth.common.reported_numbers import Reported

REPRODUCED, OFF, NOT_COMPARABLE, NOT_RUN = "reproduced", "off", "not comparable", "not run"
OUTCOMES = (REPRODUCED, OFF, NOT_COMPARABLE, NOT_RUN)


@dataclass(frozen=True, kw_only=True)
class Ours:
    """One number of a run, with the row, the column and the unit of the printed one."""

    row: str
    column: str
    value: float
    standard_error: float = 0.0
    runs: int | None = None


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Where our counterparts of the printed numbers of one artifact and quantity come from.

    Attributes:
        artifact, quantity: as in ``config/reported/<paper>.csv``.
        reads: name of a table -> the job that makes it and its name there, ``npf_regimes.runs``.
        find: from the tables read to our numbers.
        scale_free: whether the number depends on no dataset and no size, so that it is comparable
            at every preset.
    """

    artifact: str
    quantity: str
    reads: Mapping[str, str]
    find: Callable[[Tables], Iterable[Ours]]
    scale_free: bool = False


def numbers_of(paper: str) -> tuple[Numbers, ...]:
    """All numbers of a paper, in their order (``NUMBERS`` of its module)."""
    module = module_of(paper)
    return import_module(module).NUMBERS if module else ()


def compare(
    printed: Sequence[Reported],
    ours: Mapping[tuple[str, str], Sequence[Ours]],
    comparable: Mapping[tuple[str, str], bool],
) -> list[dict[str, Any]]:
    """One row per printed number.

    Args:
        printed: the paper's numbers.
        ours: (artifact, quantity) -> what the run found.
        comparable: (artifact, quantity) -> whether it was computed at the paper's own scale.
    """
    found = {
        (artifact, quantity, number.row, number.column): number
        for (artifact, quantity), numbers in ours.items()
        for number in numbers
    }
    rows = []
    for theirs in printed:
        mine = found.get(theirs.key)
        row = {
            "artifact": theirs.artifact, "quantity": theirs.quantity, "row": theirs.row,
            "column": theirs.column, "unit": theirs.unit, "place": theirs.place,
            "read_method": theirs.read_method, "printed": theirs.printed,
            "printed_spread": theirs.printed_spread, "note": theirs.note,
        }  # fmt: skip
        scale = comparable.get((theirs.artifact, theirs.quantity), False)
        rows.append(row | _compared(theirs, mine, scale))
    return rows


def _compared(theirs: Reported, mine: Ours | None, comparable: bool) -> dict[str, Any]:
    names = ("ours", "standard_error", "runs", "difference", "difference_se", "allowed")
    if mine is None or not math.isfinite(mine.value):
        return {**dict.fromkeys(names), "outcome": NOT_RUN}
    combined = math.hypot(mine.standard_error, printed_error(theirs))
    difference = mine.value - theirs.value
    allowed = theirs.tolerance if theirs.tolerance is not None else 2 * combined
    outcome = REPRODUCED if abs(difference) <= allowed else OFF
    return {
        "ours": mine.value, "standard_error": mine.standard_error, "runs": mine.runs,
        "difference": difference, "difference_se": difference / combined if combined else None,
        "allowed": allowed, "outcome": outcome if comparable else NOT_COMPARABLE,
    }  # fmt: skip


def printed_error(theirs: Reported) -> float:
    """Standard error of a printed mean, its rounding included.

    A spread over runs is divided by the square root of their number, or of their number less one
    if it is a population standard deviation. Rounding adds half a unit of the last digit; for whole
    percentages, which are measured, it adds half a percent.
    """
    sampling = 0.0
    if theirs.spread is not None:
        runs = theirs.runs or 1
        divisor = max(1, runs - 1) if theirs.spread_kind == "std_population" else runs
        sampling = theirs.spread if theirs.spread_kind == "standard_error" else (
            theirs.spread / math.sqrt(divisor))  # fmt: skip
    rounding = half_unit(theirs.printed)
    if theirs.unit == "percent" and not rounding:
        rounding = 0.5
    return math.hypot(sampling, rounding)


def half_unit(printed: str) -> float:
    """Half a unit of the last digit: 0.005 for ``80.32``; 0 for a whole number or a fraction.

    A whole number in a paper may be exact (a constant) or rough. If it is rough, its tolerance in
    ``config/reported`` says how far ours may be from it.
    """
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    if not digits and not exponent:
        return 0.0
    return 0.5 * 10.0 ** (int(exponent or 0) - digits)
