"""What the table of numbers in the text of npf shows: gains and accuracies beside the paper's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import number
from finitewidth.tables.numbers import plain, runs_said, uncertain


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Give the gains beside the paper's, and the range of the differences of accuracies."""
    ours = rows[rows["source"] == "ours"].dropna(subset=["mean"])
    printed = rows[rows["source"] == "paper"].groupby("what")["mean"]
    if ours.empty:
        return "All of our runs diverged."
    gains = ours[ours["what"].str.contains("gain")]
    parts = []
    for row in gains.to_dict("records"):
        ends = " to ".join(plain(end) for end in sorted(printed.get_group(row["what"])))
        what = row["what"].removesuffix(", points")
        value = uncertain(row["mean"], row["standard_deviation"])
        parts.append(f"{what}: {value} points (paper: {ends})")
    accuracies = ours.drop(gains.index)
    if len(accuracies):
        parts.append(_accuracies(accuracies, printed.mean()))
    images = set(ours["data"]) == set(rows.loc[rows["source"] == "paper", "data"])
    where = "On the paper's images" if images else "On other images than the paper's"
    spread = f"± standard deviation {runs_said(ours['runs'])}"
    return f"{where} ({spread}): {'; '.join(parts)}."


def _accuracies(ours: pd.DataFrame, printed: pd.Series) -> str:
    """The range of our accuracies less the paper's."""
    differences = ours["mean"] - ours["what"].map(printed)
    low = number(differences.min(), 2)
    high = number(differences.max(), 2)
    if len(ours) == 1:
        return f"one accuracy less the paper's: {low} points"
    return f"{len(ours)} accuracies less the paper's: {low} to {high} points"
