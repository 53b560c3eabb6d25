"""Claims of beyond on the dispersion r of the NTK's diagonal: Figures 1, 2, 5, 6, Theorem 3.1."""

from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges.estimates import (
    Estimate,
    estimates,
    in_the_limit,
    mean,
    power_of,
    required,
    smallest,
)
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

KEY = ["group", "width", "alpha_0", "sigma_w2", "depth"]
REMAINDER = 0.05  # of a limit at M = 500, whose remainder the paper gives as O(1 / sqrt(M))
FROM_DEPTH, TO_LAMBDA = 20, 0.3


def drawn(rows: "pd.DataFrame", group: str) -> "pd.DataFrame":
    """The estimates of a group; those from many draws if there are some."""
    inside = rows[rows["group"] == group]
    many = inside[inside["sample"] == "many"]
    return required(many if len(many) else inside, f"the group {group}")


def beside(rows: "pd.DataFrame", theory: "pd.DataFrame", *curves: str) -> "pd.DataFrame":
    """Rows with a column for each of the curves, at the same networks."""
    for curve in curves:
        line = theory.loc[theory["curve"] == curve, [*KEY, "y"]].rename(columns={"y": curve})
        rows = rows.merge(line, on=KEY)
    return rows


def _row(rows: "pd.DataFrame") -> Estimate:
    return Estimate(float(rows["y"].iloc[0]), float(rows["spread"].iloc[0]))


def _deepest(rows: "pd.DataFrame") -> Estimate:
    return _row(rows[rows["depth"] == rows["depth"].max()])


def _over(rows: "pd.DataFrame", curve: str) -> list[Estimate]:
    ratios = rows.assign(y=rows["y"] / rows[curve], spread=rows["spread"] / rows[curve])
    return estimates(ratios, "y", "spread")


def _limit_parts(tables: Tables, phase: str) -> list[Part]:
    """Values at the largest width, and exact values at several widths, over a printed limit."""
    rows = beside(drawn(tables["estimates"], "phases"), tables["theory"], "printed_limit")
    inside = rows["sigma_w2"] > 2 if phase == "chaotic" else rows["sigma_w2"] == 2
    rows = rows[inside & (rows["width"] == rows["width"].max()) & (rows["depth"] >= FROM_DEPTH)]
    rows = required(rows, f"the {phase} phase")
    parts, bounds = [], {"low": 1 - REMAINDER, "high": 1 + REMAINDER}
    for (width, variance), line in rows.groupby(["width", "sigma_w2"]):
        name = f"M = {width}, sigma_w^2 = {variance:g}"
        near = mean(_over(line[line["x"] <= TO_LAMBDA + 1e-9], "printed_limit"))
        label = f"{name}: mean of r over printed limit, L >= {FROM_DEPTH}, L/M <= {TO_LAMBDA}"
        parts.append(near.part(label, **bounds))
        last = _over(line[line["depth"] == line["depth"].max()], "printed_limit")[0]
        parts.append(last.part(f"{name}: r over printed limit at L/M = 0.5", **bounds))
    return parts + [_exact_limit(tables["curves"], phase, lam) for lam in (1.0, 2.0)]


def _exact_limit(curves: "pd.DataFrame", phase: str, lam: float) -> Part:
    """The limit of exact values, from those of two widths, over the printed limit."""
    here = curves[(curves["phase"] == phase) & np.isclose(curves["x"], lam)]
    exact = here[here["curve"] == "exact"].drop_duplicates("width").sort_values("width")
    printed = here[here["curve"] == "printed_limit"]
    if len(exact) < 2 or printed.empty:
        raise CannotDecideError(f"no exact values of two widths at L/M = {lam:g}")
    widths, values = exact["width"].tolist(), exact["y"].tolist()
    found = in_the_limit(widths, [Estimate(value) for value in values])
    name = f"L/M = {lam:g}: exact r, from M = {widths[-2]} and {widths[-1]} to the limit, over "
    return found.scaled(1 / float(printed["y"].iloc[0])).part(
        f"{name}printed limit", low=1 - REMAINDER, high=1 + REMAINDER
    )


def b01(tables: Tables) -> list[Part]:
    """Chaotic phase: equation 8, whatever sigma_w^2."""
    parts = _limit_parts(tables, "chaotic")
    rows = drawn(tables["estimates"], "phases")
    rows = rows[(rows["width"] == rows["width"].max()) & (rows["depth"] >= FROM_DEPTH)]
    rows = rows[rows["x"] <= TO_LAMBDA + 1e-9]
    variances = sorted(v for v in rows["sigma_w2"].unique() if v > 2)
    if len(variances) < 2:
        raise CannotDecideError("fewer than two chaotic weight variances")
    first, *others = (
        (v, estimates(rows[rows["sigma_w2"] == v].sort_values("depth"), "y", "spread"))
        for v in variances
    )
    for variance, found in others:
        ratio = mean([b.over(a) for a, b in zip(first[1], found, strict=True)])
        name = f"mean of r at sigma_w^2 = {variance:g} over r at {first[0]:g}, same depths"
        parts.append(ratio.part(name, low=1 - REMAINDER, high=1 + REMAINDER))
    return parts


def b02(tables: Tables) -> list[Part]:
    """Edge of chaos: equation 9 with alpha_0 = 1."""
    return _limit_parts(tables, "critical")


