"""dgn Figure 3: convergence and scaled spectra of memorisation networks of two widths."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth
from finitewidth.records.tables import Table

MEANS = Table(*by_depth.TABLE, by_depth.SPREAD)
TABLE = Table(*MEANS, *by_depth.RANGE)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return means over this figure's runs, and the range of these runs.

    The means are rows of ``spectra`` and ``errors``; ``runs`` has the errors of every run.
    """
    means = by_depth.rows_of(tables, "dgn_fig3", "scaled", MEANS)
    return by_depth.with_ranges(means, tables["runs"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw errors for both widths, then spectra of K_0 divided by its largest eigenvalue."""
    parts = [rows[rows["network"] == network] for network in ("narrow", "wide")]
    names = {by_depth.width_of(part): part for part in parts}
    return by_depth.two_networks(names, ("errors", "spectrum"), same=("errors",))
