"""Claims of beyond on limits at infinite depth and width: Theorem 3.1 and what follows from it.

Equality of a limit is judged on exact values at doubled widths, extrapolated. The paper's words set
the value, the extrapolation its numerical error. Estimates at finite width carry remainders that a
limit allows, so that thresholds for them are ours.
"""

import itertools
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.estimates import (
    Estimate,
    estimates,
    mean,
    over_printed,
    power_of,
    required,
    smallest,
)
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.papers.beyond.judges.diagonal import beside, deepest, drawn, first

if TYPE_CHECKING:
    import pandas as pd

FROM_DEPTH, TO_LAMBDA = 20, 0.3
REMAINDER = {
    "low": 0.95, "high": 1.05, "late": True,
    "ours": "the paper gives remainders as O(1/sqrt(M)) without a constant; 1/sqrt(500) is 4.5 %",
}  # fmt: skip
LOW_R = {
    "high": 1.1,
    "ours": "the paper has 1 in the limit; 1.1 is a standard deviation of 32 % of the mean",
}
NO_GROWTH = {
    "high": 0.01, "late": True,
    "ours": "the limit allows remainders of order 1/M, which is 1 % at M = 100",
}  # fmt: skip
INVERSE_WIDTH = {
    "low": -1.2, "high": -0.8, "late": True,
    "ours": "the paper names no rate; variances that vanish as 1/M give the power -1",
}  # fmt: skip


def _exact_limits(doubled: "pd.DataFrame", phase: str) -> list[Part]:
    """The limit of exact values over the printed one at each sigma_w2 and L / M of a phase."""
    rows = required(doubled[doubled["phase"] == phase], f"the {phase} phase")
    parts = []
    for (variance, lam), here in rows.groupby(["sigma_w2", "x"]):
        line = here.drop_duplicates("width").sort_values("width")
        widths = line["width"].tolist()
        if any(b != 2 * a for a, b in itertools.pairwise(widths)):
            raise CannotDecideError("widths that are not doubled")
        name = f"sigma_w^2 = {variance:g}, L/M = {lam:g}: limit of exact r over the printed limit"
        parts.append(over_printed(line["exact"].tolist(), float(line["printed"].iloc[0]), name))
    return parts


def _over_limit(rows: "pd.DataFrame") -> list[Estimate]:
    limit = rows["printed_limit"]
    ratios = rows.assign(y=rows["y"] / limit, spread=rows["spread"] / limit)
    return estimates(ratios, "y", "spread")


def _measured(tables: Tables, phase: str) -> list[Part]:
    """Estimates at the largest width over the printed limit."""
    rows = beside(drawn(tables["estimates"], "phases"), tables["theory"], "printed_limit")
    inside = rows["sigma_w2"] > 2 if phase == "chaotic" else rows["sigma_w2"] == 2
    rows = rows[inside & (rows["width"] == rows["width"].max()) & (rows["depth"] >= FROM_DEPTH)]
    rows = required(rows, f"the {phase} phase")
    parts = []
    for (width, variance), line in rows.groupby(["width", "sigma_w2"]):
        name = f"M = {width}, sigma_w^2 = {variance:g}"
        near = mean(_over_limit(line[line["x"] <= TO_LAMBDA + 1e-9]))
        label = f"{name}: mean of r over printed limit, L >= {FROM_DEPTH}, L/M <= {TO_LAMBDA}"
        parts.append(near.part(label, **REMAINDER))
        last = _over_limit(line[line["depth"] == line["depth"].max()])[0]
        parts.append(last.part(f"{name}: r over printed limit at L/M = 0.5", **REMAINDER))
    return parts


def b01(tables: Tables) -> list[Part]:
    """Chaotic phase: equation 8, whatever sigma_w^2."""
    parts = [*_exact_limits(tables["doubled"], "chaotic"), *_measured(tables, "chaotic")]
    rows = drawn(tables["estimates"], "phases")
    rows = rows[(rows["width"] == rows["width"].max()) & (rows["depth"] >= FROM_DEPTH)]
    rows = rows[rows["x"] <= TO_LAMBDA + 1e-9]
    variances = sorted(v for v in rows["sigma_w2"].unique() if v > 2)
    if len(variances) < 2:
        raise CannotDecideError("fewer than two chaotic weight variances")
    lowest, *others = (
        (v, estimates(rows[rows["sigma_w2"] == v].sort_values("depth"), "y", "spread"))
        for v in variances
    )
    for variance, found in others:
        ratio = mean([b.over(a) for a, b in zip(lowest[1], found, strict=True)])
        name = f"mean of r at sigma_w^2 = {variance:g} over r at {lowest[0]:g}, same depths"
        parts.append(ratio.part(name, **REMAINDER))
    return parts


