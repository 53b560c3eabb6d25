"""Claims of trust on infinitely wide networks: kappa (Figures 5 and 6) and Theorem 5.3."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges.estimates import Estimate, largest, required, smallest
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

FROM_DEPTH = 10
NAMES = {"erf": "erf", "relu": "ReLU"}


def _pairs(tables: Tables) -> Iterator[tuple[str, str, "pd.DataFrame"]]:
    """Phase, name and rows of every pair of variances; two different inputs, L >= 10."""
    rows = tables["kappa"]
    rows = required(
        rows[(rows["depth"] >= FROM_DEPTH) & (rows["covariance"] < 1)], f"depth {FROM_DEPTH}"
    )
    for key, group in rows.groupby(["activation", "phase", "sigma_w2", "sigma_b2"], sort=False):
        activation, phase, variance, bias = key
        yield phase, f"{NAMES[activation]}, {phase} ({variance:.3g}, {bias:g})", group


def _curves(group: "pd.DataFrame", column: str) -> np.ndarray:
    """(depths, covariances) of a column."""
    return group.pivot(index="depth", columns="covariance", values=column).to_numpy(float)


def t18(tables: Tables) -> list[Part]:
    """kappa_1 / kappa_2 -> 1 in the ordered phase; it grows elsewhere."""
    parts = []
    for phase, name, group in _pairs(tables):
        log_ratio = _curves(group, "log_ratio")
        if phase == "ordered":
            found = [Estimate(float(value)) for value in np.exp(log_ratio[-1])]
            parts.append(
                largest(f"{name}: largest ratio at the deepest", found, high=1.01, strict=True)
            )
        else:
            found = [Estimate(float(value)) for value in log_ratio[-1] - log_ratio[0]]
            label = f"{name}: smallest log ratio at the deepest - at L = {FROM_DEPTH}"
            parts.append(smallest(label, found, low=0, strict=True))
    return parts


def t19(tables: Tables) -> list[Part]:
    """The spread of kappa_2 over input covariances is below half its mean."""
    parts = []
    for _, name, group in _pairs(tables):
        log_kappa = _curves(group, "log_kappa_2")
        kappa = np.exp(log_kappa - log_kappa.max(axis=1, keepdims=True))
        spread = (kappa.max(axis=1) - kappa.min(axis=1)) / kappa.mean(axis=1)
        found = [Estimate(float(value)) for value in spread]
        label = f"{name}: largest (max - min) / mean over covariances, L >= {FROM_DEPTH}"
        parts.append(largest(label, found, high=0.5, strict=True))
    return parts


def t20(tables: Tables) -> list[Part]:
    """Variance of trained networks over Theorem 5.3: 1 within 5 % (constant kernel) or 30 %."""
    allowed = {"constant": 0.05, "infinite_width": 0.3}
    rows, parts = tables["solutions"], []
    for row in rows[rows["phase"] != "ordered"].itertuples():
        margin = allowed[row.kernel]
        name = (
            f"{row.kernel.replace('_', '-')} kernel, {NAMES[row.activation]}, {row.phase} "
            f"({row.sigma_w2:.3g}, {row.sigma_b2:g}), L = {row.depth}: variance over formula"
        )
        found = Estimate(float(row.ratio), float(row.error))
        parts.append(found.part(name, low=1 - margin, high=1 + margin))
    if not parts:
        raise CannotDecideError("no rows outside the ordered phase")
    return parts
