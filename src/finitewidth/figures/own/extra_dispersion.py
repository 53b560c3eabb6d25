"""The tangent kernel of a network of the user over random initialisations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from finitewidth.common import fields
from finitewidth.figures.own.parts import MAP, MARKERS, STYLES, add_bar, draw_map, level, together
from finitewidth.figures.style import COLOURS, GREY, subplots, title_panels

FIELDS = {
    "panel": fields.text("draw, dispersion or map"),
    "outputs": fields.text("one output, sum over outputs, or none for maps"),
    "quantity": fields.text("ratio, r, mean or deviation"),
    "draw": fields.number("number of a network; NaN for other panels"),
    "image": fields.number("number of an image; NaN for other panels"),
    "value": fields.number(
        "Theta(x, x) over its mean over the networks, or r, the mean over the images; NaN for maps"
    ),
    "standard_error": fields.number("of r, from a bootstrap over networks; NaN otherwise"),
    "smallest": fields.number("r of the image with the smallest r; NaN otherwise"),
    "largest": fields.number("r of the image with the largest r; NaN otherwise"),
    **MAP,
}
MAPS = {"mean": "mean over networks", "deviation": "standard deviation"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the draws, the dispersions and both maps.

    Args:
        tables: ``draws``, ``summary`` and ``kernels`` of `own_dispersion`.
        settings: none.
    """
    draws = tables["draws"].rename(columns={"ratio": "value"}).assign(quantity="ratio")
    summary = tables["summary"].rename(columns={"r": "value"}).assign(quantity="r")
    maps = tables["kernels"].assign(outputs="none")
    return together(FIELDS, draw=draws, dispersion=summary, map=maps)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the distribution of the diagonal, its dispersion, and maps of mean and deviation."""
    figure, axes = subplots(1, 4, height=2.3, width_ratios=(1.35, 0.95, 1, 1))
    _distribution(axes[0], rows[rows["panel"] == "draw"])
    _dispersion(axes[1], rows[rows["panel"] == "dispersion"])
    maps = rows[rows["panel"] == "map"]
    for place, (quantity, axis) in enumerate(zip(MAPS, axes[2:], strict=True)):
        own = maps[maps["quantity"] == quantity]
        image = draw_map(axis, own, first=place == 0)
        add_bar(figure, image, [axis], "", location="bottom")
    title_panels(axes, ["", "", *MAPS.values()])
    return figure


def _distribution(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw which share of networks and images has at most a value, for both kinds of outputs."""
    for place, (name, own) in enumerate(rows.groupby("outputs", sort=False)):
        values = np.sort(own["value"].to_numpy())
        share = np.arange(1, len(values) + 1) / len(values)
        axis.plot(values, share, color=COLOURS[place], linestyle=STYLES[place], label=name)
    axis.plot([1, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (5, 2)), zorder=0)
    axis.set(xlabel=r"$\Theta(x, x)$ over its mean", ylabel="share of values")
    axis.set_xlim(left=0)
    axis.set_ylim(0, 1.4)  # leaves room for the legend
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axis.legend(loc="upper left")


def _dispersion(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw r of both kinds of outputs: bars are standard errors, dots reach over single images."""
    for place, row in enumerate(rows.itertuples()):
        axis.plot([place] * 2, [row.smallest, row.largest], color=COLOURS[place], linewidth=0.7,
                  linestyle=":", zorder=1)  # fmt: skip
        axis.errorbar([place], [row.value], [row.standard_error], color=COLOURS[place],
                      marker=MARKERS[place], linestyle="none")  # fmt: skip
    axis.set_xticks(range(len(rows)), [name.replace(" ", "\n", 1) for name in rows["outputs"]])
    axis.set_xlim(-0.6, len(rows) - 0.4)
    level(axis, 1)
    low, high = rows["value"] - rows["standard_error"], rows["value"] + rows["standard_error"]
    top = float(max(rows["largest"].max(), high.max()))
    axis.set_ylim(min(1, low.min()) - 0.08 * (top - 1), 1 + 1.1 * (top - 1))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axis.set(xlabel="kernel of", ylabel=r"dispersion $r$ of $\Theta(x, x)$")
