"""``collapse`` Figures 2 to 12: invariant, neural collapse and rate of picked models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from finitewidth.figures.collapse.looks import (
    GREYS,
    INITS,
    MARKERS,
    MEDIUM,
    MODELS,
    NAMES,
    SMALL,
    WIDTH,
    tidy,
)

HEIGHT, LEGEND = 1.55, 0.62  # inches: of a line of panes, of the legend below panes a to h
BAND = 0.3  # accuracies further below the best are marked at the lower edge of pane h
FEW = 4  # rates that have a label each
MARKS = 7  # markers along a curve of many points
NARROW = 100  # largest over smallest value below which a logarithmic axis has more labels
# pane -> quantities over the epochs; the first is drawn thick, the others thin
EPOCHS = {
    "a": ("e_norm", "e_relative", "residual"), "b": ("invariant_alignment",),
    "c": ("nc1", "nc1_ratio"), "d": ("nc2",), "e": ("nc3",),
}  # fmt: skip
RATES = {"f": ("nc1", "nc1_ratio"), "g": ("nc2", "nc3"), "h": ("test_accuracy",)}
ENDS = {"i": ("h1", "h2", "hbar"), "j": ("alignment_theta", "alignment_theta_h")}
LABELS = {
    "h1": r"$\Vert H_1H_1^{\mathsf{T}}\Vert$", "h2": r"$\Vert H_2H_2^{\mathsf{T}}\Vert$",
    "hbar": r"$\Vert\langle h\rangle\langle h\rangle^{\mathsf{T}}\Vert$",
    "alignment_theta": r"$\Theta$", "alignment_theta_h": r"$\Theta^h$",
}  # fmt: skip
TITLES = {
    "a": r"a) $\Vert m\mathbf{E}\Vert_F$",
    "a2": r"a') relative to $W^{\mathsf{T}}W$",
    "b": "b) alignment of the invariant",
    "c": "c) NC1", "d": "d) NC2", "e": "e) NC3",
    "f": "f) NC1", "g": "g) NC2 (above), NC3 (below)", "h": "h) test accuracy",
    "i": "i) norms of the terms", "j": r"j) $A(\cdot, Y^{\mathsf{T}}Y)$",
}  # fmt: skip
THIN = {
    "e_relative": (r"$\Vert\mathbf{E}\Vert\,/\,\Vert W^{\mathsf{T}}W\Vert$", "-"),
    "residual": ("residual at the best scale", "--"),
    "nc1_ratio": ("within / between", "--"),
}
COLUMNS = [
    "panel", "init", "model", "quantity", "rate", "epoch", "value", "smooth", "picked", "found",
    "test_accuracy", "alignment_theta_h",
]  # fmt: skip


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``rates``, ``picks``, ``curves``, ``lines`` and ``ends``.

    ``panel`` is the letter of a pane, ``line`` for the epochs at which models fit the training
    images, or ``legend`` for the picks.

    Args:
        tables: of ``collapse_models_<pair>``; ``ends`` is read for panes i and j only.
        settings: ``ends``: whether panes i and j are shown.
    """
    rates = tables["rates"]
    names = [name for pane in RATES.values() for name in pane]
    kept = ["init", "rate", "picked"]
    long = rates[[*kept, *names]].melt(kept, var_name="quantity", value_name="value")
    parts = [*_panes(tables["curves"], EPOCHS), *_panes(long, RATES)]
    if settings["ends"]:
        parts += _panes(tables["ends"], ENDS)
    parts.append(tables["lines"].assign(panel="line"))
    parts.append(tables["picks"].assign(panel="legend"))
    rows = pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS)
    return rows.assign(picked=rows["picked"].fillna(""))


def _panes(rows: pd.DataFrame, panes: Mapping[str, tuple[str, ...]]) -> Iterator[pd.DataFrame]:
    for letter, quantities in panes.items():
        yield rows[rows["quantity"].isin(quantities)].assign(panel=letter)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw three lines of panes; below them panes i and j with the legend, or the legend."""
    ends = settings["ends"]
    heights = [HEIGHT, HEIGHT, 1.15 * HEIGHT, HEIGHT if ends else LEGEND]
    figure = Figure(figsize=(WIDTH, sum(heights) + 0.25), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.04, wspace=0.02, hspace=0.02)
    grid = figure.add_gridspec(4, 3, height_ratios=heights)
    places = ("a", "a2", "b", "c", "d", "e")
    for place, name in enumerate(places):
        axis = figure.add_subplot(grid[place // 3, place % 3])
        _epochs(axis, rows, name)
        if place >= 3:
            axis.set_xlabel("epoch", fontsize=MEDIUM, labelpad=1)
    _rates(figure, grid, rows)
    if ends:
        for place, letter in enumerate(ENDS):
            _ends(figure.add_subplot(grid[3, place]), rows[rows["panel"] == letter], letter)
    legend = figure.add_subplot(grid[3, 2] if ends else grid[3, :])
    _legend(legend, rows[rows["panel"] == "legend"], 1 if ends else 2)
    return figure


def _models(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Initialisation, model and rows of each picked model, those with collapse on top."""
    for model in reversed(MODELS):
        for init in INITS:
            own = rows[(rows["init"] == init) & (rows["model"] == model)]
            if len(own):
                yield init, model, own


