"""Claims of trust on infinitely wide networks: kappa (Figures 5 and 6) and Theorem 5.3."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.claims.estimates import ABOVE, BELOW, Estimate, exactly, largest, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import Part

SHALLOW, FROM_DEPTH = 2, 10  # layers; the planned rules begin at 10
SMALL, SMALL_FROM = 0.5, 20  # spread of kappa_2 over its mean; depth from which it holds
RANGE = "(max - min) / mean over covariances"
NAMES = {"erf": "erf", "relu": "ReLU"}

LIMITS = "the paper argues with limits for large depth; its figure does not say where depths begin"
WHY_EVERY = "the paper speaks of the mean of kappa_2 over the data; this is every pair of inputs"
WHY_NEAR_ONE = "the paper says tends to 1; within 1 % of it counts as there"
WHY_SMALL = "the paper says small compared with the mean; here at most half of it"
WHY_ABOUT = "the theorem says approximately, and gives no measure of it"
DRAWN = "the variance of the draws is known to 5 %"
WHY_WORSE = "the theorem assumes a well-conditioned kernel, and says nothing on others"


def _pairs(
    tables: Tables, first: int = FROM_DEPTH, last: int | None = None
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Phase, name and rows of every pair of variances; two different inputs, depths in a range."""
    rows = tables["kappa"]
    inside = (rows["depth"] >= first) & (rows["depth"] <= (last or rows["depth"].max()))
    rows = required(rows[inside & (rows["covariance"] < 1)], f"depth {first}")
    for key, group in rows.groupby(["activation", "phase", "sigma_w2", "sigma_b2"], sort=False):
        activation, phase, variance, bias = key
        yield phase, f"{NAMES[activation]}, {phase} ({variance:.3g}, {bias:g})", group


def _curves(group: pd.DataFrame, column: str) -> np.ndarray:
    return group.pivot(index="depth", columns="covariance", values=column).to_numpy(float)


def _mean_ratio(group: pd.DataFrame) -> np.ndarray:
    """Logarithm of kappa_1 over the mean of kappa_2 over covariances, (depths,)."""
    return -np.log(np.exp(-_curves(group, "log_ratio")).mean(axis=1))


def t18(tables: Tables) -> Iterator[Part]:
    """kappa_1 / mean kappa_2 tends to 1 in the ordered phase; it grows elsewhere."""
    for phase, name, group in _pairs(tables):
        log_ratio, ratio = _curves(group, "log_ratio"), _mean_ratio(group)
        gained = Estimate(float(ratio[-1] - ratio[0]))
        label = f"{name}: log of kappa_1 / mean kappa_2, deepest - L = {FROM_DEPTH}"
        yield gained.part(label, **(BELOW if phase == "ordered" else ABOVE))
        if phase == "ordered":
            ratios, label = exactly(np.exp(log_ratio[-1])), f"{name}: largest ratio at the deepest"
            yield largest(label, ratios, high=1.01, strict=True, ours=WHY_NEAR_ONE)
        else:
            least = Estimate(float((log_ratio[-1] - log_ratio[0]).min()))
            label = f"{name}: smallest over covariances of log ratio, deepest - L = {FROM_DEPTH}"
            yield least.part(label, low=0, strict=True, ours=WHY_EVERY)
    for phase, name, group in _pairs(tables, SHALLOW):
        if phase != "ordered":  # growth over the first layers
            depths = np.sort(group["depth"].unique()).tolist()
            ratio = _mean_ratio(group)
            gained = Estimate(float(ratio[depths.index(FROM_DEPTH)] - ratio[0]))
            label = f"{name}: log of kappa_1 / mean kappa_2, L = {FROM_DEPTH} - {depths[0]}"
            yield gained.part(label, outside=LIMITS, **ABOVE)


