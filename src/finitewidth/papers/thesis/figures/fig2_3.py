"""thesis Figure 2.3: training and expected risk of polynomials against their degree."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from finitewidth.figures import style
from finitewidth.papers.thesis import columns
from finitewidth.records.tables import Table

HEIGHT = 2.5  # inches
ROOM = 12  # upper limit of the axis over the largest median; it leaves room for the legend
LOOKS = {  # colour, line, marker, label
    "training": (style.COLOURS[0], "--", "s", "training risk"),
    "expected": (style.COLOURS[3], "-", "o", "expected risk"),
}
INK = "0.15"
TABLE = Table(
    columns.DEGREE,
    columns.RISK_SHOWN,
    columns.MEDIAN_RISK,
    columns.LOWEST_RISK,
    columns.HIGHEST_RISK,
    columns.OPTIMUM,
    columns.NOISE_VARIANCE,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the risks of the table ``risks``."""
    names = {"kind": "risk", "low": "lowest", "high": "highest", "noise": "noise_variance"}
    rows = tables["risks"].rename(columns=names)
    best = rows["best"].astype(bool) & (rows["risk"] == "expected")
    return rows.assign(optimum=best.astype(int))[TABLE.names]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw medians, the band from 10 to 90 % of the datasets, and the degree of lowest risk."""
    figure, axis = style.one_panel(height=HEIGHT)
    for risk, (colour, line, marker, label) in LOOKS.items():
        curve = rows[rows["risk"] == risk].sort_values("degree")
        style.band(axis, curve["degree"], curve["lowest"], curve["highest"], colour)
        axis.plot(curve["degree"], curve["median"], line, marker=marker, color=colour, label=label)
    noise = float(rows["noise_variance"].iloc[0])
    axis.axhline(noise, color=style.GREY, linestyle=":", label="variance of the noise")
    best = rows[rows["optimum"] == 1].iloc[0]
    axis.plot(
        best["degree"],
        best["median"],
        "*",
        color=INK,
        markersize=8,
        zorder=4,
        label="lowest expected risk",
    )
    _name_sides(axis, best["degree"], rows["degree"])
    _limit_risks(axis, rows)
    axis.set_xlabel("degree of the polynomial")
    axis.set_ylabel("mean squared error")
    axis.vlines(best["degree"], axis.get_ylim()[0], best["median"], color=INK, linewidth=0.6)
    axis.legend(loc="upper left")
    return figure


def _name_sides(axis: Axes, best: float, degrees: pd.Series) -> None:
    """Write above the panel that degrees below the best underfit, and those above overfit."""
    for text, end in (("underfitting", degrees.min()), ("overfitting", degrees.max())):
        axis.text(
            (best + end) / 2,
            1.02,
            text,
            transform=axis.get_xaxis_transform(),
            color=INK,
            ha="center",
            va="bottom",
        )


def _limit_risks(axis: Axes, rows: pd.DataFrame) -> None:
    """Set both axes; risks are logarithmic, with a mark where a band leaves the panel."""
    axis.set_yscale("log")
    top = rows["median"].max() * ROOM
    positive = rows.loc[rows["lowest"] > 0, "lowest"]  # as many terms as samples fit all of them
    low = positive.min() / 1.3
    axis.set_ylim(low, top)
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(top)) + 1)
    axis.yaxis.set_major_locator(FixedLocator([10.0**power for power in powers]))
    largest = rows["degree"].max()
    axis.set_xlim(rows["degree"].min() - 0.3, largest + 0.3)
    for risk, (colour, *_) in LOOKS.items():
        beyond = rows.loc[(rows["risk"] == risk) & (rows["highest"] > top), "degree"]
        if len(beyond):
            axis.plot(beyond.min(), top, "^", color=colour, clip_on=False, gid=style.CLIPPED)
    axis.xaxis.set_major_locator(FixedLocator(range(0, int(largest) + 1, 2)))
