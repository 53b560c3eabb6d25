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
from finitewidth.papers.thesis import columns
from finitewidth.records.tables import Table

HEIGHT = 2.15  # inches
MIDDLE = 1.1  # height at which the drawings are centred
PIXEL = 0.2  # side of a pixel
RADIUS = 0.09  # of a unit
DOWN = 0.34  # between units of a layer of the residual network
SPACING = 0.28  # between units of a layer of the recurrent network
INPUT = COLOURS[0]
SPECIAL = COLOURS[2]
FAINT = "0.55"
WINDOWS = ((INPUT, "-"), (SPECIAL, (0, (2.5, 1))))
TITLES = {
    "convolution": (0.06, r"$\mathbf{a}$  convolution"),
    "recurrent": (2.62, r"$\mathbf{b}$  recurrent layer"),
    "residual": (4.78, r"$\mathbf{c}$  residual block"),
}
TABLE = Table(
    columns.DRAWING,
    columns.UNIT_OR_CONNECTION,
    columns.LAYER,
    columns.END,
    columns.START_LAYER,
    columns.START,
    columns.WEIGHT,
    columns.WINDOW,
)


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


def _rows_of_kind(rows: pd.DataFrame, kind: str) -> list[dict[str, Any]]:
    return rows[rows["kind"] == kind].to_dict("records")


def _image(axis: Axes, count: int, centre: Place) -> list[Place]:
    """Draw a square image, and return the positions of its pixels, line by line."""
    side = round(count**0.5)
    half = (side - 1) / 2
    pixels = []
    for number in range(count):
        line, column = divmod(number, side)
        x = centre[0] + (column - half) * PIXEL
        y = centre[1] - (line - half) * PIXEL
        pixels.append((x, y))
    for pixel in pixels:
        _frame(axis, [pixel], edgecolor=FAINT, facecolor="white", linewidth=0.8, zorder=1)
    return pixels


def _frame(axis: Axes, pixels: Sequence[Place], **look: Any) -> tuple[Place, Place]:
    """Draw a rectangle around pixels, and return its lower left and its upper right corner."""
    half = PIXEL / 2
    left = min(x for x, _ in pixels) - half
    bottom = min(y for _, y in pixels) - half
    right = max(x for x, _ in pixels) + half
    top = max(y for _, y in pixels) + half
    axis.add_patch(Rectangle((left, bottom), right - left, top - bottom, **look))
    return (left, bottom), (right, top)


