"""``collapse_extra_decay``: NC3 against ``tau``, rates and weight decay, and what may explain it.

``tau`` is the sum over all steps of rate times weight decay, over 1 - momentum.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from finitewidth.figures import style
from finitewidth.papers.collapse.columns import sweeps as columns
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

HEIGHT = 5.1  # inches
JOINED = "with_normalisation"  # what the experiment calls all sweeps with batch normalisation
# panels of the table
CELL = "cell"
RANK = "rank"
FIT = "fit"
DECAY_ALONE = "decay_alone"
OTHER = "patches"  # sweep of the panel beside MNIST
SWEEPS = {  # sweep -> colour, name and short name
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
LEAST = 1e-4  # lower edge of overlaps and imbalances; a triangle stands for what is below
BELOW = "below"  # identifier of these triangles, which the tests look for
FIT_LINES = {  # form of a fit -> its line and its formula
    "power": ("-", r"$\tau^{{{0:.2f}}}$"),
    "exponential": (":", r"$e^{{{0:.2f}\tau}}$"),
}
ROOM = 0.34  # share of a panel below the lowest bar, for rank correlations
TABLE = Table(
    columns.PANEL_OF_DECAY,
    columns.SWEEP_SHOWN,
    columns.QUANTITY_OF_DECAY,
    columns.DECAY_SHOWN,
    columns.RATE_OF_CELL,
    columns.RATES_SHOWN,
    columns.TAU_SHOWN,
    columns.TRAINED_SHOWN,
    columns.SEEDS_SHOWN,
    columns.NC3_SHOWN,
    columns.NC3_ERROR_SHOWN,
    columns.OVERLAP_SHOWN,
    columns.OVERLAP_ERROR_SHOWN,
    columns.IMBALANCE_SHOWN,
    columns.IMBALANCE_ERROR_SHOWN,
    columns.VALUE_OF_DECAY,
    columns.LOW_SHOWN,
    columns.HIGH_SHOWN,
    columns.SAME_SHOWN,
    columns.ALL_SEEDS_SHOWN,
    columns.STRONGEST_SHOWN,
    columns.MISFIT_SHOWN,
)


class Look(Section):
    """What the figure says of its images."""

    artifact: str
    datasets: dict[str, str]  # role -> what plays its part


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return the rows to draw, from the tables of ``collapse_decay``."""
    ranks = tables["ranks"].rename(columns={"against": "quantity", "rank_correlation": "value"})
    fits = tables["fits"].rename(columns={"form": "quantity", "exponent": "value"})
    predictions = tables["mechanisms"].rename(columns={"predicted": "value"})
    parts = [
        tables["cells"].assign(panel=CELL),
        ranks.assign(panel=RANK),
        fits.assign(panel=FIT),
        predictions.assign(panel=DECAY_ALONE),
    ]
    rows = pd.concat([part.reindex(columns=TABLE.names) for part in parts])
    numbers = [column.name for column in TABLE if column.type == "number"]
    rows[numbers] = rows[numbers].astype(float)
    return rows.fillna({"quantity": "none"}).reset_index(drop=True)


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw NC3 against three variables, and below other data and two explanations."""
    figure, axes = style.subplots(2, 3, height=HEIGHT)
    over_tau = axes[0][0]
    other_data, of_overlap, of_imbalance = axes[1]
    cells = rows[rows["panel"] == CELL]
    ranks = rows[rows["panel"] == RANK]
    fits = rows[rows["panel"] == FIT]
    markers = markers_of(cells)
    shared = cells[cells["sweep"] != OTHER]
    other = cells[cells["sweep"] == OTHER]
    for axis, across in zip(axes[0], ACROSS, strict=True):
        _cells(axis, shared[shared[across] > 0], across, markers)
        _ranks(axis, ranks[ranks["quantity"] == across])
        axis.set_xlabel(ACROSS[across])
    _cells(other_data, other[other["tau"] > 0], "tau", markers)
    _ranks(other_data, ranks[ranks["quantity"] == "tau"], OTHER)
    style.numbers(other_data.xaxis, sorted(set(other["tau"]) - {0.0}))
    other_data.minorticks_off()
    _fits(over_tau, fits[fits["sweep"] == JOINED])
    _fits(other_data, fits[fits["sweep"] == OTHER])
    _scale_of_nc3([*axes[0], other_data], cells)
    _explanation(of_overlap, rows, cells, "overlap", markers)
    _explanation(of_imbalance, rows, cells, "imbalance", markers)
    over_tau.set_ylabel("NC3")
    other_data.set_ylabel("NC3")
    of_overlap.set_ylabel("overlap with the initial last layer")
    of_imbalance.set_ylabel("imbalance of the last two layers")
    for axis in axes[1]:
        axis.set_xlabel(r"$\tau$")
    # the images of `OTHER`, without the dataset that they stand for
    images = settings.datasets.get("cifar10", "CIFAR-10").partition(" (")[0]
    titles = ["", "", "", images, r"dashed: $e^{-\tau}$", r"dashed: $e^{-2\tau}$"]
    style.title_panels(axes.flat, titles)
    _legend(figure, cells, markers)
    return figure


def _scale_of_nc3(axes: Sequence[Axes], cells: pd.DataFrame) -> None:
    """Give all panels of NC3 one logarithmic scale, with room for text below the lowest bar."""
    errors = cells["nc3_error"].fillna(0)
    low = (cells["nc3"] - errors).min()
    high = (cells["nc3"] + errors).max()
    for axis in axes:
        axis.set_yscale("log")
        if low > 0:  # some network is trained
            axis.set_ylim(low * (low / high / 2) ** (ROOM / (1 - ROOM)), 1.6 * high)
            style.logarithmic(axis.yaxis)


def markers_of(cells: pd.DataFrame) -> dict[tuple[str, float], str]:
    """The marker of each sweep and weight decay, whichever of its cells a panel shows."""
    markers = {}
    for sweep, rows in cells.groupby("sweep", sort=False):
        decays = sorted(set(rows["decay"]) - {0.0})
        for number, decay in enumerate(decays):
            markers[sweep, decay] = MARKERS[number % len(MARKERS)]
        markers[sweep, 0.0] = PLAIN
    return markers


def _cells(
    axis: Axes,
    cells: pd.DataFrame,
    across: str,
    markers: Mapping[tuple[str, float], str],
    quantity: str = "nc3",
) -> None:
    """Draw means over seeds with their standard errors; without decay hollow.

    Where some seeds do not fit the images, it is written how many do.
    """
    known = cells.dropna(subset=[quantity])
    for (sweep, decay), points in known.groupby(["sweep", "decay"], sort=False):
        colour, _, _ = SWEEPS[sweep]
        axis.errorbar(
            points[across],
            points[quantity],
            points[f"{quantity}_error"].fillna(0),
            linestyle="",
            marker=markers[sweep, decay],
            color=colour,
            markerfacecolor=colour if decay else "white",
        )
    for row in known[known["trained"] < known["seeds"]].to_dict("records"):
        axis.annotate(
            f"{row['trained']:.0f}/{row['seeds']:.0f}",
            (row[across], row[quantity]),
            xytext=(4, 1),
            textcoords="offset points",
            fontsize=style.SMALLEST,
        )
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    multiples = (1, 3) if high < NEAR * low else (1,)  # of powers of ten that have labels
    style.numbers(axis.xaxis, LogLocator(subs=multiples, numticks=8))


def _ranks(axis: Axes, ranks: pd.DataFrame, only: str | None = None) -> None:
    """Write rank correlations of all sweeps but `OTHER`, or of one, below the points."""
    chosen = ranks["sweep"] == only if only else ranks["sweep"] != OTHER
    known = ranks[chosen & np.isfinite(ranks["value"])]
    in_order = known.sort_values("sweep", key=lambda names: names.map(list(SWEEPS).index))
    lines = []
    for row in in_order.to_dict("records"):
        _, _, short_name = SWEEPS[row["sweep"]]
        lines.append(rank_text(short_name, row))
    if lines:
        text = "\n".join(lines).replace("-", "\N{MINUS SIGN}")
        axis.text(0.02, 0.02, text, transform=axis.transAxes, va="bottom", fontsize=style.SMALLEST)


def rank_text(name: str, row: Mapping[str, Any]) -> str:
    """A rank correlation with its interval, or with the seeds in which it is the same.

    A perfect order is the strongest rank correlation that equal values on the axis allow.
    """
    text = rf"{name}: $\rho$ = {row['value']:.2f}"
    if np.isfinite(row["low"]):
        return f"{text} [{row['low']:.2f}, {row['high']:.2f}]"
    seeds = f"{row['seeds']:.0f}/{row['all_seeds']:.0f} seeds"
    if abs(row["value"]) >= row["strongest"] - 1e-9:
        return f"{text}, perfect in {seeds}"
    return f"{text} in {seeds}"


def _fits(axis: Axes, fits: pd.DataFrame) -> None:
    """Draw a fitted power of tau and a fitted exponential, with what they miss."""
    for form, (line, formula) in FIT_LINES.items():
        curve = fits[fits["quantity"] == form].sort_values("tau")
        if curve.empty:
            continue
        fitted = formula.format(curve["value"].iloc[0])
        axis.plot(
            curve["tau"],
            curve["nc3"],
            line,
            color=style.GREY,
            linewidth=0.8,
            zorder=1,
            label=f"{fitted}, misfit {curve['misfit'].iloc[0]:.2f}",
        )
    if len(fits):
        axis.legend(loc="upper right", borderpad=0.0)


def _explanation(
    axis: Axes,
    rows: pd.DataFrame,
    cells: pd.DataFrame,
    quantity: str,
    markers: Mapping[tuple[str, float], str],
) -> None:
    """Draw a quantity of the weights against tau beside what weight decay alone leaves of it.

    The axis of tau is linear, so that exponentials are lines. What lies below `LEAST` is drawn as
    a triangle at the lower edge.
    """
    decayed = cells[cells["tau"] > 0]
    _cells(axis, decayed[decayed[quantity] >= LEAST], "tau", markers, quantity)
    for row in decayed[decayed[quantity] < LEAST].itertuples():
        colour, _, _ = SWEEPS[row.sweep]
        axis.plot(row.tau, LEAST, "v", color=colour, clip_on=False, gid=BELOW)
    alone = rows[(rows["panel"] == DECAY_ALONE) & (rows["quantity"] == quantity)]
    alone = alone[alone["value"] >= LEAST].drop_duplicates("tau").sort_values("tau")
    axis.plot(alone["tau"], alone["value"], linestyle="--", color=style.GREY)
    axis.set_xscale("linear")
    axis.set_xlim(left=0)
    axis.set_yscale("log")
    axis.set_ylim(LEAST, 1.5)


def _legend(figure: Figure, cells: pd.DataFrame, markers: Mapping[tuple[str, float], str]) -> None:
    """Name each network and weight decay, a column for each network."""
    columns = []
    for sweep, (colour, name, _) in SWEEPS.items():
        decays = set(cells.loc[cells["sweep"] == sweep, "decay"])
        entries = []
        for decay in sorted(decays, key=lambda decay: (decay == 0, decay)):  # 0 is the last
            label = rf"{name}, $\lambda$ = {decay:g}" if decay else f"{name}, no decay: only in b"
            handle = style.handle(
                label,
                marker=markers[sweep, decay],
                linestyle="",
                color=colour,
                markerfacecolor=colour if decay else "white",
            )
            entries.append(handle)
        if entries:
            columns.append(entries)
    positive = cells[cells["tau"] > 0]
    if (positive[["overlap", "imbalance"]] < LEAST).any(axis=None):
        below = {"marker": "v", "linestyle": "", "color": style.GREY}
        shortest = min(columns, key=len)
        shortest.append(style.handle("e, f: below the axis", **below))
    tallest = max(map(len, columns), default=0)
    handles = []
    for entries in columns:
        blanks = [style.handle("", linestyle="")] * (tallest - len(entries))
        handles += [*entries, *blanks]
    style.legend_above(figure, handles, len(columns) or 1, handletextpad=0.4, handlelength=1.0)
