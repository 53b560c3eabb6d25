"""dgn Figure 6: nu over time."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import style
from finitewidth.papers.dgn.figures import gates
from finitewidth.papers.npf.figures import nu_panel

TABLE = nu_panel.TABLE


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``nu``."""
    return nu_panel.nu_rows(tables["nu"])


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one panel with mean and standard deviation over runs."""
    figure, axis = style.one_panel(height=2.1)
    nu_panel.draw_nu(axis, rows, symbol="M")
    axis.set_ylim(bottom=0)
    gates.epochs(axis)
    return figure
