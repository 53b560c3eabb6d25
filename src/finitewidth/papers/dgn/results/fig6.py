"""What dgn Figure 6 shows: whether nu falls as training proceeds."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.dgn.results.words import plainly, spread_of_runs
from finitewidth.tables.numbers import uncertain


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare the mean of nu before training, at its lowest and at the end."""
    known = rows.dropna(subset=["nu"]).sort_values("epoch")
    if known.empty:
        return r"No run has a value of $\nu_t$."
    first, last = known.iloc[0], known.iloc[-1]
    lowest = known.loc[known["nu"].idxmin()]
    falls = last["nu"] < first["nu"]
    sentence = (
        r"While a ReLU network learns two digits, the mean energy $\nu_t$ of the labels in the "
        f"inverse path kernel {'falls' if falls else 'does not fall: it goes'} from "
        f"{uncertain(first['nu'], first['standard_deviation'])} to "
        f"{uncertain(last['nu'], last['standard_deviation'])} after {last['epoch']:g} epochs"
    )
    if falls and lowest["epoch"] < last["epoch"]:
        sentence += f", with the least, {plainly(lowest['nu'])}, at epoch {lowest['epoch']:g}"
    return f"{sentence} ({spread_of_runs(last['runs'])})."
