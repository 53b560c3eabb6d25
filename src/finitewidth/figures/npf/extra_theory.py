"""Fixed gates: convergence of K^v to the path kernel, and growth of its variance with depth."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from finitewidth.figures.style import COLOURS, PANEL_HEIGHT, PANEL_WIDTH, subplots

ERROR = r"$\Vert K^v - d\sigma^{2(d-1)}H\Vert_F\ /\ \Vert d\sigma^{2(d-1)}H\Vert_F$"
GROWTHS = {
    "width": ("Theorem 5.1: gates and values grow wide", "width $w$"),
    "copies": ("Corollary C.1: only values grow wide", "copies $m$ of each gate"),
}
BOUNDS = {
    "per_d3": (r"npf, Theorem B.2, bounds Var$[K(s,s)]\,w/d^3$", r"Var$[K(s,s)]\ w\,/\,d^3$"),
    "per_d2": (r"dgn, Theorem 2.3, bounds Var$[K(s,s)]\,w/d^2$", r"Var$[K(s,s)]\ w\,/\,d^2$"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the errors by width and by number of copies, and the variances of K(s, s)."""
    variance = tables["variance"]
    variance = variance[variance["entry"] != "pair"].assign(panel="variance")
    return pd.concat([tables["curves"].assign(panel="error"), variance], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the errors above and the variances below."""
    size = (2.2 * PANEL_WIDTH, 2.2 * PANEL_HEIGHT)
    figure, axes = subplots(2, 2, figsize=size)
    errors, variances = rows[rows["panel"] == "error"], rows[rows["panel"] == "variance"]
    for axis, (grows, (title, label)) in zip(axes[0], GROWTHS.items(), strict=True):
        _errors(axis, errors[errors["grows"] == grows])
        axis.set(title=title, xlabel=label, ylabel=ERROR)
    for axis, (column, (title, label)) in zip(axes[1], BOUNDS.items(), strict=True):
        _variances(axis, variances, column)
        axis.set(title=title, xlabel="depth $d$", ylabel=label)
    axes[1][1].legend(loc="upper left")
    return figure


def _errors(axis: Axes, rows: pd.DataFrame) -> None:
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    for colour, depth in zip(COLOURS, sorted(set(rows["depth"]) - {0}), strict=False):
        own = rows[rows["depth"] == depth]
        for gates, fill in (("independent", colour), ("own", "white")):
            nets = own[(own["gates"] == gates) & (own["curve"] == "drawn")]
            label = f"$d$ = {depth:g}" if gates == "independent" else None
            axis.errorbar(
                nets["x"], nets["y"], 2 * nets["spread"], fmt="o", color=colour, capsize=2,
                markerfacecolor=fill, markeredgecolor=colour, markeredgewidth=1, label=label,
            )  # fmt: skip
        for curve, line in (("exact", "-"), ("limit", ":")):
            part = own[own["curve"] == curve]
            axis.plot(part["x"], part["y"], line, color=colour, linewidth=1.1)
    guide = rows[rows["curve"] == "guide"]
    axis.plot(guide["x"], guide["y"], "--", color="0.5", linewidth=1, label="slope -1/2")
    if (rows["gates"] == "own").any():
        mark = {"markerfacecolor": "white", "markeredgecolor": "0.3", "markeredgewidth": 1}
        axis.plot([], [], "o", **mark, label="gates of its own")
        axis.plot([], [], ":", color="0.3", label="the same, infinite width")
    axis.plot([], [], "-", color="0.3", linewidth=1.1, label="exact r.m.s.")
    axis.set_ylim(bottom=axis.get_ylim()[0] / 3)
    axis.legend(loc="lower left", ncols=2)


def _variances(axis: Axes, rows: pd.DataFrame, column: str) -> None:
    opened = rows[rows["entry"] == "open"]
    exact = opened[opened["form"] == "exact"]
    for colour, (width, own) in zip(COLOURS, exact.groupby("width"), strict=False):
        axis.plot(own["depth"], own[column], "-", color=colour, label=f"all open, $w$ = {width:g}")
        nets = opened[(opened["form"] == "drawn") & (opened["width"] == width)]
        axis.errorbar(
            nets["depth"], nets[column], 2 * nets[f"{column}_spread"], fmt="o", color=colour,
            capsize=2,
        )  # fmt: skip
    first = opened[opened["form"] == "leading"]
    axis.plot(first["depth"], first[column], ":", color="black", label=r"all open, $w \to \infty$")
    half = rows[(rows["entry"] == "half") & (rows["form"] == "exact")]
    half = half[half["width"] == half["width"].max()]
    label = f"half open, $w$ = {half['width'].max():g}"
    axis.plot(half["depth"], half[column], "--", color="0.5", linewidth=1.1, label=label)
    axis.set_ylim(bottom=0)
