"""The panel of nu over time in npf Figure 3 and dgn Figure 6, and the note on ridges."""

import pandas as pd
from matplotlib.axes import Axes

from finitewidth.figures import style
from finitewidth.records.tables import Table, number

TABLE = Table(
    number("epoch", "epoch of the training", "epoch"),
    number(
        "nu",
        "mean over runs of nu_t, the energy of the labels in the inverse kernel",
        missing="no run has a value",
    ),
    number(
        "standard_deviation",
        "sample standard deviation of nu_t over runs",
        missing="fewer than two runs have a value",
    ),
    number("runs", "number of runs with a value"),
    number("ridged", "number of runs whose kernel could only be inverted with a ridge"),
)


def nu_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``nu`` of the experiments with the columns of `TABLE`."""
    named = table.rename(columns={"x": "epoch", "y": "nu", "spread": "standard_deviation"})
    return named[TABLE.names]


def draw_nu(axis: Axes, rows: pd.DataFrame, symbol: str = "H") -> None:
    """Draw mean and sample standard deviation of nu; ``symbol`` of the kernel in the paper."""
    style.bars(
        axis,
        rows["epoch"],
        rows["nu"],
        rows["standard_deviation"],
        color=style.COLOURS[0],
        marker="o",
        markersize=2.4,
        elinewidth=0.7,
    )
    axis.set_xlabel("epoch")
    axis.set_ylabel(rf"$\nu_t = y^\top \hat{{{symbol}}}_t^{{-1}} y$")
    note_ridges(axis, rows)


def note_ridges(axis: Axes, rows: pd.DataFrame) -> None:
    """Write how many kernels of a panel could only be inverted with a ridge, if there are any."""
    if ridged := int(rows["ridged"].sum()):
        text = f"{ridged} of {int(rows['runs'].sum())} kernels: with a ridge"
        axis.text(
            0.02, 0.02, text, transform=axis.transAxes, fontsize=style.SMALLEST, color=style.GREY
        )
