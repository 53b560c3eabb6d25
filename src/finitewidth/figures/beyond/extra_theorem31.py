"""Theorem 3.1 of ``beyond``, printed and corrected, beside exact values and sampled networks."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from finitewidth.figures.style import COLOURS, PANEL_WIDTH, subplots

PRINTED, CORRECTED = COLOURS[1], COLOURS[0]
LIMITS = {
    "printed_limit": ("Theorem 3.1, printed", PRINTED),
    "corrected_limit": ("Theorem 3.1, corrected", CORRECTED),
}
DOTS = ((0, (1, 1)), (0, (4, 1.5)), "-.")
NAMES = {"critical": "Edge of chaos", "chaotic": "Chaotic phase", "ordered": "Ordered phase"}
HEIGHTS = {"y": r"$E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$", "relative": "the same / printed"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the limits and exact curves up to large lambda, and the small networks."""
    small = tables["small"].assign(panel="small")
    return pd.concat([tables["curves"].assign(panel="curves"), small], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw dispersions above, and their ratio to the printed ones below; small networks last."""
    curves, small = rows[rows["panel"] == "curves"], rows[rows["panel"] == "small"]
    variances = sorted(curves["sigma_w2"].unique())
    columns = len(variances) + 1
    figure, axes = subplots(
        2, columns, figsize=(PANEL_WIDTH * columns, 4.8), sharex="col",
        height_ratios=(1.4, 1),
    )  # fmt: skip
    for (upper, lower), variance in zip(axes.T, variances, strict=False):
        own = curves[curves["sigma_w2"] == variance]
        phase = NAMES[own["phase"].iloc[0]]
        upper.set_title(rf"{phase}, $\sigma_w^2$ = {variance:g}, $\alpha_0$ = 1")
        for axis, height in ((upper, "y"), (lower, "relative")):
            _limits(axis, own, height)
        upper.set_yscale("log")
        upper.legend(loc="upper left")
        lower.set_xlabel(r"$\lambda = L/M$")
    width, variance = small["width"].iloc[0], small["sigma_w2"].min()
    axes[0][-1].set_title(rf"Drawn in full, $M$ = {width:g}, $\sigma_w^2$ = {variance:g}")
    for axis, height in zip(axes.T[-1], HEIGHTS, strict=True):
        _small(axis, small[small["sigma_w2"] == variance], height)
    axes[0][-1].legend(loc="upper left")
    axes[0][-1].set_yscale("log")
    axes[0][-1].set_yticks([1, 2, 4, 8])
    axes[0][-1].yaxis.set_major_formatter(ScalarFormatter())
    axes[0][-1].minorticks_off()
    axes[1][-1].set_xlabel("depth $L$")
    axes[1][-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis, label in zip(axes[:, 0], HEIGHTS.values(), strict=True):
        axis.set_ylabel(label)
    return figure


def _limits(axis: Axes, rows: pd.DataFrame, height: str) -> None:
    for curve, (label, colour) in LIMITS.items():
        own = rows[rows["curve"] == curve]
        axis.plot(own["x"], own[height], "-", color=colour, label=label, linewidth=1.8)
    exact = rows[rows["curve"] == "exact"]
    for place, (width, own) in enumerate(exact.groupby("width")):
        line, label = DOTS[place % len(DOTS)], rf"exact, $M$ = {width:g}"
        axis.plot(own["x"], own[height], linestyle=line, color="black", linewidth=1.1, label=label)


def _small(axis: Axes, rows: pd.DataFrame, height: str) -> None:
    found = {name: own.sort_values("depth") for name, own in rows.groupby("curve")}
    printed, exact, nets = found["printed_sums"], found["exact"], found["networks"]
    axis.plot(printed["depth"], printed[height], "-", color=PRINTED, label="Theorem 3.2, printed")
    axis.plot(exact["depth"], exact[height], ":", color="black", label="exact")
    spread = nets["spread" if height == "y" else "relative_spread"]
    label = f"{int(nets['draws'].max()):,} networks each, ± 2 s.e."
    axis.errorbar(
        nets["depth"], nets[height], 2 * spread, fmt="o", color=CORRECTED,
        capsize=2, label=label,
    )  # fmt: skip
