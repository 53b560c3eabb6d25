"""What thesis Figure 2.3 shows: whether the expected risk has its minimum between the ends."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import number


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Say where the median expected risk is lowest, and how both risks go on from there."""
    training = rows[rows["risk"] == "training"].set_index("degree")["median"].sort_index()
    expected = rows[rows["risk"] == "expected"].set_index("degree")["median"].sort_index()
    best = int(expected.idxmin())
    last = int(expected.index[-1])
    lowest = number(expected[best], 3)
    if best == last:
        return (
            f"The median expected risk still falls at the largest degree, {last} ({lowest}): the "
            "rise that the thesis draws is not seen."
        )
    fall = f"from {number(training[best], 3)} to {number(training[last], 3)}"
    falls = training[last] < training[best]
    return (
        f"The median expected risk is lowest at degree {best} ({lowest}) and rises to "
        f"{number(expected[last], 3)} at degree {last}, while the training risk "
        f"{'falls' if falls else 'does not fall:'} {fall}."
    )
