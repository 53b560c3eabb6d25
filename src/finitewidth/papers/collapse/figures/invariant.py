"""``collapse`` Figures 2 to 12: invariant, neural collapse and rate of picked models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from finitewidth.figures import style
from finitewidth.papers.collapse.columns import networks as columns
from finitewidth.papers.collapse.figures.looks import INITIALISATIONS, SEEN, name_network
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section

INITS = {  # initialisation -> its name, marker and grey
    "lecun": (INITIALISATIONS["lecun"], "o", "0.2"),
    "torch": (INITIALISATIONS["torch"], "s", "0.42"),
    "he": (INITIALISATIONS["he"], "^", "0.57"),
}
FITTED = 95.0  # percent; training accuracy below which a network counts as not trained
POOR = "x"  # marker of a network that is not trained
HEIGHT = 1.38  # inches, of a line of panes
LEGEND = 0.78  # inches, of a legend below all panes
TOP = 0.2  # inches, for the line above the panes
PICKED = "; red and blue: networks picked by a rule of ours"
COLUMNS = 4  # panes in a line
GAP = 0.06  # between columns, as a share of a pane
ROOM = 1.04  # factor above the largest value, for its marker
LEAST_RANGE = 4.0  # percent; an axis of accuracies is at least as long, whatever their differences
BAND = 30.0  # percent; accuracies further below the best are marked at the lower edge of pane h
FEW = 4  # rates that have a label each
MARKS = 7  # markers along a curve of many points
LEAST_FACTOR = 2.0  # a logarithmic axis of values reaches at least over this factor
NARROW = 100  # largest over smallest value below which a logarithmic axis has more labels
PAPER = (  # the threshold of the vertical lines in config/reported
    "artifact == 'collapse_text' and quantity == 'train_accuracy' and row == 'vertical_line'"
)
# panels of the table that are no panes
LINES = "lines"
KEY = "legend"
# picked models: their titles, and colours of initialisations from dark to light; reds and blues
# differ for all kinds of colour blindness, and fill and marker tell them apart in grey
MODELS = {"collapsed": "closest to collapse", "other": "far from collapse"}
COLOURS = {
    "collapsed": {"lecun": "#7a0a12", "torch": "#cc241d", "he": "#e2671f"},
    "other": {"lecun": "#08306b", "torch": "#2171b5", "he": "#4a98cf"},
}


def _marker(model: str, init: str, **size: Any) -> dict[str, Any]:
    """Arguments of ``Axes.plot`` for a marker of a picked model."""
    colour = COLOURS[model][init]
    _, marker, _ = INITS[init]
    return {
        "marker": marker,
        "color": colour,
        "markeredgecolor": colour,
        "markerfacecolor": colour if model == "collapsed" else "white",
        **size,
    }


class Pane(NamedTuple):
    """What a pane shows."""

    quantities: tuple[str, ...]  # names in the tables; several over the rate stand in a column
    across: str  # the horizontal axis: epoch, rate, or end for values at the end of the training
    title: str
    labels: tuple[str, ...]  # labels of the vertical axes
    log: bool = False  # whether the vertical axes are logarithmic
    most: float = 0.0  # value up to which the vertical axis reaches at least


STD = "std. in classes"
DISTANCE = "distance"
RATIO = "within / between"
FRAME = "NC2: simplex frame"
DUAL = r"NC3: $W^{\mathsf{T}}$ and $M$"
PANES = {
    "a": Pane(("e_norm",), "epoch", "invariant", (r"$\Vert m\mathbf{E}\Vert_F$",), log=True),
    "b": Pane(("invariant_alignment",), "epoch", "invariant alignment", ("cosine",), most=1.02),
    "c": Pane(("nc1",), "epoch", "NC1", (STD,), log=True),
    "d": Pane(("nc2",), "epoch", FRAME, (DISTANCE,)),
    "e": Pane(("nc3",), "epoch", DUAL, (DISTANCE,)),
    "f": Pane(("nc1",), "rate", "NC1", (STD,), log=True),
    "g": Pane(("nc2", "nc3"), "rate", "NC2 and NC3", ("NC2", "NC3")),
    "h": Pane(("test_accuracy",), "rate", "test accuracy", ("accuracy [%]",)),
    "i": Pane(
        ("h1", "h2", "hbar"), "end", "feature terms", (r"$\Vert XX^{\mathsf{T}}\Vert_F$",), log=True
    ),
    "j": Pane(
        ("alignment_theta", "alignment_theta_h"),
        "end",
        "kernel alignment",
        (r"$A(\cdot, Y^{\mathsf{T}}Y)$",),
        most=1.02,
    ),
    "k": Pane(
        ("e_relative",),
        "epoch",
        "invariant, relative",
        (r"$\Vert\mathbf{E}\Vert\,/\,\Vert W^{\mathsf{T}}W\Vert$",),
        most=1.02,
    ),
    "l": Pane(("residual",), "epoch", "invariant, best scale", ("residual share",), most=1.02),
    "m": Pane(("nc1_ratio",), "epoch", "NC1, relative", (RATIO,), log=True),
    "n": Pane(("nc1_ratio",), "rate", "NC1, relative", (RATIO,), log=True),
}
FIRST = "abcdefgh"  # the panes of Figure 2
NAMED = {
    "h1": "$X=H_1$",
    "h2": "$H_2$",
    "hbar": r"$\langle h\rangle$",
    "alignment_theta": r"$\Theta$",
    "alignment_theta_h": r"$\Theta^h$",
}
ACROSS = {"epoch": "epoch", "rate": r"initial rate $\eta$"}
PERCENT = ("test_accuracy", "train_accuracy")
TABLE = Table(
    columns.PANE,
    columns.SOURCE,
    columns.INITIALISATION,
    columns.MODEL_OR_NONE,
    columns.QUANTITY_SHOWN,
    columns.RATE_SHOWN,
    columns.EPOCH_SHOWN,
    columns.VALUE_SHOWN,
    columns.SMOOTH_SHOWN,
    columns.TRAIN_ACCURACY_SHOWN,
    columns.TEST_IMAGES_SHOWN,
    *SEEN,
)


class Look(Section):
    """How the figure is drawn."""

    artifact: str
    ends: bool  # whether panes i to n are shown


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return the rows to draw, from tables of ``collapse_models_<pair>`` and the paper's values.

    Panes i to n are shown if the setting ``ends`` is true; i and j need the table ``ends``.
    """
    by_abscissa = {
        "epoch": tables["curves"],
        "rate": _rates(tables["rates"]),
        "end": tables.get("ends"),
    }
    parts = []
    for letter in PANES if settings.ends else FIRST:
        pane = PANES[letter]
        table = by_abscissa[pane.across]
        for quantity in pane.quantities:
            parts.append(table[table["quantity"] == quantity].assign(panel=letter))
    lines = tables["lines"].rename(columns={"threshold": "value"}).dropna(subset=["epoch"])
    parts.append(lines.assign(panel=LINES, quantity="train_accuracy"))
    paper = tables["reported"].query(PAPER)[["quantity", "value"]]
    parts.append(paper.assign(panel=LINES, source="paper", init="none"))
    key = ["init", "model", "rate"]
    picks = tables["picks"][[*key, "test_accuracy", "alignment_theta_h"]]
    parts.append(picks.melt(key, var_name="quantity").assign(panel=KEY))
    rows = pd.concat(parts, ignore_index=True).rename(columns={"init": "initialisation"})
    shares = rows["quantity"].isin(PERCENT) & (rows["source"] != "paper")
    rows["value"] = rows["value"].where(~shares, 100 * rows["value"])
    rows["train_accuracy"] *= 100
    rows["test_images"] = tables["picks"]["test_images"].iloc[0]
    for column in SEEN:
        rows[column.name] = tables["rates"][column.name].iloc[0]
    return rows.fillna({"source": "ours", "model": "none"})[TABLE.names]


