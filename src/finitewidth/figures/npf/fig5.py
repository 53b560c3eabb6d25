"""npf Figure 5: the padded deep gated network, in which each gate is used m times."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK, LINES, PALE

UNIT = 0.26  # between units; all lengths in inches
COLUMN, LEFT = 1.75, 1.75  # between layers, and left of the first
BLOCK = 0.4  # width of a layer
GAP, BETWEEN = 0.1, 0.42  # between copies, and between the networks
FEATURE, VALUE, GATES = LINES[0], LINES[1], "0.4"


@dataclass(frozen=True)
class Sizes:
    """Numbers of hidden layers, copies and units that are drawn, and the places of these parts."""

    layers: int
    copies: int
    width: int

    @property
    def block(self) -> float:
        """Height of one layer of the feature network, or of one copy."""
        return UNIT * (self.width - 1) + 0.34

    @property
    def height(self) -> float:
        """Height of the whole drawing."""
        return self.feature + self.block / 2 + 0.4

    def copy(self, number: int) -> float:
        """Vertical middle of a copy; the last copy is lowest."""
        return 0.12 + self.block / 2 + (self.copies - 1 - number) * (self.block + GAP)

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
    figure, axis = diagrams.canvas(sizes.layer(sizes.layers) + 1.35, sizes.height)
    for layer, units in rows.groupby("layer"):
        x = sizes.layer(int(layer))
        frame = sizes.block * sizes.copies + GAP * (sizes.copies - 1) + 0.12
        diagrams.box(axis, (x, sizes.value), (BLOCK + 0.12, frame), colour=VALUE, zorder=1)
        feature = units[units["copy"] == 0]
        _block(axis, (x, sizes.feature), sizes, feature.assign(unit=feature["gate"]), FEATURE)
        for copy, part in units.groupby("copy"):
            _block(axis, (x, sizes.copy(copy)), sizes, part, "0.6")
            diagrams.write(
                axis, (x - 0.31, sizes.copy(copy)), f"$k = {copy}$", size=7, across="right"
            )
        _gates(axis, x, sizes, int(layer))
        diagrams.write(axis, (x, sizes.height - 0.18), f"$l = {layer}$", size=9)
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
        shade = LINES[2:][(gate - 1) % len(LINES[2:])]
        diagrams.node(axis, places[0, row], str(unit), fill=shade, radius=0.105, size=6.5)


def _gates(axis: Axes, x: float, sizes: Sizes, layer: int) -> None:
    """Draw the gates of a layer as a line down its side, with an arrow into every copy."""
    side, bus = x + BLOCK / 2, x + BLOCK / 2 + 0.25
    start, last = sizes.feature - sizes.block / 4, sizes.copy(sizes.copies - 1)
    diagrams.edge(axis, (side, start), (bus, start), colour=GATES, width=1.6, above=5)
    diagrams.edge(axis, (bus, start), (bus, last), colour=GATES, width=1.6, above=5)
    for copy in range(sizes.copies):
        height = sizes.copy(copy)
        diagrams.arrow(axis, (bus, height), (side, height), colour=GATES, width=1.6)
    between = sizes.feature - sizes.block / 2 - BETWEEN / 2
    diagrams.write(axis, (bus + 0.07, between), rf"$G_x(\cdot, {layer})$", size=8, across="left",
                   colour=GATES)  # fmt: skip


def _forward(axis: Axes, sizes: Sizes) -> None:
    """Draw arrows from the input through both networks, and from the value network to y."""
    # a quarter of a block above the middle, clear of the arrows of the gates
    source = 0.35, (sizes.feature + sizes.value) / 2
    for height, side, colour in (
        (sizes.feature + sizes.block / 4, BLOCK / 2, FEATURE),
        (sizes.value + sizes.block / 4, BLOCK / 2 + 0.06, VALUE),
    ):
        diagrams.arrow(axis, source, (LEFT - side, height), gaps=(0.15, 0), colour=colour)
        for layer in range(1, sizes.layers):
            ends = sizes.layer(layer) + side, sizes.layer(layer + 1) - side
            diagrams.arrow(axis, (ends[0], height), (ends[1], height), colour=colour)
    end = sizes.layer(sizes.layers) + BLOCK / 2 + 0.06
    height = sizes.value + sizes.block / 4
    diagrams.arrow(axis, (end, height), (end + 0.75, height), colour=VALUE)
    diagrams.node(axis, source, "$x$", radius=0.15, size=10)
    diagrams.node(axis, (end + 0.9, height), r"$\hat{y}$", radius=0.15, size=10)


def _names(axis: Axes, sizes: Sizes) -> None:
    for height, name, width, colour in (
        (sizes.height - 0.18, "feature network", rf"width $w = {sizes.width}$", FEATURE),
        (0.36, "value network", rf"width $mw = {sizes.copies * sizes.width}$", VALUE),
    ):
        diagrams.write(axis, (0.05, height), name, size=8, colour=colour, across="left",
                       weight="bold")  # fmt: skip
        diagrams.write(axis, (0.05, height - 0.19), width, size=8, colour=INK, across="left")
