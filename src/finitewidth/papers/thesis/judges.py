"""Claims of the thesis on linear regression: Theorems 2.4 and 2.5, and the remark below."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.estimates import Estimate, estimates, over_printed, required
from finitewidth.claims.estimates import largest as largest_of
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

AWAY = 0.25  # distance from ratio 1 from which on drawn means are compared
BESIDE = (0.5, 2.0)  # ratios that the peak is compared with
MEANS = {
    "low": 0.95, "high": 1.05, "late": True,
    "ours": "the paper states a limit, not how near to it finite N are; means of 200 draws have "
    "errors of up to 1 %",
}  # fmt: skip
REACHED = {
    "high": 1e-6,
    "ours": "the theorem speaks of a limit; 1e-6 is far above rounding and above what the number "
    "of steps leaves",
}  # fmt: skip


def h01(tables: Tables) -> Iterator[Part]:
    """Gradient descent finds the solution of least norm, whose risk tends to (2.46)."""
    yield from _limits(tables["doubled"])
    for place, (case, drawn) in enumerate(_cases(tables["drawn"], "drawn risks")):
        # below the ratio 1 the risk is a multiple of sigma^2, so that one case shows all
        yield from _means(case, drawn[drawn["x"] > 1] if place else drawn)
    descent = required(tables["descent"], "gradient descent")
    found = estimates(descent.assign(error=0.0), "distance", "error")
    name = "gradient descent: largest relative distance from the pseudoinverse's weights"
    yield largest_of(name, found, **REACHED)


def h02(tables: Tables) -> Iterator[Part]:
    """The risk rises with the number of parameters up to that of samples, and falls from there."""
    for case, curve in _cases(tables["curves"], "limits"):
        yield from _order(case, curve)
    for case, drawn in _cases(tables["drawn"], "drawn risks"):
        yield from _peak(case, drawn)


def _cases(rows: "pd.DataFrame", what: str) -> Iterator[tuple[str, "pd.DataFrame"]]:
    yield from required(rows, what).groupby("case", sort=False)


def _limits(doubled: "pd.DataFrame") -> Iterator[Part]:
    """The limit of the exact mean at doubled N over (2.46), its sign corrected (thesis-4)."""
    rows = required(doubled, "exact means")
    for (case, x), here in rows.groupby(["case", "x"], sort=False):
        line = here.sort_values("size")
        name = f"{case}, ratio {x:g}: limit of the exact mean risk over (2.46), corrected"
        yield over_printed(line["exact"].tolist(), float(line["limit"].iloc[0]), name)


def _order(case: str, curves: "pd.DataFrame") -> Iterator[Part]:
    """The corrected limit rises with the ratio below 1, and falls above."""
    rows = curves[curves["curve"] == "corrected"].sort_values("x")
    for side, sign, limits in (
        ("below 1: smallest rise", 1, rows[rows["x"] < 1]),
        ("above 1: largest rise", -1, rows[rows["x"] > 1]),
    ):
        values = required(limits, f"ratios {side}")["y"].to_numpy(float)
        if len(values) < 2:
            raise CannotDecideError(f"one ratio {side.split(':')[0]}")
        name = f"{case}, ratios {side} of the limit from one ratio to a later one"
        # a rise is smallest, and a fall too, if it starts at the highest, or lowest, value before
        rises = sign * values[1:] - np.maximum.accumulate(sign * values)[:-1]
        found = sign * float(rises.min())
        bound = {"low": 0} if sign > 0 else {"high": 0}
        yield Estimate(found).part(name, strict=True, paper=True, **bound)


def _peak(case: str, drawn: "pd.DataFrame") -> Iterator[Part]:
    """The median at the ratio 1, where no mean exists, against those below and above."""
    top = _median(case, drawn, 1.0)
    for ratio in BESIDE:
        more = top.minus(_median(case, drawn, ratio))
        name = f"{case}: log of the median risk at ratio 1 - at {ratio:g}"
        yield more.part(name, low=0, strict=True, paper=True)


def _median(case: str, drawn: "pd.DataFrame", ratio: float) -> Estimate:
    rows = required(drawn[np.isclose(drawn["x"], ratio)], f"{case} at ratio {ratio:g}")
    return estimates(rows, "median", "median_error")[0].log()


def _means(case: str, drawn: "pd.DataFrame") -> Iterator[Part]:
    """Means of drawn risks over the exact mean at the same N."""
    away = drawn[(drawn["x"] - 1).abs() >= AWAY - 1e-9]
    for row in required(away, f"{case} away from ratio 1").to_dict("records"):
        ratio = Estimate(row["mean"], row["mean_error"]).scaled(1 / row["exact"])
        name = f"{case}, ratio {row['x']:g}, N = {row['size']}: mean of drawn risks over exact mean"
        yield ratio.part(name, **MEANS)
