"""dgn Figure 3: convergence and scaled spectra of memorisation networks, two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.npf.fig7 import four_panels, selected

FIGURE = "dgn_fig3"
ORDER = (("errors", "narrow"), ("errors", "wide"), ("spectrum", "narrow"), ("spectrum", "wide"))


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """The rows to draw, of the tables ``spectra`` and ``errors``, means of this figure's runs."""
    return selected(tables, FIGURE)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Four panels: errors of both widths, then spectra of K_0 over its largest eigenvalue."""
    return four_panels(rows, ORDER, "scaled", "linear")
