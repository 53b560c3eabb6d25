"""What collapse_extra_length shows: how much NC3 differs at equal tau."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.collapse.figures.length import SPREAD

ACROSS = {"decay": "between the weight decays", "epochs": "between the lengths of training"}


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """The factors between NC3 at the ends, at the least and at the largest tau."""
    spreads = rows[(rows["panel"] == SPREAD) & rows["factor"].notna()]
    if spreads.empty:
        return (
            "At no sum of rate times weight decay do two networks fit the training images, so that "
            "NC3 cannot be compared."
        )
    taus = sorted(set(spreads["tau"]))
    parts = []
    for tau in dict.fromkeys((taus[0], taus[-1])):
        at_tau = spreads[spreads["tau"] == tau]
        factors = [_factors(at_tau[at_tau["across"] == across], across) for across in ACROSS]
        parts.append(f"at $\\tau$ = {number(tau, 3)} {listed(filter(None, factors))}")
    runs = f"{spreads['seeds'].max():.0f}"
    return (
        "NC3 of networks with the same sum $\\tau$ of rate times weight decay differs "
        f"{'; '.join(parts)} (at the least over at the largest, geometric means over up to {runs} "
        "seeds)."
    )


def _factors(spreads: pd.DataFrame, across: str) -> str:
    """The range of some factors, and how many of their intervals are without 1."""
    if spreads.empty:
        return ""
    low = number(spreads["factor"].min(), 3)
    high = number(spreads["factor"].max(), 3)
    surely = int(((spreads["low"] > 1) | (spreads["high"] < 1)).sum())
    factors = f"a factor of {low}" if low == high else f"factors of {low} to {high}"
    return f"by {factors} {ACROSS[across]} (95 % intervals without 1: {surely} of {len(spreads)})"
