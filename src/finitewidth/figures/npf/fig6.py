"""npf Figure 6: ideal cumulative spectrum of the memorisation network, by depth."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from finitewidth.figures import by_depth
from finitewidth.figures.style import panels


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``ideal``."""
    return tables["ideal"]


def draw(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Figure:
    """Draw one panel with a curve per depth."""
    figure, (axis,) = panels(1, [r"Ideal: $E[K_0]/d$"])
    figure.set_size_inches(4.6, 3.2)
    by_depth.spectra(axis, rows)
    by_depth.legend(figure, rows["depth"])
    return figure
