"""``beyond`` Figure 6: dispersion predicted for networks that grow, stay or shrink with depth."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from finitewidth.figures.style import SMALLEST, handle, legend_above, subplots, title_panels
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.figures.lines import NEUTRAL, colours, log_dispersion_axis
from finitewidth.records.tables import Table

NAMES = ("growing", "constant", "shrinking")
CURVES = {"printed_sums": ("-", "Theorem 3.2, form of its proof"), "exact": (":", "exact")}
LAYER = 0.62  # width of the bar that shows a layer
THINNEST = 0.03  # least height of a bar, relative to the tallest
END = "#737373"  # input and output
HIDDEN = "#56b4e9"  # hidden layers
TABLE = Table(
    columns.PANEL_OF_SHAPE,
    columns.ARCHITECTURE,
    columns.CURVE_OF_SHAPE_SHOWN,
    columns.SIGMA_W2_OF_SHAPE,
    columns.DEPTH_OVER_MEAN_WIDTH,
    columns.DISPERSION_OF_SHAPE,
    columns.LAYER_SHOWN,
    columns.LAYER_WIDTH_SHOWN,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the curves of three architectures, and the layer widths of one network of each."""
    names = {"x": "depth_over_width", "y": "dispersion"}
    curves = tables["architectures"].rename(columns=names)
    drawings = tables["drawings"].rename(columns={"x": "layer", "y": "width"})
    parts = [curves.assign(panel="dispersion"), drawings.assign(panel="drawing", curve="none")]
    return pd.concat(parts, ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the curves above, exact ones dotted, and the networks below."""
    figure, axes = subplots(2, 3, height=3.7, height_ratios=(2.6, 1), sharey="row")
    curves = rows[rows["panel"] == "dispersion"]
    drawings = rows[rows["panel"] == "drawing"]
    variances = sorted(curves["sigma_w2"].unique())
    shades = colours(variances)
    for name, top, bottom in zip(NAMES, *axes, strict=True):
        _curves(top, curves[curves["architecture"] == name], shades)
        _network(bottom, drawings[drawings["architecture"] == name])
    title_panels(axes.flat, [*(f"{name} widths" for name in NAMES), "", "", ""])
    axes[0][0].set_ylabel(r"$E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$")
    axes[1][0].set_ylabel("units")
    log_dispersion_axis(list(axes[0]), 1.0, float(curves["dispersion"].max()))
    handles = [handle(rf"$\sigma_w^2$ = {v:g}", color=shades[v], linestyle="-") for v in variances]
    for line, label in CURVES.values():
        handles.append(handle(label, color=NEUTRAL, linestyle=line, linewidth=1.0))
    legend_above(figure, handles, 5)
    return figure


def _curves(axis: Axes, rows: pd.DataFrame, shades: Mapping[float, str]) -> None:
    """Draw the dispersion of one architecture."""
    rows = rows.sort_values("depth_over_width")
    for (kind, variance), curve in rows.groupby(["curve", "sigma_w2"]):
        line, _ = CURVES[kind]
        x = curve["depth_over_width"]
        axis.plot(x, curve["dispersion"], line, color=shades[variance], linewidth=1.0)
    axis.set_xlabel("depth over mean width,\n" r"$\lambda = 2L/(M_1+M_2)$")


def _network(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw each layer as a bar whose height is its width, from input to output."""
    rows = rows.sort_values("layer")
    last = int(rows["layer"].max())
    widest = rows["width"].max()
    for layer, width in zip(rows["layer"], rows["width"], strict=True):
        is_end = layer in (0, last)
        height = max(width, THINNEST * widest)
        corner = (layer - LAYER / 2, -height / 2)
        colour = END if is_end else HIDDEN
        axis.add_patch(Rectangle(corner, LAYER, height, linewidth=0, facecolor=colour))
        if is_end or layer == last - 1:
            axis.annotate(
                f"{width:g}",
                (layer, height / 2),
                (0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=SMALLEST,
            )
    half = widest / 2
    axis.set(xlim=(-1, last + 1), ylim=(-half * 1.1, half * 1.5), xlabel="layer")
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.set_xticks([0, last], ["input", "output"])
