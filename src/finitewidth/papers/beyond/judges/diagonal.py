"""Claims of beyond, and a printed number, on the dispersion r of the NTK's diagonal.

Figures 1, 2 and 6, and Theorems 3.1 and 3.2. Equality of a limit is judged on exact values at
doubled widths, extrapolated. The paper's words set the value, the extrapolation its numerical
error. Estimates at finite width carry remainders that a limit allows, so that thresholds for them
are ours.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from finitewidth.claims import estimates
from finitewidth.claims.estimates import ABOVE, Estimate, exactly, mean, required, smallest
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts

KEY = ["group", "width", "alpha_0", "sigma_w2", "depth"]
# depth and L / M between which limits are compared with networks
FROM_DEPTH = 20
TO_LAMBDA = 0.3
ACCURATE: PartFacts = {
    "high": 0.1,
    "late": True,
    "ours": "the paper says that the sums describe networks accurately; 0.1 is about 10 %",
}
SHAPES_FROM_DEPTH = 50
NOT_SHALLOW: PartFacts = {
    "low": 0,
    "strict": True,
    "paper": True,
    "cut": "growing ones have their peak at what the paper calls relatively shallow; 50 is ours",
}
FORMS = {"printed_sums": "Theorem 3.2, form of its proof", "exact": "exact"}
REMAINDER: PartFacts = {
    "low": 0.95,
    "high": 1.05,
    "late": True,
    "ours": "the paper gives remainders as O(1/sqrt(M)) without a constant; 1/sqrt(500) is 4.5 %",
}
LOW_R: PartFacts = {
    "high": 1.1,
    "ours": "the paper has 1 in the limit; 1.1 is a standard deviation of 32 % of the mean",
}
NO_GROWTH: PartFacts = {
    "high": 0.01,
    "late": True,
    "ours": "the limit allows remainders of order 1/M, which is 1 % at M = 100",
}
INVERSE_WIDTH: PartFacts = {
    "low": -1.2,
    "high": -0.8,
    "late": True,
    "ours": "the paper names no rate; variances that vanish as 1/M give the power -1",
}


def drawn(rows: pd.DataFrame, group: str) -> pd.DataFrame:
    """The estimates of a group; those from many draws if there are any."""
    inside = rows[rows["group"] == group]
    many = inside[inside["sample"] == "many"]
    return required(many if len(many) else inside, f"the group {group}")


def up_to_lambda(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with L / M up to `TO_LAMBDA`."""
    return rows[rows["x"] <= TO_LAMBDA + 1e-9]


