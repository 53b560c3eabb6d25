"""Facts of the captions of ``beyond``. r is the dispersion E[Theta^2] / E[Theta]^2.

sigma_w^2 = 2 is the edge of chaos; ``x`` is depth over width.
"""

from typing import Any

import numpy as np
import pandas as pd

from finitewidth.captions.facts import Tables, blocks, shapes
from finitewidth.captions.facts.rows import (
    CLEAR,
    ERRORS,
    ends_of,
    only,
    share,
    span,
    values_of,
    where,
)
from finitewidth.kernels.ntk_init.tail_errors import LARGEST

EDGE = 2.0  # sigma_w^2 at the edge of chaos
FROM_DEPTH = 20  # where claim B14 begins to hold equation 18 against estimates
DEEP = 0.5  # share of the range of L/M from which on networks count as deep
OFTEN = 0.1  # share of points outside their errors from which on errors count as too small
RELIABLE = 0.1  # relative standard error up to which an estimate of a dispersion is told
CURVE = ["width", "alpha_0", "sigma_w2"]
POINT = [*CURVE, "depth"]


def beyond_fig1(tables: Tables) -> dict[str, Any]:
    """Dispersion in the three phases beside the limits of Theorem 3.1."""
    return _limits(_group(tables, "phases"))


def beyond_fig9(tables: Tables) -> dict[str, Any]:
    """As Figure 1, of the weight variances that have bands."""
    return _limits(_banded(_group(tables, "phases")))


def beyond_fig2(tables: Tables) -> dict[str, Any]:
    """Dispersion near the edge of chaos beside the sums of Theorem 3.2."""
    return _sums(_group(tables, "near"))


def beyond_fig10(tables: Tables) -> dict[str, Any]:
    """As Figure 2, of the weight variances that have bands."""
    return _sums(_banded(_group(tables, "near")))


def beyond_fig4(tables: Tables) -> dict[str, Any]:
    """Blocks of classes in the kernel during training."""
    return blocks.during_training(tables)


def beyond_fig3(tables: Tables) -> dict[str, Any]:
    """Ratio of off-diagonal to diagonal means, beside equation 18."""
    return _ratios(_group(tables, "ratio"))


def beyond_fig11(tables: Tables) -> dict[str, Any]:
    """As Figure 3, of the curves that have bands."""
    return _ratios(_banded(_group(tables, "ratio")))


def beyond_fig5(tables: Tables) -> dict[str, Any]:
    """Limits of Theorem 3.1, printed and corrected, at the largest L/M."""
    limits = tables["limits"]
    edge = where(limits, phase="critical")
    last = limits[limits["x"] == limits["x"].max()]
    widest = edge["alpha_0"].max()
    found: dict[str, Any] = {
        "lambda": float(limits["x"].max()),
        "alpha_0": only(edge[edge["alpha_0"] == widest], "alpha_0"),
        "inputs": len(values_of(edge, "alpha_0")),
    }
    for form in ("printed", "corrected"):
        rows = where(last, form=form)
        critical = where(rows, phase="critical")
        found[f"{form}_chaotic"] = only(where(rows, phase="chaotic"), "y")
        found[f"{form}_edge"] = only(critical[critical["alpha_0"] == widest], "y")
    found["ordered"] = all(_smaller_inputs_higher(where(limits, form=form))
                           for form in ("printed", "corrected"))  # fmt: skip
    names = [
        f"{form}_{phase}" for form in ("printed", "corrected") for phase in ("chaotic", "edge")
    ]
    known = all(found[name] is not None for name in names)
    found["higher"] = known and _larger(limits)
    return found


def _smaller_inputs_higher(limits: pd.DataFrame) -> bool:
    """At every L/M above 0 the limit rises from the largest alpha_0 to the chaotic phase."""
    edge, chaotic = where(limits, phase="critical"), where(limits, phase="chaotic")
    table = edge.pivot_table(index="x", columns="alpha_0", values="y")
    table = table[sorted(table.columns, reverse=True)]
    table["chaotic"] = chaotic.drop_duplicates("x").set_index("x")["y"]
    steps = np.diff(table[table.index > 0].to_numpy(), axis=1)
    return steps.shape[1] > 1 and bool((steps > 0).all())


