"""thesis Figure 2.4: double descent of the risk of least-squares solutions of the smallest norm."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from finitewidth.figures.style import COLOURS, subplots

WIDTH, HEIGHT = 6.9, 2.75  # inches
SMALL, MEDIUM = 6.8, 7.5  # points
ERRORS = 2  # standard errors in a bar
NEAR = 0.075  # distance from 1 that the last panel shows
LOOKS = {  # later curves are thinner, so that those that coincide stay visible
    "exact": ("black", "-", 2.2, "exact mean, $N$ = {size}"),
    "corrected": (COLOURS[5], "--", 1.5, r"limit $N \to \infty$"),
    "printed": (COLOURS[2], ":", 1.5, "limit as printed"),
}
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
NAMES = {"mean": "drawn, mean", "median": "drawn, median (10 to 90 %)"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return drawn risks and curves; ``curve`` is ``drawn`` for the former."""
    drawn = tables["drawn"].assign(curve="drawn")
    return pd.concat([drawn, tables["curves"]], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a panel for each variance of the noise, and one of the surroundings of ratio 1."""
    cases = list(dict.fromkeys(rows["case"]))
    near = rows[(rows["case"] == cases[0]) & ((rows["x"] - 1).abs() <= NEAR)]
    ratios = [*[1.15] * len(cases), *[1] * bool((near["curve"] == "drawn").any())]
    figure, axes = subplots(1, len(ratios), figsize=(WIDTH, HEIGHT), squeeze=False,
                            width_ratios=ratios)  # fmt: skip
    for axis, case in zip(axes[0], cases, strict=False):
        own = rows[rows["case"] == case]
        _panel(axis, own)
        _whole(axis, own)
        axis.set_title(rf"$\sigma^2$ = {own['noise'].iloc[0]:g}, {_formula(case)}", fontsize=MEDIUM)
    for axis in axes[0][len(cases) :]:
        _near(axis, near)
    for axis in axes[0]:
        axis.set_xlabel(r"$\gamma = P/N$", fontsize=MEDIUM)
        axis.tick_params(labelsize=SMALL)
    axes[0][0].set_ylabel(r"risk beyond the noise, $|\hat{w} - w^*|^2$", fontsize=MEDIUM)
    handles, labels = axes[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", fontsize=SMALL, handlelength=2.2,
                  ncols=len(labels), columnspacing=1.2)  # fmt: skip
    return figure


def _formula(case: str) -> str:
    """Return ``r^2/sigma^2 = 4`` as mathtext."""
    left, right = case.replace("sigma", r"\sigma").split(" = ")
    return f"${left}$ = {right}"


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw curves and drawn risks on a logarithmic axis of risks."""
    axis.axvline(1, color="0.75", linewidth=0.8, zorder=0)
    for name, (colour, style, width, label) in LOOKS.items():
        curve = rows[rows["curve"] == name].sort_values("x")
        size = int(rows["size"].iloc[0])
        axis.plot(curve["x"], curve["y"].where(curve["y"] > 0), style, color=colour,
                  linewidth=width, label=label.format(size=size))  # fmt: skip
    drawn = rows[rows["curve"] == "drawn"]
    known = drawn["has_variance"].astype(bool)
    means, medians = drawn[known], drawn[~known]
    look = {"color": COLOURS[0], "elinewidth": 1, "markersize": 3.4, "linestyle": "none"}
    axis.errorbar(means["x"], means["mean"], ERRORS * means["mean_error"], marker="o", zorder=3,
                  label=NAMES["mean"], **look)  # fmt: skip
    spread = (medians["median"] - medians["low"], medians["high"] - medians["median"])
    axis.errorbar(medians["x"], medians["median"], spread, marker="D", zorder=4,
                  markerfacecolor="white", markeredgewidth=1, label=NAMES["median"],
                  **look)  # fmt: skip
    axis.set_yscale("log")


def _whole(axis: Axes, rows: pd.DataFrame) -> None:
    """Set the axes of all ratios, and mark along the bottom where the printed limit is negative."""
    drawn, printed = (rows[rows["curve"] == name] for name in ("drawn", "printed"))
    low, high = drawn["low"].min() / 4, drawn["high"].max() * 2
    axis.set_xscale("log")
    axis.set_ylim(low, high)
    below = printed[printed["y"] <= 0]
    if len(below):
        first, last = below["x"].min(), below["x"].max()
        axis.axvspan(first, last, 0, 0.05, color=COLOURS[2], alpha=0.35, linewidth=0)
        axis.text(first * 1.05, 0.06, "printed < 0", fontsize=SMALL, color=COLOURS[2], ha="left",
                  va="bottom", transform=axis.get_xaxis_transform())  # fmt: skip
    span = drawn["x"].min(), drawn["x"].max()
    axis.xaxis.set_major_locator(FixedLocator([t for t in TICKS if span[0] <= t <= span[1]]))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _near(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the surroundings of ratio 1."""
    _panel(axis, rows)
    drawn = rows[rows["curve"] == "drawn"]
    axis.set_xlim(1 - NEAR, 1 + NEAR)
    axis.set_ylim(drawn["low"].min() / 2, drawn["high"].max() * 2)
    noise = drawn["noise"].iloc[0]
    axis.set_title(rf"$\sigma^2$ = {noise:g}, near $\gamma$ = 1", fontsize=MEDIUM)
