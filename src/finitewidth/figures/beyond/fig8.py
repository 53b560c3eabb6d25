"""``beyond`` Figure 8: dispersion of off-diagonal elements near the edge of chaos."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.dispersion import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates off the diagonal; for the diagonal the printed sums and the exact dispersion."""
    return rows_of(tables, "near", "printed_sums")
