"""The numbers that a paper states only in its text, and our accuracies for them."""

from fractions import Fraction
from typing import Any

import pandas as pd

from finitewidth.measures.accuracy import averaged

KEYS = ("quantity", "row", "column")


def printed_in_text(reported: pd.DataFrame, paper: str) -> pd.DataFrame:
    """The numbers of a paper's text, indexed by `KEYS`."""
    return reported[reported["artifact"] == f"{paper}_text"].set_index(list(KEYS))


def printed_number(reported: pd.DataFrame, paper: str, *key: str) -> float:
    """One number of a paper's text, by its `KEYS`; the paper may have it as a fraction."""
    return float(Fraction(str(printed_in_text(reported, paper).loc[key, "value"])))


def text_row(
    key: tuple[str, str, str], values: pd.Series, select: str, printed: pd.DataFrame
) -> dict[str, Any]:
    """Our mean next to the printed number.

    Args:
        key: of the number, as `KEYS`.
        values: one per run, in percent; missing for diverged runs.
        select: how the epoch of a run was selected.
        printed: as returned by `printed_in_text`.

    Returns:
        quantity, row, column, mean, spread, runs, diverged, select, reported, place.
    """
    point = averaged(values)
    return {
        **dict(zip(KEYS, key, strict=True)), "mean": point["y"], "spread": point["spread"],
        "runs": point["runs"], "diverged": point["failed"], "select": select,
        "reported": printed.loc[key, "value"], "place": printed.loc[key, "place"],
    }  # fmt: skip
