"""Claims of npf on nu over time: Figure 3, middle."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

RANK_CORRELATION, REMAINDER = -0.8, 0.8


def n21(tables: Tables) -> list[Part]:
    """The value of nu falls: in its ranks over the epochs, and from the first value to the last.

    Both are compared with no change, which is the paper's, and with a clear fall, which is ours.
    Runs that diverged have no nu at some epoch and are left out.
    """
    curves = tables["runs"].pivot(index="epoch", columns="seed", values="nu").sort_index()
    curves = curves.astype(float).dropna(axis="columns")
    if curves.shape[1] < 2:
        raise CannotDecideError("nu of fewer than two runs")
    remainders = curves.iloc[-1] / curves.iloc[0]
    name = "nu at the end over nu at the start"
    return [
        _rank_correlation(curves, high=0, paper=True),
        _rank_correlation(
            curves, high=RANK_CORRELATION,
            ours="the paper gives no rate; at -0.8 nu falls during most of the training",
        ),
        samples.mean(name, remainders, high=1, paper=True),
        samples.mean(
            name, remainders, high=REMAINDER,
            ours="the paper gives no factor; a fifth is more than nu changes between two epochs",
        ),
    ]  # fmt: skip


def _rank_correlation(curves: "pd.DataFrame", **thresholds: Any) -> Part:
    """Rank correlation of the mean curve with the epoch; its error is by jackknife over runs.

    If all curves fall at every step, the jackknife has no spread. The error is then half of the
    smallest possible change, which is that of two neighbours in the wrong order.
    """

    def correlation(some: "pd.DataFrame") -> float:
        return float(some.mean(axis=1).rank().corr(some.index.to_series().rank()))

    count = curves.shape[1]
    without = np.array([correlation(curves.drop(columns=seed)) for seed in curves])
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    places = len(curves)
    error = max(error, 6 / (places * (places**2 - 1)))
    return Part(
        name="rank correlation of mean nu with the epoch", value=correlation(curves),
        standard_error=error, dof=count - 1, **thresholds,
    )  # fmt: skip
