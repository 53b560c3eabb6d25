"""``beyond`` Figure 2: dispersion near the edge of chaos, beside the sums of Theorem 3.2."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.dispersion import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates near the edge of chaos, the printed sums, the exact dispersion."""
    return rows_of(tables, "near", "printed_sums")
