"""``collapse_extra_decay``: NC3 and the alignment of the invariant against ``tau``.

``tau`` is the sum over all steps of rate times weight decay, over 1 - momentum.
"""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from finitewidth.figures.collapse.looks import INITS, MARKERS, MEDIUM, NAMES, SMALL, WIDTH, tidy
from finitewidth.figures.style import COLOURS

HEIGHT, LEGEND = 1.95, 0.55  # inches: of a line of panes, of the legend
NARROW = 0.62  # width of the panes without decay, over that of the others
FITTED = 0.95  # training accuracy below which markers are hollow
DATA = {"mnist": "mnist", "fashion": "fashion_mnist", "cifar": "cifar10"}  # data -> role
TITLES = {"mnist": "MNIST", "fashion": "FashionMNIST", "cifar": "CIFAR-10"}
QUANTITIES = {"nc3": "NC3", "invariant_alignment": "alignment of the invariant"}
GROUPS = {  # network and loss -> colour and name
    ("vgg", "squared"): (COLOURS[0], "VGG"),
    ("resnet", "squared"): (COLOURS[3], "ResNet"),
    ("densenet", "squared"): (COLOURS[2], "DenseNet"),
    ("resnet", "cross_entropy"): ("0.25", "ResNet, cross-entropy"),
}
COLUMNS = [
    "panel", "pair", "network", "data", "loss", "init", "decay", "rate", "tau", "nc3",
    "invariant_alignment", "train_accuracy", "test_accuracy", "inits", "runs", "rank_correlation",
]  # fmt: skip


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``runs`` and ``ranks``.

    ``panel`` is ``plain`` for the control without weight decay, the name of the data for other
    runs, or ``rank`` for rank correlations of NC3 and ``tau``.

    Args:
        tables: of ``collapse_decay``.
        settings: ``datasets``: role of a dataset -> its description, if the plan tells it.
    """
    runs = tables["runs"]
    runs = runs.assign(panel=runs["data"].where(runs["decay"] > 0, "plain"))
    ranks = tables["ranks"].assign(panel="rank")
    return pd.concat([runs, ranks], ignore_index=True).reindex(columns=COLUMNS)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a line of panes per quantity: the control without decay, then a pane per dataset."""
    panels = [name for name in ("plain", *DATA) if (rows["panel"] == name).any()]
    widths = [NARROW if name == "plain" else 1 for name in panels]
    figure = Figure(figsize=(WIDTH, 2 * HEIGHT + LEGEND), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.04, wspace=0.02, hspace=0.02)
    grid = figure.add_gridspec(2, len(panels), width_ratios=widths)
    room = 1.05 + 0.12 * rows.loc[rows["panel"] == "rank", "data"].value_counts().max()
    for line, (quantity, label) in enumerate(QUANTITIES.items()):
        shown = rows.loc[rows["panel"].isin(panels), quantity]
        low, high = min(0.0, float(shown.min())), float(shown.max())
        for place, panel in enumerate(panels):
            axis = figure.add_subplot(grid[line, place])
            across = "rate" if panel == "plain" else "tau"
            _points(axis, rows[rows["panel"] == panel], across, quantity)
            # the room above NC3 is for the rank correlations
            axis.set_ylim(1.05 * low, max(1.02, (room if line == 0 else 1.05) * high))
            tidy(axis, _title(panel, settings) if line == 0 else "")
            if place:
                axis.tick_params(labelleft=False)
            else:
                axis.set_ylabel(label, fontsize=MEDIUM)
            if line == 0:
                axis.tick_params(labelbottom=False)
                _ranks(axis, rows[(rows["panel"] == "rank") & (rows["data"] == panel)])
            else:
                name = r"initial rate $\eta$" if across == "rate" else r"$\tau$"
                axis.set_xlabel(name, fontsize=MEDIUM, labelpad=1)
    _legend(figure, rows[rows["panel"].isin(panels)])
    return figure


def _title(panel: str, settings: Mapping[str, Any]) -> str:
    """The name of the data, on two lines if it is a stand-in."""
    if panel == "plain":
        return "no weight decay,\n" + r"$\tau$ = 0"
    told = settings.get("datasets", {}).get(DATA[panel], TITLES[panel])
    return told.replace(" (", "\n(", 1)


def _points(axis: Axes, rows: pd.DataFrame, across: str, quantity: str) -> None:
    """Draw a marker for each run."""
    for (network, loss), (colour, _) in GROUPS.items():
        for init in INITS:
            own = rows[(rows["network"] == network) & (rows["loss"] == loss)]
            own = own[own["init"] == init]
            for fits in (False, True):
                found = own[(own["train_accuracy"] >= FITTED) == fits]
                axis.plot(found[across], found[quantity], linestyle="", marker=MARKERS[init],
                          markersize=3.4, markeredgewidth=0.7, markeredgecolor=colour,
                          markerfacecolor=colour if fits else "white", alpha=0.85)  # fmt: skip
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(numticks=6))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _ranks(axis: Axes, ranks: pd.DataFrame) -> None:
    """Write rank correlations at the upper right, where NC3 is seldom."""
    lines = []
    for row in ranks.dropna(subset=["rank_correlation"]).itertuples():
        inits = [NAMES.get(name, name) for name in re.findall(r"[a-z]+", str(row.inits))]
        value = f"{row.rank_correlation:.2f}".replace("-", "\N{MINUS SIGN}")
        lines.append(rf"$\rho$ = {value}: {', '.join(inits)}")
    axis.text(0.98, 0.97, "\n".join(lines), transform=axis.transAxes, ha="right", va="top",
              fontsize=SMALL)  # fmt: skip


def _legend(figure: Figure, runs: pd.DataFrame) -> None:
    """Name colours, markers and the hollow face."""
    known = set(zip(runs["network"], runs["loss"], strict=True))
    look = {"linestyle": "", "markersize": 4, "markeredgewidth": 0.8}
    handles = [Line2D([], [], marker="D", color=colour, label=name, **look)
               for key, (colour, name) in GROUPS.items() if key in known]  # fmt: skip
    handles += [Line2D([], [], marker=MARKERS[init], color="0.5", label=NAMES[init], **look)
                for init in INITS if init in set(runs["init"])]  # fmt: skip
    if (runs["train_accuracy"] < FITTED).any():
        handles.append(Line2D([], [], marker="o", color="0.3", markerfacecolor="white",
                              label=f"train accuracy < {100 * FITTED:.0f} %", **look))  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=SMALL,
                  handletextpad=0.1, columnspacing=0.9)  # fmt: skip
