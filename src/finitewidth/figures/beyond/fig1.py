"""``beyond`` Figure 1: dispersion in the three phases, beside the limits of Theorem 3.1."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.figures.beyond.dispersion import draw, rows_of

__all__ = ["draw", "select"]


def select(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Estimates in the three phases, the printed limit, the exact dispersion."""
    return rows_of(tables, "phases", "printed_limit")
