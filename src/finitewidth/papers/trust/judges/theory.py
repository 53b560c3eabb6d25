"""Claims of trust on infinitely wide networks: kappa (Figures 5 and 6) and Theorem 5.3."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.claims.estimates import ABOVE, BELOW, Estimate, exactly, largest, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import Part, PartFacts

SHALLOW = 2  # layers
FROM_DEPTH = 10  # layers at which the planned rules begin
SMALL = 0.5  # largest range of kappa_2 over its mean that counts as small
SMALL_FROM = 20  # layers from which on it is
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
    if last is None:
        last = rows["depth"].max()
    different = rows["covariance"] < 1
    rows = required(rows[rows["depth"].between(first, last) & different], f"depth {first}")
    for key, group in rows.groupby(["activation", "phase", "sigma_w2", "sigma_b2"], sort=False):
        activation, phase, variance, bias = key
        yield phase, f"{NAMES[activation]}, {phase} ({variance:.3g}, {bias:g})", group


def _curves(group: pd.DataFrame, column: str) -> np.ndarray:
    """A column by depth and covariance, (depths, covariances)."""
    return group.pivot(index="depth", columns="covariance", values=column).to_numpy(float)


def _mean_ratio(group: pd.DataFrame) -> np.ndarray:
    """Logarithm of kappa_1 over the mean of kappa_2 over covariances, (depths,)."""
    kappa_2 = np.exp(-_curves(group, "log_ratio"))  # over kappa_1
    return -np.log(kappa_2.mean(axis=1))


def t18(tables: Tables) -> Iterator[Part]:
    """kappa_1 / mean kappa_2 tends to 1 in the ordered phase; it grows elsewhere."""
    for phase, name, group in _pairs(tables):
        ordered = phase == "ordered"
        log_ratio = _curves(group, "log_ratio")
        mean_ratio = _mean_ratio(group)
        gain = Estimate(float(mean_ratio[-1] - mean_ratio[0]))
        label = f"{name}: log of kappa_1 / mean kappa_2, deepest - L = {FROM_DEPTH}"
        yield gain.part(label, **(BELOW if ordered else ABOVE))
        if ordered:
            ratios = exactly(np.exp(log_ratio[-1]))
            label = f"{name}: largest ratio at the deepest"
            yield largest(label, ratios, high=1.01, strict=True, ours=WHY_NEAR_ONE)
        else:
            least = Estimate(float((log_ratio[-1] - log_ratio[0]).min()))
            label = f"{name}: smallest over covariances of log ratio, deepest - L = {FROM_DEPTH}"
            yield least.part(label, low=0, strict=True, ours=WHY_EVERY)
    for phase, name, group in _pairs(tables, SHALLOW):
        if phase != "ordered":
            yield _early_growth(name, group)


def _early_growth(name: str, group: pd.DataFrame) -> Part:
    """Growth of kappa_1 / mean kappa_2 over the first layers."""
    depths = np.sort(group["depth"].unique()).tolist()
    mean_ratio = _mean_ratio(group)
    gain = Estimate(float(mean_ratio[depths.index(FROM_DEPTH)] - mean_ratio[0]))
    label = f"{name}: log of kappa_1 / mean kappa_2, L = {FROM_DEPTH} - {depths[0]}"
    facts: PartFacts = {**ABOVE, "outside": LIMITS}
    return gain.part(label, **facts)


def t19(tables: Tables) -> Iterator[Part]:
    """What the covariance changes in kappa_2 is below the mean of kappa_2, and falls with depth."""
    for _, name, group in _pairs(tables):
        changes, ranges = _changes(group)
        label = f"{name}: largest |kappa_2 - mean| / mean, L >= {FROM_DEPTH}"
        yield largest(label, changes, high=1, strict=True, paper=True)
        label = f"{name}: {RANGE}, deepest - L = {FROM_DEPTH}"
        yield ranges[-1].minus(ranges[0]).part(label, **BELOW)
        label = f"{name}: {RANGE}, largest for L >= {FROM_DEPTH}"
        yield largest(label, ranges, high=SMALL, strict=True, ours=WHY_SMALL)
    for _, name, group in _pairs(tables, SMALL_FROM):
        _, ranges = _changes(group)
        label = f"{name}: {RANGE}, largest for L >= {SMALL_FROM}"
        yield largest(label, ranges, high=SMALL, strict=True, ours=WHY_SMALL, late=True)
    for _, name, group in _pairs(tables, SHALLOW, FROM_DEPTH - 1):
        changes, _ = _changes(group)
        label = f"{name}: largest |kappa_2 - mean| / mean, L = {SHALLOW} to {FROM_DEPTH - 1}"
        yield largest(label, changes, high=1, strict=True, paper=True, outside=LIMITS)


def _changes(group: pd.DataFrame) -> tuple[list[Estimate], list[Estimate]]:
    """Largest |kappa_2 - mean| / mean, and (max - min) / mean, over covariances; by depth."""
    log_kappa = _curves(group, "log_kappa_2")  # (depths, covariances)
    # a common factor of each depth drops out
    kappa = np.exp(log_kappa - log_kappa.max(axis=1, keepdims=True))
    mean = kappa.mean(axis=1, keepdims=True)
    changes = (np.abs(kappa - mean) / mean).max(axis=1)
    ranges = (kappa.max(axis=1) - kappa.min(axis=1)) / mean[:, 0]
    return exactly(changes), exactly(ranges)


def t20(tables: Tables) -> Iterator[Part]:
    """Variance of trained networks over Theorem 5.3 is 1, for its own kernel and real ones."""
    rows = tables["solutions"]
    others = required(rows[rows["phase"] != "ordered"], "networks outside the ordered phase")
    for row in others.itertuples():
        label = f"{row.kernel.replace('_', '-')} kernel, {_case(row)}: variance over formula"
        ratio = Estimate(float(row.ratio), float(row.error))
        if row.kernel == "constant":
            yield ratio.part(label, low=0.95, high=1.05, paper=True, tolerance=DRAWN)
        else:
            yield ratio.part(label, low=0.7, high=1.3, ours=WHY_ABOUT)
    # the formula is farther off for the ill-conditioned kernels of the ordered phase
    deepest = rows["depth"] == rows["depth"].max()
    rows = rows[(rows["kernel"] == "infinite_width") & deepest]
    for activation, group in rows.groupby("activation", sort=False):
        in_phase = group["phase"] == "ordered"
        ordered = required(group[in_phase], f"the ordered phase, {activation}")
        ordered_distance = _distance(ordered.iloc[0])
        for row in group[~in_phase].itertuples():
            nearer = _distance(row).minus(ordered_distance)
            label = f"infinite-width kernel, {_case(row)}: |variance/formula - 1| - ordered one's"
            yield nearer.part(label, high=0, strict=True, ours=WHY_WORSE, late=True)


def _case(row: Any) -> str:
    """Activation, phase, variances and depth of a row in words."""
    pair = f"({row.sigma_w2:.3g}, {row.sigma_b2:g})"
    return f"{NAMES[row.activation]}, {row.phase} {pair}, L = {row.depth}"


def _distance(row: Any) -> Estimate:
    """|variance / formula - 1| of a row."""
    return Estimate(abs(float(row.ratio) - 1), float(row.error))


def kappa_ratio(tables: Tables) -> list[Ours]:
    """The largest ratio in the ordered phase at the largest depth."""
    rows = tables["kappa"]
    deepest = rows["depth"] == rows["depth"].max()
    ordered = required(rows[deepest & (rows["phase"] == "ordered")], "the ordered phase")
    value = float(np.exp(ordered["log_ratio"].max()))
    return [Ours(row="ordered", column="limit", value=value)]
