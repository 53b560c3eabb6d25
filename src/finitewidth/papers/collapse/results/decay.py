"""What collapse_extra_decay shows: with what NC3 goes, and what weight decay alone leaves."""

from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.collapse.figures.decay import (
    CELL,
    DECAY_ALONE,
    FIT,
    JOINED,
    OTHER,
    RANK,
    Look,
)

AGAINST = {"tau": "$\\tau$", "rates": "the sum of rates", "decay": "the weight decay"}
FORMS = {"power": "a power", "exponential": "an exponential"}
ALONE = {  # quantity -> what it is, and what weight decay alone leaves of it
    "overlap": ("the last layer's overlap with its start", "$e^{-\\tau}$"),
    "imbalance": ("the imbalance of the last two layers", "$e^{-2\\tau}$"),
}


def result(rows: pd.DataFrame, settings: Look) -> str:
    """Rank correlations of NC3, how well two curves fit, and two effects of weight decay."""
    ranks = rows[(rows["panel"] == RANK) & (rows["sweep"] == JOINED)]
    correlations = []
    for against, name in AGAINST.items():
        row = ranks[ranks["quantity"] == against]
        correlations.append(f"{_correlation(row)} with {name}")
    other = rows[(rows["panel"] == RANK) & (rows["sweep"] == OTHER) & (rows["quantity"] == "tau")]
    parts = [
        f"NC3 of networks with batch normalisation has a rank correlation of {listed(correlations)}"
    ]
    if len(other):
        parts.append(f"on other images it is {_correlation(other)} with $\\tau$")
    parts += _fits(rows)
    return f"{'; '.join(parts)}. {_capital('; '.join(_left_alone(rows)))}."


def _correlation(row: pd.DataFrame) -> str:
    """A mean over seeds with its 95 % interval, or how many seeds agree."""
    if row.empty or row["value"].isna().all():
        return "no known value"
    first: dict[str, Any] = row.iloc[0].to_dict()
    value = number(first["value"], 2)
    seeds = f"{first['seeds']:.0f} seeds"
    if pd.notna(first["low"]):
        return f"{value} ({number(first['low'], 2)} to {number(first['high'], 2)}, {seeds})"
    return f"{value} ({seeds}, all the same)" if first["same"] else f"{value} ({seeds})"


def _fits(rows: pd.DataFrame) -> list[str]:
    """How well a power of tau and an exponential fit log NC3."""
    fits = rows[(rows["panel"] == FIT) & (rows["sweep"] == JOINED)]
    parts = []
    for form, name in FORMS.items():
        curve = fits[fits["quantity"] == form]
        if len(curve):
            parts.append(f"{name} of $\\tau$ to within {number(curve['misfit'].iloc[0], 2)}")
    return [f"its logarithm is fitted by {listed(parts)}"] if parts else []


def _left_alone(rows: pd.DataFrame) -> list[str]:
    """In how many cells a quantity of the weights is below what weight decay alone leaves."""
    cells = rows[(rows["panel"] == CELL) & (rows["tau"] > 0)]
    alone = rows[rows["panel"] == DECAY_ALONE]
    parts = []
    for quantity, (name, formula) in ALONE.items():
        predicted = alone[alone["quantity"] == quantity].drop_duplicates("tau")
        leaves = predicted.set_index("tau")["value"]
        known = cells.dropna(subset=[quantity])
        known = known[known["tau"].isin(leaves.index)]
        if known.empty:
            parts.append(f"{name} is not known")
            continue
        ratios = known[quantity].to_numpy() / leaves.reindex(known["tau"]).to_numpy()
        parts.append(
            f"{name} is {_range(ratios)} times the {formula} that weight decay alone leaves"
        )
    return parts


def _range(values: np.ndarray) -> str:
    """The range of values in words."""
    low = number(values.min(), 2)
    high = number(values.max(), 2)
    return low if low == high else f"{low} to {high}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
