"""Claims of npf on nu over time: Figure 3, middle."""

import math
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

RANK_CORRELATION, REMAINDER = -0.8, 0.8


def n21(tables: Tables) -> list[Part]:
    """It falls: in rank with the epochs, and to less than 0.8 of what it was.

    Runs that diverged, and so have no nu at some epoch, are left out.
    """
    curves = tables["runs"].pivot(index="epoch", columns="seed", values="nu").sort_index()
    curves = curves.astype(float).dropna(axis="columns")
    if curves.shape[1] < 2:
        raise CannotDecideError("nu of fewer than two runs")
    remainders = curves.iloc[-1] / curves.iloc[0]
    return [
        _rank_correlation(curves),
        samples.mean("nu at the end over nu at the start", remainders, high=REMAINDER),
    ]


def _rank_correlation(curves: "pd.DataFrame") -> Part:
    """Of the mean curve with the epoch; its error by leaving out one run at a time (jackknife).

    Curves that all fall at every step show no spread: the error is half of what the least change,
    two neighbours in the wrong order, would make.
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
        high=RANK_CORRELATION, standard_error=error, dof=count - 1,
    )  # fmt: skip
