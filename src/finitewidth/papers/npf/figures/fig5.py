"""npf Figure 5: the padded deep gated network, in which each gate is used m times."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.common import fields
from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK, LARGE, LINES, PALE, PLAIN, SMALL

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


@dataclass(frozen=True)
class Sizes:
    """Numbers of hidden layers, copies and units that are drawn, and the places of these parts."""

    layers: int
    copies: int
    width: int

    @property
    def block(self) -> float:
        """Height of one layer of the feature network, or of one copy."""
        return UNIT * (self.width - 1) + 0.3

    @property
    def height(self) -> float:
        """Height of the whole drawing."""
        return self.feature + self.block / 2 + 0.3

    def copy(self, number: int) -> float:
        """Vertical middle of a copy; the last copy is lowest."""
        return 0.1 + self.block / 2 + (self.copies - 1 - number) * (self.block + GAP)

    @property
    def value(self) -> float:
        """Vertical middle of the value network."""
        return (self.copy(0) + self.copy(self.copies - 1)) / 2

    @property
    def feature(self) -> float:
        """Vertical middle of the feature network."""
        return self.copy(0) + self.block + BETWEEN

    @staticmethod
    def layer(number: int) -> float:
        """Horizontal middle of a layer."""
        return LEFT + COLUMN * (number - 1)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``padding``: for each unit of the value network the gate that it uses."""
    return tables["padding"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the feature network above the copies of its gates in the value network.

    A unit of the value network has the colour of the feature unit whose gate it uses.
    """
    sizes = Sizes(int(rows["layer"].max()), int(rows["copy"].max()) + 1, int(rows["gate"].max()))
    figure, axis = diagrams.canvas(sizes.layer(sizes.layers) + RIGHT, sizes.height)
    for layer, units in rows.groupby("layer"):
        x = sizes.layer(int(layer))
        frame = sizes.block * sizes.copies + GAP * (sizes.copies - 1) + 0.1
        diagrams.box(axis, (x, sizes.value), (BLOCK + 0.1, frame), colour=VALUE, zorder=1)
        feature = units[units["copy"] == 0]
        _block(axis, (x, sizes.feature), sizes, feature.assign(unit=feature["gate"]), FEATURE)
        for copy, part in units.groupby("copy"):
            _block(axis, (x, sizes.copy(copy)), sizes, part, "0.5")
            diagrams.write(
                axis, (x - 0.27, sizes.copy(copy)), f"$k = {copy}$", size=SMALL, across="right"
            )
        _gates(axis, x, sizes, int(layer))
        diagrams.write(axis, (x, sizes.height - 0.14), f"$l = {layer}$", size=LARGE)
    _forward(axis, sizes)
    _names(axis, sizes)
    return figure


def _block(
    axis: Axes, centre: tuple[float, float], sizes: Sizes, units: pd.DataFrame, colour: str
) -> None:
    """Draw the units of a layer, one below the other."""
    diagrams.box(axis, centre, (BLOCK, sizes.block), colour=colour, fill=PALE, zorder=1.5)
    places = diagrams.columns([len(units)], centre, (0, UNIT * (len(units) - 1)))
    for row, (unit, gate) in enumerate(zip(units["unit"], units["gate"], strict=True), start=1):
        fill = FILLS[(gate - 1) % len(FILLS)]
        diagrams.node(axis, places[0, row], str(unit), fill=fill, radius=NODE)


def _gates(axis: Axes, x: float, sizes: Sizes, layer: int) -> None:
    """Draw the gates of a layer as a line down its side, with an arrow into every copy."""
    side, bus = x + BLOCK / 2, x + BLOCK / 2 + 0.2
    start, last = sizes.feature - sizes.block / 4, sizes.copy(sizes.copies - 1)
    diagrams.edge(axis, (side, start), (bus, start), colour=GATES, width=1.4, above=5)
    diagrams.edge(axis, (bus, start), (bus, last), colour=GATES, width=1.4, above=5)
    for copy in range(sizes.copies):
        height = sizes.copy(copy)
        diagrams.arrow(axis, (bus, height), (side, height), colour=GATES, width=1.4)
    between = sizes.feature - sizes.block / 2 - BETWEEN / 2
    diagrams.write(axis, (bus + 0.06, between), rf"$G_x(\cdot, {layer})$", across="left",
                   colour=GATES)  # fmt: skip


def _forward(axis: Axes, sizes: Sizes) -> None:
    """Draw arrows from the input through both networks, and from the value network to y."""
    # a quarter of a block above the middle, clear of the arrows of the gates
    source = 0.2, (sizes.feature + sizes.value) / 2
    for height, side, colour in (
        (sizes.feature + sizes.block / 4, BLOCK / 2, FEATURE),
        (sizes.value + sizes.block / 4, BLOCK / 2 + 0.05, VALUE),
    ):
        diagrams.arrow(axis, source, (LEFT - side, height), gaps=(0.15, 0), colour=colour)
        for layer in range(1, sizes.layers):
            ends = sizes.layer(layer) + side, sizes.layer(layer + 1) - side
            diagrams.arrow(axis, (ends[0], height), (ends[1], height), colour=colour)
    end = sizes.layer(sizes.layers) + BLOCK / 2 + 0.05
    height = sizes.value + sizes.block / 4
    diagrams.arrow(axis, (end, height), (end + 0.46, height), colour=VALUE)
    for place, name in ((source, "$x$"), ((end + 0.6, height), r"$\hat{y}$")):
        diagrams.node(axis, place, name, radius=0.14, size=LARGE)


def _names(axis: Axes, sizes: Sizes) -> None:
    for height, name, width, colour in (
        (sizes.height - 0.14, "feature network", rf"width $w = {sizes.width}$", FEATURE),
        (0.29, "value network", rf"width $mw = {sizes.copies * sizes.width}$", VALUE),
    ):
        diagrams.write(axis, (0.03, height), name, size=PLAIN, colour=colour, across="left",
                       weight="bold")  # fmt: skip
        diagrams.write(axis, (0.03, height - 0.17), width, size=PLAIN, colour=INK, across="left")
