"""``beyond`` Figure 6: dispersion predicted for networks that grow, stay or shrink with depth."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from finitewidth.figures.beyond.lines import colours, handle, legend, log_dispersion_axis
from finitewidth.figures.style import subplots

TITLES = {
    "growing": "growing widths",
    "constant": "constant widths",
    "shrinking": "shrinking widths",
}
LAYER = 0.62  # width of the bar that shows a layer
THINNEST = 0.03  # least height of a bar, relative to the tallest


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the curves of three architectures, and the layer widths of one network of each."""
    curves = tables["architectures"].assign(panel="dispersion")
    return pd.concat([curves, tables["drawings"].assign(panel="drawing")], ignore_index=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the curves above and the networks below; with ``exact``, dotted exact curves too."""
    figure, axes = subplots(2, 3, figsize=(10.4, 4.4), height_ratios=(2.4, 1), sharey="row")
    curves = rows[rows["panel"] == "dispersion"]
    shades = colours(sorted(curves["sigma_w2"].unique()))
    for (name, title), top, bottom in zip(TITLES.items(), *axes, strict=True):
        top.set_title(title)
        top.set_xlabel(r"$\lambda = 2L/(M_1+M_2)$")
        own = curves[curves["architecture"] == name]
        for (kind, variance), curve in own.groupby(["curve", "sigma_w2"]):
            if kind == "printed_sums" or settings["exact"]:
                line = "-" if kind == "printed_sums" else ":"
                top.plot(curve["x"], curve["y"], line, color=shades[variance], linewidth=1.2)
        _network(bottom, rows[(rows["panel"] == "drawing") & (rows["architecture"] == name)])
    axes[0][0].set_ylabel(r"$E[\Theta(x,x)^2]\,/\,E[\Theta(x,x)]^2$")
    log_dispersion_axis(list(axes[0]), float(curves["y"].max()))
    used = sorted(curves["sigma_w2"].unique())
    handles = [handle(rf"$\sigma_w^2$ = {v:g}", color=shades[v], linestyle="-") for v in used]
    handles.append(handle("Theorem 3.2, printed", color="black", linestyle="-"))
    if settings["exact"]:
        handles.append(handle("exact", color="black", linestyle=":"))
    legend(figure, handles)
    return figure


def _network(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw each layer as a bar whose height is its width, from input to output."""
    rows = rows.sort_values("x")
    last = int(rows["x"].max())
    for layer, width in zip(rows["x"], rows["y"], strict=True):
        end = layer in (0, last)
        colour = "0.45" if end else "#56b4e9"
        tall = max(width, THINNEST * rows["y"].max())
        axis.add_patch(
            Rectangle((layer - LAYER / 2, -tall / 2), LAYER, tall, facecolor=colour, linewidth=0)
        )
        if end or layer == last - 1:
            text = "1" if layer == last else f"{int(width)}"
            axis.annotate(
                text, (layer, width / 2), (0, 2), textcoords="offset points", ha="center",
                fontsize=7,
            )  # fmt: skip
    half = rows["y"].max() / 2
    axis.set(xlim=(-1, last + 1), ylim=(-half * 1.1, half * 1.35), xlabel="layer")
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.set_xticks([0, last], ["input", "output"])