def _epochs(axis: Axes, rows: pd.DataFrame, name: str) -> None:
    """Draw a pane over the epochs: lines, raw points behind them, and vertical lines."""
    curves = rows[rows["panel"] == name[0]]
    names = {"a": ("e_norm",), "a2": ("e_relative", "residual")}.get(name, EPOCHS[name[0]])
    for init, model, line in _models(rows[rows["panel"] == "line"]):
        axis.axvline(line["epoch"].iloc[0], color=MODELS[model].colours[init], linewidth=0.7,
                     linestyle=MODELS[model].line, alpha=0.7, zorder=0)  # fmt: skip
    for number, quantity in enumerate(names):
        thin = quantity in THIN
        own = curves[curves["quantity"] == quantity]
        for place, (init, model, curve) in enumerate(_models(own)):
            curve = curve.sort_values("epoch")
            _curve(axis, curve, MODELS[model].marker(init), place, quantity if thin else "")
        if number == 0 and len(own):
            last = float(own["epoch"].max())
            axis.set_xlim(-0.02 * last, 1.03 * last)
    if name in ("a", "c"):
        _log(axis)
    else:
        low, high = axis.get_ylim()
        axis.set_ylim(min(low, 0), max(1.02, high) if name in ("b", "a2") else high)
    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    _key(axis, [quantity for quantity in names if quantity in THIN])
    tidy(axis, TITLES[name])


