"""Nodes, edges, arrows and boxes that all diagrams use. All lengths are in inches."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from finitewidth.figures import style

Place = tuple[float, float]
Unit = tuple[int, int]  # layer, and number from 1
Units = Mapping[Unit, Place]

# greys, from dark to light
INK = "0.15"
FAINT = "0.57"
PALE = "0.93"
# blue, red, green, purple and brown: dark enough for text, which the orange is not
LINES = tuple(style.COLOURS[number] for number in (0, 3, 2, 4, 5))
ACTIVE = LINES[1]
RADIUS = 0.1
# sizes of text in points
SMALL = style.SMALLEST
PLAIN = 7.0
LARGE = 8.0


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Create an empty drawing whose coordinates are inches, with (0, 0) at the lower left.

    The page is as wide as a column or a page of a journal, with the drawing in its middle. A
    drawing that does not fit is made smaller; its letters keep their size.
    """
    page = style.SINGLE if width <= style.SINGLE else style.DOUBLE
    scale = max(width / page, height / style.TALLEST, 1.0)
    figure = style.empty(width=page, height=height / scale)
    figure.set_layout_engine("none")
    axis = figure.add_axes((0, 0, 1, 1))
    margin = (page * scale - width) / 2
    axis.set(xlim=(-margin, width + margin), ylim=(0, height))
    axis.set_axis_off()
    return figure, axis


def columns(sizes: Sequence[int], centre: Place, size: Place) -> dict[Unit, Place]:
    """Return the position of every unit of a layered network, with the first unit on top.

    Args:
        sizes: number of units of each layer; each layer is a column.
        centre: the middle of the drawing.
        size: the distance between the outer columns, and between the outer units of the widest
            layer.
    """
    width, height = size
    across = width / max(len(sizes) - 1, 1)
    down = height / max(max(sizes) - 1, 1)
    positions = {}
    for layer, count in enumerate(sizes):
        x = centre[0] - width / 2 + layer * across
        for unit in range(1, count + 1):
            above_middle = (count - 1) / 2 - (unit - 1)  # in units
            positions[layer, unit] = (x, centre[1] + down * above_middle)
    return positions


def ends(row: Mapping[str, Any]) -> tuple[Unit, Unit]:
    """Return the two units that a connection joins, as (layer, unit from 1)."""
    layer = int(row["layer"])
    start = (layer - 1, int(row["start"]))
    end = (layer, int(row["end"]))
    return start, end


def node(
    axis: Axes,
    position: Place,
    text: str = "",
    *,
    colour: str = INK,
    fill: str = "white",
    radius: float = RADIUS,
    size: float = SMALL,
    above: int = 0,
) -> None:
    """Draw a circle with a text inside; a larger ``above`` draws it over other nodes."""
    order = 3 + above / 10
    axis.add_patch(
        Circle(position, radius, facecolor=fill, edgecolor=colour, linewidth=1, zorder=order)
    )
    if text:
        axis.text(
            *position,
            text,
            fontsize=size,
            color=colour,
            ha="center",
            va="center_baseline",
            zorder=4,
        )


def edge(
    axis: Axes,
    start: Place,
    end: Place,
    *,
    colour: str = FAINT,
    width: float = 0.8,
    shift: float = 0.0,
    style: Any = "-",
    above: int = 0,
) -> None:
    """Draw a straight line moved sideways by ``shift``; a larger ``above`` draws it over others."""
    dx = end[0] - start[0]
    dy = end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    shift_x = -dy / length * shift
    shift_y = dx / length * shift
    axis.plot(
        [start[0] + shift_x, end[0] + shift_x],
        [start[1] + shift_y, end[1] + shift_y],
        color=colour,
        linewidth=width,
        linestyle=style,
        solid_capstyle="round",
        zorder=1 + above / 10,
    )


def skeleton(
    axis: Axes,
    positions: Units,
    edges: Iterable[Sequence[Unit]],
    *,
    colour: str = FAINT,
    width: float = 0.6,
) -> None:
    """Draw straight lines between pairs of units, in one style behind everything else."""
    lines = [(positions[start], positions[end]) for start, end in edges]
    axis.add_collection(LineCollection(lines, colors=colour, linewidths=width, zorder=0.8))


def arrow(
    axis: Axes,
    start: Place,
    end: Place,
    *,
    colour: str = INK,
    width: float = 1.1,
    style: Any = "-",
    bend: float = 0.0,
    gaps: tuple[float, float] = (0.0, 0.0),
) -> None:
    """Draw an arrow, bent by ``bend`` of its length, with ``gaps`` at its start and its end."""
    axis.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=8,
            color=colour,
            linewidth=width,
            linestyle=style,
            connectionstyle=f"arc3,rad={bend}",
            shrinkA=72 * gaps[0],
            shrinkB=72 * gaps[1],
            zorder=2.5,
        )
    )


def box(
    axis: Axes,
    centre: Place,
    size: Place,
    text: str = "",
    *,
    colour: str = INK,
    fill: str = "white",
    font: float = PLAIN,
    **options: Any,
) -> None:
    """Draw a box with rounded corners and a text in its middle; ``size`` is width and height."""
    corner = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    axis.add_patch(
        FancyBboxPatch(
            corner,
            *size,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=fill,
            edgecolor=colour,
            linewidth=1,
            **{"zorder": 2, **options},
        )
    )
    if text:
        write(axis, centre, text, size=font, colour=colour)


def write(
    axis: Axes,
    position: Place,
    text: str,
    *,
    size: float = PLAIN,
    colour: str = INK,
    across: str = "center",
    down: str = "center_baseline",
    **options: Any,
) -> None:
    """Write a text at a position; ``size`` is in points."""
    axis.text(*position, text, fontsize=size, color=colour, ha=across, va=down, zorder=5, **options)


def letter(axis: Axes, position: Place, name: str) -> None:
    """Write the letter of a part of the drawing, as on the panels of other figures."""
    write(axis, position, rf"$\mathbf{{{name}}}$", size=7.5, across="left")