def _convolution(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw both images, the windows of two output pixels, and the numbers of the weights."""
    input_size, output_size = _sizes(rows)
    input_pixels = _image(axis, input_size, (0.72, MIDDLE))
    output_pixels = _image(axis, output_size, (2.02, MIDDLE))
    for number, window in rows[rows["kind"] == "weight"].groupby("window"):
        pixels = [input_pixels[int(start) - 1] for start in window["start"]]
        output_pixel = output_pixels[int(window["end"].iloc[0]) - 1]
        _window(axis, int(number), pixels, window["weight"], output_pixel)
    diagrams.write(axis, (0.72, 0.32), "input", size=7.5)
    diagrams.write(axis, (2.02, 0.32), "output", size=7.5)
    text = f"same weights 1 to {rows['weight'].max():.0f} at every position"
    diagrams.write(axis, (0.12, 0.1), text, size=7, across="left")


def _window(
    axis: Axes, number: int, pixels: Sequence[Place], weights: pd.Series, output_pixel: Place
) -> None:
    """Draw window ``number`` with its weights, its output pixel, and lines between both."""
    colour, style = WINDOWS[number - 1]
    for pixel, weight in zip(pixels, weights, strict=True):
        diagrams.write(axis, pixel, f"{weight:.0f}", size=6.5, colour=colour)
    (_, bottom), (right, top) = _frame(
        axis,
        pixels,
        facecolor="none",
        edgecolor=colour,
        linewidth=1.6,
        linestyle=style,
        zorder=4,
    )
    (output_left, output_bottom), (_, output_top) = _frame(
        axis, [output_pixel], facecolor=colour, edgecolor=colour, zorder=4
    )
    lines = (
        ((right, bottom), (output_left, output_bottom)),
        ((right, top), (output_left, output_top)),
    )
    for start, end in lines:
        diagrams.edge(axis, start, end, colour=colour, width=0.9, style=style, above=25)


def _dense(axis: Axes, positions: Units, rows: pd.DataFrame) -> None:
    connections = map(diagrams.ends, _rows_of_kind(rows, "weight"))
    diagrams.skeleton(axis, positions, connections, colour=FAINT)


def _nodes(axis: Axes, positions: Units) -> None:
    for (layer, _), position in positions.items():
        colour = INPUT if layer == 0 else INK
        diagrams.node(axis, position, colour=colour, radius=RADIUS)


def _recurrent(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the layer, its outputs of the step before, and the arrow that leads back to them."""
    inputs, units, outputs = _sizes(rows)
    input_centre = (2.98, MIDDLE - 0.52)
    layer_centre = (3.72, MIDDLE - 0.1)
    output_centre = (4.3, MIDDLE - 0.1)
    memory_centre = (input_centre[0], MIDDLE + 0.32)  # outputs of the step before
    positions = {
        **_column(0, inputs, input_centre),
        **_column(1, units, layer_centre),
        **_column(2, outputs, output_centre),
    }
    memory = _column(0, units, memory_centre)

    _dense(axis, positions, rows)
    for row in _rows_of_kind(rows, "recurrent"):
        start = memory[0, int(row["start"])]
        end = positions[1, int(row["end"])]
        diagrams.edge(axis, start, end, colour=SPECIAL, width=0.7, style="--")
    box = (0.3, SPACING * units + 0.02)
    for centre in (memory_centre, layer_centre):
        diagrams.box(axis, centre, box, colour=SPECIAL, fill="none", zorder=2)
    _nodes(axis, positions)
    for position in memory.values():
        diagrams.node(axis, position, colour=SPECIAL, fill=PALE, radius=RADIUS)

    half = SPACING / 2 * units + 0.01  # height of half a box
    top_of_layer = (layer_centre[0], layer_centre[1] + half)
    side_of_memory = (memory_centre[0] + 0.15, memory_centre[1] + half - 0.18)
    diagrams.arrow(axis, top_of_layer, side_of_memory, colour=SPECIAL, bend=0.35, gaps=(0.01, 0.02))
    diagrams.write(
        axis, (3.62, MIDDLE + 0.6), "one step later", size=7, colour=SPECIAL, across="left"
    )
    lowest_output = positions[2, outputs]
    names = (
        (input_centre[0] - 0.24, input_centre[1], r"$\mathbf{x}_t$", INPUT),
        (memory_centre[0] - 0.2, memory_centre[1], r"$\mathbf{h}_{t-1}$", SPECIAL),
        (layer_centre[0] + 0.09, layer_centre[1] - half - 0.13, r"$\mathbf{h}_t$", INK),
        (output_centre[0] + 0.09, lowest_output[1] - 0.22, r"$\mathbf{y}_t$", INK),
    )
    for x, y, name, colour in names:
        diagrams.write(axis, (x, y), name, size=8.5, colour=colour, across="right")


def _column(layer: int, size: int, centre: Place) -> Units:
    """Return the positions of the units of one layer of the recurrent network."""
    column = diagrams.columns([size], centre, (0, SPACING * (size - 1)))
    return {(layer, unit): position for (_, unit), position in column.items()}


def _residual(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the network, and an arc for each unit that is added at the end of the block."""
    sizes = _sizes(rows)
    widest = max(sizes)
    centre = (5.82, MIDDLE - 0.08)
    positions = diagrams.columns(sizes, centre, (1.76, DOWN * (widest - 1)))
    _dense(axis, positions, rows)

    block = _rows_of_kind(rows, "identity")
    first = int(block[0]["start_layer"])
    last = int(block[0]["layer"])
    left = positions[first, 1][0]
    right = positions[last, 1][0]
    middle = (left + right) / 2
    diagrams.box(
        axis,
        (middle, MIDDLE - 0.01),
        (right - left + 0.3, DOWN * widest + 0.3),
        colour=FAINT,
        fill=PALE,
        zorder=0.3,
    )
    _nodes(axis, positions)
    for row in block:
        start = positions[first, int(row["start"])]
        end = positions[last, int(row["end"])]
        diagrams.arrow(axis, start, end, colour=SPECIAL, bend=-0.28, gaps=(RADIUS, RADIUS))
        diagrams.node(axis, end, "+", colour=SPECIAL, radius=RADIUS, size=8, above=1)
    diagrams.write(axis, (middle, MIDDLE + 0.52), "identity", size=7, colour=SPECIAL)
    diagrams.write(axis, (middle, 0.3), "residual block", size=7.5)

    x, y = positions[0, sizes[0]]
    diagrams.write(axis, (x, y - 0.22), r"$\mathbf{x}^0$", size=8.5, colour=INPUT)
    x, y = positions[len(sizes) - 1, sizes[-1]]
    diagrams.write(axis, (x, y - 0.22), r"$f_\theta(\mathbf{x}^0)$", size=8)