def t19(tables: Tables) -> Iterator[Part]:
    """What the covariance changes in kappa_2 is below the mean of kappa_2, and falls with depth."""
    for _, name, group in _pairs(tables):
        share, spread = _changes(group)
        label = f"{name}: largest |kappa_2 - mean| / mean, L >= {FROM_DEPTH}"
        yield largest(label, share, high=1, strict=True, paper=True)
        label = f"{name}: {RANGE}, deepest - L = {FROM_DEPTH}"
        yield spread[-1].minus(spread[0]).part(label, **BELOW)
        label = f"{name}: {RANGE}, largest for L >= {FROM_DEPTH}"
        yield largest(label, spread, high=SMALL, strict=True, ours=WHY_SMALL)
    for _, name, group in _pairs(tables, SMALL_FROM):
        _, spread = _changes(group)
        label = f"{name}: {RANGE}, largest for L >= {SMALL_FROM}"
        yield largest(label, spread, high=SMALL, strict=True, ours=WHY_SMALL, late=True)
    for _, name, group in _pairs(tables, SHALLOW, FROM_DEPTH - 1):
        share, _ = _changes(group)
        label = f"{name}: largest |kappa_2 - mean| / mean, L = {SHALLOW} to {FROM_DEPTH - 1}"
        yield largest(label, share, high=1, strict=True, paper=True, outside=LIMITS)


def _changes(group: pd.DataFrame) -> tuple[list[Estimate], list[Estimate]]:
    """By depth: largest distance of kappa_2 from its mean over covariances, and range, over it."""
    log_kappa = _curves(group, "log_kappa_2")
    kappa = np.exp(log_kappa - log_kappa.max(axis=1, keepdims=True))
    mean = kappa.mean(axis=1, keepdims=True)
    share = (np.abs(kappa - mean) / mean).max(axis=1)
    return exactly(share), exactly((kappa.max(axis=1) - kappa.min(axis=1)) / mean[:, 0])


def t20(tables: Tables) -> Iterator[Part]:
    """Variance of trained networks over Theorem 5.3 is 1, for its own kernel and real ones."""
    rows = tables["solutions"]
    others = required(rows[rows["phase"] != "ordered"], "networks outside the ordered phase")
    for row in others.itertuples():
        label = f"{row.kernel.replace('_', '-')} kernel, {_case(row)}: variance over formula"
        found = Estimate(float(row.ratio), float(row.error))
        if row.kernel == "constant":
            yield found.part(label, low=0.95, high=1.05, paper=True, tolerance=DRAWN)
        else:
            yield found.part(label, low=0.7, high=1.3, ours=WHY_ABOUT)
    # the formula is farther off for the ill-conditioned kernels of the ordered phase
    rows = rows[(rows["kernel"] == "infinite_width") & (rows["depth"] == rows["depth"].max())]
    for activation, group in rows.groupby("activation", sort=False):
        ordered = required(group[group["phase"] == "ordered"], f"the ordered phase, {activation}")
        most = _off(ordered.iloc[0])
        for row in group[group["phase"] != "ordered"].itertuples():
            less = _off(row).minus(most)
            label = f"infinite-width kernel, {_case(row)}: |variance/formula - 1| - ordered one's"
            yield less.part(label, high=0, strict=True, ours=WHY_WORSE, late=True)


def _case(row: Any) -> str:
    pair = f"({row.sigma_w2:.3g}, {row.sigma_b2:g})"
    return f"{NAMES[row.activation]}, {row.phase} {pair}, L = {row.depth}"


def _off(row: Any) -> Estimate:
    return Estimate(abs(float(row.ratio) - 1), float(row.error))


def kappa_ratio(tables: Tables) -> list[Ours]:
    """The largest ratio in the ordered phase at the largest depth."""
    rows = tables["kappa"]
    rows = rows[(rows["phase"] == "ordered") & (rows["depth"] == rows["depth"].max())]
    value = float(np.exp(required(rows, "the ordered phase")["log_ratio"].max()))
    return [Ours(row="ordered", column="limit", value=value)]