def _larger(limits: pd.DataFrame) -> bool:
    """Whether the corrected limit is above the printed one at every L/M above 0."""
    keys = ["phase", "alpha_0", "x"]
    forms = limits[limits["x"] > 0].pivot_table(index=keys, columns="form", values="y")
    return {"printed", "corrected"} <= set(forms) and bool(
        (forms["corrected"] > forms["printed"]).all()
    )


def beyond_fig6(tables: Tables) -> dict[str, Any]:
    """Exact r of growing, constant and shrinking networks at the largest depth."""
    curves = tables["architectures"]
    deepest = curves[curves["depth"] == curves["depth"].max()]
    found: dict[str, Any] = {"depth": int(curves["depth"].max())}
    lowest = {curve: _lowest(where(deepest, curve=curve)) for curve in ("exact", "printed_sums")}
    exact = lowest["exact"]
    ordered = [variance for variance in exact if variance < EDGE]
    rest = [name for variance, name in exact.items() if variance >= EDGE]
    found["ordered"] = len(ordered)
    found["growing"] = [variance for variance in ordered if exact[variance] == "growing"]
    found["all_growing"] = bool(ordered) and found["growing"] == ordered
    found["all_constant"] = bool(rest) and set(rest) == {"constant"}
    found["agree"] = bool(exact) and exact == lowest["printed_sums"]
    return found


def _lowest(rows: pd.DataFrame) -> dict[float, str]:
    """sigma_w^2 -> the architecture with the smallest r."""
    rows = rows.loc[rows.groupby("sigma_w2")["y"].idxmin()] if len(rows) else rows
    return dict(zip(rows["sigma_w2"].map(float), rows["architecture"], strict=True))


def beyond_fig7(tables: Tables) -> dict[str, Any]:
    """Dispersion off the diagonal in the three phases, over r of the diagonal."""
    return _off_diagonal(_group(tables, "phases"))


def beyond_fig8(tables: Tables) -> dict[str, Any]:
    """Dispersion off the diagonal near the edge of chaos, over r of the diagonal."""
    return _off_diagonal(_group(tables, "near"))


def beyond_extra_theorem31(tables: Tables) -> dict[str, Any]:
    """Theorem 3.1 printed, corrected and exact up to large L/M; small networks drawn in full."""
    curves, small = tables["curves"], tables["small"]
    last = curves[curves["x"] == curves["x"].max()]
    near = curves[np.isclose(curves["x"], 1.0)]
    corrected = {name: where(rows, curve="corrected_limit")["relative"]
                 for name, rows in (("near", near), ("last", last))}  # fmt: skip
    exact = curves[curves["curve"] == "exact"]
    found: dict[str, Any] = {
        "widths": values_of(exact, "width"),
        "lambda": float(curves["x"].max()),
        "corrected": span(corrected["last"]),
        "corrected_at_one": span(corrected["near"]),
        "higher": bool((where(curves, curve="corrected_limit")["relative"] > 1).all()),
        "approaches": _approaches(last),
    }
    return found | _small_networks(small)


def beyond_extra_shapes(tables: Tables) -> dict[str, Any]:
    """Growing, constant and shrinking networks against each other."""
    return shapes.compared(tables)


def _approaches(last: pd.DataFrame) -> bool:
    """Whether exact values come closer to the corrected limit from each width to the next."""
    steps = []
    for _, rows in last.groupby("sigma_w2"):
        limit = only(where(rows, curve="corrected_limit"), "y")
        if limit is None:  # depths begin beyond max_lambda
            continue
        exact = where(rows, curve="exact").sort_values("width")["y"]
        steps += list(np.diff((exact - limit).abs()))
    return bool(steps) and bool(max(steps) < 0)


