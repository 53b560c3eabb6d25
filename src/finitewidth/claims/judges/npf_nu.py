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
    """The value of nu falls: in its ranks over the epochs, and to less than 0.8 of its first value.

    Runs that diverged have no nu at some epoch and are left out.
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
        high=RANK_CORRELATION, standard_error=error, dof=count - 1,
    )  # fmt: skip
