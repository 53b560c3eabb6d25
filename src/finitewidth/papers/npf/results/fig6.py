"""What npf Figure 6 shows: how far the sums lie below the line of the identity matrix."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import number


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Compare the largest distance of the least with that of the greatest depth."""
    largest = rows.groupby("depth")["shortfall"].max().sort_index()
    first = largest.index[0]
    last = largest.index[-1]
    if len(largest) == 1:
        return (
            f"At the only depth, {first}, the ideal cumulative spectrum lies up to "
            f"{number(largest[first], 3)} below the line of the identity matrix."
        )
    falls = largest.is_monotonic_decreasing
    return (
        f"The ideal cumulative spectrum {'comes' if falls else 'does not always come'} closer to "
        "the line of the identity matrix with depth: its largest distance is "
        f"{number(largest[first], 3)} at depth {first} and {number(largest[last], 2)} at depth "
        f"{last} (in closed form)."
    )
