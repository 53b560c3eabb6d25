"""Curves from histories: mean and standard deviation over runs at every epoch."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from finitewidth.measures.accuracy import mean_and_spread


def curve(history: pd.DataFrame, column: str) -> Iterator[dict[str, Any]]:
    """Points (x, y, spread, runs, diverged) of one network; x is the epoch.

    A run whose training loss was not finite at some epoch is counted in ``diverged`` and is
    excluded from everything else.

    Args:
        history: rows of one network.
        column: the quantity.
    """
    diverged = history[history["diverged"] == 1]["seed"].unique()
    sound = history[~history["seed"].isin(diverged)]
    for epoch, group in sound.groupby("epoch"):
        mean, spread = mean_and_spread(group[column])
        yield {
            "x": epoch, "y": mean, "spread": spread, "runs": len(group), "diverged": len(diverged),
        }  # fmt: skip
