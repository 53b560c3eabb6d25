"""Control of trust Figures 3 and 4: a rate common to all networks, and one scaled to each of them.

Curves over the weight variance, one per depth: the lowest loss over that of the best constant
output, and the change of the kernel at the end of training. Both rates start from the same weights.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, StrMethodFormatter

from finitewidth.figures.style import subplots
from finitewidth.figures.trust import change
from finitewidth.figures.trust.descent_maps import COLUMNS, NAMES

WIDTH, HEIGHT = 6.9, 4.5  # inches
SMALL = 7  # points
SHADES = ("viridis_r", 0.2, 1.0)  # of shallow and of deep networks, which matter most
TABLES = ("changes", "networks", "borders")
RULES = {"common": "common rate", "scaled": r"rate $1/\lambda_{max}$"}
PANELS = {"loss": "lowest loss /\nloss of the best constant",
          "change": "change of the NTK\nat the end"}  # fmt: skip
NAMED = {"a": "change", "b": "loss"}  # panels of Figures 3 and 4
HIGHEST = {"loss": 20.0, "change": 1.5}  # larger values are drawn as triangles at the upper edge
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)  # of the axis of losses
STEEP = 2.0  # eta_lambda from which on a rate is not stable at the start
MARKS = {
    "steep": {"marker": "o", "markerfacecolor": "white", "markeredgewidth": 0.9},
    "diverged": {"marker": "x", "markersize": 5, "markeredgewidth": 1.0},
    "above": {"marker": "^", "markersize": 4.5, "clip_on": False},
}
LABELS = {
    "steep": r"rate > $2/\lambda_{max}$ at the start", "diverged": "a seed diverged",
    "above": "above the axis",
}  # fmt: skip


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means and ranges over seeds in every cell that both rates have, and the borders.

    Args:
        tables: ``<activation>_<rule>_<table>`` for the rules common and scaled and the tables of
            `finitewidth.experiments.trust.descent`.
        settings: none.

    Returns:
        The columns of Figures 3 and 4 with ``rule``; the panels are called loss and change.
    """
    return pd.concat(list(_selected(tables)), ignore_index=True)


