"""Small steps that the facts of all papers share: choose rows, ranges, shares."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

ERRORS = 2  # standard errors beyond which two values count as different
CLEAR = 4  # the same, where the largest of many differences is told


def where(rows: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows with these values in these columns."""
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def span(values: Iterable[float]) -> tuple[float, float] | None:
    """Smallest and largest finite value; None where there is none."""
    found = np.asarray(list(values), dtype=float)
    found = found[np.isfinite(found)]
    return (float(found.min()), float(found.max())) if len(found) else None


def share(marks: Sequence[bool] | pd.Series) -> float | None:
    """The share of True; None of nothing."""
    return float(np.mean(marks)) if len(marks) else None


def only(rows: pd.DataFrame, column: str) -> float | None:
    """The value of the first row; None where there is no row, or no number in it."""
    found = rows[column].dropna()
    return float(found.iloc[0]) if len(found) else None


def values_of(rows: pd.DataFrame, column: str) -> list[float]:
    """The different values of a column, ascending."""
    return [float(value) for value in np.sort(rows[column].dropna().unique())]


def ends_of(rows: pd.DataFrame, keys: Sequence[str], along: str) -> pd.DataFrame:
    """Of each curve, the rows of one value of ``keys``, the row that is farthest ``along``."""
    if rows.empty:
        return rows
    return rows.loc[rows.groupby(list(keys), dropna=False)[along].idxmax()]


def rises(values: Sequence[float]) -> bool:
    """Whether there are at least two values, each larger than the one before."""
    return len(values) > 1 and bool(np.all(np.diff(np.asarray(values, dtype=float)) > 0))


def falls(values: Sequence[float]) -> bool:
    """Whether there are at least two values, each smaller than the one before."""
    return rises([-value for value in values])
