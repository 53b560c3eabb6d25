"""What thesis Figure 2.4 shows: the drawn means beside the exact ones, and the minimum above 1."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed, number

FAR = 3.0  # standard errors


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare drawn means with exact ones, and say where the limit is lowest above ratio 1."""
    means = rows[rows["series"] == "mean"]
    exact = rows[rows["series"] == "exact"].set_index(["signal_to_noise", "ratio"])["risk"]
    keys = pd.MultiIndex.from_frame(means[["signal_to_noise", "ratio"]])
    errors = (means["risk"].to_numpy() - exact.reindex(keys).to_numpy()) / means["standard_error"]
    far = int((errors.abs() > FAR).sum())
    where = []
    for case, part in rows.groupby("signal_to_noise", sort=False):
        lowest = part.loc[part["series"] == "lowest", "ratio"]
        if lowest.empty:
            where.append(f"falls for all ratios above 1 at $r^2/\\sigma^2$ = {number(case, 3)}")
        else:
            at = number(lowest.iloc[0], 3)
            where.append(f"is lowest at {at} for $r^2/\\sigma^2$ = {number(case, 3)}")
    agree = (
        f"All {len(means)} drawn mean risks of regression of least norm are within"
        if not far
        else f"{far} of {len(means)} drawn mean risks of regression of least norm are not within"
    )
    return (
        f"{agree} {FAR:g} standard errors of the exact means; above ratio 1 the limit "
        f"{listed(where)}."
    )
