"""dgn Figure 1: cumulative spectrum of fixed random gates, ideal and for two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth
from finitewidth.figures.style import panels

FIGURE = "dgn_fig1"
COLUMNS = ("network", "width", "depth", "index", "cumulative", "cumulative_spread", "runs",
           "diverged")  # fmt: skip
ORDER = ("ideal", "wide", "narrow")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``ideal`` and ``spectra``."""
    spectra = tables["spectra"]
    drawn = spectra[spectra["figure"] == FIGURE]
    rows = pd.concat([tables["ideal"].assign(network="ideal"), drawn], ignore_index=True)
    return rows.reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw three panels with equal axes: ideal, wide and narrow."""
    parts = [rows[rows["network"] == name] for name in ORDER]
    titles = [r"Ideal: $E[K_0]/d$"]
    titles += [f"{by_depth.width_of(part)}, {by_depth.runs_of(part)}" for part in parts[1:]]
    figure, axes = panels(3, titles)
    highest = rows["cumulative"].max()
    for axis, part in zip(axes, parts, strict=True):
        by_depth.spectra(axis, part)
        axis.set_ylim(0, 1.04 * highest)
    by_depth.legend(figure, rows["depth"])
    return figure
