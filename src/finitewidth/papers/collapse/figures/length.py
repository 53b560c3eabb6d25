"""``collapse_extra_length``: NC3 at equal ``tau`` for several lengths of training.

``tau`` is the sum over all steps of rate times weight decay, over 1 - momentum.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.papers.collapse.columns import sweeps as columns
from finitewidth.records.tables import Table

HEIGHT = 2.7  # inches
# panels of the table
CELL = "cell"
SPREAD = "spread"
MARKERS = ("o", "s", "^", "D", "v", "P")  # of lengths in ascending order
MARGIN = 1.35  # factor between the ends of an axis and what is drawn
BRIGHT = 0.55  # shade of the largest weight decay; lighter marks are hard to see on white
SHIFT = 0.05  # distance of the marks of neighbouring lengths, in powers of e
TABLE = Table(
    columns.PANEL_OF_LENGTH,
    columns.ACROSS_SHOWN,
    columns.EPOCHS_SHOWN,
    columns.DECAY_OF_LENGTH,
    columns.RATE_OF_CELL,
    columns.INTRINSIC_RATE_SHOWN,
    columns.TAU_OF_LENGTH,
    columns.TRAINED_SHOWN,
    columns.SEEDS_OF_LENGTH,
    columns.NC3_SHOWN,
    columns.NC3_ERROR_SHOWN,
    columns.LEAST_SHOWN,
    columns.MOST_SHOWN,
    columns.FACTOR_SHOWN,
    columns.LOW_FACTOR,
    columns.HIGH_FACTOR,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables of ``collapse_length_effects``."""
    spreads = tables["spreads"]
    across_decays = spreads["across"] == "decay"
    spreads = spreads.assign(
        epochs=spreads["at"].where(across_decays), decay=spreads["at"].where(~across_decays)
    )
    parts = [
        tables["cells"].assign(panel=CELL, across="none"),
        spreads.assign(panel=SPREAD),
    ]
    rows = pd.concat([part.reindex(columns=TABLE.names) for part in parts])
    numbers = [column.name for column in TABLE if column.type == "number"]
    rows[numbers] = rows[numbers].astype(float)
    return rows.reset_index(drop=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw NC3 against tau, weight decay at the largest tau, and the intrinsic rate."""
    figure, axes = style.subplots(1, 3, height=HEIGHT, sharey=True)
    over_tau, over_decay, over_rate = axes
    cells = rows[rows["panel"] == CELL]
    spreads = rows[rows["panel"] == SPREAD]
    epochs = sorted(set(cells["epochs"]))
    decays = sorted(set(cells["decay"]))
    taus = sorted(set(cells["tau"]))
    markers = {length: MARKERS[n % len(MARKERS)] for n, length in enumerate(epochs)}
    colours = style.shades(decays, bright=BRIGHT)
    largest = taus[-1]
    across_decays = spreads[(spreads["across"] == "decay") & (spreads["tau"] == largest)]
    _marks(over_tau, cells, "tau", markers, colours, SHIFT)
    _over_decay(over_decay, cells[cells["tau"] == largest], across_decays, markers, colours)
    _over_intrinsic_rate(over_rate, cells, markers, colours)
    _logarithmic_scales(axes, over_tau, cells)
    style.numbers(over_tau.xaxis, taus)
    style.numbers(over_decay.xaxis, decays)
    style.logarithmic(over_rate.xaxis)
    over_tau.set_ylabel("NC3")
    over_tau.set_xlabel(r"$\tau$")
    over_decay.set_xlabel(r"weight decay $\lambda$")
    over_rate.set_xlabel(r"intrinsic rate $\eta\lambda/(1-\mu)$")
    for axis in axes:
        axis.minorticks_off()
    style.title_panels(axes, ["", rf"$\tau$ = {largest:g}", r"lines: equal $\tau$ and $\lambda$"])
    _legend(figure, markers, colours)
    return figure


def _logarithmic_scales(axes: Iterable[Axes], over_tau: Axes, cells: pd.DataFrame) -> None:
    """Make all axes logarithmic, with limits for NC3 and, over tau, for tau."""
    for axis in axes:
        axis.set_xscale("log")
        axis.set_yscale("log")
    low = cells["nc3"].min()
    high = cells["nc3"].max()
    if low > 0:  # some network is trained
        over_tau.set_ylim(low / MARGIN, high * MARGIN)
    style.logarithmic(over_tau.yaxis)
    over_tau.set_xlim(cells["tau"].min() / MARGIN, cells["tau"].max() * MARGIN)


def _marks(
    axis: Axes,
    cells: pd.DataFrame,
    across: str,
    markers: Mapping[float, str],
    colours: Mapping[float, Any],
    shift: float,
) -> None:
    """Draw means over seeds with standard errors, and how many seeds count if some do not.

    The marks of different lengths are shifted around the value of the column ``across``.
    """
    lengths = list(markers)
    for row in cells.dropna(subset=["nc3"]).itertuples():
        from_the_middle = lengths.index(row.epochs) - (len(lengths) - 1) / 2
        x = getattr(row, across) * np.exp(shift * from_the_middle)
        error = row.nc3_error if np.isfinite(row.nc3_error) else 0
        axis.errorbar(
            x,
            row.nc3,
            error,
            linestyle="",
            marker=markers[row.epochs],
            color=colours[row.decay],
            zorder=3,
        )
        if row.trained < row.seeds:
            axis.annotate(
                f"{row.trained:.0f}/{row.seeds:.0f}",
                (x, row.nc3),
                xytext=(4, 1),
                textcoords="offset points",
                fontsize=style.SMALLEST,
            )


def _over_decay(
    axis: Axes,
    cells: pd.DataFrame,
    spreads: pd.DataFrame,
    markers: Mapping[float, str],
    colours: Mapping[float, Any],
) -> None:
    """Draw a line for each length, and write the factors across weight decays."""
    in_order = cells.dropna(subset=["nc3"]).sort_values("decay")
    for _, line in in_order.groupby("epochs"):
        axis.plot(line["decay"], line["nc3"], color=style.GREY, linewidth=0.7, zorder=1)
    _marks(axis, cells, "decay", markers, colours, 0.0)
    lines = []
    for row in spreads.sort_values("epochs").itertuples():
        line = f"{_epochs(row.epochs)}, {row.least:g}–{row.most:g}: {row.factor:.2f}"
        if np.isfinite(row.low):
            line += f" [{row.low:.2f}, {row.high:.2f}]"
        lines.append(line)
    axis.text(
        0.98,
        0.98,
        "\n".join(lines),
        transform=axis.transAxes,
        ha="right",
        va="top",
        fontsize=style.SMALLEST,
    )


def _over_intrinsic_rate(
    axis: Axes, cells: pd.DataFrame, markers: Mapping[float, str], colours: Mapping[float, Any]
) -> None:
    """Draw a line for each tau and weight decay, along which the length differs."""
    in_order = cells.dropna(subset=["nc3"]).sort_values("intrinsic_rate")
    for (_, decay), line in in_order.groupby(["tau", "decay"]):
        axis.plot(
            line["intrinsic_rate"], line["nc3"], color=colours[decay], linewidth=0.7, zorder=1
        )
    _marks(axis, cells, "intrinsic_rate", markers, colours, 0.0)


def _epochs(length: float) -> str:
    """A length of training in words."""
    return "1 epoch" if length == 1 else f"{length:.0f} epochs"


def _legend(figure: Figure, markers: Mapping[float, str], colours: Mapping[float, Any]) -> None:
    """Name colours and markers."""
    handles = []
    for decay, colour in colours.items():
        handles.append(style.handle(rf"$\lambda$ = {decay:g}", color=colour, linewidth=2))
    for length, marker in markers.items():
        look = {"marker": marker, "linestyle": "", "color": style.GREY}
        handles.append(style.handle(_epochs(length), **look))
    style.legend_above(figure, handles, handletextpad=0.4, handlelength=1.0)