def b03(tables: Tables) -> list[Part]:
    """Ordered phase: r near 1, not growing with depth, 1 in the limit."""
    rows = drawn(tables["estimates"], "phases")
    rows = required(rows[rows["sigma_w2"] <= 1.5], "sigma_w^2 up to 1.5")
    parts: list[Part] = []
    for variance, phase in rows.groupby("sigma_w2"):
        widths = sorted(phase["width"].unique())
        if len(widths) < 2:
            raise CannotDecideError("one width does not show how r falls with it")
        ends = []
        for width in widths:
            line = phase[phase["width"] == width].sort_values("depth")
            name = f"sigma_w^2 = {variance:g}, M = {width}"
            ends.append(_deepest(line))
            parts.append(ends[-1].part(f"{name}: r at L/M = 0.5", high=1.1))
            from_here = required(line[line["depth"] >= FROM_DEPTH], f"depth {FROM_DEPTH}")
            growth = ends[-1].minus(_row(from_here))
            label = f"{name}: r at L/M = 0.5 - at L = {from_here['depth'].iloc[0]}"
            parts.append(growth.part(label, high=0.01))
        power = power_of(widths, [end.shifted(-1) for end in ends])
        label = f"sigma_w^2 = {variance:g}: power of M with which r - 1 changes at L/M = 0.5"
        parts.append(power.part(label, low=-1.2, high=-0.8))
    return parts


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
        parts.append(smallest(name, found, low=0, strict=True))
    rows = drawn(tables["estimates"], "phases")
    for width, here in rows.groupby("width"):
        edge, chaotic = (here[here["sigma_w2"] == 2], here[here["sigma_w2"] > 2])
        for variance, line in chaotic.groupby("sigma_w2"):
            gap = _deepest(line).log().minus(_deepest(required(edge, "sigma_w^2 = 2")).log())
            name = f"M = {width}, L/M = 0.5: log r at sigma_w^2 = {variance:g} - at 2"
            parts.append(gap.part(name, low=0))
    return parts


def b07(tables: Tables) -> list[Part]:
    """Near the edge of chaos Theorem 3.2 describes networks better than Theorem 3.1."""
    rows = drawn(tables["estimates"], "near")
    rows = beside(rows, tables["theory"], "printed_limit", "printed_sums")
    parts = []
    for alpha_0, line in rows[rows["depth"] >= FROM_DEPTH].groupby("alpha_0"):
        errors = np.log(line["y"].to_numpy()[:, None] / line[["printed_sums", "printed_limit"]])
        signs, misses = np.sign(errors).to_numpy(), np.abs(errors).to_numpy()
        # depths and variances share draws, so that their errors may all have the same sign
        weights = np.abs(signs[:, 0] - signs[:, 1]) * line["spread"] / line["y"]
        found = Estimate(float((misses[:, 0] - misses[:, 1]).mean()), float(weights.mean()))
        name = f"alpha_0 = {alpha_0:g}: mean |log r / sums| - mean |log r / limit|"
        parts.append(found.part(name, high=0))
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
                parts.append(found[place].minus(found[place - 1]).part(name, low=0))
    return parts


def b09(tables: Tables) -> list[Part]:
    """n_0 < M: r of ordered networks has a peak inside and is lower at the deepest."""
    rows = beside(drawn(tables["estimates"], "near"), tables["theory"], "exact")
    rows = rows[(rows["alpha_0"] < 1) & (rows["sigma_w2"] < 2)]
    parts = []
    for (alpha_0, variance), line in rows.groupby(["alpha_0", "sigma_w2"]):
        peak = required(line[line["exact"] == line["exact"].max()], "exact values")
        depth = int(peak["depth"].iloc[0])
        ends = int(line["depth"].min()), int(line["depth"].max())
        name = f"alpha_0 = {alpha_0:g}, sigma_w^2 = {variance:g}"
        inside = {"low": ends[0], "high": ends[1], "strict": True}
        parts.append(Estimate(depth).part(f"{name}: depth of the peak, inside the range", **inside))
        for other in ends:
            gap = _row(peak).minus(_row(line[line["depth"] == other]))
            parts.append(gap.part(f"{name}: r at its peak, L = {depth}, - at L = {other}", low=0))
    return parts


def b10(tables: Tables) -> list[Part]:
    """Growing below constant below shrinking networks; shrinking ones only rise with depth."""
    rows = tables["architectures"]
    rows = rows[rows["curve"] == "exact"]
    parts = []
    for variance, here in rows.groupby("sigma_w2"):
        lines = here.pivot(index="depth", columns="architecture", values="y").sort_index()
        deep = np.log(lines[lines.index >= 50])
        for lower, upper in (("growing", "constant"), ("constant", "shrinking")):
            gaps = [Estimate(float(gap)) for gap in deep[upper] - deep[lower]]
            name = f"sigma_w^2 = {variance:g}, L >= 50: smallest log r ({upper}) - ({lower})"
            parts.append(smallest(name, gaps, low=0, strict=True))
        rises = [Estimate(float(rise)) for rise in np.diff(np.log(lines["shrinking"]))]
        name = f"sigma_w^2 = {variance:g}, shrinking: smallest rise of log r from depth to depth"
        parts.append(smallest(name, rises, low=-0.001))
    return parts
