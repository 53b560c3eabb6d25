"""``beyond`` Figure 11: a part of Figure 3 with error bands (as its text has it)."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.ratio import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates, equation 18 and the mean-field ratio, banded ones only."""
    return rows_of(tables, banded=True)
