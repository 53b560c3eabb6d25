"""npf Figure 6: ideal cumulative spectrum of the memorisation network, by depth."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.declarations import columns as shared
from finitewidth.figures import by_depth, style
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.records.tables import Table

TABLE = Table(
    shared.DEPTH,
    shared.INDEX,
    columns.IDEAL_SUM,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``ideal``."""
    return tables["ideal"].rename(columns={"cumulative": "sum"})


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one panel with a curve per depth."""
    figure, axis = style.one_panel(height=2.3)
    looks = by_depth.looks(rows["depth"])
    by_depth.spectra(axis, rows, looks)
    axis.set_ylabel("sum of eigenvalues of $E[K_0]/d$")
    by_depth.legends(figure, looks)
    return figure
