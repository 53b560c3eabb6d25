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
    columns.SHORTFALL,
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``ideal``, and how far below the line of the identity each is.

    The eigenvalues of the identity matrix are 1, so that its sums are the numbers of eigenvalues.
    """
    rows = tables["ideal"].rename(columns={"cumulative": "sum"})
    is_last = rows["index"] == rows["index"].max()
    shortfall = (rows["index"] - rows["sum"]).mask(is_last)
    return rows.assign(shortfall=shortfall)[TABLE.names]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw the sums, and their distance below the line of the identity."""
    figure, (left, right) = style.subplots(1, 2, height=2.3)
    looks = by_depth.looks(rows["depth"])
    by_depth.spectra(left, rows, looks)
    left.set_ylabel("sum of eigenvalues of $E[K_0]/d$")
    by_depth.curves(right, rows, "index", "shortfall", looks)
    right.set(xlabel="eigenvalue, in ascending order", ylabel="distance below the line")
    if (rows["shortfall"] > 0).any():
        right.set(xscale="log", yscale="log")
    style.title_panels((left, right), ["sums", "distance to the identity's line"])
    by_depth.legends(figure, looks)
    return figure
