"""thesis Figure 2.2: a convolution, a recurrent layer and a residual block."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from finitewidth.figures import diagrams
from finitewidth.figures.diagrams import INK, PALE, Place, Units
from finitewidth.figures.style import COLOURS, DOUBLE
from finitewidth.records import fields

HEIGHT = 2.15  # inches
MIDDLE = 1.1  # height at which the drawings are centred
PIXEL, RADIUS = 0.2, 0.09
DOWN = 0.34  # between units of a layer
INPUT, SPECIAL, FAINT = COLOURS[0], COLOURS[2], "0.55"
WINDOWS = ((INPUT, "-"), (SPECIAL, (0, (2.5, 1))))
TITLES = {
    "convolution": (0.06, r"$\mathbf{a}$  convolution"),
    "recurrent": (2.62, r"$\mathbf{b}$  recurrent layer"),
    "residual": (4.78, r"$\mathbf{c}$  residual block"),
}
FIELDS = {
    "drawing": fields.text("convolution, recurrent or residual"),
    "kind": fields.text("node: a unit; weight, recurrent, identity: a connection of two units"),
    "layer": fields.integer("layer of the unit, or of the unit at the end of a connection"),
    "end": fields.integer("number of this unit in its layer, from 1"),
    "start_layer": fields.number("layer of the unit at the start of a connection"),
    "start": fields.number("number of this unit in its layer"),
    "weight": fields.number("number of the weight in the window of a convolution"),
    "window": fields.number("1 for the first window that is drawn, 2 for the last"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``layers``: nodes and connections of the three drawings."""
    return tables["layers"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the three parts side by side."""
    figure, axis = diagrams.canvas(DOUBLE, HEIGHT)
    parts = {"convolution": _convolution, "recurrent": _recurrent, "residual": _residual}
    for name, (x, title) in TITLES.items():
        diagrams.write(axis, (x, HEIGHT - 0.12), title, size=7.5, across="left")
        parts[name](axis, rows[rows["drawing"] == name])
    return figure


def _sizes(rows: pd.DataFrame) -> list[int]:
    return rows[rows["kind"] == "node"].groupby("layer")["end"].count().tolist()


def _of_kind(rows: pd.DataFrame, kind: str) -> list[dict[str, Any]]:
    return rows[rows["kind"] == kind].to_dict("records")


def _image(axis: Axes, count: int, centre: Place) -> list[Place]:
    """Draw a square image, and return the places of its pixels, line by line."""
    side = round(count**0.5)
    half = (side - 1) / 2
    places = [
        (centre[0] + (i % side - half) * PIXEL, centre[1] - (i // side - half) * PIXEL)
        for i in range(count)
    ]
    for place in places:
        _frame(axis, [place], edgecolor=FAINT, facecolor="white", linewidth=0.8, zorder=1)
    return places


def _frame(axis: Axes, pixels: Sequence[Place], **look: Any) -> tuple[Place, Place]:
    """Draw a rectangle around pixels, and return its lower left and its upper right corner."""
    low, high = ((pick(x for x, _ in pixels), pick(y for _, y in pixels)) for pick in (min, max))
    half = PIXEL / 2
    low, high = (low[0] - half, low[1] - half), (high[0] + half, high[1] + half)
    axis.add_patch(Rectangle(low, high[0] - low[0], high[1] - low[1], **look))
    return low, high


def _convolution(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw both images, the windows of two output pixels, and the numbers of the weights."""
    below, above = (
        _image(axis, size, (x, MIDDLE)) for size, x in zip(_sizes(rows), (0.72, 2.02), strict=True)
    )
    for position, own in rows[rows["kind"] == "weight"].groupby("window"):
        colour, style = WINDOWS[int(position) - 1]
        end = above[int(own["end"].iloc[0]) - 1]
        starts = [below[int(start) - 1] for start in own["start"]]
        for place, weight in zip(starts, own["weight"], strict=True):
            diagrams.write(axis, place, f"{weight:.0f}", size=6.5, colour=colour)
        low, high = _frame(
            axis,
            starts,
            facecolor="none",
            edgecolor=colour,
            linewidth=1.6,
            linestyle=style,
            zorder=4,
        )
        to_low, to_high = _frame(axis, [end], facecolor=colour, edgecolor=colour, zorder=4)
        for start, corner in (((high[0], low[1]), to_low), (high, (to_low[0], to_high[1]))):
            diagrams.edge(axis, start, corner, colour=colour, width=0.9, style=style, above=25)
    diagrams.write(axis, (0.72, 0.32), "input", size=7.5)
    diagrams.write(axis, (2.02, 0.32), "output", size=7.5)
    text = f"same weights 1 to {rows['weight'].max():.0f} at every position"
    diagrams.write(axis, (0.12, 0.1), text, size=7, across="left")


def _dense(axis: Axes, places: Units, rows: pd.DataFrame) -> None:
    diagrams.skeleton(axis, places, map(diagrams.ends, _of_kind(rows, "weight")), colour=FAINT)


def _nodes(axis: Axes, places: Units) -> None:
    for (layer, _), place in places.items():
        diagrams.node(axis, place, colour=INK if layer else INPUT, radius=RADIUS)


def _recurrent(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the layer, its outputs of the step before, and the arrow that leads back to them."""
    sizes = _sizes(rows)
    middles = (2.98, MIDDLE - 0.52), (3.72, MIDDLE - 0.1), (4.3, MIDDLE - 0.1)
    places = {
        (layer, unit): place
        for layer, (size, middle) in enumerate(zip(sizes, middles, strict=True))
        for (_, unit), place in diagrams.columns([size], middle, (0, 0.28 * (size - 1))).items()
    }
    memory = middles[0][0], MIDDLE + 0.32
    before = diagrams.columns([sizes[1]], memory, (0, 0.28 * (sizes[1] - 1)))
    _dense(axis, places, rows)
    for row in _of_kind(rows, "recurrent"):
        start, end = before[0, int(row["start"])], places[1, int(row["end"])]
        diagrams.edge(axis, start, end, colour=SPECIAL, width=0.7, style="--")
    for middle in (memory, middles[1]):
        diagrams.box(
            axis, middle, (0.3, 0.28 * sizes[1] + 0.02), colour=SPECIAL, fill="none", zorder=2
        )
    _nodes(axis, places)
    for place in before.values():
        diagrams.node(axis, place, colour=SPECIAL, fill=PALE, radius=RADIUS)
    half = 0.14 * sizes[1] + 0.01
    end = memory[0] + 0.15, memory[1] + half - 0.18
    start = middles[1][0], middles[1][1] + half
    diagrams.arrow(axis, start, end, colour=SPECIAL, bend=0.35, gaps=(0.01, 0.02))
    diagrams.write(
        axis, (3.62, MIDDLE + 0.6), "one step later", size=7, colour=SPECIAL, across="left"
    )
    for (x, y), text, colour in (
        ((middles[0][0] - 0.24, middles[0][1]), r"$\mathbf{x}_t$", INPUT),
        ((memory[0] - 0.2, memory[1]), r"$\mathbf{h}_{t-1}$", SPECIAL),
        ((middles[1][0] + 0.09, middles[1][1] - half - 0.13), r"$\mathbf{h}_t$", INK),
        ((middles[2][0] + 0.09, places[2, sizes[2]][1] - 0.22), r"$\mathbf{y}_t$", INK),
    ):
        diagrams.write(axis, (x, y), text, size=8.5, colour=colour, across="right")


def _residual(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the network, and an arc for each unit that is added at the end of the block."""
    sizes = _sizes(rows)
    centre = 5.82, MIDDLE - 0.08
    places = diagrams.columns(sizes, centre, (1.76, DOWN * (max(sizes) - 1)))
    _dense(axis, places, rows)
    block = _of_kind(rows, "identity")
    first, last = int(block[0]["start_layer"]), int(block[0]["layer"])
    left, right = places[first, 1][0], places[last, 1][0]
    middle = (left + right) / 2
    diagrams.box(
        axis,
        (middle, MIDDLE - 0.01),
        (right - left + 0.3, DOWN * max(sizes) + 0.3),
        colour=FAINT,
        fill=PALE,
        zorder=0.3,
    )
    _nodes(axis, places)
    for row in block:
        start, end = places[first, int(row["start"])], places[last, int(row["end"])]
        diagrams.arrow(axis, start, end, colour=SPECIAL, bend=-0.28, gaps=(RADIUS, RADIUS))
        diagrams.node(axis, end, "+", colour=SPECIAL, radius=RADIUS, size=8, above=1)
    diagrams.write(axis, (middle, MIDDLE + 0.52), "identity", size=7, colour=SPECIAL)
    diagrams.write(axis, (middle, 0.3), "residual block", size=7.5)
    edge = places[0, sizes[0]]
    diagrams.write(axis, (edge[0], edge[1] - 0.22), r"$\mathbf{x}^0$", size=8.5, colour=INPUT)
    end = places[len(sizes) - 1, sizes[-1]]
    diagrams.write(axis, (end[0], end[1] - 0.22), r"$f_\theta(\mathbf{x}^0)$", size=8)