def _selected(tables: Mapping[str, pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for activation in NAMES:
        first = tables[f"{activation}_scaled_networks"].iloc[0]
        for rule in RULES:
            own = {name: tables[f"{activation}_{rule}_{name}"] for name in TABLES}
            rows = change.select(own, {"width": first["width"]})
            rows = rows.loc[rows["line"] == first["sigma_b2"], COLUMNS]
            yield rows.assign(panel=rows["panel"].map(NAMED), rule=rule)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a row of panels for losses and one for changes, a column per activation and rule."""
    columns = [(activation, rule) for activation in rows["activation"].unique() for rule in RULES]
    figure, axes = subplots(
        len(PANELS), len(columns), squeeze=False, sharex="col", sharey="row",
        figsize=(WIDTH, HEIGHT),
    )  # fmt: skip
    for (panel, label), across in zip(PANELS.items(), axes, strict=True):
        for axis, (activation, rule) in zip(across, columns, strict=True):
            own = rows[(rows["panel"] == panel) & (rows["activation"] == activation)]
            _panel(axis, own[own["rule"] == rule], panel)
            axis.tick_params(labelsize=SMALL)
        across[0].set_ylabel(label, fontsize=SMALL + 0.5)
        _scale(across[0], rows[rows["panel"] == panel], panel)
    for top, bottom, (activation, rule) in zip(*axes, columns, strict=True):
        top.set_title(f"{NAMES[activation]}, {RULES[rule]}", fontsize=SMALL + 1)
        bottom.set_xlabel(r"$\sigma_w^2$", fontsize=SMALL + 1)
        bottom.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(figure, rows)
    return figure


def colours(depths: Sequence[float]) -> dict[float, Any]:
    """Colour of each depth, dark for deep networks."""
    name, low, high = SHADES
    own = sorted(set(depths))
    shades = np.linspace(low, high, len(own)) if len(own) > 1 else [high]
    return {depth: mpl.colormaps[name](shade) for depth, shade in zip(own, shades, strict=True)}


def _panel(axis: Axes, rows: pd.DataFrame, panel: str) -> None:
    """Draw the curves of all depths, the border, and for losses the line of a constant output."""
    cells = rows[rows["series"] == "cell"]
    for border in rows.loc[rows["series"] == "border", "x"]:
        axis.axvline(border, color="0.4", linestyle="--", linewidth=0.9)
    if panel == "loss":
        axis.axhline(1, color="0.6", linestyle=":", linewidth=0.9)
    shades = colours(cells["y"])
    for depth, curve in cells.groupby("y"):
        _curve(axis, curve.sort_values("x"), shades[depth], HIGHEST[panel])


def _curve(axis: Axes, curve: pd.DataFrame, colour: Any, highest: float) -> None:
    """A line through the means, bars from the least to the largest seed, and marks."""
    x, y = curve["x"].to_numpy(float), curve["value"].to_numpy(float)
    shown = np.where(y <= highest, y, np.nan)
    axis.plot(x, y, "-", color=colour, linewidth=1.1)
    axis.vlines(x, curve["low"], curve["high"], color=colour, linewidth=0.8, alpha=0.6)
    axis.plot(x, shown, "o", color=colour, markersize=2.8)
    for name, where in _marked(curve, highest).items():
        if not where.any():
            continue
        height = np.where(y <= highest, y, highest)
        axis.plot(x[where], height[where], color=colour, linestyle="none",
                  **{"markersize": 3.4, **MARKS[name]})  # fmt: skip


def _marked(curve: pd.DataFrame, highest: float) -> dict[str, np.ndarray]:
    """Name of a mark -> at which points of a curve it stands; where all seeds diverged, on top."""
    above = (curve["value"] > highest).to_numpy()
    lost = (curve["diverged"] > 0).to_numpy()
    steep = (curve["eta_lambda"] > STEEP).to_numpy()
    return {"steep": steep & ~above & ~lost, "diverged": lost, "above": above & ~lost}


def _scale(axis: Axes, rows: pd.DataFrame, panel: str) -> None:
    """Limits and ticks of a row of panels; the axis of losses is logarithmic."""
    values = rows.loc[rows["series"] == "cell", ["low", "high"]].to_numpy(float)
    low, high = np.nanmin(values), min(float(np.nanmax(values)), HIGHEST[panel])
    if panel == "change":
        axis.set_ylim(0, 1.05 * high)
        return
    axis.set_yscale("log")
    axis.set_ylim(low / 1.2, max(1.2, 1.1 * high))
    axis.yaxis.set_major_locator(FixedLocator(TICKS))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.yaxis.set_minor_locator(NullLocator())


def _legend(figure: Figure, rows: pd.DataFrame) -> None:
    """Depths, lines, and the marks that occur."""
    cells = rows[rows["series"] == "cell"]
    handles = [Line2D([], [], color=colour, marker="o", markersize=3, label=f"$L$ = {depth:g}")
               for depth, colour in colours(cells["y"]).items()]  # fmt: skip
    handles.append(Line2D([], [], color="0.4", linestyle="--", label="border of the phases"))
    handles.append(Line2D([], [], color="0.6", linestyle=":", label="best constant"))
    marks = [_marked(own, HIGHEST[panel]) for panel, own in cells.groupby("panel")]
    handles += [
        Line2D([], [], color="0.3", linestyle="none", label=label,
               **{"markersize": 3.4, **MARKS[name], "clip_on": True})
        for name, label in LABELS.items() if any(mark[name].any() for mark in marks)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", fontsize=SMALL, handlelength=1.6,
                  ncols=min(len(handles), 5))  # fmt: skip
