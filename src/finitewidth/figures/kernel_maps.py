"""Heat maps of kernels on images sorted by class, all with one scale of colours."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

COLUMNS = ["sigma_w2", "step", "row", "column", "class_row", "class_column", "share"]
# shares of the mean diagonal beyond which the colour stays the same
LEAST = 0.05
MOST = 2.0
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2)
COLOURS = "magma"  # lightness rises evenly, also for the colour-blind


def symmetric(rows: pd.DataFrame, values: pd.Series) -> np.ndarray:
    """Return the symmetric matrix with ``values`` at the columns ``row`` and ``column``.

    The rows give the entries on and above the diagonal.
    """
    row = rows["row"].to_numpy(int)
    column = rows["column"].to_numpy(int)
    size = int(column.max()) + 1
    matrix = np.full((size, size), np.nan)
    matrix[row, column] = values
    matrix[column, row] = values
    return matrix


def classes_of(rows: pd.DataFrame) -> tuple[dict[int, float], np.ndarray]:
    """Return the middle of the images of each class on an axis, and the borders of the classes."""
    first = rows[rows["row"] == 0].sort_values("column")
    classes = first["class_column"].to_numpy(int)
    centres = {}
    for name in np.unique(classes):
        centres[int(name)] = float(np.flatnonzero(classes == name).mean())
    borders = np.flatnonzero(np.diff(classes)) + 0.5
    return centres, borders


def class_ticks(ticks: Axis, positions: Any, names: Any, borders: Any, length: float) -> None:
    """Name classes along an axis, with short lines between them.

    Args:
        ticks: the axis.
        positions: positions of the names.
        names: the names.
        borders: positions of the lines between the classes.
        length: the length of these lines in points.
    """
    ticks.set_ticks(positions, names)
    ticks.set_ticks(borders, minor=True)
    ticks.set_tick_params(which="major", length=0)
    ticks.set_tick_params(which="minor", length=length, width=0.5)


def image(axis: Axes, matrix: np.ndarray, **looks: Any) -> Any:
    """Draw a matrix without a frame; return its image."""
    for spine in axis.spines.values():
        spine.set_visible(False)
    return axis.imshow(matrix, cmap=COLOURS, interpolation="nearest", **looks)


def draw_map(axis: Axes, rows: pd.DataFrame, labels: str = "") -> Any:
    """Draw a kernel from its rows on and above the diagonal, with the columns `COLUMNS`.

    ``labels`` are the axes along which classes are named, of ``x`` and ``y``. Returns the image.
    """
    # entries below 0 get the darkest colour; a logarithm would leave them out
    share = symmetric(rows, rows["share"].clip(lower=LEAST / 2))
    drawn = image(axis, share, norm=LogNorm(LEAST, MOST))
    centres, borders = classes_of(rows)
    positions = list(centres.values())
    for name, ticks in (("x", axis.xaxis), ("y", axis.yaxis)):
        classes = list(centres) if name in labels else []
        class_ticks(ticks, positions, classes, borders, 2)
    return drawn


def add_bar(figure: Figure, image: Any, axes: Any, label: str, **options: Any) -> Any:
    """Add the scale of colours beside some maps, and return it."""
    bar = figure.colorbar(image, ax=axes, pad=0.01, **options)
    bar.set_label(label)
    bar.ax.tick_params(length=2)
    bar.outline.set_linewidth(0.5)
    return bar


def add_share_bar(figure: Figure, image: Any, axes: Any, **options: Any) -> None:
    """Add the scale of colours of `draw_map`."""
    label = r"$\Theta(x, \tilde{x})\,/\,\Theta_d$"
    bar = add_bar(figure, image, axes, label, extend="both", **options)
    bar.set_ticks(TICKS, labels=[f"{tick:g}" for tick in TICKS])
    bar.ax.tick_params(which="minor", length=0)
