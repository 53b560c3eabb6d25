"""What the numbers of dgn's text show: how far ours are from the printed ones."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed
from finitewidth.papers.dgn.results.words import plainly
from finitewidth.tables.numbers import uncertain


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Put each of our means beside the printed number, and count the untrained networks."""
    printed = rows[rows["source"] == "paper"].groupby("what")["mean"].first()
    ours = rows[rows["source"] == "ours"]
    images = listed(dict.fromkeys(ours["data"]))
    beside = []
    for row in ours.to_dict("records"):
        what = row["what"]
        mean = uncertain(row["mean"], row["standard_deviation"], 1)
        beside.append(f"{mean} and {plainly(printed[what])} ({what})")
    sentence = (
        f"Ours (± standard deviation over runs), on {images}, and the paper's numbers, in "
        f"percent: {'; '.join(beside)}"
    )
    untrained = int((ours["trained"] == 0).sum())
    if untrained:
        return f"{sentence}. Of ours, {untrained} of {len(ours)} are of networks not trained."
    return f"{sentence}."
