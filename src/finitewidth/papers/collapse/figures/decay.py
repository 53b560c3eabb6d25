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
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from finitewidth.common import fields
from finitewidth.figures import style
from finitewidth.papers.collapse.figures.looks import FITTED, INITS, MARKERS, NAMES, POOR

HEIGHT = 3.9  # inches
NARROW = 0.62  # width of the panes without decay, over that of the others
NEAR = 50  # largest over smallest rate or tau below which there are labels between powers of ten
PLAIN, RANK = "plain", "rank"  # panels of the table: no weight decay, and rank correlations
DATA = {"mnist": "mnist", "fashion": "fashion_mnist", "cifar": "cifar10"}  # data -> role
TITLES = {"mnist": "MNIST", "fashion": "FashionMNIST", "cifar": "CIFAR-10"}
QUANTITIES = {"nc3": "NC3", "invariant_alignment": "alignment of the invariant"}
GROUPS = {  # network and loss -> colour and name
    ("vgg", "squared"): (style.COLOURS[0], "VGG"),
    ("resnet", "squared"): (style.COLOURS[1], "ResNet"),
    ("densenet", "squared"): (style.COLOURS[2], "DenseNet"),
    ("resnet", "cross_entropy"): (style.COLOURS[4], "ResNet, cross-entropy"),
}
FIELDS = {
    "panel": fields.text("plain: no weight decay; name of the data; rank: a rank correlation"),
    "network": fields.text("vgg, resnet or densenet; none for a rank correlation"),
    "data": fields.text("mnist, fashion or cifar, or their stand-ins"),
    "loss": fields.text("squared or cross_entropy; none for a rank correlation"),
    "initialisation": fields.text("lecun, torch or he; several for a rank correlation"),
    "rate": fields.number("initial learning rate"),
    "tau": fields.number("sum over all steps of rate times weight decay, over 1 - momentum"),
    "nc3": fields.number("distance of last-layer weights and class means"),
    "invariant_alignment": fields.number("cosine of W^T W and the terms of the features"),
    "train_accuracy": fields.number("training accuracy in the last epoch", "percent"),
    "rank_correlation": fields.number("rank correlation of NC3 and tau over trained networks"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from ``runs`` and ``ranks`` of ``collapse_decay``."""
    runs = tables["runs"].rename(columns={"init": "initialisation"})
    runs = runs.assign(panel=runs["data"].where(runs["decay"] > 0, PLAIN),
                       train_accuracy=100 * runs["train_accuracy"])  # fmt: skip
    ranks = tables["ranks"].rename(columns={"inits": "initialisation"})
    ranks = ranks.dropna(subset=["rank_correlation"]).assign(panel=RANK)
    shared = [*FIELDS]
    rows = pd.concat([runs.reindex(columns=shared), ranks.reindex(columns=shared)])
    return rows.fillna({"network": "none", "loss": "none"}).reset_index(drop=True)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw a line of panes per quantity: the control without decay, then a pane per dataset.

    Args:
        rows: as `select` returns them.
        settings: ``datasets``: role of a dataset -> its description, if the plan tells it.
    """
    panels = [name for name in (PLAIN, *DATA) if (rows["panel"] == name).any()]
    widths = [NARROW if name == PLAIN else 1 for name in panels]
    figure, axes = style.subplots(2, len(panels), height=HEIGHT, width_ratios=widths,
                                  squeeze=False)  # fmt: skip
    texts = rows.loc[rows["panel"] == RANK, "data"].value_counts()
    # the room above NC3 is for the rank correlations
    rooms = (1.08 + 0.12 * (texts.max() if len(texts) else 0), 1.05)
    for line, (quantity, label) in enumerate(QUANTITIES.items()):
        shown = rows.loc[rows["panel"].isin(panels), quantity]
        low, high = min(0.0, float(shown.min())), float(shown.max())
        for axis, panel in zip(axes[line], panels, strict=True):
            across = "rate" if panel == PLAIN else "tau"
            _points(axis, rows[rows["panel"] == panel], across, quantity)
            axis.set_ylim(1.05 * low, max(1.02, rooms[line] * high))
            axis.tick_params(labelleft=panel == panels[0], labelbottom=line == 1)
            if line == 0:
                _ranks(axis, rows[(rows["panel"] == RANK) & (rows["data"] == panel)])
            else:
                axis.set_xlabel(r"initial rate $\eta$" if across == "rate" else r"$\tau$")
        axes[line][0].set_ylabel(label)
    style.title_panels(axes.flat, [_title(p, settings) for p in panels] + [""] * len(panels))
    _legend(figure, rows[rows["panel"].isin(panels)])
    return figure


def _title(panel: str, settings: Mapping[str, Any]) -> str:
    """The name of the data, on two lines if it is not the paper's."""
    if panel == PLAIN:
        return "no weight decay,\n" + r"$\tau$ = 0"
    told = settings.get("datasets", {}).get(DATA[panel], TITLES[panel])
    for words, shown in ((" (stand-in for ", "stand-in for"), (" (your images, for ", "yours for")):
        name, found, paper = told.removesuffix(")").partition(words)
        if found:
            return f"{shown} {paper}\n{name}"
    return told


def _points(axis: Axes, rows: pd.DataFrame, across: str, quantity: str) -> None:
    """Draw a marker for each run, a cross if it is not trained."""
    for (network, loss), (colour, _) in GROUPS.items():
        for init in INITS:
            own = rows[(rows["network"] == network) & (rows["loss"] == loss)]
            own = own[own["initialisation"] == init]
            for fits, marker in ((False, POOR), (True, MARKERS[init])):
                found = own[(own["train_accuracy"] >= FITTED) == fits]
                axis.plot(found[across], found[quantity], linestyle="", marker=marker, color=colour)
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    subs = (1, 3) if high < NEAR * low else (1,)
    style.numbers(axis.xaxis, LogLocator(subs=subs, numticks=8))


def _ranks(axis: Axes, ranks: pd.DataFrame) -> None:
    """Write rank correlations at the upper right, where NC3 is seldom."""
    lines = []
    for row in ranks.itertuples():
        inits = [NAMES.get(name, name) for name in re.findall(r"[a-z]+", row.initialisation)]
        value = f"{row.rank_correlation:.2f}".replace("-", "\N{MINUS SIGN}")
        lines.append(rf"$\rho$ = {value}: {', '.join(inits)}")
    axis.text(0.99, 0.98, "\n".join(lines), transform=axis.transAxes, ha="right", va="top",
              fontsize=style.SMALLEST)  # fmt: skip


def _legend(figure: Figure, runs: pd.DataFrame) -> None:
    """Name colours and markers."""
    known = set(zip(runs["network"], runs["loss"], strict=True))
    handles: list[Any] = [Patch(facecolor=colour, label=name)
                          for key, (colour, name) in GROUPS.items() if key in known]  # fmt: skip
    look = {"linestyle": "", "color": style.GREY}
    fitted = runs["train_accuracy"] >= FITTED
    handles += [Line2D([], [], marker=MARKERS[init], label=NAMES[init], **look)
                for init in INITS if init in set(runs.loc[fitted, "initialisation"])]  # fmt: skip
    if not fitted.all():
        handles.append(Line2D([], [], marker=POOR, label=f"not trained, < {FITTED:g} %", **look))
    style.legend_above(figure, handles, handletextpad=0.4, handlelength=1.0)
