"""thesis Figure 2.3: training and expected risk of polynomials against their degree."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from finitewidth.figures.style import COLOURS, subplots

WIDTH, HEIGHT = 3.3, 2.7  # inches
SMALL = 7  # points
LOOKS = {
    "training": (COLOURS[0], "--", "s", "training risk"),
    "expected": (COLOURS[2], "-", "o", "expected risk"),
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table ``risks``."""
    return tables["risks"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw medians, the band from 10 to 90 % of the datasets, and the degree of lowest risk."""
    figure, axes = subplots(1, 1, figsize=(WIDTH, HEIGHT), squeeze=False)
    axis = axes[0][0]
    for kind, (colour, line, marker, label) in LOOKS.items():
        curve = rows[rows["kind"] == kind].sort_values("degree")
        axis.fill_between(curve["degree"], curve["low"], curve["high"], color=colour, alpha=0.2,
                          linewidth=0)  # fmt: skip
        axis.plot(curve["degree"], curve["median"], line, marker=marker, markersize=3.5,
                  color=colour, label=label)  # fmt: skip
    noise = float(rows["noise"].iloc[0])
    axis.axhline(noise, color="0.45", linestyle=":", linewidth=1, label="variance of the noise")
    best = rows[(rows["kind"] == "expected") & rows["best"]].iloc[0]
    axis.plot(best["degree"], best["median"], "*", color="black", markersize=9, zorder=4,
              linestyle="none", label="optimum")  # fmt: skip
    axis.vlines(best["degree"], 0, best["median"], color="0.25", linewidth=0.9)
    for side, share in (("underfitting", 0.22), ("overfitting", 0.78)):
        axis.text(share, 1.02, side, transform=axis.transAxes, fontsize=SMALL, color="0.25",
                  ha="center", va="bottom")  # fmt: skip
    _axes(axis, rows)
    axis.legend(loc="upper left", fontsize=SMALL)
    return figure


def _axes(axis: Any, rows: pd.DataFrame) -> None:
    """Set logarithmic risks up to a little above the largest median; the band may leave them."""
    axis.set_yscale("log")
    axis.set_ylim(rows["low"].min() / 1.3, rows["median"].max() * 10)
    axis.set_xlim(rows["degree"].min() - 0.3, rows["degree"].max() + 0.3)
    axis.xaxis.set_major_locator(FixedLocator(range(0, int(rows["degree"].max()) + 1, 2)))
    axis.set_xlabel("degree of the polynomial", fontsize=8)
    axis.set_ylabel("mean squared error", fontsize=8)
    axis.tick_params(labelsize=SMALL)
