"""dgn Figure 4: spectra and convergence of GaLU and ReLU networks on random points."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth
from finitewidth.figures.style import panels

COLUMNS = ("panel", "network", "depth", "dynamics", "index", "cumulative", "scaled", "time",
           "ratio", "ratio_spread", "runs", "diverged")  # fmt: skip
NAMES = {"galu": "GaLU", "relu": "ReLU"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``spectra`` and ``errors``."""
    parts = [tables["spectra"].assign(panel="spectrum"), tables["errors"].assign(panel="errors")]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum, divided by its largest eigenvalue, and the errors of GaLU and ReLU."""
    order = [(network, panel) for network in NAMES for panel in ("spectrum", "errors")]
    parts = [rows[(rows["network"] == name) & (rows["panel"] == panel)] for name, panel in order]
    titles = [f"{NAMES[name]}: {panel}, {by_depth.runs_of(part)}"
              for (name, panel), part in zip(order, parts, strict=True)]  # fmt: skip
    figure, axes = panels(4, titles)
    highest = rows["scaled"].fillna(0).max()
    for axis, (_, panel), part in zip(axes, order, parts, strict=True):
        if panel == "spectrum":
            by_depth.spectra(axis, part, "scaled")
            axis.set_ylim(0, 1.04 * highest or 1)
        else:
            by_depth.errors(axis, part, "linear")
    by_depth.legend(figure, rows["depth"], ("gradient descent", "linear recursion"))
    return figure
