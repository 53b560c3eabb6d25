"""``beyond`` Figure 3: off-diagonal over diagonal mean, beside equation 18."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.ratio import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates, equation 18 and the mean-field ratio."""
    return rows_of(tables, banded=False)
