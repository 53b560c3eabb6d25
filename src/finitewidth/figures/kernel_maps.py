"""Heat maps of kernels on images sorted by class, all with one scale of colours."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

COLUMNS = ["sigma_w2", "step", "row", "column", "class_row", "class_column", "share"]
LEAST, MOST = 0.05, 2.0  # shares of the mean diagonal beyond which the colour stays the same
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2)
COLOURS = "magma"  # lightness rises evenly, also for the colour-blind


def draw_map(axis: Axes, rows: pd.DataFrame, labels: str = "") -> Any:
    """Draw a kernel from its rows on and above the diagonal; return the image.

    Args:
        axis: where to draw.
        rows: columns `COLUMNS`, of one kernel.
        labels: axes along which classes are named, of ``x`` and ``y``.
    """
    row, column = rows["row"].to_numpy(int), rows["column"].to_numpy(int)
    size = int(column.max()) + 1
    share = np.full((size, size), np.nan)
    # entries below 0 get the darkest colour; a logarithm would leave them out
    share[row, column] = share[column, row] = rows["share"].clip(lower=LEAST / 2)
    image = axis.imshow(share, cmap=COLOURS, norm=LogNorm(LEAST, MOST), interpolation="nearest")
    first = rows[rows["row"] == 0].sort_values("column")
    classes = first["class_column"].to_numpy(int)
    borders = np.flatnonzero(np.diff(classes)) + 0.5
    centres = {int(c): float(np.flatnonzero(classes == c).mean()) for c in np.unique(classes)}
    for name, ticks in (("x", axis.xaxis), ("y", axis.yaxis)):
        ticks.set_ticks(list(centres.values()), list(centres) if name in labels else [])
        ticks.set_ticks(borders, minor=True)
        ticks.set_tick_params(which="major", length=0)
        ticks.set_tick_params(which="minor", length=2, width=0.5)
    for spine in axis.spines.values():
        spine.set_visible(False)
    return image


def add_bar(figure: Figure, image: Any, axes: Any, **place: Any) -> None:
    """Add the scale of colours beside the axes."""
    bar = figure.colorbar(image, ax=axes, extend="both", **place)
    bar.set_ticks(TICKS, labels=[f"{tick:g}" for tick in TICKS])
    bar.ax.tick_params(which="minor", length=0)
    bar.ax.tick_params(length=2)
    bar.set_label(r"$\Theta(x, \tilde{x})\,/\,\Theta_d$")
    bar.outline.set_linewidth(0.5)
