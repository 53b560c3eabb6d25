"""What the sentences of result of beyond share: ranges and phases in words."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.beyond.figures.lines import EDGE

CLEAR = 2.0  # standard errors
VARIANCE = r"$\sigma_w^2$"
LAMBDA = "$L/M$"


def fixed(value: float, decimals: int = 2) -> str:
    """A number with as many decimals; ``0.00`` has no sign."""
    text = f"{value:,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def span(values: Iterable[float], decimals: int = 2) -> str:
    """The range of some numbers, such as ``1.07 to 1.10``; one number if both ends read the same.

    Missing numbers do not count.
    """
    known = [value for value in values if np.isfinite(value)]
    if not known:
        return "not known"
    low = fixed(min(known), decimals)
    high = fixed(max(known), decimals)
    return low if low == high else f"{low} to {high}"


def up_to(errors: Iterable[float], decimals: int = 2, unit: str = "") -> str:
    """The largest standard error in words; some may not be known, or all."""
    known = [error for error in errors if np.isfinite(error)]
    return f"up to {fixed(max(known), decimals)}{unit}" if known else "not known"


def by_phase(variances: pd.Series) -> pd.Series:
    """The place of each weight variance: ``below``, ``at`` or ``above`` the edge of chaos."""
    places = np.select([variances < EDGE, variances > EDGE], ["below", "above"], default="at")
    return pd.Series(places, index=variances.index)


def phases_listed(values: pd.Series, places: pd.Series) -> str:
    """The ranges of values by phase, such as ``1.00 below the edge of chaos and 1.07 at it``."""
    parts: list[str] = []
    for place in ("below", "at", "above"):
        inside = values[places == place]
        if len(inside):
            edge = "it" if parts else "the edge of chaos"
            parts.append(f"{span(inside)} {place} {edge}")
    return listed(parts)


def at_largest(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows with the largest value of a column."""
    return rows[rows[column] == rows[column].max()]