def b02(tables: Tables) -> list[Part]:
    """Edge of chaos: equation 9 with alpha_0 = 1."""
    return [*_exact_limits(tables["doubled"], "critical"), *_measured(tables, "critical")]


def b03(tables: Tables) -> list[Part]:
    """Ordered phase: r is 1 in the limit, and does not grow with depth as at the edge."""
    parts = _exact_limits(tables["doubled"], "ordered")
    exact = _exact(tables["theory"])
    edge = required(exact[exact["sigma_w2"] == 2], "sigma_w^2 = 2")
    ordered = required(exact[exact["sigma_w2"] < 2], "sigma_w^2 < 2")
    for (variance, width), line in ordered.groupby(["sigma_w2", "width"]):
        more = _growth(line).minus(_growth(edge[edge["width"] == width]))
        name = f"sigma_w^2 = {variance:g}, M = {width}, exact: rise of log r from L = {FROM_DEPTH}"
        parts.append(more.part(f"{name} on - that at sigma_w^2 = 2", high=0, paper=True))
    return [*parts, *_low_dispersions(drawn(tables["estimates"], "phases"))]


def _low_dispersions(rows: "pd.DataFrame") -> list[Part]:
    """Measured r of ordered networks away from the edge: its size, its growth, and its power of M.

    Raises:
        CannotDecideError: there are no such networks of two widths.
    """
    parts = []
    rows = required(rows[rows["sigma_w2"] <= 1.5], "sigma_w^2 up to 1.5")
    for variance, phase in rows.groupby("sigma_w2"):
        widths = sorted(phase["width"].unique())
        if len(widths) < 2:
            raise CannotDecideError("one width does not show how r falls with it")
        ends = []
        for width in widths:
            line = phase[phase["width"] == width]
            name = f"sigma_w^2 = {variance:g}, M = {width}"
            ends.append(deepest(line))
            parts.append(ends[-1].part(f"{name}: r at L/M = 0.5", **LOW_R))
            label = f"{name}: rise of log r from L = {FROM_DEPTH} on"
            parts.append(_growth(line).part(label, **NO_GROWTH))
        power = power_of(widths, [end.shifted(-1) for end in ends])
        label = f"sigma_w^2 = {variance:g}: power of M with which r - 1 changes at L/M = 0.5"
        parts.append(power.part(label, **INVERSE_WIDTH))
    return parts


def _exact(theory: "pd.DataFrame") -> "pd.DataFrame":
    """The exact values of the networks of Figure 1."""
    inside = theory[(theory["group"] == "phases") & (theory["curve"] == "exact")]
    return required(inside.assign(spread=0.0), "exact values")


def _growth(line: "pd.DataFrame") -> Estimate:
    """Rise of log r from the first depth of at least 20 to the largest."""
    ordered = line.sort_values("depth")
    start = first(required(ordered[ordered["depth"] >= FROM_DEPTH], f"depth {FROM_DEPTH}"))
    return deepest(line).log().minus(start.log())


def b04(tables: Tables) -> list[Part]:
    """The dispersion grows slower at the edge of chaos than in the chaotic phase."""
    limits, parts = tables["limits"], []
    for form in ("printed", "corrected"):
        here = limits[(limits["form"] == form) & (limits["x"] > 0)]
        chaotic = here[here["phase"] == "chaotic"].set_index("x")["y"]
        edge = here[here["phase"] == "critical"]
        gaps = np.log(chaotic.reindex(edge["x"]).to_numpy() / edge["y"].to_numpy())
        found = [Estimate(float(gap)) for gap in gaps]
        name = f"{form} limits: smallest log (chaotic / edge of chaos), all L/M and alpha_0"
        parts.append(smallest(name, found, low=0, strict=True, paper=True))
    exact = _exact(tables["theory"])
    for width, here in exact.groupby("width"):
        edge, chaotic = (here[here["sigma_w2"] == 2], here[here["sigma_w2"] > 2])
        for variance, line in chaotic.groupby("sigma_w2"):
            gap = deepest(line).log().minus(deepest(required(edge, "sigma_w^2 = 2")).log())
            name = f"M = {width}, L/M = 0.5, exact: log r at sigma_w^2 = {variance:g} - at 2"
            parts.append(gap.part(name, low=0, strict=True, paper=True))
    return parts
