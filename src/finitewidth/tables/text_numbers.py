"""A table of numbers that appear only in a paper's text, ours and the paper's."""

from collections.abc import Mapping, Sequence
from math import nan

import pandas as pd

from finitewidth.tables.numbers import plain, uncertain
from finitewidth.tables.trained import marked, not_trained
from finitewidth.tables.typeset import Typeset, left_out

Key = tuple[str, str, str]
SELECTIONS = {
    "best_test": "best epoch",
    "cross_fitted": "cross-fitted",
    "last": "last epoch",
    "train_last": "last epoch",
}


def text_table(
    rows: pd.DataFrame,
    titles: Mapping[Key, str],
    data: Mapping[Key, str],
    thresholds: Sequence[float] = (),
) -> Typeset:
    """Typeset one line per number.

    Args:
        rows: quantity, row, column (these three identify the number), mean, spread, runs,
            diverged, select, reported, place; in percent. With ``thresholds`` also trained: 1 if
            all runs of the number's networks are trained, otherwise 0.
        titles: what each number is.
        data: title of the dataset of each number.
        thresholds: train accuracies from which runs count as trained, fractions; empty to mark no
            number.
    """
    lines, runs = [], []
    for row in rows.to_dict("records"):
        key = (row["quantity"], row["row"], row["column"])
        runs.append((titles[key], row["diverged"], row["runs"]))
        ours = uncertain(row["mean"], row["spread"] if row["runs"] > 1 else nan)
        lines.append(
            {
                "what": titles[key],
                "data": data[key],
                "ours (%)": marked(ours, row["trained"]) if thresholds else ours,
                "epoch": SELECTIONS[row["select"]],
                "runs": str(row["runs"]),
                "paper (%)": plain(row["reported"]),
                "where": row["place"],
            }
        )
    title = (
        "Numbers that stand only in the text, trained networks: mean ± standard deviation over runs"
    )
    notes = not_trained(rows["trained"], thresholds) if thresholds else ()
    return Typeset(pd.DataFrame(lines), title, notes + left_out(runs), spans=("data",))
