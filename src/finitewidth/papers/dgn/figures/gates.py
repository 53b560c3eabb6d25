"""Looks of networks with adaptable, learnt and frozen gates, in dgn Figures 5, 7 and 8."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from finitewidth.figures import style

# frozen gates that were never learnt have one colour
LOOKS = {
    "ReLU": {"color": style.COLOURS[0], "marker": "o"},
    "GaLU": {"color": style.COLOURS[3], "marker": "s"},
    "soft-ReLU": {"color": style.COLOURS[4], "marker": "D"},
    "soft-GaLU": {"color": style.COLOURS[2], "marker": "^"},
    "learnt gates": {"color": "black", "marker": "P"},
    "unlearnt gates": {"color": style.COLOURS[3], "marker": "s"},
    "frozen ReLU": {"color": style.COLOURS[3], "marker": "v"},
}
UNTRAINED = ", not trained"
MARKED = 5  # how many points of a long curve have a mark and a bar, about
BARS = {"elinewidth": 0.7, "capsize": 1.2}


def curve(
    axis: Axes,
    rows: pd.DataFrame,
    y: str,
    series: str,
    first_mark: float,
    most: float | None = None,
    **line: Any,
) -> None:
    """Plot a curve over epochs with marks, and with bars of the standard deviation over runs.

    Args:
        axis: the panel.
        rows: epoch, standard_deviation and the column ``y``.
        y: column of the vertical axis.
        series: the network, a key of `LOOKS`.
        first_mark: where the marks begin, as a fraction of their distance; it is different for
            each curve of a panel.
        most: where bars are cut, the largest possible value; None if there is none.
        line: arguments of ``Axes.errorbar``.
    """
    rows = rows.sort_values("epoch")
    every = max(1, len(rows) // MARKED)
    first = int(first_mark * every)
    has_bar = np.arange(len(rows)) % every == first
    has_bar[[0, -1]] = True
    error = rows["standard_deviation"].where(has_bar)
    above = error if most is None else error.clip(upper=most - rows[y])
    style.bars(
        axis,
        rows["epoch"],
        rows[y],
        np.vstack([error, above]),
        markevery=(first, every),
        **BARS,
        **LOOKS[series],
        **line,
    )


def epochs(axis: Axes) -> None:
    """Write whole numbers along the horizontal axis."""
    axis.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))


def untrained(rows: pd.DataFrame) -> list[str]:
    """The series of which not all runs are trained, in the order of the rows."""
    return list(dict.fromkeys(rows.loc[rows["trained"] == 0, "series"]))
