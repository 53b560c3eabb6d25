"""What collapse_extra_flow shows: where flows under a block kernel end, and the formulas."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.collapse.figures.flow import ANGLES, POSITIVE, RANDOM

NAMES = {"gamma": "$\\gamma$", "theta": "$\\theta$"}


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """NC3 at the end from two starts, the bound, and the distance from both kinds of formula."""
    flow = rows[rows["series"] == "flow"]
    time = number(flow["time"].max(), 3)
    zero = _at_end(flow, "zero_invariant", "nc3")
    within = _at_end(flow, "zero_invariant", "h2")
    random = _at_end(flow, RANDOM, "nc3")
    vanishing = (
        f"from a vanishing invariant NC3 is {_range(zero)} and the variation within classes "
        f"$\\Vert H_2 \\Vert$ {_range(within)} at time {time}, on the way to 0 (Theorem 5.2)"
    )
    others = f"from random weights NC3 is {_range(random)} then"
    return (
        f"Under a kernel with exact class blocks, {vanishing}; {others}{_bound(rows)}. "
        f"{_formulas(rows)}"
    )


def _at_end(flow: pd.DataFrame, start: str, quantity: str) -> pd.Series:
    """The last values of a quantity that are drawn, one for each flow from a start."""
    curves = flow[(flow["start"] == start) & (flow["quantity"] == quantity)].sort_values("time")
    return curves.groupby(["weight_scale", "run"], dropna=False)["value"].last()


def _range(values: pd.Series) -> str:
    """The range of values in words."""
    low = number(values.min(), 2)
    high = number(values.max(), 2)
    return low if low == high else f"{low} to {high}"


def _bound(rows: pd.DataFrame) -> str:
    """The largest variation within classes over its bound, where the invariant has one."""
    key = ["run", "time"]
    chosen = rows[(rows["start"] == POSITIVE) & (rows["quantity"] == "h2")]
    flow = chosen[chosen["series"] == "flow"].set_index(key)["value"]
    bound = chosen[chosen["series"] == "bound"].set_index(key)["value"]
    ratios = (flow / bound).dropna()
    if ratios.empty:
        return ""
    return (
        "; from a positive semidefinite invariant the variation is at most "
        f"{number(ratios.max(), 3)} of our bound"
    )


def _formulas(rows: pd.DataFrame) -> str:
    """How far the ends with fixed biases are from the formulas, corrected and as printed."""
    parts = []
    for quantity in ANGLES:
        of_quantity = rows[rows["quantity"] == quantity]
        distances = []
        for form in ("corrected", "printed"):
            distances.append(_distance(of_quantity, form))
        corrected, printed = distances
        parts.append(f"{NAMES[quantity]} within {corrected} (as printed: {printed})")
    return f"Flows with fixed equal biases end near the corrected formulas: {listed(parts)}."


def _distance(rows: pd.DataFrame, form: str) -> str:
    """Largest distance of the mean end of flows from a formula, at the formula's nearest bias."""
    ends = rows[rows["series"] == "end"].groupby(["kappa_n", "beta"])["value"].mean()
    formula = rows[rows["series"] == form]
    largest = 0.0
    for (kappa_n, beta), value in ends.items():
        curve = formula[formula["kappa_n"] == kappa_n]
        if curve.empty:
            continue
        nearest = curve.loc[(curve["beta"] - beta).abs().idxmin(), "value"]
        largest = max(largest, abs(float(value - nearest)))
    return number(largest, 2)
