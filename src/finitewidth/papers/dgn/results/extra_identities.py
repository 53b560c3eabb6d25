"""What the extra table of dgn shows: how far drawn means are from those that the paper states."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.dgn.results.words import plainly, share
from finitewidth.tables.numbers import uncertain

FAR = 3.0  # standard errors
ROUNDING = 1e-9  # of a mean that no draw changes, whose standard error is 0


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Count the means within three standard errors, and name the farthest one."""
    keys = ["place", "quantity", "depth"]
    stated = rows[rows["source"] == "paper"].set_index(keys)["mean"]
    ours = rows[rows["source"] == "ours"].set_index(keys)
    distance = (ours["mean"] - stated.reindex(ours.index)).abs()
    near = distance <= FAR * ours["standard_error"] + ROUNDING
    errors = distance / (ours["standard_error"] + ROUNDING)
    farthest = errors.idxmax()
    row = ours.loc[farthest]
    _, quantity, depth = farthest
    mean = uncertain(row["mean"], row["standard_error"], 4)
    return (
        f"{share(int(near.sum()), len(ours)).capitalize()} drawn means are within {FAR:g} standard "
        f"errors of the stated ones; the farthest is {mean} instead of {plainly(stated[farthest])} "
        f"({quantity}, depth {depth}, {row['draws']:,.0f} draws). Products over many layers are "
        "skewed: most samples of deep networks come out below their mean."
    )
