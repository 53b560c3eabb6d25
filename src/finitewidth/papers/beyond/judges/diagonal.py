"""Claims of beyond on r of the NTK's diagonal at finite width: Figures 2 and 6, Theorem 3.2."""

from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.estimates import Estimate, estimates, required, smallest
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import Part

if TYPE_CHECKING:
    import pandas as pd

KEY = ["group", "width", "alpha_0", "sigma_w2", "depth"]
FROM_DEPTH = 20
ACCURATE = {
    "high": 0.1, "late": True,
    "ours": "the paper says that the sums describe networks accurately; 0.1 is about 10 %",
}  # fmt: skip
SHAPES_FROM_DEPTH = 50
NOT_SHALLOW = {
    "paper": True,
    "cut": "growing ones have their peak at what the paper calls relatively shallow; 50 is ours",
}  # fmt: skip
FORMS = {"printed_sums": "Theorem 3.2", "exact": "exact"}


def drawn(rows: "pd.DataFrame", group: str) -> "pd.DataFrame":
    """The estimates of a group; those from many draws if there are some."""
    inside = rows[rows["group"] == group]
    many = inside[inside["sample"] == "many"]
    return required(many if len(many) else inside, f"the group {group}")


def beside(
    rows: "pd.DataFrame", theory: "pd.DataFrame", *curves: str, more: tuple[str, ...] = ()
) -> "pd.DataFrame":
    """Rows with a column for each of the curves, at the same networks and columns ``more``."""
    key = [*KEY, *more]
    for curve in curves:
        line = theory.loc[theory["curve"] == curve, [*key, "y"]].rename(columns={"y": curve})
        rows = rows.merge(line, on=key)
    return rows


def first(rows: "pd.DataFrame") -> Estimate:
    """The estimate of the first row."""
    return Estimate(float(rows["y"].iloc[0]), float(rows["spread"].iloc[0]))


def deepest(rows: "pd.DataFrame") -> Estimate:
    """The estimate at the largest depth."""
    return first(rows[rows["depth"] == rows["depth"].max()])


def ends(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The rows at the largest depth of each width."""
    return rows[rows["depth"] == rows.groupby("width")["depth"].transform("max")]


def b07(tables: Tables) -> list[Part]:
    """Near the edge of chaos Theorem 3.2 describes networks better than Theorem 3.1."""
    rows = drawn(tables["estimates"], "near")
    rows = beside(rows, tables["theory"], "printed_limit", "printed_sums")
    parts = []
    for alpha_0, line in rows[rows["depth"] >= FROM_DEPTH].groupby("alpha_0"):
        errors = np.log(line["y"].to_numpy()[:, None] / line[["printed_sums", "printed_limit"]])
        signs, misses = np.sign(errors).to_numpy(), np.abs(errors).to_numpy()
        relative = line["spread"] / line["y"]
        # depths and variances share draws, so that their errors may all have the same sign
        weights = np.abs(signs[:, 0] - signs[:, 1]) * relative
        found = Estimate(float((misses[:, 0] - misses[:, 1]).mean()), float(weights.mean()))
        name = f"alpha_0 = {alpha_0:g}: mean |log r / sums| - mean |log r / limit|"
        parts.append(found.part(name, high=0, paper=True))
        size = Estimate(float(misses[:, 0].mean()), float(relative.mean()))
        parts.append(size.part(f"alpha_0 = {alpha_0:g}: mean |log r / sums|", **ACCURATE))
    return parts


def b08(tables: Tables) -> list[Part]:
    """At one depth r rises with sigma_w^2 from the ordered phase to the edge."""
    rows, parts = drawn(tables["estimates"], "near"), []
    rows = required(rows[rows["sigma_w2"] <= 2], "sigma_w^2 up to 2")
    for alpha_0, here in rows.groupby("alpha_0"):
        depths = np.sort(here["depth"].unique())
        for depth in {depths[len(depths) // 2], depths[-1]}:
            at_depth = here[here["depth"] == depth].sort_values("sigma_w2")
            variances, found = at_depth["sigma_w2"].tolist(), estimates(at_depth, "y", "spread")
            for place in range(1, len(found)):
                name = f"alpha_0 = {alpha_0:g}, L = {depth}: r at sigma_w^2 = "
                name += f"{variances[place]:g} - at {variances[place - 1]:g}"
                rise = found[place].minus(found[place - 1])
                parts.append(rise.part(name, low=0, paper=True))
    return parts


def b09(tables: Tables) -> list[Part]:
    """n_0 < M: r of ordered networks has a peak inside and is lower at the deepest."""
    rows = beside(drawn(tables["estimates"], "near"), tables["theory"], "exact")
    rows = rows[(rows["alpha_0"] < 1) & (rows["sigma_w2"] < 2)]
    parts = []
    for (alpha_0, variance), line in rows.groupby(["alpha_0", "sigma_w2"]):
        peak = required(line[line["exact"] == line["exact"].max()], "exact values")
        depth = int(peak["depth"].iloc[0])
        limits = int(line["depth"].min()), int(line["depth"].max())
        name = f"alpha_0 = {alpha_0:g}, sigma_w^2 = {variance:g}"
        inside = {"low": limits[0], "high": limits[1], "strict": True, "paper": True}
        parts.append(Estimate(depth).part(f"{name}: depth of the peak, inside the range", **inside))
        for other in limits:
            gap = first(peak).minus(first(line[line["depth"] == other]))
            label = f"{name}: r at its peak, L = {depth}, - at L = {other}"
            parts.append(gap.part(label, low=0, paper=True))
    return parts


def b10(tables: Tables) -> list[Part]:
    """Growing networks below the others, the deepest at least; shrinking ones only rise with depth.

    The paper reads this off the sums of Theorem 3.2; the exact values stand beside them.
    """
    rows = tables["architectures"]
    parts = []
    for (curve, variance), here in rows.groupby(["curve", "sigma_w2"]):
        lines = here.pivot(index="depth", columns="architecture", values="y").sort_index()
        deep = np.log(lines[lines.index >= SHAPES_FROM_DEPTH])
        case = f"{FORMS[curve]}, sigma_w^2 = {variance:g}"
        for other in ("constant", "shrinking"):
            gaps = [Estimate(float(gap)) for gap in deep[other] - deep["growing"]]
            name = f"{case}, L >= {SHAPES_FROM_DEPTH}: smallest log r ({other}) - (growing)"
            parts.append(smallest(name, gaps, low=0, strict=True, **NOT_SHALLOW))
            name = f"{case}, largest depth: log r ({other}) - (growing)"
            parts.append(gaps[-1].part(name, low=0, strict=True, paper=True))
        rises = [Estimate(float(rise)) for rise in np.diff(np.log(lines["shrinking"]))]
        name = f"{case}, shrinking: smallest rise of log r from depth to depth"
        parts.append(smallest(name, rises, low=0, paper=True))
    return parts
