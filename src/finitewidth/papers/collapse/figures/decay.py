"""``collapse_extra_decay``: NC3 against ``tau``, rates and weight decay, and what may explain it.

``tau`` is the sum over all steps of rate times weight decay, over 1 - momentum.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from finitewidth.common import fields
from finitewidth.figures import style

HEIGHT = 4.6  # inches
JOINED = "with_normalisation"  # what the experiment calls all sweeps with batch normalisation
CELL, RANK, POWER, DECAY_ALONE = "cell", "rank", "power", "decay_alone"
OTHER = "patches"  # sweep of the panel beside MNIST
SWEEPS = {  # colour, name, short name
    "vgg": (style.COLOURS[0], "VGG", "VGG"),
    "resnet": (style.COLOURS[1], "ResNet", "ResNet"),
    "fully_connected": (style.COLOURS[3], "no batch normalisation", "no norm."),
    OTHER: (style.COLOURS[2], "VGG, other images", "VGG"),
    JOINED: ("", "", "both"),
}
NEAR = 300  # largest over smallest value below which there are labels between powers of ten
MARKERS = ("o", "s", "^", "D", "v", "P")  # of weight decays in ascending order
PLAIN = "X"  # without decay
ACROSS = {  # column -> label
    "tau": r"$\tau$, sum of rate $\times$ decay",
    "rates": "sum of rates",
    "decay": r"weight decay $\lambda$",
}
LEAST = 1e-4  # of overlaps and imbalances that are shown
FIELDS = {
    "panel": fields.text("cell: mean over seeds; rank: rank correlation; power: exponent of tau; "
                         "decay_alone: a prediction"),
    "sweep": fields.text("vgg, resnet, fully_connected, patches, or with_normalisation"),
    "quantity": fields.text("column on the axis of a rank correlation; overlap or imbalance"),
    "decay": fields.number("weight decay"),
    "rate": fields.number("initial learning rate"),
    "rates": fields.number("sum over all steps of the rate, over 1 - momentum"),
    "tau": fields.number("sum over all steps of rate times weight decay, over 1 - momentum"),
    "trained": fields.number("networks that fit the training images, of the seeds"),
    "seeds": fields.number("networks, or seeds of a mean"),
    "nc3": fields.number("distance of last-layer weights and class means"),
    "nc3_error": fields.number("standard error of nc3 over seeds"),
    "overlap": fields.number("of the last layer with itself at the start"),
    "overlap_error": fields.number("standard error of overlap over seeds"),
    "imbalance": fields.number("of the last two layers, over that at the start"),
    "imbalance_error": fields.number("standard error of imbalance over seeds"),
    "value": fields.number("rank correlation with NC3, exponent of tau, or prediction"),
    "low": fields.number("lower end of the 95 per cent interval over seeds"),
    "high": fields.number("upper end of the 95 per cent interval over seeds"),
}  # fmt: skip


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables of ``collapse_decay``."""
    powers = tables["powers"]
    parts = {
        CELL: tables["cells"],
        RANK: tables["ranks"].rename(columns={"against": "quantity", "rank_correlation": "value"}),
        POWER: powers[powers["exponent"] == "tau"],
        DECAY_ALONE: tables["mechanisms"].rename(columns={"predicted": "value"}),
    }
    rows = pd.concat([part.assign(panel=name).reindex(columns=[*FIELDS])
                      for name, part in parts.items()])  # fmt: skip
    numbers = [name for name in FIELDS if name not in ("panel", "sweep", "quantity")]
    rows[numbers] = rows[numbers].astype(float)
    return rows.fillna({"quantity": "none"}).reset_index(drop=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw NC3 against three variables, and below other data and two explanations."""
    figure, axes = style.subplots(2, 3, height=HEIGHT)
    cells, ranks = rows[rows["panel"] == CELL], rows[rows["panel"] == RANK]
    shared, other = cells[cells["sweep"] != OTHER], cells[cells["sweep"] == OTHER]
    for axis, across in zip(axes[0], ACROSS, strict=True):
        _cells(axis, shared[shared[across] > 0], across)
        _ranks(axis, ranks[ranks["quantity"] == across])
        axis.set_xlabel(ACROSS[across])
    _cells(axes[1][0], other[other["tau"] > 0], "tau")
    _ranks(axes[1][0], ranks[ranks["quantity"] == "tau"], OTHER)
    powers = rows[(rows["panel"] == POWER) & np.isfinite(rows["value"])]
    for axis, sweep in ((axes[0][0], JOINED), (axes[1][0], OTHER)):
        for power in powers.loc[powers["sweep"] == sweep, "value"]:
            axis.text(0.98, 0.97, rf"$\tau^{{{power:.2f}}}$", transform=axis.transAxes, ha="right",
                      va="top", fontsize=style.FORMULA)  # fmt: skip
    low, high = cells["nc3"].min(), cells["nc3"].max()
    for axis in (*axes[0], axes[1][0]):
        axis.set_yscale("log")
        if high > 0:  # some network is trained
            axis.set_ylim(0.3 * low, 1.6 * high)
    _explanation(axes[1][1], rows, cells, "overlap")
    _explanation(axes[1][2], rows, cells, "imbalance")
    labels = {(0, 0): "NC3", (1, 0): "NC3", (1, 1): "overlap with the initial last layer",
              (1, 2): "imbalance of the last two layers"}  # fmt: skip
    for place, label in labels.items():
        axes[place].set_ylabel(label)
    for axis in axes[1]:
        axis.set_xlabel(r"$\tau$")
    # the images of `OTHER`, without the dataset that they stand for
    images = settings["datasets"].get("cifar10", "CIFAR-10").partition(" (")[0]
    style.title_panels(axes.flat, ["", "", "", images, r"dashed: $e^{-\tau}$",
                                   r"dashed: $e^{-2\tau}$"])  # fmt: skip
    _legend(figure, cells)
    return figure


def _cells(axis: Axes, cells: pd.DataFrame, across: str, quantity: str = "nc3") -> None:
    """Draw means over seeds with their standard errors; without decay hollow."""
    for sweep, rows in cells.dropna(subset=[quantity]).groupby("sweep", sort=False):
        colour, decays = SWEEPS[sweep][0], sorted(set(rows["decay"]) - {0.0})
        for decay, shown in rows.groupby("decay"):
            marker = MARKERS[decays.index(decay) % len(MARKERS)] if decay else PLAIN
            axis.errorbar(shown[across], shown[quantity], shown[f"{quantity}_error"].fillna(0),
                          linestyle="", marker=marker, color=colour,
                          markerfacecolor=colour if decay else "white")  # fmt: skip
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    subs = (1, 3) if high < NEAR * low else (1,)
    style.numbers(axis.xaxis, LogLocator(subs=subs, numticks=8))


def _ranks(axis: Axes, ranks: pd.DataFrame, only: str | None = None) -> None:
    """Write rank correlations of all sweeps but `OTHER`, or of one, below the points."""
    ranks = ranks[(ranks["sweep"] == only) if only else (ranks["sweep"] != OTHER)]
    lines = []
    for row in ranks[np.isfinite(ranks["value"])].itertuples():
        interval = ""  # there is none for one seed
        if np.isfinite(row.low):
            interval = f" [{max(row.low, -1):.2f}, {min(row.high, 1):.2f}]"
        lines.append(rf"$\rho$ = {row.value:.2f}{interval} {SWEEPS[row.sweep][2]}")
    if lines:
        text = "\n".join(lines).replace("-", "\N{MINUS SIGN}")
        axis.text(0.02, 0.02, text, transform=axis.transAxes, va="bottom", fontsize=style.SMALLEST)


def _explanation(axis: Axes, rows: pd.DataFrame, cells: pd.DataFrame, quantity: str) -> None:
    """Draw a quantity of the weights against tau beside what weight decay alone leaves of it.

    The axis of tau is linear, so that exponentials are lines.
    """
    _cells(axis, cells[(cells["tau"] > 0) & (cells[quantity] >= LEAST)], "tau", quantity)
    alone = rows[(rows["panel"] == DECAY_ALONE) & (rows["quantity"] == quantity)]
    alone = alone[alone["value"] >= LEAST].drop_duplicates("tau").sort_values("tau")
    axis.plot(alone["tau"], alone["value"], linestyle="--", color=style.GREY)
    axis.set_xscale("linear")
    axis.set_xlim(left=0)
    axis.set_yscale("log")
    axis.set_ylim(LEAST, 1.5)


def _legend(figure: Figure, cells: pd.DataFrame) -> None:
    """Name colours and markers."""
    known = [sweep for sweep in SWEEPS if (cells["sweep"] == sweep).any()]
    handles: list[Any] = [Patch(facecolor=SWEEPS[sweep][0], label=SWEEPS[sweep][1])
                          for sweep in known]  # fmt: skip
    most = cells[cells["decay"] > 0].groupby("sweep")["decay"].nunique().max()
    words = ["least decay", *["next"] * max(0, int(most) - 1)]
    handles += [style.handle(word, marker=marker, linestyle="", color=style.GREY)
                for marker, word in zip(MARKERS, words, strict=False)]  # fmt: skip
    if (cells["decay"] == 0).any():
        look = {"marker": PLAIN, "color": style.GREY, "markerfacecolor": "white"}
        handles.append(style.handle("no decay", linestyle="", **look))
    style.legend_above(figure, handles, handletextpad=0.4, handlelength=1.0)
