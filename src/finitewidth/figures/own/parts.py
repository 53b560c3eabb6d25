"""What the figures of a network of the user share: axes of steps, curves of runs, maps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, StrMethodFormatter

from finitewidth.common import fields
from finitewidth.figures.style import COLOURS, GREY, band

MARKERS = ("o", "s", "^", "D", "v", "P")
STYLES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))
CURVE = {  # columns of a curve
    "step": fields.number("step of the training, a batch each; NaN where there is none", "step"),
    "quantity": fields.text("what is shown"),
    "median": fields.number("median of the runs; NaN for maps"),
    "lowest": fields.number("smallest value of the runs; NaN for maps"),
    "highest": fields.number("largest value of the runs; NaN for maps"),
    "runs": fields.number("trained networks behind a value; NaN for maps"),
}
MAP = {  # columns of an entry of a kernel
    "row": fields.number("number of an image in a map, sorted by class; NaN for curves"),
    "column": fields.number("number of the other image, not below the row; NaN for curves"),
    "class_row": fields.number("class of the image of the row; NaN for curves"),
    "class_column": fields.number("class of the image of the column; NaN for curves"),
    "share": fields.number("entry over the mean diagonal; NaN for curves"),
}


def together(columns: Iterable[str], **panels: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all panels with a column ``panel``; what one lacks is missing."""
    rows = [table.assign(panel=name) for name, table in panels.items()]
    return pd.concat(rows, ignore_index=True).reindex(columns=list(columns))


def curve(axis: Axes, rows: pd.DataFrame, place: int, label: str = "") -> None:
    """Draw the median of the runs, and a band from the lowest to the highest."""
    own = rows.sort_values("step")
    colour = COLOURS[place % len(COLOURS)]
    axis.plot(own["step"], own["median"], color=colour, marker=MARKERS[place % len(MARKERS)],
              linestyle=STYLES[place % len(STYLES)], markersize=2.6, label=label)  # fmt: skip
    band(axis, own["step"], own["lowest"], own["highest"], colour)


def curves(axis: Axes, rows: pd.DataFrame, labels: Mapping[str, str], ylabel: str) -> None:
    """Draw some quantities in one panel, with a legend if there are several."""
    for place, (quantity, label) in enumerate(labels.items()):
        curve(axis, rows[rows["quantity"] == quantity], place, label)
    axis.set_ylabel(ylabel)
    steps(axis, rows)
    if len(labels) > 1:
        axis.legend()


def steps(axis: Axes, rows: pd.DataFrame) -> None:
    """Scale steps by their logarithm, and linearly up to the first, so that 0 can be seen."""
    first, last = float(rows.loc[rows["step"] > 0, "step"].min()), float(rows["step"].max())
    axis.set_xscale("symlog", linthresh=first, linscale=0.4)
    axis.set_xlim(-0.2 * first, 1.35 * last)
    ticks = [10.0**power for power in range(9) if first <= 10**power <= last] or [last]
    axis.xaxis.set_major_locator(FixedLocator([0, *ticks]))
    axis.xaxis.set_minor_locator(FixedLocator([]))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_xlabel("step")


def logarithmic(axis: Axes) -> None:
    """Scale values by their logarithm, with labels at 1, 2 and 5 times powers of ten."""
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    subs = (1.0, 2.0, 5.0) if high < 100 * low else (1.0,)
    axis.yaxis.set_major_locator(LogLocator(subs=subs))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def draw_map(axis: Axes, rows: pd.DataFrame, *, first: bool, **looks: Any) -> Any:
    """Draw a matrix from its rows on and above the diagonal; return the image.

    Args:
        axis: where to draw.
        rows: columns of `MAP`, of one matrix.
        first: whether classes are named along the vertical axis, too.
        **looks: of ``Axes.imshow``, such as the limits of the colours.
    """
    row, column = rows["row"].to_numpy(int), rows["column"].to_numpy(int)
    matrix = np.full((int(column.max()) + 1,) * 2, np.nan)
    matrix[row, column] = matrix[column, row] = rows["share"]
    image = axis.imshow(matrix, cmap="magma", interpolation="nearest", **looks)
    classes = rows[rows["row"] == 0].sort_values("column")["class_column"].to_numpy(int)
    centres = {int(c): float(np.flatnonzero(classes == c).mean()) for c in np.unique(classes)}
    kept = dict(list(centres.items())[:: -(-len(centres) // 10)])  # ten labels at most
    for ticks, named in ((axis.xaxis, True), (axis.yaxis, first)):
        ticks.set_ticks(list(kept.values()), [str(c) if named else "" for c in kept])
        ticks.set_tick_params(length=0)
    axis.set_xlabel("class")
    axis.set_ylabel("class" if first else "")
    for spine in axis.spines.values():
        spine.set_visible(False)
    return image


def add_bar(figure: Any, image: Any, axes: Sequence[Axes], label: str, **place: Any) -> None:
    """Add the scale of colours beside some maps."""
    bar = figure.colorbar(image, ax=list(axes), pad=0.01, aspect=25, **place)
    bar.set_label(label)
    bar.ax.tick_params(length=2)
    bar.outline.set_linewidth(0.5)


def level(axis: Axes, y: float, label: str = "") -> None:
    """Draw a reference line."""
    axis.axhline(y, color=GREY, linestyle=(0, (5, 2)), linewidth=0.8, zorder=0, label=label)
