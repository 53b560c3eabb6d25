"""dgn Figure 3: convergence and scaled spectra of memorisation networks of two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth

TABLE = by_depth.TABLE


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of ``spectra`` and ``errors`` that are means over this figure's runs."""
    return by_depth.rows_of(tables, "dgn_fig3", "scaled")


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw errors for both widths, then spectra of K_0 divided by its largest eigenvalue."""
    parts = [rows[rows["network"] == network] for network in ("narrow", "wide")]
    names = {by_depth.width_of(part): part for part in parts}
    return by_depth.two_networks(names, ("errors", "spectrum"), same=("errors",))
