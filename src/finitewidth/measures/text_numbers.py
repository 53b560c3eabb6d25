"""The numbers that a paper states only in its text, and our accuracies for them."""

from fractions import Fraction
from typing import Any

import pandas as pd

from finitewidth.declarations import columns
from finitewidth.measures.accuracy import averaged
from finitewidth.records.tables import Table

KEYS = ("quantity", "row", "column")
TABLE = Table(  # rows of `text_row`
    columns.QUANTITY,
    columns.PRINTED_ROW,
    columns.PRINTED_COLUMN,
    columns.MEAN_ACCURACY,
    columns.SPREAD_OF_ACCURACY,
    columns.RUNS,
    columns.DIVERGED_RUNS,
    columns.SELECT,
    columns.PRINTED,
    columns.PLACE,
)


def printed_in_text(reported: pd.DataFrame, paper: str) -> pd.DataFrame:
    """Return the numbers of a paper's text, indexed by `KEYS`."""
    return reported[reported["artifact"] == f"{paper}_text"].set_index(list(KEYS))


def printed_number(reported: pd.DataFrame, paper: str, *key: str) -> float:
    """Return one number of a paper's text, by its `KEYS`; the paper may have it as a fraction."""
    value = printed_in_text(reported, paper).loc[key, "value"]
    return float(Fraction(str(value)))


def text_row(
    key: tuple[str, str, str], values: pd.Series, select: str, printed: pd.DataFrame
) -> dict[str, Any]:
    """Return a row with our mean next to the number with this key in `printed_in_text`.

    The values are one per run, in percent, and missing for diverged runs; ``select`` tells how the
    epoch of a run was selected.
    """
    point = averaged(values)
    return {
        **dict(zip(KEYS, key, strict=True)),
        "mean": point["y"],
        "spread": point["spread"],
        "runs": point["runs"],
        "diverged": point["failed"],
        "select": select,
        "reported": printed.loc[key, "value"],
        "place": printed.loc[key, "place"],
    }
