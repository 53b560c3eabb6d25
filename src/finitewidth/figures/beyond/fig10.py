"""``beyond`` Figure 10: Figure 2 with error bands and fewer variances."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.dispersion import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """As for Figure 2, the banded variances only."""
    return rows_of(tables, "near", "printed_sums", banded=True)
