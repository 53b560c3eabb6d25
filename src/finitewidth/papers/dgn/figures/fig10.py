"""dgn Figure 10: a deep linear network with one example; kernel, error and weights over time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.QUANTITY_SHOWN,
    columns.LINEAR_DYNAMICS,
    columns.SOURCE,
    columns.DEPTH_OR_NONE,
    columns.STEP,
    columns.VALUE,
    columns.VALUE_DEVIATION,
    columns.RUNS_SHOWN,
    shared.DIVERGED_RUNS,
)
LABELS = {
    "error": r"$e_t^2 / e_0^2$",
    "kernel": "$K_t / K_0$",
    "growth": r"$\Vert\Theta_t\Vert / \Vert\Theta_0\Vert - 1$",
}
LOWEST = {"error": 1e-8, "growth": 1e-5}  # of the logarithmic axes
IDEAL = "0.57"  # lighter than the darkest curve, which it covers where K_0 is d
EVERY = 10  # steps between error bars, and between marks


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the kernels at the start, the curves, and the paper's error after a step."""
    start = tables["start"].assign(quantity="start", dynamics=by_depth.DESCENT, time=0)
    start = start.rename(columns={"kernel": "value", "kernel_spread": "value_spread"})
    expected = start.assign(
        dynamics="ideal", value=start["ideal"], value_spread=np.nan, runs=0, diverged=0
    )
    ours = pd.concat([start, expected, _curves(tables["curves"])], ignore_index=True)
    ours = ours.assign(source="ours")
    ours = ours.rename(columns={"time": "step", "value_spread": "standard_deviation"})

    printed = tables["reported"].query("quantity == 'error_ratio' and row == 'first_step'")
    paper = pd.DataFrame(
        {
            "quantity": "error",
            "dynamics": "ideal",
            "source": "paper",
            "step": 1,
            "value": printed["value"].astype(float),
            "runs": 0,
            "diverged": 0,
        }
    )
    return pd.concat([ours, paper], ignore_index=True).reindex(columns=TABLE.names)