def _small_networks(small: pd.DataFrame) -> dict[str, Any]:
    """Networks drawn in full against the exact and the printed curve, in standard errors."""
    lines = {name: rows.set_index(["sigma_w2", "depth"]) for name, rows in small.groupby("curve")}
    drawn = lines["networks"].join(lines["exact"]["y"].rename("exact"))
    drawn = drawn.join(lines["printed_sums"]["y"].rename("printed")).reset_index()
    far = drawn[(drawn["y"] - drawn["printed"]).abs() > CLEAR * drawn["spread"]]
    return {
        "small_width": int(drawn["width"].iloc[0]),
        "networks": int(drawn["draws"].max()),
        "points": len(drawn),
        "from_exact": float(((drawn["y"] - drawn["exact"]).abs() / drawn["spread"]).max()),
        "far_from_printed": len(far),
        "errors": CLEAR,
        "above_printed": bool(len(far)) and bool((far["y"] > far["printed"]).all()),
        "follow": bool(((drawn["y"] - drawn["exact"]).abs() <= CLEAR * drawn["spread"]).all()),
    }


def _group(tables: Tables, group: str) -> Tables:
    return {name: where(tables[name], group=group) for name in ("estimates", "theory")}


def _banded(tables: Tables) -> Tables:
    return {name: rows[rows["banded"].astype(bool)] for name, rows in tables.items()}


def _drawn(estimates: pd.DataFrame) -> dict[str, Any]:
    """What was drawn. ``more``: whether there are more networks than the paper's."""
    draws = {sample: rows["draws"].max() for sample, rows in estimates.groupby("sample")}
    return {
        "widths": values_of(estimates, "width"),
        "inputs": values_of(estimates, "alpha_0"),
        "paper_draws": int(draws.get("paper", 0)),
        "draws": int(draws.get("many", 0)),
        "more": "many" in draws and "paper" in draws,
        "largest_lambda": float(estimates["x"].max()),
        "deep_from": DEEP * float(estimates["x"].max()),
    }


def _ours(estimates: pd.DataFrame) -> pd.DataFrame:
    """The larger sample where there is one."""
    many = where(estimates, sample="many")
    return many if len(many) else estimates


def _beside(estimates: pd.DataFrame, theory: pd.DataFrame, *curves: str) -> pd.DataFrame:
    """Estimates with the curves at the same points as columns."""
    for curve in curves:
        line = where(theory, curve=curve).drop_duplicates(POINT)[[*POINT, "y"]]
        estimates = estimates.merge(line.rename(columns={"y": curve}), on=POINT)
    return estimates


def _deep(rows: pd.DataFrame) -> pd.DataFrame:
    """At the edge of chaos and above it, in the deep part of the range."""
    return rows[(rows["sigma_w2"] >= EDGE) & (rows["x"] > DEEP * rows["x"].max())]


def _limits(tables: Tables) -> dict[str, Any]:
    estimates, theory = tables["estimates"], tables["theory"]
    few = _deep(_beside(where(estimates, sample="paper"), theory, "exact"))
    off = (few["y"] - few["exact"]).abs()
    below = share(few["y"] < few["exact"])
    exact = where(theory, curve="exact")
    curves = ("printed_limit", "corrected_limit")
    ends = _beside(ends_of(exact, CURVE, "x"), theory, *curves) if len(exact) else exact
    found = _drawn(estimates) | {
        "below": below,
        "mostly_below": below is not None and below > 0.5,
        "outside": share(off > ERRORS * few["bootstrap"]),
        "largest": LARGEST,
        "errors": ERRORS,
    }
    found["often_outside"] = found["outside"] is not None and found["outside"] > OFTEN
    wide, narrow = (
        where(ends, width=pick(ends["width"])) for pick in (pd.Series.max, pd.Series.min)
    )
    found["wide_edge"] = span(_over_printed(where(wide, sigma_w2=EDGE)))
    found["wide_chaotic"] = span(_over_printed(wide[wide["sigma_w2"] > EDGE]))
    found["narrow_edge"] = span(_over_printed(where(narrow, sigma_w2=EDGE)))
    return found | _cancelling(ends)


def _over_printed(ends: pd.DataFrame) -> pd.Series:
    return ends["y"] / ends["printed_limit"]


