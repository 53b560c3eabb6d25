"""Claims of npf on kernels during training, Figure 3: nu, and the sizes of K^v and K^f."""

from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

RANK_CORRELATION, REMAINDER = -0.8, 0.8
SIZES = {"trace": "traces", "frobenius": "Frobenius norms"}
OURS = "the paper gives no factor; numbers of one scale are commonly within a factor of ten"


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
    """Mean over runs of the rank correlation of nu with the epoch.

    If all curves fall at every step, they have no spread. Half of the smallest possible change,
    which is that of two neighbours in the wrong order, is then taken for it.
    """
    epochs = curves.index.to_series().rank()
    found = [float(curves[seed].rank().corr(epochs)) for seed in curves]
    places = len(curves)
    return samples.mean(
        "rank correlation of nu with the epoch, mean over runs", found,
        resolution=12 / (places * (places**2 - 1)), **thresholds,
    )  # fmt: skip


def n22(tables: Tables) -> list[Part]:
    """K^v and K^f are within a factor of ten of each other at every kept epoch."""
    runs = tables["kernels"]
    if runs.empty:
        raise CannotDecideError("no kernel was measured")
    parts = []
    for size, title in SIZES.items():
        ratios = np.log10(runs[f"{size}_kv"] / runs[f"{size}_kf"])
        for epoch, group in ratios.groupby(runs["epoch"]):
            name = f"epoch {epoch}: log10 of K^v / K^f, {title}"
            parts.append(samples.mean(name, group, low=-1, high=1, ours=OURS))
    return parts
