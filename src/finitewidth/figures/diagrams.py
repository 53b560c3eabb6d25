"""Nodes, edges, arrows and boxes that all diagrams use. All lengths are in inches."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from finitewidth.figures.style import COLOURS

Place = tuple[float, float]

INK, FAINT, PALE = "0.15", "0.72", "0.93"
ACTIVE = COLOURS[2]
# colour-blind safe; colours that must be told apart differ in lightness as well
LINES = (COLOURS[0], COLOURS[2], COLOURS[1], COLOURS[3], COLOURS[5], "0.35")
RADIUS = 0.1
FOOTER = 0.22  # height of the space below the drawing


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Create an empty drawing whose coordinates are inches, with (0, 0) at the lower left."""
    whole = height + FOOTER
    figure = Figure(figsize=(width, whole))
    axis = figure.add_axes((0, FOOTER / whole, 1, height / whole))
    axis.set(xlim=(0, width), ylim=(0, height))
    axis.set_axis_off()
    return figure, axis


def columns(sizes: Sequence[int], centre: Place, size: Place) -> dict[tuple[int, int], Place]:
    """Return the place of every unit of a layered network, with the first unit on top.

    Args:
        sizes: number of units of each layer.
        centre: of the network.
        size: distance between the outer columns, and between the outer units of the widest layer.

    Returns:
        (layer, unit from 1) -> place.
    """
    (x, y), (width, height) = centre, size
    across = width / max(len(sizes) - 1, 1)
    down = height / max(max(sizes) - 1, 1)
    return {
        (layer, unit): (
            x - width / 2 + layer * across,
            y + down * ((count - 1) / 2 - (unit - 1)),
        )
        for layer, count in enumerate(sizes)
        for unit in range(1, count + 1)
    }


def ends(row: Mapping[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two units that a connection joins, as (layer, unit from 1)."""
    layer = int(row["layer"])
    return (layer - 1, int(row["start"])), (layer, int(row["end"]))


def node(
    axis: Axes, place: Place, text: str = "", *, colour: str = INK, fill: str = "white",
    radius: float = RADIUS, size: float = 7, above: int = 0,
) -> None:  # fmt: skip
    """Draw a circle with a text inside; a larger ``above`` draws it over other nodes."""
    order = 3 + above / 10
    axis.add_patch(
        Circle(place, radius, facecolor=fill, edgecolor=colour, linewidth=1, zorder=order)
    )
    if text:
        axis.text(*place, text, fontsize=size, color=colour, ha="center", va="center_baseline",
                  zorder=4)  # fmt: skip


def edge(
    axis: Axes, start: Place, end: Place, *, colour: str = FAINT, width: float = 0.8,
    shift: float = 0.0, style: str = "-", above: int = 0,
) -> None:  # fmt: skip
    """Draw a straight line moved sideways by ``shift``; a larger ``above`` draws it over others."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    sideways = -dy / length * shift, dx / length * shift
    axis.plot(
        [start[0] + sideways[0], end[0] + sideways[0]],
        [start[1] + sideways[1], end[1] + sideways[1]],
        color=colour, linewidth=width, linestyle=style, solid_capstyle="round",
        zorder=1 + above / 10,
    )  # fmt: skip


def skeleton(
    axis: Axes, ends: Sequence[tuple[Place, Place]], *, colour: str = FAINT, width: float = 0.6
) -> None:
    """Draw many straight lines of one style behind everything else."""
    axis.add_collection(LineCollection(ends, colors=colour, linewidths=width, zorder=0.8))


def arrow(
    axis: Axes, start: Place, end: Place, *, colour: str = INK, width: float = 1.1,
    style: str = "-", bend: float = 0.0, gaps: tuple[float, float] = (0.0, 0.0),
) -> None:  # fmt: skip
    """Draw an arrow, bent by ``bend`` of its length, with ``gaps`` at its start and its end."""
    axis.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=8, color=colour, linewidth=width,
            linestyle=style, connectionstyle=f"arc3,rad={bend}", shrinkA=72 * gaps[0],
            shrinkB=72 * gaps[1], zorder=2.5,
        )
    )  # fmt: skip


def box(
    axis: Axes, centre: Place, size: Place, text: str = "", *, colour: str = INK,
    fill: str = "white", font: float = 8, **options: Any,
) -> None:  # fmt: skip
    """Draw a box with rounded corners and a text in its middle; ``size`` is width and height."""
    corner = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    axis.add_patch(
        FancyBboxPatch(
            corner, *size, boxstyle="round,pad=0,rounding_size=0.06", facecolor=fill,
            edgecolor=colour, linewidth=1, **{"zorder": 2, **options},
        )
    )  # fmt: skip
    if text:
        write(axis, centre, text, size=font, colour=colour)


def write(
    axis: Axes, place: Place, text: str, *, size: float = 8, colour: str = INK,
    across: str = "center", down: str = "center_baseline", **options: Any,
) -> None:  # fmt: skip
    """Write a text at a place."""
    axis.text(*place, text, fontsize=size, color=colour, ha=across, va=down, zorder=5, **options)
