"""``beyond`` Figure 7: dispersion of off-diagonal elements in the three phases."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.dispersion import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates off the diagonal; for the diagonal the printed limit and the exact dispersion."""
    return rows_of(tables, "phases", "printed_limit")