def with_curves(
    rows: pd.DataFrame, theory: pd.DataFrame, *curves: str, more: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Rows with a column for each of the curves, at the same networks and columns ``more``."""
    key = [*KEY, *more]
    for curve in curves:
        line = theory.loc[theory["curve"] == curve, [*key, "y"]].rename(columns={"y": curve})
        rows = rows.merge(line, on=key)
    return rows


def estimated(rows: pd.DataFrame) -> list[Estimate]:
    """The estimates of all rows."""
    return estimates.estimates(rows, "y", "spread")


def first(rows: pd.DataFrame) -> Estimate:
    """The estimate of the first row."""
    return estimated(rows)[0]


def deepest(rows: pd.DataFrame) -> Estimate:
    """The estimate at the largest depth."""
    return first(rows[rows["depth"] == rows["depth"].max()])


def ends(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows at the largest depth of each width."""
    return rows[rows["depth"] == rows.groupby("width")["depth"].transform("max")]


def limit_of(line: pd.DataFrame) -> Estimate:
    """The limit M -> infinity of the estimates of one network at several widths."""
    line = line.sort_values("width")
    return estimates.in_the_limit(line["width"].tolist(), estimated(line))


def doubled_widths(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each width, the widths rising; each must be twice the one before."""
    rows = rows.drop_duplicates("width").sort_values("width")
    if any(wider != 2 * width for width, wider in itertools.pairwise(rows["width"])):
        raise CannotDecideError("widths that are not doubled")
    return rows


def _exact_limits(doubled: pd.DataFrame, phase: str) -> Iterator[Part]:
    """The limit of exact values over the printed one at each sigma_w2 and L / M of a phase."""
    rows = required(doubled[doubled["phase"] == phase], f"the {phase} phase")
    for (variance, lam), cell in rows.groupby(["sigma_w2", "x"]):
        line = doubled_widths(cell)
        name = f"sigma_w^2 = {variance:g}, L/M = {lam:g}: limit of exact r over the printed limit"
        yield estimates.over_printed(line["exact"].tolist(), float(line["printed"].iloc[0]), name)


def _measured(tables: Tables, phase: str) -> Iterator[Part]:
    """The measured r over the printed limit at each sigma_w2 of a phase, for the widest network."""
    rows = with_curves(drawn(tables["estimates"], "phases"), tables["theory"], "printed_limit")
    is_phase = rows["sigma_w2"] > 2 if phase == "chaotic" else rows["sigma_w2"] == 2
    is_widest = rows["width"] == rows["width"].max()
    rows = rows[is_phase & is_widest & (rows["depth"] >= FROM_DEPTH)]
    rows = required(rows, f"the {phase} phase")
    over_limit = rows.assign(
        y=rows["y"] / rows["printed_limit"], spread=rows["spread"] / rows["printed_limit"]
    )
    for (width, variance), line in over_limit.groupby(["width", "sigma_w2"]):
        name = f"M = {width}, sigma_w^2 = {variance:g}"
        near = mean(estimated(up_to_lambda(line)))
        label = f"{name}: mean of r over printed limit, L >= {FROM_DEPTH}, L/M <= {TO_LAMBDA}"
        yield near.part(label, **REMAINDER)
        yield deepest(line).part(f"{name}: r over printed limit at L/M = 0.5", **REMAINDER)


def b01(tables: Tables) -> Iterator[Part]:
    """Chaotic phase: equation 8, whatever sigma_w^2."""
    yield from _exact_limits(tables["doubled"], "chaotic")
    yield from _measured(tables, "chaotic")
    rows = drawn(tables["estimates"], "phases")
    rows = rows[(rows["width"] == rows["width"].max()) & (rows["depth"] >= FROM_DEPTH)]
    chaotic = up_to_lambda(rows[rows["sigma_w2"] > 2])
    by_variance = {
        variance: estimated(line.sort_values("depth"))
        for variance, line in chaotic.groupby("sigma_w2")
    }
    if len(by_variance) < 2:
        raise CannotDecideError("fewer than two chaotic weight variances")
    lowest, *others = by_variance
    for variance in others:
        pairs = zip(by_variance[variance], by_variance[lowest], strict=True)
        ratio = mean([larger.over(smaller) for larger, smaller in pairs])
        name = f"mean of r at sigma_w^2 = {variance:g} over r at {lowest:g}, same depths"
        yield ratio.part(name, **REMAINDER)


def b02(tables: Tables) -> list[Part]:
    """Edge of chaos: equation 9 with alpha_0 = 1."""
    return [*_exact_limits(tables["doubled"], "critical"), *_measured(tables, "critical")]


def b03(tables: Tables) -> Iterator[Part]:
    """Ordered phase: r is 1 in the limit, and does not grow with depth as at the edge."""
    yield from _exact_limits(tables["doubled"], "ordered")
    exact = _exact(tables["theory"])
    edge = required(exact[exact["sigma_w2"] == 2], "sigma_w^2 = 2")
    ordered = required(exact[exact["sigma_w2"] < 2], "sigma_w^2 < 2")
    for (variance, width), line in ordered.groupby(["sigma_w2", "width"]):
        growth_at_edge = _growth(edge[edge["width"] == width])
        more = _growth(line).minus(growth_at_edge)
        name = f"sigma_w^2 = {variance:g}, M = {width}, exact: rise of log r from L = {FROM_DEPTH}"
        yield more.part(f"{name} on - that at sigma_w^2 = 2", high=0, paper=True)
    rows = drawn(tables["estimates"], "phases")
    rows = required(rows[rows["sigma_w2"] <= 1.5], "sigma_w^2 up to 1.5")
    for variance, networks in rows.groupby("sigma_w2"):
        yield from _away_from_the_edge(f"sigma_w^2 = {variance:g}", networks)


def _away_from_the_edge(name: str, rows: pd.DataFrame) -> Iterator[Part]:
    """Measured r of one ordered variance: its size, its growth, and its power of the width."""
    by_width = dict(tuple(rows.groupby("width")))
    if len(by_width) < 2:
        raise CannotDecideError("one width does not show how r falls with it")
    for width, line in by_width.items():
        case = f"{name}, M = {width}"
        yield deepest(line).part(f"{case}: r at L/M = 0.5", **LOW_R)
        yield _growth(line).part(f"{case}: rise of log r from L = {FROM_DEPTH} on", **NO_GROWTH)
    excesses = [deepest(line).shifted(-1) for line in by_width.values()]  # r - 1
    power = estimates.power_of(list(by_width), excesses)
    label = f"{name}: power of M with which r - 1 changes at L/M = 0.5"
    yield power.part(label, **INVERSE_WIDTH)


def _exact(theory: pd.DataFrame) -> pd.DataFrame:
    inside = theory[(theory["group"] == "phases") & (theory["curve"] == "exact")]
    return required(inside.assign(spread=0.0), "exact values")


def _growth(line: pd.DataFrame) -> Estimate:
    """Rise of log r from the first depth of at least 20 to the largest."""
    line = line.sort_values("depth")
    start = first(required(line[line["depth"] >= FROM_DEPTH], f"depth {FROM_DEPTH}"))
    return deepest(line).log().minus(start.log())


def b04(tables: Tables) -> Iterator[Part]:
    """The dispersion grows slower at the edge of chaos than in the chaotic phase."""
    limits = tables["limits"]
    for form in ("printed", "corrected"):
        of_form = limits[(limits["form"] == form) & (limits["x"] > 0)]
        chaotic = of_form[of_form["phase"] == "chaotic"].set_index("x")["y"]
        edge = of_form[of_form["phase"] == "critical"]
        gaps = np.log(chaotic.reindex(edge["x"]).to_numpy() / edge["y"].to_numpy())
        name = f"{form} limits: smallest log (chaotic / edge of chaos), all L/M and alpha_0"
        yield smallest(name, exactly(gaps), **ABOVE)
    exact = _exact(tables["theory"])
    for width, of_width in exact.groupby("width"):
        edge = of_width[of_width["sigma_w2"] == 2]
        chaotic = of_width[of_width["sigma_w2"] > 2]
        for variance, line in chaotic.groupby("sigma_w2"):
            at_edge = deepest(required(edge, "sigma_w^2 = 2")).log()
            gap = deepest(line).log().minus(at_edge)
            name = f"M = {width}, L/M = 0.5, exact: log r at sigma_w^2 = {variance:g} - at 2"
            yield gap.part(name, **ABOVE)


def b07(tables: Tables) -> Iterator[Part]:
    """Near the edge of chaos Theorem 3.2 describes networks better than Theorem 3.1."""
    rows = drawn(tables["estimates"], "near")
    rows = with_curves(rows, tables["theory"], "printed_limit", "printed_sums")
    for alpha_0, line in rows[rows["depth"] >= FROM_DEPTH].groupby("alpha_0"):
        of_sums = np.log(line["y"] / line["printed_sums"]).to_numpy()
        of_limit = np.log(line["y"] / line["printed_limit"]).to_numpy()
        relative = line["spread"] / line["y"]
        # depths and variances share draws, so that their errors may all have the same sign
        weights = np.abs(np.sign(of_sums) - np.sign(of_limit)) * relative
        more = float((np.abs(of_sums) - np.abs(of_limit)).mean())
        name = f"alpha_0 = {alpha_0:g}: mean |log r / sums| - mean |log r / limit|"
        yield Estimate(more, float(weights.mean())).part(name, high=0, paper=True)
        size = Estimate(float(np.abs(of_sums).mean()), float(relative.mean()))
        yield size.part(f"alpha_0 = {alpha_0:g}: mean |log r / sums|", **ACCURATE)


def b08(tables: Tables) -> Iterator[Part]:
    """At one depth r rises with sigma_w^2 from the ordered phase to the edge."""
    rows = drawn(tables["estimates"], "near")
    rows = required(rows[rows["sigma_w2"] <= 2], "sigma_w^2 up to 2")
    for alpha_0, networks in rows.groupby("alpha_0"):
        depths = np.sort(networks["depth"].unique())
        for depth in {depths[len(depths) // 2], depths[-1]}:
            line = networks[networks["depth"] == depth].sort_values("sigma_w2")
            points = zip(line["sigma_w2"], estimated(line), strict=True)
            for (below, low), (above, high) in itertools.pairwise(points):
                name = f"alpha_0 = {alpha_0:g}, L = {depth}: r at sigma_w^2 = {above:g} - at "
                yield high.minus(low).part(f"{name}{below:g}", low=0, paper=True)


def b09(tables: Tables) -> Iterator[Part]:
    """n_0 < M: r of ordered networks has a peak inside and is lower at the deepest."""
    rows = with_curves(drawn(tables["estimates"], "near"), tables["theory"], "exact")
    rows = rows[(rows["alpha_0"] < 1) & (rows["sigma_w2"] < 2)]
    for (alpha_0, variance), line in rows.groupby(["alpha_0", "sigma_w2"]):
        peak = required(line[line["exact"] == line["exact"].max()], "exact values")
        depth = int(peak["depth"].iloc[0])
        shallowest = int(line["depth"].min())
        deepest_depth = int(line["depth"].max())
        name = f"alpha_0 = {alpha_0:g}, sigma_w^2 = {variance:g}"
        yield Estimate(depth).part(
            f"{name}: depth of the peak, inside the range",
            low=shallowest,
            high=deepest_depth,
            strict=True,
            paper=True,
        )
        for end in (shallowest, deepest_depth):
            gap = first(peak).minus(first(line[line["depth"] == end]))
            label = f"{name}: r at its peak, L = {depth}, - at L = {end}"
            yield gap.part(label, low=0, paper=True)


def b10(tables: Tables) -> Iterator[Part]:
    """Growing networks below the others, the deepest at least; shrinking ones only rise with depth.

    The paper reads this off the sums of Theorem 3.2; the exact values stand beside them.
    """
    for (curve, variance), rows in tables["architectures"].groupby(["curve", "sigma_w2"]):
        lines = rows.pivot(index="depth", columns="architecture", values="y").sort_index()
        deep = np.log(lines[lines.index >= SHAPES_FROM_DEPTH])
        case = f"{FORMS[curve]}, sigma_w^2 = {variance:g}"
        for other in ("constant", "shrinking"):
            gaps = exactly(deep[other] - deep["growing"])
            name = f"{case}, L >= {SHAPES_FROM_DEPTH}: smallest log r ({other}) - (growing)"
            yield smallest(name, gaps, **NOT_SHALLOW)
            yield gaps[-1].part(f"{case}, largest depth: log r ({other}) - (growing)", **ABOVE)
        rises = exactly(np.diff(np.log(lines["shrinking"])))
        name = f"{case}, shrinking: smallest rise of log r from depth to depth"
        yield smallest(name, rises, low=0, paper=True)


def dispersion(tables: Tables) -> list[Ours]:
    """The limit at the largest sigma_w2 up to 1.5 and L/M = 0.5, from the two largest widths."""
    rows = drawn(tables["estimates"], "phases")
    rows = rows[rows["sigma_w2"] <= 1.5]
    limit = limit_of(ends(rows[rows["sigma_w2"] == rows["sigma_w2"].max()]))
    return [Ours(row="ordered", column="limit", value=limit.value, standard_error=limit.error)]
