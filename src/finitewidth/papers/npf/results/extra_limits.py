"""What the table of wide limits shows: factors that should be 1, and the paper's kernel."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import number

FAR = 3.0  # standard errors


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Count the factors near their theory, and give those of the paper's kernel at 2/w."""
    expected = rows.dropna(subset=["expected", "factor_standard_error"])
    if expected.empty:
        return "No factor has both an expected value and a standard error."
    errors = (expected["factor"] - expected["expected"]).abs() / expected["factor_standard_error"]
    near = int((errors <= FAR).sum())
    start = (
        f"{near} of {len(expected)} factors between a tangent kernel of width "
        f"{rows['width'].max():,.0f} and its own limit are within {FAR:g} standard errors of 1"
    )
    is_paper = (rows["limit"] == "halved") & (rows["output_variance_times_width"] == 2)
    factors = rows[is_paper].sort_values("depth")["factor"]
    if factors.empty:
        return f"{start}."
    return (
        f"{start}; for networks with the paper's variance $2/w$ in all layers, $K^{{(d)}}$ as the "
        f"paper defines it is too small by a factor of {_range(factors)}."
    )


def _range(factors: pd.Series) -> str:
    """``1.33 to 1.43``, or one number."""
    low = number(factors.min(), 3)
    high = number(factors.max(), 3)
    return low if low == high else f"{low} to {high}"