def _cancelling(ends: pd.DataFrame) -> dict[str, Any]:
    """At the narrowest width, at the edge: the limit's error against the width's correction.

    They cancel if the printed limit is too small, exact values lie below the corrected limit, and
    the printed limit is nearer to the exact value than at the widest width.
    """
    edge = where(ends, sigma_w2=EDGE).sort_values("width")
    if len(edge) < 2:
        return {"cancel": False}
    narrow, wide = edge.iloc[0], edge.iloc[-1]
    gaps = [abs(row["y"] / row["printed_limit"] - 1) for row in (narrow, wide)]
    limit, finite = (narrow["corrected_limit"] / narrow["printed_limit"],
                     narrow["y"] / narrow["corrected_limit"])  # fmt: skip
    return {
        "cancel": bool(limit > 1 > finite and gaps[0] < gaps[1]),
        "limit_over_printed": float(limit), "exact_over_limit": float(finite),
    }  # fmt: skip


def _sums(tables: Tables) -> dict[str, Any]:
    estimates, theory = tables["estimates"], tables["theory"]
    exact = where(theory, curve="exact")
    ends = _beside(ends_of(exact, CURVE, "x"), theory, "printed_sums") if len(exact) else exact
    ratio = ends["y"] / ends["printed_sums"]
    ordered = [line.sort_values("x")["y"].to_numpy()
               for _, line in exact[exact["sigma_w2"] < EDGE].groupby(CURVE)]  # fmt: skip
    found = _drawn(estimates) | {
        "deepest": int(exact["depth"].max()),
        "ordered": len(ordered),
        "peaks": sum(bool(0 < line.argmax() < len(line) - 1) for line in ordered),
        "edge": span(ratio[ends["sigma_w2"] == EDGE]),
        "above": span(ratio[ends["sigma_w2"] > EDGE]),
        "errors": ERRORS,
    }
    for sample in ("paper", "many"):
        rows = _beside(where(estimates, sample=sample), theory, "printed_sums")
        rows = rows[rows["sigma_w2"] >= EDGE]
        clear = rows["y"] - rows["printed_sums"] > ERRORS * rows["spread"]
        found[f"{sample}_above"] = share(clear)
    few, many = found["paper_above"], found["many_above"]
    found["told_apart"] = few is not None and many is not None and many > ERRORS * few
    last = ends_of(rows, CURVE, "x")
    found["deepest_error"] = span(last["spread"] / last["printed_sums"])
    return found


def _ratios(tables: Tables) -> dict[str, Any]:
    estimates, theory = tables["estimates"], tables["theory"]
    rows = _ours(estimates)
    curves = [line.sort_values("x") for _, line in rows.groupby([*CURVE, "cosine"])]
    ordered = [line for line in curves if line["sigma_w2"].iloc[0] < EDGE]
    chaotic = [line for line in curves if line["sigma_w2"].iloc[0] >= EDGE]
    found = _drawn(estimates) | {
        "cosines": values_of(estimates, "cosine"),
        "ordered_end": span(line["y"].iloc[-1] for line in ordered),
        "ordered_rises": bool(ordered) and all(map(_turns, ordered)),
        "lowest": span(line["y"].min() for line in chaotic),
        "turning": sum(map(_turns, chaotic)),
        "curves": len(chaotic),
        "errors": CLEAR,
    }
    found["falls_first"] = bool(chaotic) and all(
        line["y"].iloc[0] > line["y"].min() for line in chaotic
    )
    return found | _against_bound(rows, theory) | _against_mean_field(rows, theory)


def _turns(line: pd.DataFrame) -> bool:
    """Whether a curve ends clearly above its smallest value."""
    lowest, last = line.loc[line["y"].idxmin()], line.iloc[-1]
    return bool(last["y"] - lowest["y"] > ERRORS * np.hypot(last["spread"], lowest["spread"]))


def _pairs(rows: pd.DataFrame, theory: pd.DataFrame, curve: str) -> pd.DataFrame:
    keys = [*POINT, "cosine"]
    line = where(theory, curve=curve)[[*keys, "y"]].rename(columns={"y": "theory"})
    return rows.merge(line, on=keys)


