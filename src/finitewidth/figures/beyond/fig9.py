"""``beyond`` Figure 9: Figure 1 with error bands and fewer variances."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.dispersion import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """As for Figure 1, the banded variances only."""
    return rows_of(tables, "phases", "printed_limit", banded=True)
