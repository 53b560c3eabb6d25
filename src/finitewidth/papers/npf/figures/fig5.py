"""npf Figure 5: the padded deep gated network, in which each gate is used m times."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams, style
from finitewidth.figures.diagrams import INK, LARGE, LINES, PALE, PLAIN, SMALL
from finitewidth.papers.npf.columns import concepts as columns
from finitewidth.records.tables import Table

TABLE = Table(
    columns.PADDED_LAYER,
    columns.PADDED_UNIT,
    columns.COPY,
    columns.GATE,
)
# all lengths in inches
UNIT = 0.235  # between units
COLUMN = 1.13  # between layers
LEFT = 1.18  # left of the first layer
RIGHT = 0.99  # right of the last layer
BLOCK = 0.36  # width of a layer
NODE = 0.095  # radius of a unit
GAP = 0.08  # between copies
BETWEEN = 0.3  # between the networks
# colours
FEATURE = LINES[0]
VALUE = LINES[1]
GATES = "0.35"
# light enough for dark numbers on them, and told apart with any colour vision
FILLS = ("#7cc3ee", "#f3e3b3", "#52b393", "#ffffff", "#d792cb", "0.72")


class Places(NamedTuple):
    """Places of the parts of the drawing."""

    layers: list[float]  # horizontal middles
    copies: list[float]  # vertical middles; the last copy is lowest
    value: float  # vertical middle of the value network
    feature: float  # vertical middle of the feature network
    block: float  # height of one layer of the feature network, or of one copy
    height: float  # of the whole drawing


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``padding``: for each unit of the value network the gate that it uses."""
    return tables["padding"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the feature network above the copies of its gates in the value network.

    A unit of the value network has the colour of the feature unit whose gate it uses.
    """
    width = int(rows["gate"].max())
    count = int(rows["copy"].max()) + 1
    places = _places(int(rows["layer"].max()), width, count)
    figure, axis = diagrams.canvas(places.layers[-1] + RIGHT, places.height)
    for x, (layer, units) in zip(places.layers, rows.groupby("layer"), strict=True):
        _layer(axis, x, places, units)
        _gates(axis, x, places, int(layer))
        diagrams.write(axis, (x, places.height - 0.14), f"$l = {layer}$", size=LARGE)
    _forward(axis, places)
    _names(axis, places.height, width, count)
    return figure


def _places(layers: int, width: int, count: int) -> Places:
    """Places for networks of ``layers`` hidden layers, and ``count`` copies of ``width`` gates."""
    block = UNIT * (width - 1) + 0.3
    copies = [0.1 + block / 2 + (count - 1 - copy) * (block + GAP) for copy in range(count)]
    feature = copies[0] + block + BETWEEN
    return Places(
        layers=[LEFT + COLUMN * layer for layer in range(layers)],
        copies=copies,
        value=(copies[0] + copies[-1]) / 2,
        feature=feature,
        block=block,
        height=feature + block / 2 + 0.3,
    )


def _layer(axis: Axes, x: float, places: Places, units: pd.DataFrame) -> None:
    """Draw one layer of both networks."""
    count = len(places.copies)
    frame = places.block * count + GAP * (count - 1) + 0.1
    diagrams.box(axis, (x, places.value), (BLOCK + 0.1, frame), colour=VALUE, zorder=1)
    first = units[units["copy"] == 0]
    features = first.assign(unit=first["gate"])
    _block(axis, (x, places.feature), places.block, features, FEATURE)
    for copy, part in units.groupby("copy"):
        y = places.copies[copy]
        _block(axis, (x, y), places.block, part, "0.5")
        diagrams.write(axis, (x - 0.27, y), f"$k = {copy}$", size=SMALL, across="right")


def _block(
    axis: Axes, centre: tuple[float, float], height: float, units: pd.DataFrame, colour: str
) -> None:
    diagrams.box(axis, centre, (BLOCK, height), colour=colour, fill=PALE, zorder=1.5)
    places = diagrams.columns([len(units)], centre, (0, UNIT * (len(units) - 1)))
    for row, (unit, gate) in enumerate(zip(units["unit"], units["gate"], strict=True), start=1):
        fill = FILLS[(gate - 1) % len(FILLS)]
        diagrams.node(axis, places[0, row], str(unit), fill=fill, radius=NODE)


def _gates(axis: Axes, x: float, places: Places, layer: int) -> None:
    """Draw the gates of a layer as a line down its side, with an arrow into every copy."""
    side = x + BLOCK / 2
    bus = x + BLOCK / 2 + 0.2
    start = places.feature - places.block / 4
    diagrams.edge(axis, (side, start), (bus, start), colour=GATES, width=1.4, above=5)
    diagrams.edge(axis, (bus, start), (bus, places.copies[-1]), colour=GATES, width=1.4, above=5)
    for height in places.copies:
        diagrams.arrow(axis, (bus, height), (side, height), colour=GATES, width=1.4)
    between = places.feature - places.block / 2 - BETWEEN / 2
    name = rf"$G_x(\cdot, {layer})$"
    place = (bus + 0.06, between)
    diagrams.write(axis, place, name, size=style.TEXT, across="left", colour=GATES)


def _forward(axis: Axes, places: Places) -> None:
    """Draw arrows from the input through both networks, and from the value network to y."""
    source = (0.2, (places.feature + places.value) / 2)
    # a quarter of a block above the middle, clear of the arrows of the gates
    feature = places.feature + places.block / 4
    value = places.value + places.block / 4
    _arrows(axis, source, places.layers, feature, side=BLOCK / 2, colour=FEATURE)
    _arrows(axis, source, places.layers, value, side=BLOCK / 2 + 0.05, colour=VALUE)
    end = places.layers[-1] + BLOCK / 2 + 0.05
    diagrams.arrow(axis, (end, value), (end + 0.46, value), colour=VALUE)
    diagrams.node(axis, source, "$x$", radius=0.14, size=LARGE)
    diagrams.node(axis, (end + 0.6, value), r"$\hat{y}$", radius=0.14, size=LARGE)


def _arrows(
    axis: Axes,
    source: tuple[float, float],
    layers: list[float],
    height: float,
    *,
    side: float,
    colour: str,
) -> None:
    """Draw arrows from the input to the first layer, and from layer to layer of a network.

    ``side`` is the distance of a layer's edge from its middle.
    """
    diagrams.arrow(axis, source, (LEFT - side, height), gaps=(0.15, 0), colour=colour)
    for x, following in pairwise(layers):
        diagrams.arrow(axis, (x + side, height), (following - side, height), colour=colour)


def _names(axis: Axes, top: float, units: int, copies: int) -> None:
    """Write the name and the width of both networks."""
    for height, name, width, colour in (
        (top - 0.14, "feature network", rf"width $w = {units}$", FEATURE),
        (0.29, "value network", rf"width $mw = {copies * units}$", VALUE),
    ):
        bold = {"colour": colour, "weight": "bold"}
        diagrams.write(axis, (0.03, height), name, size=PLAIN, across="left", **bold)
        diagrams.write(axis, (0.03, height - 0.17), width, size=PLAIN, colour=INK, across="left")
