"""What the figure of fixed gates shows: errors by width and copies, and the growth of variance."""

from collections.abc import Mapping
from math import log
from typing import Any

import pandas as pd

from finitewidth.common.number_words import number

FAR = 3.0  # standard errors
KEYS = ["panel", "depth", "width", "copies"]
BETWEEN = 2.5  # exponent in the middle of those of the two theorems


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare drawn errors with exact ones, own with independent gates, and d^3 with d^2."""
    return f"{_errors(rows)} {_variance(rows)}"


def _errors(rows: pd.DataFrame) -> str:
    """The sentence on the errors."""
    independent = rows[rows["gates"] == "independent"]
    exact = independent[independent["curve"] == "exact"][[*KEYS, "error"]]
    drawn = independent[independent["curve"] == "drawn"]
    both = drawn.merge(exact, on=KEYS, suffixes=("", "_exact")).dropna(subset=["standard_error"])
    away = (both["error"] - both["error_exact"]).abs() / both["standard_error"]
    near = int((away <= FAR).sum())
    by_width = rows[(rows["panel"] == "width") & (rows["curve"] == "drawn")]
    widest = by_width[by_width["width"] == by_width["width"].max()]
    if widest.empty:
        return "No networks are drawn."
    width = widest["width"].iloc[0]
    falls = _range(widest[widest["gates"] == "independent"]["error"])
    own = widest[widest["gates"] == "own"]["error"]
    beside = f", while networks with gates of their own keep {_range(own)}" if len(own) else ""
    return (
        f"With gates independent of the values, {near} of {len(both)} drawn errors of the tangent "
        f"kernel are within {FAR:g} standard errors of the exact formula, and at width "
        f"{width:g} the errors are {falls}{beside}."
    )


def _variance(rows: pd.DataFrame) -> str:
    """The sentence on how the exact variance of the widest networks grows with depth."""
    exact = rows[(rows["panel"] == "d3") & (rows["gates"] == "open") & (rows["curve"] == "exact")]
    widest = exact[exact["width"] == exact["width"].max()]
    variances = widest.set_index("depth")["variance"].sort_index()
    halves = variances.index[variances.index <= variances.index.max() / 2]
    if not len(halves):
        return "The depths are too few for a rate of growth of the variance."
    start = halves[-1]
    end = variances.index[-1]
    width = widest["width"].iloc[0]
    exponent = 3 + log(variances[end] / variances[start]) / log(end / start)
    nearer = (
        "nearer to $d^3$ (Theorem B.2 of npf) than to $d^2$ (Theorem 2.3 of dgn)"
        if exponent > BETWEEN
        else "nearer to $d^2$ (Theorem 2.3 of dgn) than to $d^3$ (Theorem B.2 of npf)"
    )
    return (
        f"From depth {start:g} to {end:g}, at width {width:,.0f}, the variance of "
        f"$K(s, s)$ grows with the power {number(exponent, 3)} of the depth, {nearer}."
    )


def _range(errors: pd.Series) -> str:
    """``0.11 to 0.19``, or one number."""
    low = number(errors.min(), 2)
    high = number(errors.max(), 2)
    return low if low == high else f"{low} to {high}"
