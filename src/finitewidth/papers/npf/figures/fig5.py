"""npf Figure 5: the padded deep gated network, in which each gate is used m times."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK, LARGE, LINES, PALE, PLAIN, SMALL
from finitewidth.records import fields

FIELDS = {
    "layer": fields.integer("hidden layer, from 1"),
    "unit": fields.integer("unit of the layer of the value network, from 1"),
    "copy": fields.integer("copy k of the gates that the unit belongs to, from 0"),
    "gate": fields.integer("unit of the feature network whose gate the unit uses, from 1"),
}
UNIT = 0.235  # between units; all lengths in inches
COLUMN, LEFT, RIGHT = 1.13, 1.18, 0.99  # between layers, left of the first and right of the last
BLOCK, NODE = 0.36, 0.095  # width of a layer, radius of a unit
GAP, BETWEEN = 0.08, 0.3  # between copies, and between the networks
FEATURE, VALUE, GATES = LINES[0], LINES[1], "0.35"
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
    width, count = int(rows["gate"].max()), int(rows["copy"].max()) + 1
    block = UNIT * (width - 1) + 0.3
    copies = [0.1 + block / 2 + (count - 1 - copy) * (block + GAP) for copy in range(count)]
    feature, value = copies[0] + block + BETWEEN, (copies[0] + copies[-1]) / 2
    layers = [LEFT + COLUMN * layer for layer in range(int(rows["layer"].max()))]
    places = Places(layers, copies, value, feature, block, feature + block / 2 + 0.3)
    figure, axis = diagrams.canvas(layers[-1] + RIGHT, places.height)
    for x, (layer, units) in zip(layers, rows.groupby("layer"), strict=True):
        frame = block * count + GAP * (count - 1) + 0.1
        diagrams.box(axis, (x, value), (BLOCK + 0.1, frame), colour=VALUE, zorder=1)
        first = units[units["copy"] == 0]
        _block(axis, (x, feature), block, first.assign(unit=first["gate"]), FEATURE)
        for copy, part in units.groupby("copy"):
            _block(axis, (x, copies[copy]), block, part, "0.5")
            place = x - 0.27, copies[copy]
            diagrams.write(axis, place, f"$k = {copy}$", size=SMALL, across="right")
        _gates(axis, x, places, int(layer))
        diagrams.write(axis, (x, places.height - 0.14), f"$l = {layer}$", size=LARGE)
    _forward(axis, places)
    _names(axis, places.height, width, count)
    return figure


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
    side, bus = x + BLOCK / 2, x + BLOCK / 2 + 0.2
    start = places.feature - places.block / 4
    diagrams.edge(axis, (side, start), (bus, start), colour=GATES, width=1.4, above=5)
    diagrams.edge(axis, (bus, start), (bus, places.copies[-1]), colour=GATES, width=1.4, above=5)
    for height in places.copies:
        diagrams.arrow(axis, (bus, height), (side, height), colour=GATES, width=1.4)
    between = places.feature - places.block / 2 - BETWEEN / 2
    diagrams.write(
        axis, (bus + 0.06, between), rf"$G_x(\cdot, {layer})$", across="left", colour=GATES
    )


def _forward(axis: Axes, places: Places) -> None:
    """Draw arrows from the input through both networks, and from the value network to y."""
    # a quarter of a block above the middle, clear of the arrows of the gates
    source = 0.2, (places.feature + places.value) / 2
    for height, side, colour in (
        (places.feature + places.block / 4, BLOCK / 2, FEATURE),
        (places.value + places.block / 4, BLOCK / 2 + 0.05, VALUE),
    ):
        diagrams.arrow(axis, source, (LEFT - side, height), gaps=(0.15, 0), colour=colour)
        for x, following in pairwise(places.layers):
            diagrams.arrow(axis, (x + side, height), (following - side, height), colour=colour)
    end, height = places.layers[-1] + BLOCK / 2 + 0.05, places.value + places.block / 4
    diagrams.arrow(axis, (end, height), (end + 0.46, height), colour=VALUE)
    for place, name in ((source, "$x$"), ((end + 0.6, height), r"$\hat{y}$")):
        diagrams.node(axis, place, name, radius=0.14, size=LARGE)


def _names(axis: Axes, top: float, units: int, copies: int) -> None:
    for height, name, width, colour in (
        (top - 0.14, "feature network", rf"width $w = {units}$", FEATURE),
        (0.29, "value network", rf"width $mw = {copies * units}$", VALUE),
    ):
        diagrams.write(
            axis, (0.03, height), name, size=PLAIN, colour=colour, across="left", weight="bold"
        )
        diagrams.write(axis, (0.03, height - 0.17), width, size=PLAIN, colour=INK, across="left")
