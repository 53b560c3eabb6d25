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


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows to draw, of the tables ``spectra`` and ``errors``."""
    parts = [tables["spectra"].assign(panel="spectrum"), tables["errors"].assign(panel="errors")]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(COLUMNS))


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Four panels: spectrum over its largest eigenvalue and errors of GaLU, then of ReLU."""
    titles = [f"{name}: {what}, {by_depth.runs_of(rows)}"
              for name in NAMES.values() for what in ("spectrum", "errors")]  # fmt: skip
    figure, axes = panels(4, titles)
    spectra, errors = rows[rows["panel"] == "spectrum"], rows[rows["panel"] == "errors"]
    highest = spectra["scaled"].max()
    for network, left, right in zip(NAMES, axes[::2], axes[1::2], strict=True):
        by_depth.spectra(left, spectra[spectra["network"] == network], "scaled")
        left.set_ylim(0, 1.04 * highest)
        by_depth.errors(right, errors[errors["network"] == network], "linear")
    by_depth.legend(figure, rows["depth"], ("gradient descent", "linear recursion"))
    return figure