def _curves(curves: pd.DataFrame) -> pd.DataFrame:
    """The curves, one for all depths where they are equal, and the growth of the weights.

    The start is left out of the growth, which is 0 there. Standard deviations of errors are not
    drawn.
    """
    is_ideal = curves["dynamics"] == "ideal"
    ideal = curves[is_ideal].drop_duplicates("time")
    ideal = ideal.assign(depth=np.nan, runs=0, diverged=0)

    weights_at_start = (curves["quantity"] == "weights") & (curves["time"] == 0)
    measured = curves[~is_ideal & ~weights_at_start]
    measured = measured.assign(
        quantity=measured["quantity"].replace("weights", "growth"),
        value=measured["value"] - (measured["quantity"] == "weights"),
        value_spread=measured["value_spread"].where(measured["quantity"] != "error"),
    )
    parts = [measured, ideal] if len(ideal) else [measured]
    return pd.concat(parts, ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw K_0 by depth, and error, kernel and growth of the norm of all weights against steps."""
    figure, axes = style.subplots(2, 2, height=4.2)
    start = rows[rows["quantity"] == "start"]
    ours = rows[rows["source"] == "ours"]
    measured = start[start["dynamics"] == by_depth.DESCENT].sort_values("depth")
    expected = start[start["dynamics"] == "ideal"].sort_values("depth")
    titles = [
        f"kernel at the start, {by_depth.runs_of(measured)}",
        "squared error",
        "kernel",
        "growth of the norm of all weights",
    ]
    style.title_panels(axes.flat, titles)
    look_of = by_depth.looks(measured["depth"])
    _start(axes[0, 0], measured, expected)
    for axis, (quantity, label) in zip(axes.flat[1:], LABELS.items(), strict=True):
        curves = ours[ours["quantity"] == quantity]
        _over_time(axis, curves, look_of)
        axis.set_xlabel("step $t$")
        axis.set_ylabel(label)
        if quantity in LOWEST:
            _logarithmic(axis, curves, LOWEST[quantity])
    printed = rows[rows["source"] == "paper"]
    style.paper_values(axes[0, 1], printed["step"], printed["value"])
    by_depth.legends(figure, look_of)
    style.legend_above(figure, _handles(printed), handlelength=2.4)
    return figure


def _handles(printed: pd.DataFrame) -> list[Line2D]:
    """The entries of the legend above: kinds of dynamics, and the value of the paper."""
    descent = style.handle(
        "gradient descent", color=style.GREY, linestyle=by_depth.LINES[by_depth.DESCENT]
    )
    recursion = style.handle(
        "the kernel stays $K_0$", color=style.GREY, linestyle=by_depth.LINES[by_depth.RECURSION]
    )
    ideal = style.handle("the kernel stays $d$", color=IDEAL, linestyle=by_depth.LINES["ideal"])
    handles = [descent, recursion, ideal]
    if len(printed):
        paper = style.handle(
            f"paper: {printed['value'].iloc[0]:g} after a step",
            linestyle="none",
            marker="D",
            markersize=4,
            markerfacecolor="white",
            color=style.GREY,
            markeredgewidth=0.9,
        )
        handles.append(paper)
    return handles


def _start(axis: Axes, measured: pd.DataFrame, ideal: pd.DataFrame) -> None:
    axis.plot(
        ideal["depth"],
        ideal["value"],
        ":",
        color=IDEAL,
        linewidth=1.6,
        zorder=4,
        label="expected, $E[K_0] = d$",
    )
    style.bars(
        axis,
        measured["depth"],
        measured["value"],
        measured["standard_deviation"],
        marker="o",
        color=style.COLOURS[0],
        label="mean and sample standard deviation",
    )
    axis.xaxis.set_major_locator(FixedLocator(measured["depth"].unique()))
    axis.set_xlabel("depth $d$")
    axis.set_ylabel("$K_0$")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper left")


def _over_time(axis: Axes, rows: pd.DataFrame, look_of: dict[int, dict[str, Any]]) -> None:
    """Plot a curve per depth and kind of dynamics; bars show the standard deviation over runs.

    Of a bar with a negative end, only the upper half is drawn.
    """
    for number, (depth, look) in enumerate(look_of.items()):
        first = 2 * number % EVERY  # bars and marks of each depth begin at another step
        for dynamics in (by_depth.RECURSION, by_depth.DESCENT):
            of_depth = rows[(rows["depth"] == depth) & (rows["dynamics"] == dynamics)]
            curve = of_depth.sort_values("step")
            if curve.empty:
                continue
            if dynamics == by_depth.RECURSION:
                marks: dict[str, Any] = {"marker": ""}
            else:
                marks = {"markevery": (first, EVERY)}
            has_bar = np.arange(len(curve)) % EVERY == first
            has_bar[[0, -1]] = True
            error = curve["standard_deviation"].where(has_bar)
            # a logarithmic axis has no place for a negative end
            has_lower_half = error.isna() | (error < curve["value"])
            ends = np.vstack([error.where(has_lower_half, 0), error])
            style.bars(
                axis,
                curve["step"],
                curve["value"],
                ends,
                elinewidth=0.7,
                linestyle=by_depth.LINES[dynamics],
                **look | marks,
            )
    ideal = rows[rows["dynamics"] == "ideal"].sort_values("step")
    if len(ideal):  # above the others, one of which it may cover
        axis.plot(ideal["step"], ideal["value"], ":", color=IDEAL, linewidth=1.6, zorder=4)


def _logarithmic(axis: Axes, rows: pd.DataFrame, lowest: float) -> None:
    """Set a logarithmic scale that contains the upper ends of bars, and say what it cannot show."""
    positive = rows[rows["value"] > 0]
    if len(positive):
        axis.set_yscale("log")
        low = max(lowest, positive["value"].min() / 2)
        high = (positive["value"] + positive["standard_deviation"].fillna(0)).max()
        style.clip(axis, (low, max(1.6 * high, 10 * low)))
    hidden = sorted(set(rows["depth"].dropna()) - set(positive["depth"]))
    if hidden:
        depths = ", ".join(f"{depth:g}" for depth in hidden)
        axis.text(
            0.97,
            0.04,
            f"not shown, never above 0: $d$ = {depths}",
            transform=axis.transAxes,
            ha="right",
            color=style.GREY,
            fontsize=style.SMALLEST,
        )
