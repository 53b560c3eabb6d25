"""Claims of beyond on the NTK's off-diagonal elements: Figures 3, 7, 8 and 11, Theorem 3.3."""

from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges.beyond_diagonal import KEY, drawn
from finitewidth.claims.judges.estimates import (
    Estimate,
    at,
    estimates,
    largest,
    mean,
    required,
    smallest,
)
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import Part

if TYPE_CHECKING:
    import pandas as pd

FROM_DEPTH, TO_LAMBDA = 20, 0.3


def b12(tables: Tables) -> list[Part]:
    """At the largest depths off-diagonal over diagonal means lie in [1/4, 1]."""
    rows = drawn(tables["estimates"], "ratio")
    deepest = rows.groupby("width")["depth"].transform("max")
    parts = []
    for variance, line in rows[rows["depth"] == deepest].groupby("sigma_w2"):
        found = estimates(line, "y", "spread")
        name = f"sigma_w^2 = {variance:g}, L/M = 0.5"
        parts.append(smallest(f"{name}: smallest ratio of all widths and cosines", found, low=0.23))
        parts.append(largest(f"{name}: largest ratio of all widths and cosines", found, high=1))
    theory = tables["theory"]
    wide = theory[(theory["group"] == "ratio") & (theory["curve"] == "infinite_width")]
    wide = wide[wide["depth"] == wide["depth"].max()]
    found = [Estimate(float(value)) for value in wide["y"]]
    name = "infinite width, largest depth: {} ratio of all sigma_w^2 and cosines"
    return [
        *parts,
        smallest(name.format("smallest"), found, low=0.23),
        largest(name.format("largest"), found, high=1),
    ]


def b13(tables: Tables) -> list[Part]:
    """sigma_w^2 <= 1: the ratio rises from L = 5 to 20 and 50, where it exceeds 0.9."""
    rows = drawn(tables["estimates"], "ratio")
    parts = []
    for (width, variance), here in rows[rows["sigma_w2"] <= 1].groupby(["width", "sigma_w2"]):
        lines = [line for _, line in here.groupby("cosine")]
        found = {
            depth: [at(line, "depth", depth, "y", "spread") for line in lines]
            for depth in (5, 20, 50)
        }
        name = f"M = {width}, sigma_w^2 = {variance:g}"
        for shallow, deep in ((5, 20), (20, 50)):
            rises = [b.minus(a) for a, b in zip(found[shallow], found[deep], strict=True)]
            label = f"{name}: smallest rise of the ratio from L = {shallow} to {deep}"
            parts.append(smallest(label, rises, low=0))
        parts.append(smallest(f"{name}: smallest ratio at L = 50", found[50], low=0.9))
    return parts


def b14(tables: Tables) -> list[Part]:
    """Ordered phase, L >= 20: the ratio is not below equation 18, and within 0.03 of it."""
    rows, theory = drawn(tables["estimates"], "ratio"), tables["theory"]
    line = theory.loc[theory["curve"] == "printed", [*KEY, "cosine", "y"]]
    rows = rows.merge(line.rename(columns={"y": "printed"}), on=[*KEY, "cosine"])
    rows = rows[(rows["sigma_w2"] < 2) & (rows["depth"] >= FROM_DEPTH)]
    parts = []
    for variance, here in rows.assign(y=rows["y"] - rows["printed"]).groupby("sigma_w2"):
        found = estimates(here, "y", "spread")
        name = f"sigma_w^2 = {variance:g}: {{}} of ratio - (18), all widths, cosines and depths"
        parts.append(smallest(name.format("smallest"), found, low=-0.005))
        sizes = [Estimate(abs(gap.value), gap.error) for gap in found]
        parts.append(largest(name.format("largest size"), sizes, high=0.03))
    return parts


def b15(tables: Tables) -> list[Part]:
    """Dispersion at most 1.3 times the diagonal's, and nearly the same for all angles."""
    parts = []
    for group in ("phases", "near"):
        rows = drawn(tables["estimates"], group)
        theory = tables["theory"]
        line = theory.loc[theory["curve"] == "exact", [*KEY, "y"]]
        rows = rows.merge(line.rename(columns={"y": "diagonal"}), on=KEY)
        rows = rows[rows["x"] <= TO_LAMBDA + 1e-9]
        for (width, alpha_0, variance), here in rows.groupby(["width", "alpha_0", "sigma_w2"]):
            deepest = here[here["depth"] == here["depth"].max()].sort_values("cosine")
            name = (f"M = {width}, alpha_0 = {alpha_0:g}, sigma_w^2 = {variance:g}, "
                    f"L = {deepest['depth'].iloc[0]}")  # fmt: skip
            parts += _dispersions(name, deepest)
    return parts


def _dispersions(name: str, rows: "pd.DataFrame") -> list[Part]:
    found = estimates(required(rows, name), "y", "spread")
    over = mean(found).scaled(1 / float(rows["diagonal"].iloc[0]))
    apart = found[-1].log().minus(found[0].log())
    most = float(np.log(1.15))
    cosines = rows["cosine"].tolist()
    label = f"{name}: log dispersion at cosine {cosines[-1]:g} - at {cosines[0]:g}"
    return [
        over.part(f"{name}: mean dispersion of all cosines over the diagonal's", high=1.3),
        apart.part(label, low=-most, high=most),
    ]
