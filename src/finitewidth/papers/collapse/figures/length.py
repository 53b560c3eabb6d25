"""``collapse_extra_length``: NC3 at equal ``tau`` for several lengths of training.

``tau`` is the sum over all steps of rate times weight decay, over 1 - momentum.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.records import fields

HEIGHT = 2.7  # inches
CELL, SPREAD = "cell", "spread"
MARKERS = ("o", "s", "^", "D", "v", "P")  # of lengths in ascending order
MARGIN = 1.35  # around what is drawn
BRIGHT = 0.55  # of the largest weight decay; lighter marks are hard to see on white
SHIFT = 0.05  # of the marks of neighbouring lengths, in powers of e
FIELDS = {
    "panel": fields.text("cell: mean over seeds; spread: factor across weight decays or lengths"),
    "across": fields.text("decay or epochs, for a spread"),
    "epochs": fields.number("passes over the training images"),
    "decay": fields.number("weight decay"),
    "rate": fields.number("initial learning rate"),
    "intrinsic_rate": fields.number("initial rate times weight decay, over 1 - momentum"),
    "tau": fields.number("sum over all steps of rate times weight decay, over 1 - momentum"),
    "trained": fields.number("networks that fit the training images, of the seeds"),
    "seeds": fields.number("networks, or seeds of a spread"),
    "nc3": fields.number("distance of last-layer weights and class means"),
    "nc3_error": fields.number("standard error of nc3 over seeds"),
    "least": fields.number("least decay or length of a spread"),
    "most": fields.number("largest decay or length of a spread"),
    "factor": fields.number("NC3 at the least over NC3 at the largest, geometric mean over seeds"),
    "low": fields.number("lower end of the 95 per cent interval of the factor over seeds"),
    "high": fields.number("upper end of the 95 per cent interval of the factor over seeds"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables of ``collapse_length_effects``."""
    spreads = tables["spreads"]
    across_decays = spreads["across"] == "decay"
    spreads = spreads.assign(
        epochs=spreads["at"].where(across_decays), decay=spreads["at"].where(~across_decays)
    )
    parts = {CELL: tables["cells"].assign(across="none"), SPREAD: spreads}
    rows = pd.concat(
        [part.assign(panel=name).reindex(columns=[*FIELDS]) for name, part in parts.items()]
    )
    numbers = [name for name in FIELDS if name not in ("panel", "across")]
    rows[numbers] = rows[numbers].astype(float)
    return rows.reset_index(drop=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw NC3 against tau, weight decay at the largest tau, and the intrinsic rate."""
    figure, axes = style.subplots(1, 3, height=HEIGHT, sharey=True)
    cells, spreads = rows[rows["panel"] == CELL], rows[rows["panel"] == SPREAD]
    epochs, decays = sorted(set(cells["epochs"])), sorted(set(cells["decay"]))
    markers = {length: MARKERS[n % len(MARKERS)] for n, length in enumerate(epochs)}
    colours = style.shades(decays, bright=BRIGHT)
    _over_tau(axes[0], cells, markers, colours)
    largest = cells["tau"].max()
    of_decay = spreads[(spreads["across"] == "decay") & (spreads["tau"] == largest)]
    _over_decay(axes[1], cells[cells["tau"] == largest], of_decay, markers, colours)
    _over_intrinsic_rate(axes[2], cells, markers, colours)
    for axis in axes:
        axis.set_xscale("log")
        axis.set_yscale("log")
    low, high = cells["nc3"].min(), cells["nc3"].max()
    if low > 0:  # some network is trained
        axes[0].set_ylim(low / MARGIN, high * MARGIN)
    style.logarithmic(axes[0].yaxis)
    taus = sorted(set(cells["tau"]))
    axes[0].set_xlim(taus[0] / MARGIN, taus[-1] * MARGIN)
    style.numbers(axes[0].xaxis, taus)
    style.numbers(axes[1].xaxis, decays)
    style.logarithmic(axes[2].xaxis)
    axes[0].set_ylabel("NC3")
    labels = [r"$\tau$", r"weight decay $\lambda$", r"intrinsic rate $\eta\lambda/(1-\mu)$"]
    for axis, label in zip(axes, labels, strict=True):
        axis.set_xlabel(label)
        axis.minorticks_off()
    style.title_panels(axes, ["", rf"$\tau$ = {largest:g}", r"lines: equal $\tau$ and $\lambda$"])
    _legend(figure, markers, colours)
    return figure


def _marks(
    axis: Axes, cells: pd.DataFrame, across: str, markers: Mapping, colours: Mapping, shift: float
) -> None:
    """Draw means over seeds with standard errors, and how many seeds count if some do not."""
    lengths = list(markers)
    for row in cells.dropna(subset=["nc3"]).itertuples():
        place = lengths.index(row.epochs) - (len(lengths) - 1) / 2
        x = getattr(row, across) * np.exp(shift * place)
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


def _over_tau(axis: Axes, cells: pd.DataFrame, markers: Mapping, colours: Mapping) -> None:
    _marks(axis, cells, "tau", markers, colours, SHIFT)


def _over_decay(
    axis: Axes, cells: pd.DataFrame, spreads: pd.DataFrame, markers: Mapping, colours: Mapping
) -> None:
    for _, line in cells.dropna(subset=["nc3"]).groupby("epochs"):
        line = line.sort_values("decay")
        axis.plot(line["decay"], line["nc3"], color=style.GREY, linewidth=0.7, zorder=1)
    _marks(axis, cells, "decay", markers, colours, 0.0)
    lines = []
    for row in spreads.sort_values("epochs").itertuples():
        interval = f" [{row.low:.2f}, {row.high:.2f}]" if np.isfinite(row.low) else ""
        lines.append(
            f"{_epochs(row.epochs)}, {row.least:g}–{row.most:g}: {row.factor:.2f}{interval}"
        )
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
    axis: Axes, cells: pd.DataFrame, markers: Mapping, colours: Mapping
) -> None:
    for (_, decay), line in cells.dropna(subset=["nc3"]).groupby(["tau", "decay"]):
        line = line.sort_values("intrinsic_rate")
        axis.plot(
            line["intrinsic_rate"], line["nc3"], color=colours[decay], linewidth=0.7, zorder=1
        )
    _marks(axis, cells, "intrinsic_rate", markers, colours, 0.0)


def _epochs(length: float) -> str:
    return "1 epoch" if length == 1 else f"{length:.0f} epochs"


def _legend(figure: Figure, markers: Mapping[float, str], colours: Mapping[float, str]) -> None:
    """Name colours and markers."""
    handles = [
        style.handle(rf"$\lambda$ = {decay:g}", color=colour, linewidth=2)
        for decay, colour in colours.items()
    ]
    handles += [
        style.handle(_epochs(length), marker=marker, linestyle="", color=style.GREY)
        for length, marker in markers.items()
    ]
    style.legend_above(figure, handles, handletextpad=0.4, handlelength=1.0)
