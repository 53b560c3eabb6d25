"""dgn Figure 4: spectra and convergence of GaLU and ReLU networks on random points."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth

TABLE = by_depth.TABLE.without("width")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``spectra`` and ``errors``."""
    return by_depth.rows_of(tables, "dgn_fig4", "scaled", TABLE)


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum, divided by its largest eigenvalue, and the errors of GaLU and ReLU.

    The few largest eigenvalues hold nearly all of the sum, so that its axis is logarithmic.
    """
    parts = {name: rows[rows["network"] == name.lower()] for name in ("GaLU", "ReLU")}
    panels = ("spectrum", "errors")
    return by_depth.two_networks(parts, panels, same=panels, lowest=1e-3)
