"""What dgn Figure 1 shows: which width has the spectrum that is closer to the expected one."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.figures.by_depth import runs_of
from finitewidth.papers.dgn.results.words import between, plainly, share


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare both widths by the distance of their mean sums from the expected ones."""
    part = {name: rows[rows["network"] == name] for name in ("ideal", "wide", "narrow")}
    if part["wide"].empty or part["narrow"].empty:
        return "All networks of one width diverged: there are no two spectra to compare."
    wide = distances(part["wide"], part["ideal"])
    narrow = distances(part["narrow"], part["ideal"])
    both = pd.DataFrame({"wide": wide, "narrow": narrow}).dropna()
    farther = [f"{depth:g}" for depth in both.index[both["wide"] >= both["narrow"]]]
    where = f"at {share(len(both) - len(farther), len(both))} depths"
    if farther:
        where += f" (not at {listed(farther)})"
    widths = {name: f"{part[name]['width'].iloc[0]:g}" for name in ("wide", "narrow")}
    traces = part["narrow"].groupby("depth")["sum"].max()
    return (
        "With fixed random gates, the mean sums of eigenvalues of $K_0/d$ are closer to the "
        f"expected ones at width {widths['wide']} than at width {widths['narrow']} {where}: off "
        f"by {between(wide)} on average, against {between(narrow)}, of a trace of "
        f"{plainly(part['ideal']['sum'].max())}. The mean traces at width {widths['narrow']} are "
        f"themselves {between(traces)} ({runs_of(part['narrow'])})."
    )


def distances(drawn: pd.DataFrame, ideal: pd.DataFrame) -> pd.Series:
    """Depth -> mean over the eigenvalues of the distance of the sums from the expected ones."""
    both = drawn.merge(ideal, on=["depth", "index"], suffixes=("", "_expected"))
    distance = (both["sum"] - both["sum_expected"]).abs()
    return distance.groupby(both["depth"]).mean()
