"""dgn Figure 6: nu over time."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures.npf.nu_panel import draw_nu
from finitewidth.figures.style import panels


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``nu``."""
    return tables["nu"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one panel with mean and spread over runs."""
    figure, (axis,) = panels(1, [r"$\nu_t$ while ReLU learns"])
    figure.set_size_inches(4.8, 3.2)  # wide enough for the footer
    draw_nu(axis, rows, symbol="M")
    return figure
