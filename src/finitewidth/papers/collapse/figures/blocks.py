"""``collapse`` Figures 1 and 13 to 20: class blocks of both kernels of a trained network."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from finitewidth.figures import kernel_maps, style
from finitewidth.papers.collapse.columns import networks as columns
from finitewidth.papers.collapse.figures.looks import INITIALISATIONS, SEEN, name_network
from finitewidth.records.tables import Table

UPPER = 2.75  # inches, height of the line of panes a and b
LOWER = 2.0  # inches, height of the line of panes c to e
SIDES = ("W", "E", "W", "C", "C")  # where panes stand in their cells; the left edges agree
TICKS = (0, 0.05, 0.2, 0.5, 1)  # ticks of the scale of colours
ROOT = 0.5  # power of the scale of colours, so that small shares stay visible
MOST_NAMED = 12  # rows up to which each has its number
TENS = 20  # distance of the numbers of many rows
KERNELS = {  # kernel -> colour, marker, face of the marker and name of its curve
    "theta": (style.COLOURS[0], "o", style.COLOURS[0], r"$\Theta$"),
    "theta_h": (style.COLOURS[3], "s", "white", r"$\Theta^h$"),
}
TITLES = {
    "a": r"traced kernel $\Theta$",
    "b": r"traced kernel $\Theta^h$ of the features",
    "c": r"$\Vert\Theta_{ks}\Vert_F$, outputs",
    "d": r"$\Vert\Theta^h_{ks}\Vert_F$, features",
    "e": r"alignment with the labels",
}
FACTS = (columns.INIT_OF_MAPS, columns.RATE, columns.CHOICE)  # of the network shown
MAPS = {"a": "theta", "b": "theta_h", "c": "theta", "d": "theta_h"}
TABLE = Table(
    columns.PANE_OF_MAPS,
    columns.KERNEL,
    columns.ROW_SHOWN,
    columns.COLUMN_SHOWN,
    columns.CLASS_ROW_SHOWN,
    columns.CLASS_COLUMN_SHOWN,
    columns.SHARE_SHOWN,
    columns.EPOCH_OF_CURVE,
    columns.ALIGNMENT_SHOWN,
    *FACTS,
    *SEEN,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``traced``, ``norms``, ``blocks`` and ``alignments``.

    ``panel`` is the letter of a pane: ``a`` and ``b`` traced kernels, ``c`` and ``d`` norms of all
    pairs of outputs and of features, ``e`` alignments.
    """
    parts = []
    for letter, kernel in MAPS.items():
        rows = tables["traced" if letter in "ab" else "norms"]
        parts.append(rows[rows["kernel"] == kernel].assign(panel=letter))
    curves = tables["alignments"].rename(columns={"value": "alignment"})
    parts.append(curves.assign(panel="e"))
    blocks = tables["blocks"].rename(columns={"init": "initialisation"})
    network = {column.name: blocks[column.name].iloc[0] for column in (*FACTS, *SEEN)}
    rows = pd.concat(parts, ignore_index=True).assign(**network)
    return rows.reindex(columns=TABLE.names)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the traced kernels above, and norms and alignments below."""
    figure, (upper, lower) = style.grids((UPPER, LOWER), ((1, 2), (1, 3)))
    axes = [*upper, *lower]
    for axis, letter in zip(axes, MAPS, strict=False):
        _map(axis, rows[rows["panel"] == letter], letter)
    _colour_bar(figure, upper)
    for axis, side in zip(axes, SIDES, strict=True):
        axis.set_anchor(side)
    _alignments(axes[4], rows[rows["panel"] == "e"])
    style.title_panels(axes, list(TITLES.values()))
    name = INITIALISATIONS[rows["initialisation"].iloc[0]]
    rate = rows["rate"].iloc[0]
    name_network(figure, rows, rf"; {name} initialisation, initial rate $\eta$ = {rate:.2g}")
    return figure


def _map(axis: Axes, rows: pd.DataFrame, letter: str) -> None:
    """Draw a symmetric matrix, from its rows on and above the diagonal."""
    import seaborn as sns

    sns.heatmap(
        kernel_maps.symmetric(rows, rows["share"]),
        ax=axis,
        cmap=kernel_maps.COLOURS,
        norm=PowerNorm(ROOT, 0, 1, clip=True),
        cbar=False,
        square=True,
        xticklabels=False,
        yticklabels=False,
        rasterized=True,
    )
    _labels(axis, rows, letter)


def _colour_bar(figure: Figure, axes: Sequence[Axes]) -> None:
    """Draw the scale of colours of all maps beside the ``axes`` of the upper line."""
    bar = figure.colorbar(
        axes[0].collections[0],
        ax=axes,
        ticks=TICKS,
        aspect=28,
        pad=0.02,
        extend="max",
        extendfrac=0.03,
    )
    bar.ax.set_yticklabels([f"{tick:g}" for tick in TICKS])
    bar.ax.minorticks_off()
    bar.set_label("over the 99.5th percentile of the map, a to d")
    bar.outline.set_linewidth(0.5)


def _alignments(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw the alignment of each kernel with the labels over the epochs."""
    for kernel, (colour, marker, face, name) in KERNELS.items():
        curve = rows[rows["kernel"] == kernel].sort_values("epoch")
        last = float(curve["alignment"].iloc[-1])
        axis.plot(
            curve["epoch"],
            curve["alignment"],
            color=colour,
            marker=marker,
            markerfacecolor=face,
            markeredgecolor=colour,
            markevery=max(1, len(curve) // 8),
            label=f"{name}: {last:.2f} at the end",
        )
    axis.set(
        xlim=(0, 1.04 * float(rows["epoch"].max())),
        ylim=(0, 1.02),
        xlabel="epoch",
        ylabel=r"$A(\cdot, Y^{\mathsf{T}}Y)$",
    )
    axis.legend(loc="best")


def _labels(axis: Axes, rows: pd.DataFrame, letter: str) -> None:
    """Write the classes (panes a and b), outputs (c) or features (d) along the axes of a map."""
    if letter in "ab":
        centres, borders = kernel_maps.classes_of(rows)
        positions = [centre + 0.5 for centre in centres.values()]
        for ticks in (axis.xaxis, axis.yaxis):  # class names, with ticks between them
            kernel_maps.class_ticks(ticks, positions, list(centres), borders + 0.5, 2.5)
        axis.set_xlabel(r"class of $\tilde{x}$")
        axis.set_ylabel("class of $x$")
        return
    size = int(rows["column"].max()) + 1
    numbers = np.arange(0, size, 1 if size <= MOST_NAMED else TENS)
    axis.set_xticks(numbers + 0.5, numbers)
    axis.set_yticks(numbers + 0.5, numbers)
    unit = "output" if letter == "c" else "feature"
    axis.set_xlabel(f"{unit} $s$")
    axis.set_ylabel(f"{unit} $k$")
