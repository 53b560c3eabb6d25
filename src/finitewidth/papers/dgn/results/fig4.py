"""What dgn Figure 4 shows: whether depth helps GaLU networks, and GaLU beside ReLU."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.figures.by_depth import DESCENT, runs_of
from finitewidth.papers.dgn.results.words import plainly, share


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare errors after the last step, and the traces over the largest eigenvalue, by depth."""
    descent = rows[(rows["panel"] == "errors") & (rows["dynamics"] == DESCENT)]
    last = descent[descent["step"] == descent["step"].max()]
    spectra = rows[rows["panel"] == "spectrum"]
    errors = last.pivot_table("error_ratio", "depth", "network")
    traces = spectra.groupby(["depth", "network"])["sum"].max().unstack()
    if {"galu", "relu"} - {*errors.columns} or errors.dropna().empty:
        return "All networks of one kind diverged: GaLU and ReLU cannot be compared."
    return (
        f"After {last['step'].iloc[0]:,.0f} steps of gradient descent on random points, the mean "
        "squared error of GaLU networks relative to the start "
        f"{course(errors['galu'], 'falls', -1)}; it is below that of ReLU networks at "
        f"{lower(errors['galu'], errors['relu'])} depths. The trace of $K_0$ over its largest "
        f"eigenvalue {course(traces['galu'], 'rises', 1)}; it is above that of ReLU networks at "
        f"{lower(traces['relu'], traces['galu'])} depths (means of {runs_of(last)})."
    )


def course(values: pd.Series, verb: str, sign: int) -> str:
    """How a number goes from the smallest to the largest depth, and where against the ``sign``."""
    values = values.dropna().sort_index()
    depths = list(values.index)
    if len(depths) == 1:
        return f"is {plainly(values.iloc[0], 2)} at the only depth, {depths[0]}"
    first, last = plainly(values.iloc[0], 2), plainly(values.iloc[-1], 2)
    ends = f"from {first} at depth {depths[0]} to {last} at depth {depths[-1]}"
    if sign * (values.iloc[-1] - values.iloc[0]) <= 0:
        return f"does not get better with depth: it goes {ends}"
    against = []
    for before, depth in itertools.pairwise(depths):
        if sign * (values[depth] - values[before]) <= 0:
            against.append(f"from {before} to {depth}")
    if not against:
        return f"{verb} with every depth, {ends}"
    return f"{verb} {ends}, though not {listed(against)}"


def lower(one: pd.Series, other: pd.Series) -> str:
    """At how many depths one number is below the other."""
    both = pd.DataFrame({"one": one, "other": other}).dropna()
    return share(int((both["one"] < both["other"]).sum()), len(both))
