"""What dgn Figure 2 shows: how far both entries are from their expected values."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.dgn.results.words import count_of_runs, plainly, share

FAR = 2.0  # standard errors


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Name the largest distance of each entry, and count the means near the expected values."""
    if rows.empty:
        return "All networks diverged: there is no entry to compare."
    rows = rows.assign(distance=(rows["mean"] - rows["ideal"]).abs())
    diagonal = largest(rows[rows["entry"] == "diagonal"])
    off_diagonal = largest(rows[rows["entry"] == "off_diagonal"])
    runs = rows["runs"].max()
    sentence = (
        f"In networks of width {rows['width'].iloc[0]:g} with fixed random gates, a diagonal entry "
        f"of $K_0/d$ is at most {diagonal} away from 1, and an off-diagonal one at most "
        rf"{off_diagonal} from $\mu^{{d-1}}$"
    )
    known = rows[rows["standard_error"].notna()]
    if known.empty:
        return f"{sentence}; a single run has no standard error."
    near = int((known["distance"] <= FAR * known["standard_error"]).sum())
    return (
        f"{sentence}; {share(near, len(known))} means of {count_of_runs(runs)} are within {FAR:g} "
        "standard errors of the expected values."
    )


def largest(rows: pd.DataFrame) -> str:
    """The largest distance of an entry, with its depth and its standard error."""
    row = rows.loc[rows["distance"].idxmax()]
    error = row["standard_error"]
    known = f"; standard error {plainly(error, 2)}" if pd.notna(error) else ""
    return f"{plainly(row['distance'], 2)} (depth {row['depth']:g}{known})"
