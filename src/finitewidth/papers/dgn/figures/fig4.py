"""dgn Figure 4: spectra and convergence of GaLU and ReLU networks on random points."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth

FIELDS = {name: field for name, field in by_depth.FIELDS.items() if name != "width"}
LOWEST = 1e-3  # sum of eigenvalues, in units of the largest one
NAMES = {"galu": "GaLU", "relu": "ReLU"}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows to draw, from the tables ``spectra`` and ``errors``."""
    return by_depth.rows_of(tables, "scaled").drop(columns="width")


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the spectrum, divided by its largest eigenvalue, and the errors of GaLU and ReLU.

    The few largest eigenvalues hold nearly all of the sum, so that its axis is logarithmic.
    """
    parts = {name: rows[rows["network"] == network] for network, name in NAMES.items()}
    return by_depth.two_networks(parts, ("spectrum", "errors"), same=("spectrum", "errors"),
                                 lowest=LOWEST)  # fmt: skip
