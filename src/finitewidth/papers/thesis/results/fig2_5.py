"""What thesis Figure 2.5 shows: in how many classes the block of the class itself is brightest."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.common.number_words import listed, number


def result(rows: pd.DataFrame, settings: Mapping[str, Any]) -> str:
    """Count the classes whose own block has the largest mean of its row, at the last step."""
    last = rows[rows["step"] == rows["step"].max()]
    means = block_means(last)
    classes = sorted(means)
    exceptions = []
    for name in classes:
        brightest = max(means[name], key=means[name].__getitem__)
        if brightest != name:
            own = number(means[name][name], 2)
            exceptions.append(
                f"{name} ({own}, with {brightest} {number(means[name][brightest], 2)})"
            )
    count = len(classes) - len(exceptions)
    step = last["step"].iloc[0]
    sentence = (
        f"In the tangent kernel of one network at step {step}, the block of a class with itself "
        f"has the largest mean of its row for {count} of {len(classes)} classes"
    )
    if not exceptions:
        return f"{sentence}."
    return f"{sentence}; others are brighter for class {listed(exceptions)}."


def block_means(rows: pd.DataFrame) -> dict[int, dict[int, float]]:
    """Class -> class -> mean of the block of both, from entries on and above the diagonal."""
    below = rows.rename(columns={"class_row": "class_column", "class_column": "class_row"})
    # an entry off the diagonal stands for two
    both = pd.concat([rows, below[below["row"] != below["column"]]])
    table = both.groupby(["class_row", "class_column"])["share"].mean()
    means: dict[int, dict[int, float]] = {}
    for (row, column), share in table.items():
        means.setdefault(int(row), {})[int(column)] = float(share)
    return means