def _against_bound(rows: pd.DataFrame, theory: pd.DataFrame) -> dict[str, Any]:
    """Estimates clearly below equation 18, in the ordered phase from a depth on."""
    rows = _pairs(rows[rows["sigma_w2"] < EDGE], theory, "printed")
    rows = rows[rows["depth"] >= FROM_DEPTH]
    under = rows["theory"] - rows["y"]
    below = rows[under > CLEAR * rows["spread"]]
    return {
        "from_depth": FROM_DEPTH,
        "ordered_points": len(rows),
        "below_bound": len(below),
        "bound_gap": float(under[below.index].max()) if len(below) else None,
        "below_variances": values_of(below, "sigma_w2"),
    }


def _against_mean_field(rows: pd.DataFrame, theory: pd.DataFrame) -> dict[str, Any]:
    """Estimates over the ratio at infinite width, in the deeper half and at the end."""
    rows = _pairs(rows, theory, "infinite_width")
    rows = rows.assign(over=rows["y"] - rows["theory"])
    rows = rows[rows["sigma_w2"] >= EDGE]
    ends = ends_of(rows, [*CURVE, "cosine"], "x")
    middle = ends_of(rows[rows["x"] <= DEEP * rows["x"].max()], [*CURVE, "cosine"], "x")
    return {
        "over_infinite": span(ends["over"]),
        "over_infinite_middle": span(middle["over"]),
        "above_infinite": len(ends) > 0 and bool((ends["over"] > ERRORS * ends["spread"]).all()),
        "further_with_depth": len(ends) == len(middle) > 0
        and bool((ends["over"].to_numpy() > middle["over"].to_numpy()).all()),
    }


def _off_diagonal(tables: Tables) -> dict[str, Any]:
    """Dispersion off the diagonal over the exact one on it, in the deepest reliable estimates.

    An estimate is reliable if its relative standard error is at most `RELIABLE`. If the draws do
    not suffice, the error is nan and the estimate is not reliable.
    """
    estimates, theory = tables["estimates"], tables["theory"]
    rows = _beside(_ours(estimates), theory, "exact")
    rows = rows.assign(ratio=rows["y"] / rows["exact"], relative=rows["spread"] / rows["y"])
    found = _drawn(estimates) | {
        "cosines": values_of(estimates, "cosine"),
        "reliable": RELIABLE,
        "largest_error": float(rows["relative"].max()) if len(rows) else None,
        "uncertain": bool((~(rows["relative"] <= RELIABLE)).any()),
        "without_error": int(rows["relative"].isna().sum()),
    }
    rows = rows[rows["relative"] <= RELIABLE]
    ends = ends_of(rows, [*CURVE, "cosine"], "x")
    for name, part in (
        ("ordered", ends[ends["sigma_w2"] < EDGE]),
        ("edge", ends[ends["sigma_w2"] == EDGE]),
        ("chaotic", ends[ends["sigma_w2"] > EDGE]),
    ):
        found[name] = span(part["ratio"])
        found[f"{name}_cosine"] = _cosine_gap(rows[rows["sigma_w2"].isin(part["sigma_w2"])])
    outside = [line for _, line in rows[rows["sigma_w2"] >= EDGE].groupby([*CURVE, "cosine"])]
    found["grows"] = bool(outside) and all(map(_grows, outside))
    return found


def _grows(line: pd.DataFrame) -> bool:
    """Whether the ratio to the diagonal is larger at the end of a curve than in its middle."""
    line = line.sort_values("x")
    return len(line) > 1 and bool(line["ratio"].iloc[-1] > line["ratio"].iloc[(len(line) - 1) // 2])


def _cosine_gap(rows: pd.DataFrame) -> tuple[float, float] | None:
    """Relative difference of r between cosines, at the largest depth that all of them have."""
    gaps = []
    for _, network in rows.groupby(CURVE):
        table = network.pivot_table(index="x", columns="cosine", values="y").dropna()
        if len(table) and table.shape[1] > 1:
            gaps.append(table.iloc[-1].max() / table.iloc[-1].min() - 1)
    return span(gaps)
