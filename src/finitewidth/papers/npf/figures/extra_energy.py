"""Energy of the labels in the eigenvectors of the path kernel while a ReLU network learns."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from finitewidth.figures import style
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.records.tables import Table

CHANCE = "by chance"
LABELS = "labels"
TABLE = Table(
    columns.ENERGY_PANEL_SHOWN,
    columns.LABELS_OR_CHANCE,
    columns.ENERGY_EPOCH,
    columns.EIGENVECTORS,
    columns.SHARE,
    columns.PART_OF_NU,
    columns.SHARE_SPREAD,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``energy`` with epochs and numbers of eigenvectors in their own columns."""
    rows = tables["energy"].rename(columns={"spread": "standard_deviation"})
    is_top = rows["panel"] == "top"
    is_nu = rows["panel"] == "nu"
    is_chance = rows["series"] == CHANCE
    # in ``top`` x is the epoch, and the name of a series has the number of eigenvectors;
    # elsewhere it is the other way round
    numbers = pd.to_numeric(rows["series"].str.extract(r"(\d+)$", expand=False))
    columns = {
        "series": rows["series"].where(is_chance, LABELS),
        "epoch": rows["x"].where(is_top, numbers),
        "eigenvectors": numbers.where(is_top, rows["x"]),
        "share": rows["y"].where(~is_nu),
        "nu": rows["y"].where(is_nu),
    }
    return rows.assign(**columns)[TABLE.names]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw energy and nu against the number of eigenvectors, and energy against epochs."""
    figure, (left, middle, right) = style.subplots(1, 3, height=2.2)
    _ranks(left, rows[rows["panel"] == "energy"], "share")
    _ranks(middle, rows[rows["panel"] == "nu"], "nu")
    _epochs(right, rows[rows["panel"] == "top"])
    for axis in (left, right):
        axis.set(ylabel=r"share of $\Vert y\Vert^2$", ylim=(0, 1.03))
    middle.set(ylabel=r"$\sum_{i\leq k} \langle y, u_i\rangle^2 / \rho_i$")
    if (rows["nu"] > 0).any():  # dead networks have no nu
        middle.set_ylim(bottom=0)
    epochs, _ = left.get_legend_handles_labels()
    style.legend_above(figure, epochs)
    titles = ["labels in eigenvectors", r"the same, part of $\nu_t$", "while ReLU learns"]
    style.title_panels((left, middle, right), titles)
    return figure


def _ranks(axis: Axes, rows: pd.DataFrame, column: str) -> None:
    """Draw one curve per epoch against the number of eigenvectors."""
    labels = rows[rows["series"] == LABELS]
    looks = ((style.COLOURS[0], "-"), (style.COLOURS[3], "--"))
    for (epoch, curve), (colour, line) in zip(labels.groupby("epoch"), looks, strict=False):
        label = f"epoch {epoch:.0f}"
        _curve(axis, curve, "eigenvectors", column, line, color=colour, label=label)
    chance = rows[rows["series"] == CHANCE]
    if len(chance):
        axis.plot(chance["eigenvectors"], chance[column], ":", color=style.GREY, label=f"_{CHANCE}")
        middle = chance.iloc[len(chance) // 3]
        axis.annotate(
            CHANCE,
            (middle["eigenvectors"], middle[column]),
            (-3, 0),
            color=style.GREY,
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=style.SMALLEST,
        )
    axis.set_xscale("log")
    style.numbers(axis.xaxis, LogLocator(subs=(1, 2, 5), numticks=12))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set(xlabel=r"first $k$ eigenvectors of $\hat{H}$")


def _epochs(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw one curve per number of eigenvectors against epochs; more of them are brighter."""
    for count, colour in style.shades(rows["eigenvectors"], bright=0.55).items():
        curve = rows[rows["eigenvectors"] == count]
        _curve(axis, curve, "epoch", "share", "-", color=colour, label=f"first {count:.0f}")
    axis.set(xlabel="epoch")
    handles, labels = axis.get_legend_handles_labels()
    axis.legend(
        handles[::-1],
        labels[::-1],
        title="eigenvectors",
        loc="center left",
        bbox_to_anchor=(1, 0.5),
    )


def _curve(axis: Axes, rows: pd.DataFrame, x: str, y: str, line: str, **look: Any) -> None:
    """Draw a curve, and a band of a standard deviation on both sides."""
    low = rows[y] - rows["standard_deviation"]
    high = rows[y] + rows["standard_deviation"]
    style.band(axis, rows[x], low.clip(lower=0), high, look["color"])
    axis.plot(rows[x], rows[y], line, **look)
