"""The gates of a network of the user during training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from finitewidth.common import fields
from finitewidth.figures.own.parts import (
    CURVE,
    MAP,
    MARKERS,
    STYLES,
    add_bar,
    curves,
    draw_map,
    steps,
    together,
)
from finitewidth.figures.style import COLOURS, band, empty, title_panels

FIELDS = {
    "panel": fields.text("layer, kernel or map"),
    "layer": fields.number("number of an activation in the order of the network; NaN otherwise"),
    "activation": fields.text("the function, such as relu; none for kernels and maps"),
    "units": fields.number("gates of the layer for one image; NaN otherwise"),
    "kernel": fields.text("neural path kernel or overlap of gates; none for layers"),
    **CURVE,
    **MAP,
}
LINES, MAPS, LEGEND = 1.7, 1.75, 0.45  # inches: height of the curves, of the maps, of the legend
LAYERS = {"changed": "share of gates changed", "active": "share of gates on"}
KERNEL = {"same_class": "same class", "other_class": "other classes", "alignment": "alignment"}
SHOWN = 6  # layers with a curve of their own: the first, the last, and some between them


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the curves of layers and of the kernel, and the entries of the kernels.

    Args:
        tables: ``layers``, ``paths`` and ``kernels`` of `own_gates`.
        settings: none.
    """
    layers = tables["layers"]
    layers = layers[layers["quantity"].isin(LAYERS) & layers["layer"].isin(_chosen(layers))]
    return together(
        FIELDS, layer=layers.assign(kernel="none"),
        kernel=tables["paths"].assign(activation="none"),
        map=tables["kernels"].assign(quantity="entry", activation="none"),
    )  # fmt: skip


def _chosen(layers: pd.DataFrame) -> list[int]:
    """The numbers of at most `SHOWN` layers, evenly spaced."""
    found = sorted(layers["layer"].unique())
    last = len(found) - 1
    places = {round(place * last / (SHOWN - 1)) for place in range(SHOWN)}
    return [found[place] for place in sorted(places if last >= SHOWN else range(last + 1))]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw curves of the layers and of the kernel, and below the kernel at some steps."""
    layers, kernel, maps = (rows[rows["panel"] == panel] for panel in ("layer", "kernel", "map"))
    times = sorted(maps["step"].unique())
    figure = empty(height=LINES + MAPS + LEGEND)
    grid = figure.add_gridspec(2, 1, height_ratios=(LINES, MAPS))
    upper, lower = grid[0].subgridspec(1, 3), grid[1].subgridspec(1, len(times))
    axes = [figure.add_subplot(upper[place]) for place in range(3)]
    for axis, (quantity, label) in zip(axes, LAYERS.items(), strict=False):
        _layers(axis, layers[layers["quantity"] == quantity], label)
    name = kernel["kernel"].iloc[0]
    curves(axes[2], kernel, KERNEL, "blocks, alignment")
    handles, labels = axes[2].get_legend_handles_labels()
    axes[2].get_legend().remove()
    figure.legend(handles, labels, title=f"c  {name}", loc="outside upper right")
    axes[2].set_ylim(0, 1.02)
    drawn = [figure.add_subplot(lower[place]) for place in range(len(times))]
    for place, (axis, time) in enumerate(zip(drawn, times, strict=True)):
        own = maps[maps["step"] == time]
        image = draw_map(axis, own, first=place == 0, vmin=0, vmax=1)
    add_bar(figure, image, drawn, f"{name}\nover mean diagonal", shrink=0.8, extend="max")
    titles = ["", "", "", *(f"step {time:g}" for time in times)]
    title_panels([*axes, *drawn], titles)
    _legend(figure, layers)
    return figure


def _layers(axis: Axes, rows: pd.DataFrame, label: str) -> None:
    for place, (_, own) in enumerate(rows.groupby("layer")):
        own = own.sort_values("step")
        axis.plot(own["step"], own["median"], **_look(place))
        band(axis, own["step"], own["lowest"], own["highest"], COLOURS[place])
    axis.set_ylim(0, max(0.05, 1.08 * float(rows["highest"].max())))
    axis.set_ylabel(label)
    steps(axis, rows)


def _look(place: int) -> dict[str, Any]:
    return {"color": to_hex(COLOURS[place]), "marker": MARKERS[place], "linestyle": STYLES[place],
            "markersize": 2.6}  # fmt: skip


def _legend(figure: Figure, layers: pd.DataFrame) -> None:
    """Name the layers of the first two panels."""
    handles = []
    for place, (layer, own) in enumerate(layers.groupby("layer")):
        units, activation = int(own["units"].iloc[0]), own["activation"].iloc[0]
        label = f"layer {layer:g} ({activation}, {units:,} gates)"
        handles.append(Line2D([], [], label=label, **_look(place)))
    figure.legend(handles=handles, title="a, b  layers", loc="outside upper left", ncols=2)
