"""Histories as curves: mean and spread over runs at every epoch, diverged runs left out."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from finitewidth.measures.accuracy import mean_and_spread


def curve(history: pd.DataFrame, column: str, ddof: int) -> Iterator[dict[str, Any]]:
    """Points (x, y, spread, runs, diverged) of one network's runs; x is the epoch.

    A run whose training loss ever stopped being finite counts in ``diverged`` and nowhere else.
    """
    diverged = history[history["diverged"] == 1]["seed"].unique()
    sound = history[~history["seed"].isin(diverged)]
    for epoch, group in sound.groupby("epoch"):
        mean, spread = mean_and_spread(group[column], ddof)
        yield {
            "x": epoch, "y": mean, "spread": spread, "runs": len(group), "diverged": len(diverged),
        }  # fmt: skip
