"""Numbers of trained networks that stand only in the text of dgn, ours beside theirs."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.typeset import Typeset, left_out, plus_minus

TITLES = {
    ("test_accuracy", "cifar10", "gates_only"): "test accuracy, only the gates learn",
    ("test_accuracy", "cifar10", "soft_relu"): "test accuracy, soft-ReLU of moderately large β",
    ("test_accuracy", "mnist", "galu"): "test accuracy, GaLU",
    ("test_accuracy", "mnist", "relu"): "test accuracy, ReLU",
    ("train_accuracy", "mnist", "all"): "train accuracy, both, random labels and pixels too",
}
SELECTIONS = {
    "best_test": "best epoch",
    "cross_fitted": "cross-fitted",
    "last": "last epoch",
    "train_last": "last epoch",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """All rows."""
    return tables["rows"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """A line per number; ``settings["datasets"]``: what is shown for each of the paper's."""
    lines = [
        {
            "what": TITLES[row["quantity"], row["row"], row["column"]],
            "data": settings["datasets"][row["row"]],
            "ours (%)": plus_minus(row["mean"], row["spread"]),
            "epoch": SELECTIONS[row["select"]],
            "runs": str(row["runs"]),
            "paper (%)": f"{row['reported']:g}",
            "where": row["place"],
        }
        for row in rows.to_dict("records")
    ]
    notes = left_out(
        (TITLES[row["quantity"], row["row"], row["column"]], row["diverged"], row["runs"])
        for row in rows.to_dict("records")
    )
    title = "Numbers that stand only in the text, trained networks"
    return Typeset(pd.DataFrame(lines), title, notes)