def _curve(
    axis: Axes, curve: pd.DataFrame, look: dict[str, Any], place: int, thin: str = ""
) -> None:
    """Draw one curve; markers of different curves are shifted along the epochs."""
    colour, epochs = look["markeredgecolor"], curve["epoch"].to_numpy(float)
    if thin:
        axis.plot(epochs, curve["smooth"], color=colour, linewidth=0.7, linestyle=THIN[thin][1])
        return
    every = max(1, len(curve) // MARKS)
    axis.plot(epochs, curve["value"], linestyle="", marker=".", markersize=2, color=colour,
              alpha=0.4, markeredgewidth=0, zorder=1)  # fmt: skip
    axis.plot(epochs, curve["smooth"], color=colour, linewidth=1.1, markersize=3,
              markevery=(place * every // 6, every), **look)  # fmt: skip


def _key(axis: Axes, names: list[str]) -> None:
    """Name the styles of thin lines."""
    handles = [Line2D([], [], color="0.3", linewidth=0.8, linestyle=THIN[name][1],
                      label=THIN[name][0]) for name in names]  # fmt: skip
    if handles:
        # lines behind the names would make them hard to read
        axis.legend(handles=handles, fontsize=SMALL, handlelength=2, borderaxespad=0.2,
                    labelspacing=0.2, loc="best", frameon=True, edgecolor="none",
                    framealpha=0.85, borderpad=0.2)  # fmt: skip


def _log(axis: Axes) -> None:
    """Make the values logarithmic; a short range has more labels than powers of ten."""
    axis.set_yscale("log")
    axis.yaxis.set_minor_formatter(NullFormatter())
    low, high = axis.get_ylim()
    if high < NARROW * low:
        short = high < 10 * low
        ticks = MaxNLocator(4, steps=(1, 2, 5, 10)) if short else LogLocator(subs=(1, 2, 5))
        axis.yaxis.set_major_locator(ticks)
        axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


def _rates(figure: Figure, grid: Any, rows: pd.DataFrame) -> None:
    """Draw panes f to h over the initial rate; pane g has an axis for each of its metrics."""
    for place, (letter, names) in enumerate(RATES.items()):
        own = rows[rows["panel"] == letter]
        split = letter == "g"
        places = grid[2, place].subgridspec(1 + split, 1, hspace=0)
        shown = [(name,) for name in names] if split else [names]
        for number, quantities in enumerate(shown):
            axis = figure.add_subplot(places[number])
            for quantity in quantities:
                _by_rate(axis, own[own["quantity"] == quantity], quantity)
            axis.set_xscale("log")
            _rate_ticks(axis, sorted(own["rate"].unique()))
            _rate_values(axis, own, letter)
            _key(axis, [quantity for quantity in quantities if quantity in THIN])
            tidy(axis, TITLES[letter] if number == 0 else "")
            if number + 1 < len(shown):
                axis.tick_params(labelbottom=False)
        axis.set_xlabel(r"initial rate $\eta$", fontsize=MEDIUM, labelpad=1)


def _rate_ticks(axis: Axes, rates: Sequence[float]) -> None:
    """Name the rates themselves if they are few, and powers of ten otherwise."""
    axis.xaxis.set_minor_formatter(NullFormatter())
    if len(rates) <= FEW:
        axis.set_xticks(rates, labels=[f"{rate:.2g}" for rate in rates])


def _by_rate(axis: Axes, rows: pd.DataFrame, quantity: str) -> None:
    """Draw one quantity of all rates in grey, and the picked models in their colours."""
    for init in INITS:
        own = rows[rows["init"] == init].sort_values("rate")
        if quantity in THIN:
            axis.plot(own["rate"], own["value"], color=GREYS[init], linewidth=0.7,
                      linestyle=THIN[quantity][1])  # fmt: skip
            continue
        axis.plot(own["rate"], own["value"], color=GREYS[init], marker=MARKERS[init],
                  markersize=2.4, linewidth=0.8, markeredgewidth=0)  # fmt: skip
        for model, look in MODELS.items():
            found = own[own["picked"] == model]
            axis.plot(found["rate"], found["value"], linestyle="", zorder=4,
                      **look.marker(init, markersize=5))  # fmt: skip


def _rate_values(axis: Axes, rows: pd.DataFrame, letter: str) -> None:
    """Scale the values of a pane over the rates."""
    if letter == "f":
        _log(axis)
        return
    if letter == "g":
        axis.set_ylim(0, None)
        axis.yaxis.set_major_locator(MaxNLocator(3))
        return
    axis.yaxis.set_major_locator(MaxNLocator(4, steps=(1, 2, 5, 10)))
    best = float(rows["value"].max())
    low = rows[rows["value"] < best - BAND]
    if len(low):
        least = float(rows.loc[rows["value"] >= best - BAND, "value"].min())
        axis.set_ylim(least - 0.1 * (best - least) - 0.005, best + 0.05 * (best - least) + 0.002)
        for init in INITS:
            below = low.loc[low["init"] == init, "rate"]
            axis.plot(below, np.full(len(below), 0.03), linestyle="", marker="v", markersize=3,
                      color=GREYS[init], transform=axis.get_xaxis_transform())  # fmt: skip


def _ends(axis: Axes, rows: pd.DataFrame, letter: str) -> None:
    """Draw a value at the end of training for each quantity and model, side by side."""
    for place, quantity in enumerate(ENDS[letter]):
        for init, model, own in _models(rows[rows["quantity"] == quantity]):
            shift = 0.13 * (INITS.index(init) - 1) + (0.22 if model == "other" else -0.22)
            axis.plot(place + shift, own["value"].iloc[0], linestyle="",
                      **MODELS[model].marker(init, markersize=4.5))  # fmt: skip
        if place:
            axis.axvline(place - 0.5, color="0.85", linewidth=0.7, zorder=0)
    axis.set_xlim(-0.5, len(ENDS[letter]) - 0.5)
    if letter == "i":
        _log(axis)
    else:
        axis.set_ylim(0, 1.02)
    tidy(axis, TITLES[letter])
    axis.set_xticks(range(len(ENDS[letter])), [LABELS[name] for name in ENDS[letter]],
                    fontsize=MEDIUM)  # fmt: skip
    axis.tick_params(axis="x", length=0)


def _legend(axis: Axes, picks: pd.DataFrame, columns: int) -> None:
    """Write test accuracy, alignment of the features kernel and rate of all models."""
    handles = []
    for model, look in MODELS.items():
        handles.append(Line2D([], [], linestyle="", label=look.title))
        for init in INITS:
            own = picks[(picks["init"] == init) & (picks["model"] == model)]
            if len(own):
                drawn = {"color": look.colours[init], "linewidth": 1.1, **look.marker(init)}
                handles.append(Line2D([], [], markersize=4, label=_named(own.iloc[0]), **drawn))
    axis.axis("off")
    found = axis.legend(
        handles=handles, loc="center", ncols=columns, fontsize=SMALL, handlelength=1.8,
        handletextpad=0.5, labelspacing=0.35, borderaxespad=0, columnspacing=3,
        title=r"test accuracy, $A = A(\Theta^h, Y^{\mathsf{T}}Y)$, initial rate",
        title_fontsize=SMALL,
    )  # fmt: skip
    for text in found.get_texts():
        if text.get_text() in {look.title for look in MODELS.values()}:
            text.set_fontweight("bold")


def _named(pick: pd.Series) -> str:
    """The label of a model; ``none`` if no rate has one."""
    name = NAMES[pick["init"]]
    if not pick["found"]:
        return f"{name}: none"
    accuracy, alignment = 100 * pick["test_accuracy"], pick["alignment_theta_h"]
    return rf"{name}: {accuracy:.1f} %, $A$ = {alignment:.2f}, $\eta$ = {pick['rate']:.2g}"
