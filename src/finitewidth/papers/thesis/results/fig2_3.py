"""What thesis Figure 2.3 shows: whether the expected risk has its minimum between the ends."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import number


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say where the median expected risk is lowest, and how both risks go on from there."""
    training = rows[rows["risk"] == "training"].set_index("degree")["median"].sort_index()
    expected = rows[rows["risk"] == "expected"].set_index("degree").sort_index()
    best = int(expected["median"].idxmin())
    last = int(expected.index[-1])
    lowest = with_range(expected.loc[best])
    if best == last:
        return (
            "The median expected risk of fitted polynomials still falls at the largest degree, "
            f"{last} ({lowest}): the rise that the thesis draws is not seen."
        )
    fall = f"from {number(training[best], 3)} to {number(training[last], 3)}"
    falls = training[last] < training[best]
    return (
        f"The median expected risk of fitted polynomials is lowest at degree {best} ({lowest}) "
        f"and higher at degree {last} ({with_range(expected.loc[last])}), while the training risk "
        f"{'falls' if falls else 'does not fall:'} {fall}."
    )


def with_range(risk: pd.Series) -> str:
    """A median with the range of the middle 80 % of the datasets."""
    low = number(risk["lowest"], 2)
    high = number(risk["highest"], 2)
    return f"{number(risk['median'], 3)}, in 80 % of the datasets {low} to {high}"
