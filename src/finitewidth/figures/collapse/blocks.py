"""``collapse`` Figures 1 and 13 to 20: class blocks of both kernels of a trained network."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from finitewidth.figures.collapse.looks import MEDIUM, SMALL, WIDTH, tidy
from finitewidth.figures.kernel_maps import COLOURS
from finitewidth.figures.style import COLOURS as LINES

UPPER, LOWER = 3.05, 2.15  # inches: of the line of panes a and b, of the line of panes c to e
TICKS = (0, 0.05, 0.2, 0.5, 1)  # of the scale of colours
ROOT = 0.5  # power of the scale of colours, so that small shares stay visible
MOST_NAMED = 12  # rows up to which each has its number
KERNELS = {  # colour, marker, face of the marker, name
    "theta": (LINES[0], "o", LINES[0], r"$\Theta$"),
    "theta_h": (LINES[3], "s", "white", r"$\Theta^h$"),
}
TITLES = {
    "a": r"a) traced kernel $\Theta$",
    "b": r"b) traced kernel $\Theta^h$ of the features",
    "c": r"c) $\Vert\Theta_{ks}\Vert_F$",
    "d": r"d) $\Vert\Theta^h_{ks}\Vert_F$",
    "e": r"e) $A(\cdot, Y^{\mathsf{T}}Y)$",
}  # fmt: skip
MAPS = {"a": "theta", "b": "theta_h", "c": "theta", "d": "theta_h"}
COLUMNS = [
    "panel", "kernel", "row", "column", "class_row", "class_column", "value", "share", "epoch",
]  # fmt: skip


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``traced``, ``norms`` and ``alignments``.

    ``panel`` is the letter of a pane: ``a`` and ``b`` traced kernels, ``c`` and ``d`` norms of all
    pairs of outputs and of features, ``e`` alignments.
    """
    parts = []
    for letter, kernel in MAPS.items():
        rows = tables["traced" if letter in "ab" else "norms"]
        parts.append(rows[rows["kernel"] == kernel].assign(panel=letter))
    parts.append(tables["alignments"].assign(panel="e"))
    return pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the traced kernels above, and norms and alignments below."""
    figure = Figure(figsize=(WIDTH, UPPER + LOWER + 0.3), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.04, h_pad=0.05, wspace=0.02, hspace=0.02)
    grid = figure.add_gridspec(2, 1, height_ratios=(UPPER, LOWER))
    upper, lower = grid[0].subgridspec(1, 2), grid[1].subgridspec(1, 3)
    axes = [figure.add_subplot(upper[place]) for place in range(2)]
    axes += [figure.add_subplot(lower[place]) for place in range(3)]
    norm = PowerNorm(ROOT, 0, 1, clip=True)
    for axis, letter in zip(axes, MAPS, strict=False):
        image = _map(axis, rows[rows["panel"] == letter], norm)
        _labels(axis, rows[rows["panel"] == letter], letter)
    bar = figure.colorbar(image, ax=axes[:2], ticks=TICKS, shrink=0.9, aspect=28, pad=0.02)
    bar.ax.set_yticklabels([f"{tick:g}" for tick in TICKS])
    bar.ax.tick_params(labelsize=SMALL, length=2)
    bar.ax.minorticks_off()
    bar.set_label("share of the largest value of the map, a to d", fontsize=SMALL)
    bar.outline.set_linewidth(0.5)
    _alignments(axes[4], rows[rows["panel"] == "e"])
    return figure


def _map(axis: Axes, rows: pd.DataFrame, norm: PowerNorm) -> Any:
    """Draw a symmetric matrix from its rows on and above the diagonal; return the image."""
    row, column = rows["row"].to_numpy(int), rows["column"].to_numpy(int)
    size = int(column.max()) + 1
    share = np.full((size, size), np.nan)
    share[row, column] = share[column, row] = rows["share"]
    return axis.imshow(share, cmap=COLOURS, norm=norm, interpolation="nearest")


def _labels(axis: Axes, rows: pd.DataFrame, letter: str) -> None:
    """Write the title of a map, and the classes, outputs or features along its axes."""
    tidy(axis, TITLES[letter])
    for spine in axis.spines.values():
        spine.set_visible(False)
    if letter in "ab":
        first = rows[rows["row"] == 0].sort_values("column")
        classes = first["class_column"].to_numpy(int)
        borders = np.flatnonzero(np.diff(classes)) + 0.5
        names = dict.fromkeys(classes.tolist())
        centres = [float(np.flatnonzero(classes == name).mean()) for name in names]
        for ticks in (axis.xaxis, axis.yaxis):
            ticks.set_ticks(centres, list(names))
            ticks.set_ticks(borders, minor=True)
            ticks.set_tick_params(which="major", length=0)
            ticks.set_tick_params(which="minor", length=2.5, width=0.5)
        axis.set_xlabel(r"class of $\tilde{x}$", fontsize=MEDIUM, labelpad=1)
        axis.set_ylabel("class of $x$", fontsize=MEDIUM, labelpad=1)
        return
    size = int(rows["column"].max()) + 1
    if size <= MOST_NAMED:
        axis.set_xticks(range(size))
        axis.set_yticks(range(size))
    what = "output" if letter == "c" else "feature"
    axis.set_xlabel(f"{what} $s$", fontsize=MEDIUM, labelpad=1)
    axis.set_ylabel(f"{what} $k$", fontsize=MEDIUM, labelpad=1)


def _alignments(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the alignment of both kernels with the labels over the epochs, and its last value."""
    for kernel, (colour, marker, face, name) in KERNELS.items():
        curve = rows[rows["kernel"] == kernel].sort_values("epoch")
        last = float(curve["value"].iloc[-1])
        axis.plot(curve["epoch"], curve["value"], color=colour, marker=marker, markersize=3.4,
                  markerfacecolor=face, markeredgewidth=0.9, markeredgecolor=colour,
                  markevery=max(1, len(curve) // 8), linewidth=1.1,
                  label=f"{name}: {last:.2f} at the end")  # fmt: skip
    axis.set_ylim(0, 1.02)
    axis.set_xlim(0, 1.04 * float(rows["epoch"].max()))
    axis.legend(fontsize=SMALL, loc="lower right", handlelength=2, borderaxespad=0.3)
    axis.set_xlabel("epoch", fontsize=MEDIUM, labelpad=1)
    tidy(axis, TITLES["e"])
