"""Energy of the labels in the eigenvectors of the path kernel while a ReLU network learns."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from finitewidth.figures.style import COLOURS, band, panels

CHANCE = "by chance"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``energy``."""
    return tables["energy"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw energy and nu against the number of eigenvectors, and energy against epochs."""
    titles = ["Labels in the first eigenvectors", r"The same, part of $\nu$", "While ReLU learns"]
    figure, (left, middle, right) = panels(3, titles)
    _ranks(left, rows[rows["panel"] == "energy"])
    _ranks(middle, rows[rows["panel"] == "nu"])
    _epochs(right, rows[rows["panel"] == "top"])
    for axis in (left, right):
        axis.set(ylabel=r"share of $\Vert y\Vert^2$", ylim=(0, 1.03))
    middle.set(ylabel=r"$\sum_{i\leq k} \langle y, u_i\rangle^2 / \rho_i$", yscale="log")
    return figure


def _ranks(axis: Axes, rows: pd.DataFrame) -> None:
    colours = iter(COLOURS)
    for series, curve in rows.groupby("series", sort=False):
        if series == CHANCE:
            axis.plot(curve["x"], curve["y"], ":", color="0.4", label=series)
        else:
            band(axis, curve, color=next(colours), label=series)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set(xlabel=r"first $k$ eigenvectors of $\hat{H}$")
    axis.legend(loc="center")


def _epochs(axis: Axes, rows: pd.DataFrame) -> None:
    series = list(dict.fromkeys(rows["series"]))
    shades = mpl.colormaps["viridis"]
    for place, name in enumerate(series):
        colour = shades(0.92 * place / max(1, len(series) - 1))
        band(axis, rows[rows["series"] == name], color=colour, marker="o", markersize=3, label=name)
    axis.set(xlabel="epoch")
    handles, labels = axis.get_legend_handles_labels()
    axis.legend(handles[::-1], labels[::-1], title="eigenvectors", loc="center left",
                bbox_to_anchor=(1, 0.5))  # fmt: skip
