"""dgn Figure 3: convergence and scaled spectra of memorisation networks of two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.npf.fig7 import four_panels, selected

FIGURE = "dgn_fig3"
ORDER = (("errors", "narrow"), ("errors", "wide"), ("spectrum", "narrow"), ("spectrum", "wide"))


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of ``spectra`` and ``errors`` that are means over this figure's runs."""
    return selected(tables, FIGURE)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw errors for both widths, then spectra of K_0 divided by its largest eigenvalue."""
    return four_panels(rows, ORDER, "scaled", "linear")
