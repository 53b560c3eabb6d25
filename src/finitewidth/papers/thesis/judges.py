"""Claims of the thesis on linear regression: Theorems 2.4 and 2.5, and the remark below."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims import estimates
from finitewidth.claims.estimates import Estimate, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts

if TYPE_CHECKING:
    import pandas as pd

AWAY = 0.25  # distance from ratio 1 from which on drawn means are compared
BESIDE = (0.5, 2.0)  # ratios that the peak is compared with
MEANS: PartFacts = {
    "low": 0.95,
    "high": 1.05,
    "late": True,
    "ours": "the paper states a limit, not how near to it finite N are; means of 200 draws have "
    "errors of up to 1 %",
}
REACHED: PartFacts = {
    "high": 1e-6,
    "ours": "the theorem speaks of a limit; 1e-6 is far above rounding and above what the number "
    "of steps leaves",
}


def h01(tables: Tables) -> Iterator[Part]:
    """Gradient descent finds the solution of least norm, whose risk tends to (2.46)."""
    yield from _limits_of_means(tables["doubled"])
    yield from _drawn_means(tables["drawn"])
    distances = estimates.exactly(required(tables["descent"], "gradient descent")["distance"])
    name = "gradient descent: largest relative distance from the pseudoinverse's weights"
    yield estimates.largest(name, distances, **REACHED)


def _limits_of_means(doubled: "pd.DataFrame") -> Iterator[Part]:
    """Limits of the exact mean at doubled N, over (2.46) with its sign corrected (thesis-4)."""
    for (case, ratio), rows in required(doubled, "exact means").groupby(["case", "x"], sort=False):
        rows = rows.sort_values("size")
        limit = float(rows["limit"].iloc[0])
        name = f"{case}, ratio {ratio:g}: limit of the exact mean risk over (2.46), corrected"
        yield estimates.over_printed(rows["exact"].tolist(), limit, name)


def _drawn_means(drawn: "pd.DataFrame") -> Iterator[Part]:
    """Means of drawn risks over the exact means, away from the ratio 1."""
    for number, (case, rows) in enumerate(_cases(drawn, "drawn risks")):
        away = rows[(rows["x"] - 1).abs() >= AWAY - 1e-9]
        if number > 0:
            # below the ratio 1 the risk is a multiple of sigma^2, so that one case shows all
            away = away[away["x"] > 1]
        for row in required(away, f"{case} away from ratio 1").to_dict("records"):
            ratio = Estimate(row["mean"], row["mean_error"]).scaled(1 / row["exact"])
            name = f"{case}, ratio {row['x']:g}, N = {row['size']}"
            yield ratio.part(f"{name}: mean of drawn risks over exact mean", **MEANS)


def h02(tables: Tables) -> Iterator[Part]:
    """The risk rises with the number of parameters up to that of samples, and falls from there."""
    for case, curves in _cases(tables["curves"], "limits"):
        yield from _order(case, curves[curves["curve"] == "corrected"].sort_values("x"))
    # the median at the ratio 1, where no mean exists, against those below and above
    for case, drawn in _cases(tables["drawn"], "drawn risks"):
        top = _median(case, drawn, 1.0)
        for ratio in BESIDE:
            name = f"{case}: log of the median risk at ratio 1 - at {ratio:g}"
            yield top.minus(_median(case, drawn, ratio)).part(name, **estimates.ABOVE)


def _cases(rows: "pd.DataFrame", description: str) -> Iterator[tuple[str, "pd.DataFrame"]]:
    yield from required(rows, description).groupby("case", sort=False)


def _order(case: str, rows: "pd.DataFrame") -> Iterator[Part]:
    """The corrected limit rises with the ratio below 1, and falls above."""
    for side, change, sign in (("below", "smallest", 1), ("above", "largest", -1)):
        on_side = rows[sign * (1 - rows["x"]) > 0]
        values = sign * on_side["y"].to_numpy(float)  # rise on both sides, if the claim holds
        if len(values) < 2:
            raise CannotDecideError(f"fewer than two ratios {side} 1")
        # the smallest rise starts at the highest value so far; of a fall this is the lowest
        rises = values[1:] - np.maximum.accumulate(values)[:-1]
        name = f"{case}, ratios {side} 1: {change} rise of the limit from one ratio to a later one"
        threshold = estimates.ABOVE if sign > 0 else estimates.BELOW
        yield Estimate(sign * float(rises.min())).part(name, **threshold)


def _median(case: str, drawn: "pd.DataFrame", ratio: float) -> Estimate:
    rows = required(drawn[np.isclose(drawn["x"], ratio)], f"{case} at ratio {ratio:g}")
    return estimates.estimates(rows, "median", "median_error")[0].log()
