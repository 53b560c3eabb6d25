"""trust Figure 2: dispersion of the kernel of ReLU networks against depth and depth over width."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, ScalarFormatter

from finitewidth.figures.style import subplots

COLUMNS = ["panel", "series", "width", "x", "x_over_width", "y", "spread", "draws"]
LIMITS = {"printed": ("--", "limit, as printed"), "corrected": ("-", "limit, corrected")}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``curves`` and ``limits``.

    The series are ``ours`` (many draws), ``exact`` and ``paper`` (the paper's number of draws) for
    each width, against depth and against depth over width, and the ``printed`` and ``corrected``
    limits against depth over width.
    """
    names = {"lambda": "x_over_width", "dispersion": "y"}
    curves = tables["curves"].rename(
        columns={**names, "sample": "series", "depth": "x", "error": "spread"}
    )
    limits = tables["limits"].rename(columns={**names, "form": "series"})
    rows = pd.concat([curves, limits])
    rows["panel"] = [
        f"({weight:g}, {bias:g})"
        for weight, bias in zip(rows["sigma_w2"], rows["sigma_b2"], strict=True)
    ]
    return rows[COLUMNS]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw two rows of panels; ``settings`` say whether to show ``paper_draws`` and ``limits``."""
    names = list(rows["panel"].unique())
    widths = sorted(rows["width"].dropna().unique())
    colours = colormaps["viridis"](np.linspace(0, 0.9, len(widths)))
    figure, axes = subplots(2, len(names), squeeze=False, figsize=(2.5 * len(names) + 1.3, 4.8))
    for column, panel in enumerate(names):
        here = rows[rows["panel"] == panel]
        for axis, abscissa in zip(axes[:, column], ("x", "x_over_width"), strict=True):
            for width, colour in zip(widths, colours, strict=True):
                _curve(axis, here[here["width"] == width], abscissa, colour, settings)
            if abscissa == "x_over_width" and settings["limits"]:
                _limits(axis, here)
            _scale(axis, here)
        axes[0, column].set_title(rf"$(\sigma_w^2, \sigma_b^2) = {panel}$")
        axes[0, column].set_xlabel("depth $L$")
        axes[1, column].set_xlabel("depth over width $L/M$")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"$E[\Theta^2]\,/\,E[\Theta]^2$")
    figure.legend(
        handles=_handles(rows, dict(zip(widths, colours, strict=True)), settings),
        loc="outside right center",
    )
    return figure


def _handles(
    rows: pd.DataFrame, colours: Mapping[float, Any], settings: Mapping[str, Any]
) -> list[Line2D]:
    handles = [Line2D([], [], color=c, label=f"M = {width:g}") for width, c in colours.items()]
    if settings["paper_draws"]:
        few = rows.loc[rows["series"] == "paper", "draws"].max()
        look = {"color": "0.4", "marker": "o", "markersize": 2, "linestyle": ""}
        handles.append(Line2D([], [], label=f"{few:g} draws", **look))
    if settings["limits"] and rows["series"].isin(LIMITS).any():
        look = {"color": "black", "linewidth": 0.9}
        handles += [Line2D([], [], linestyle=line, label=label, **look)
                    for line, label in LIMITS.values()]  # fmt: skip
    return handles


def _curve(
    axis: Axes, rows: pd.DataFrame, abscissa: str, colour: Any, settings: Mapping[str, Any]
) -> None:
    many = rows[rows["series"].isin(["ours", "exact"])]
    axis.plot(many[abscissa], many["y"], color=colour, linewidth=1.2)
    low, high = (many["y"] + sign * many["spread"] for sign in (-1, 1))
    axis.fill_between(many[abscissa], low, high, color=colour, alpha=0.25, linewidth=0)
    if settings["paper_draws"]:
        few = rows[rows["series"] == "paper"]
        axis.plot(few[abscissa], few["y"], "o", color=colour, markersize=1.8, alpha=0.8)


def _limits(axis: Axes, rows: pd.DataFrame) -> None:
    for series, (line, _) in LIMITS.items():
        curve = rows[rows["series"] == series]
        axis.plot(curve["x_over_width"], curve["y"], color="black", linestyle=line, linewidth=0.9)


def _scale(axis: Axes, rows: pd.DataFrame) -> None:
    """Use a logarithmic axis if the ratio grows; exponential growth is then a straight line."""
    if rows.loc[rows["series"] != "paper", "y"].max() > 2:
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(ScalarFormatter())
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.set_yticks([y for y in (1, 2, 3, 5, 10, 20, 50, 100) if y < 2 * rows["y"].max()])