def _rates(rates: pd.DataFrame) -> pd.DataFrame:
    """All networks at the end of their training, one row for each quantity."""
    quantities: list[str] = []
    for pane in PANES.values():
        if pane.across == "rate":
            quantities += pane.quantities
    rates = rates.rename(columns={"picked": "model"})
    key = ["init", "model", "rate", "train_accuracy"]
    return rates[[*key, *quantities]].melt(key, var_name="quantity")


def draw(rows: pd.DataFrame, settings: Look) -> Figure:
    """Draw lines of four panes; the legend fills the last line, or stands below."""
    last = rows.loc[rows["panel"].isin(PANES), "panel"].max()
    letters = [letter for letter in PANES if letter <= last]
    lines, left = divmod(len(letters), COLUMNS)
    heights = [HEIGHT] * lines + [HEIGHT if left else LEGEND]
    figure = style.empty(height=sum(heights) + TOP)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(wspace=GAP, hspace=0.02)
    grid = figure.add_gridspec(lines + 1, COLUMNS, height_ratios=heights)
    first_axes = []
    for number, letter in enumerate(letters):
        cell = grid[number // COLUMNS, number % COLUMNS]
        first_axes.append(_draw_pane(figure, cell, rows, letter))
    style.title_panels(first_axes, [PANES[letter].title for letter in letters])
    _legend(figure.add_subplot(grid[lines, left:]), rows, 2 if left else 3)
    name_network(figure, rows, PICKED)
    return figure


def _draw_pane(figure: Figure, cell: SubplotSpec, rows: pd.DataFrame, letter: str) -> Axes:
    """Draw a pane in its cell of the grid, and return its uppermost axes."""
    pane = PANES[letter]
    count = len(pane.quantities) if pane.across == "rate" else 1
    split = cell.subgridspec(count, 1, hspace=0)
    axes = [figure.add_subplot(split[n], label="inset" if n else "") for n in range(count)]
    draw_values = {"epoch": _epochs, "rate": _by_rate, "end": _at_end}[pane.across]
    draw_values(axes, rows, letter)
    for axis, label in zip(axes, pane.labels, strict=True):
        axis.set_ylabel(label)
    axes[-1].set_xlabel(ACROSS.get(pane.across, ""))
    return axes[0]


def _models(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Initialisation, model and rows of each picked model, those with collapse on top."""
    for model in reversed(MODELS):
        for init in INITS:
            chosen = rows[(rows["initialisation"] == init) & (rows["model"] == model)]
            if len(chosen):
                yield init, model, chosen


def _epochs(axes: Sequence[Axes], rows: pd.DataFrame, letter: str) -> None:
    """Draw a pane over the epochs: lines, raw points behind them, and vertical lines."""
    (axis,) = axes
    pane = rows[rows["panel"] == letter]
    for init, model, line in _models(rows[rows["panel"] == LINES]):
        axis.axvline(
            line["epoch"].iloc[0],
            color=COLOURS[model][init],
            linewidth=0.7,
            linestyle=":",
            zorder=0,
        )
    for number, (init, model, points) in enumerate(_models(pane)):
        curve = points.sort_values("epoch")
        look = _marker(model, init)
        if not curve["value"].equals(curve["smooth"]):
            axis.plot(
                curve["epoch"],
                curve["value"],
                linestyle="",
                marker=".",
                markersize=1.4,
                color=look["color"],
                markeredgewidth=0,
                zorder=1,
            )
        every = max(1, len(curve) // MARKS)
        shift = number * every // 6  # markers of different curves are shifted
        axis.plot(
            curve["epoch"],
            curve["smooth"],
            linewidth=0.9,
            markersize=2.8,
            markevery=(shift, every),
            **look,
        )
    if len(pane):
        last = float(pane["epoch"].max())
        axis.set_xlim(-0.02 * last, 1.04 * last)
    _values(axis, letter)
    axis.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _values(axis: Axes, letter: str) -> None:
    """Set the limits of the values of a pane, or make them logarithmic."""
    if PANES[letter].log:
        _log(axis)
        return
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 0), max(PANES[letter].most, ROOM * high))


def _log(axis: Axes) -> None:
    """Make the values logarithmic; a short range has more labels than powers of ten.

    The axis is never so short that a small difference looks like a large one.
    """
    axis.set_yscale("log")
    axis.yaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    if high < LEAST_FACTOR * low:
        middle = (low * high) ** 0.5
        low = middle / LEAST_FACTOR**0.5
        high = middle * LEAST_FACTOR**0.5
        axis.set_ylim(low, high)
    if high >= NARROW * low:
        return
    if high < 10 * low:
        axis.yaxis.set_major_locator(MaxNLocator(4, steps=(1, 2, 5, 10)))
    else:
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _by_rate(axes: Sequence[Axes], rows: pd.DataFrame, letter: str) -> None:
    """Draw all rates in grey, crosses if not trained, and the picked models in their colours."""
    pane = rows[rows["panel"] == letter]
    rates = sorted(pane["rate"].unique())
    for axis, quantity in zip(axes, PANES[letter].quantities, strict=True):
        values = pane[pane["quantity"] == quantity]
        for init in INITS:
            networks = values[values["initialisation"] == init]
            _rate_curve(axis, networks.sort_values("rate"), init)
        axis.set_xscale("log")
        axis.xaxis.set_minor_formatter(NullFormatter())
        if len(rates) <= FEW:  # otherwise powers of ten have labels
            axis.set_xticks(rates, labels=[f"{rate:.2g}" for rate in rates])
            axis.set_xticks([], minor=True)
        if letter == "h":
            _accuracies(axis, values)
        elif not PANES[letter].log:
            most = values["value"].max()
            axis.set_ylim(0, 1.15 * most if most > 0 else None)
            axis.yaxis.set_major_locator(MaxNLocator(3))
        else:
            _log(axis)
    for axis in axes[:-1]:
        axis.tick_params(labelbottom=False)


def _rate_curve(axis: Axes, networks: pd.DataFrame, init: str) -> None:
    """Draw one quantity of the networks of an initialisation, by ascending rate."""
    _, marker, grey = INITS[init]
    axis.plot(networks["rate"], networks["value"], linewidth=0.8, color=grey)
    trained = networks["train_accuracy"] >= FITTED
    _points(axis, networks[trained], marker=marker, markersize=2.6, color=grey)
    poor = {"marker": POOR, "markersize": 4.0, "markeredgewidth": 1.1}
    _points(axis, networks[~trained], color=grey, **poor)
    for model in MODELS:
        picked = networks[networks["model"] == model]
        _points(axis, picked, zorder=4, **_marker(model, init, markersize=4.2))


def _points(axis: Axes, networks: pd.DataFrame, **look: Any) -> None:
    """Draw the values of networks over their rates, without a line."""
    axis.plot(networks["rate"], networks["value"], linestyle="", **look)


def _accuracies(axis: Axes, rows: pd.DataFrame) -> None:
    """Show accuracies near the best; mark the others at the lower edge.

    The axis is never so short that a few images look like an effect.
    """
    axis.yaxis.set_major_locator(MaxNLocator(4, steps=(1, 2, 5, 10)))
    best = float(rows["value"].max())
    least = float(rows.loc[rows["value"] >= best - BAND, "value"].min())
    bottom = least - 0.1 * (best - least) - 0.5
    top = best + 0.05 * (best - least) + 0.2
    axis.set_ylim(min(bottom, top - LEAST_RANGE), top)
    low = rows[rows["value"] < best - BAND]
    if low.empty:
        return
    for line in axis.lines:
        line.set_gid(style.CLIPPED)
    for init, (_, _, grey) in INITS.items():
        networks = low[low["initialisation"] == init]
        axis.plot(
            networks["rate"],
            np.full(len(networks), 0.04),
            linestyle="",
            marker="v",
            markersize=3,
            color=grey,
            transform=axis.get_xaxis_transform(),
            gid=style.CLIPPED,
        )


def _at_end(axes: Sequence[Axes], rows: pd.DataFrame, letter: str) -> None:
    """Draw a value at the end of training for each quantity and model, side by side."""
    (axis,) = axes
    names = PANES[letter].quantities
    pane = rows[rows["panel"] == letter]
    for number, quantity in enumerate(names):
        for init, model, ends in _models(pane[pane["quantity"] == quantity]):
            shift_of_model = 0.21 if model == "other" else -0.21
            shift = 0.12 * (list(INITS).index(init) - 1) + shift_of_model
            axis.plot(
                number + shift,
                ends["value"].iloc[0],
                linestyle="",
                **_marker(model, init, markersize=3.4),
            )
    axis.set_xlim(-0.5, len(names) - 0.5)
    _values(axis, letter)
    axis.set_xticks(range(len(names)), [NAMED[name] for name in names])
    axis.tick_params(axis="x", length=0)


def _legend(axis: Axes, rows: pd.DataFrame, columns: int) -> None:
    """Name all looks, with test accuracy, alignment of the features kernel and rate of models."""
    axis.axis("off")
    collapsed, other = (_named_models(rows, model) for model in MODELS)
    others = _named_others(rows)
    parts = [collapsed, other, others] if columns == 3 else [[*collapsed, *other], others]
    longest = max(map(len, parts))
    blank = style.handle(" ", linestyle="")
    handles = []
    for part in parts:
        handles += [*part, *[blank] * (longest - len(part))]
    legend = axis.legend(
        handles=handles,
        loc="center right" if columns == 2 else "center",
        ncols=columns,
        handlelength=1.3,
        handletextpad=0.5,
        borderaxespad=0,
        columnspacing=0.9,
    )
    legend.set_in_layout(False)  # its width changes no pane
    titles = {part[0].get_label() for part in parts} | {*MODELS.values()}
    for text in legend.get_texts():
        if text.get_text() in titles:
            text.set_fontweight("bold")


def _named_models(rows: pd.DataFrame, model: str) -> list[Line2D]:
    """A title and an entry for each initialisation; ``none`` if no rate has a model."""
    picks = rows[(rows["panel"] == KEY) & (rows["model"] == model)]
    handles = [style.handle(MODELS[model], linestyle="")]
    for init, (name, _, _) in INITS.items():
        pick = picks[picks["initialisation"] == init].set_index("quantity")
        if pick.empty:
            continue
        accuracy, alignment = pick["value"].reindex(["test_accuracy", "alignment_theta_h"])
        if np.isnan(accuracy):
            handles.append(style.handle(f"{name}: none", linestyle=""))
            continue
        rate = pick["rate"].iloc[0]
        label = rf"{name}: {accuracy:.1f} %, $A$ = {alignment:.2f}, $\eta$ = {rate:.2g}"
        handles.append(style.handle(label, linewidth=1, **_marker(model, init, markersize=3.4)))
    return handles


def _named_others(rows: pd.DataFrame) -> list[Line2D]:
    """Entries of the grey curves, of networks that are not trained, and of the vertical lines."""
    rates = rows[rows["panel"].isin(["f", "g", "h"])]
    handles = [style.handle("all rates", linestyle="")]
    for init, (name, marker, grey) in INITS.items():
        accuracies = rates.loc[rates["initialisation"] == init, "train_accuracy"]
        if len(accuracies):
            some_trained = (accuracies >= FITTED).any()
            look = {"marker": marker if some_trained else "", "markersize": 3, "linewidth": 0.8}
            handles.append(style.handle(name, color=grey, **look))
    if (rates["train_accuracy"] < FITTED).any():
        look = {"marker": POOR, "markersize": 4.0, "markeredgewidth": 1.1, "color": style.GREY}
        handles.append(style.handle(f"not trained: < {FITTED:g} %", linestyle="", **look))
    accuracies = rates.loc[rates["panel"] == "h", "value"]
    if (accuracies < accuracies.max() - BAND).any():
        look = {"marker": "v", "markersize": 3, "color": style.GREY}
        handles.append(style.handle(f"in h: {BAND:g} points lower", linestyle="", **look))
    lines = rows[rows["panel"] == LINES]
    ours = lines.loc[lines["source"] == "ours", "value"]
    paper = lines.loc[lines["source"] == "paper", "value"]
    if len(ours):
        label = f"fits \N{GREATER-THAN OR EQUAL TO} {ours.iloc[0]:.4g} %"
        if len(paper):
            same = np.isclose(ours.iloc[0], paper.iloc[0])
            label += "" if same else f" (paper: {paper.iloc[0]:.4g} %)"
        handles.append(style.handle(label, color=style.GREY, linestyle=":", linewidth=0.8))
    return handles
