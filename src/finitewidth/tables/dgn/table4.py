"""dgn Table 4: accuracy of deep linear, ReLU and soft-ReLU networks, ours and the paper's."""

from collections.abc import Mapping
from math import nan
from typing import Any

import pandas as pd

from finitewidth.tables.numbers import plain, runs_said, uncertain
from finitewidth.tables.trained import marked, not_trained
from finitewidth.tables.typeset import Typeset, left_out

TITLES = {"linear": "deep linear", "relu": "ReLU", "soft_relu": "soft-ReLU"}
OURS = {
    "best_train": "train",
    "best_test": "test, best epoch",
    "cross_fitted": "test, cross-fitted",
    "last": "test, last epoch",
}
DECIMALS = 3  # of a fraction: the paper has two, and four for the deep linear network


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``rows``."""
    return tables["rows"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per network: our accuracies, computed in four ways, and the paper's.

    ``settings["datasets"]`` maps each role to the title of the dataset that was used;
    ``settings["trained"]`` is the train accuracy from which a run counts as trained.
    """
    lines = []
    for row in rows.to_dict("records"):
        line = {
            "network": TITLES[row["regime"]],
            "ε": plain(row["eps"], ""),
            "β": plain(row["beta"], ""),
        }
        for column, label in OURS.items():
            line[label] = uncertain(
                row[f"{column}_mean"], row[f"{column}_spread"] if row["runs"] > 1 else nan, DECIMALS
            )
        line[OURS["best_train"]] = marked(line[OURS["best_train"]], row["trained"])
        for column in ("train", "test"):
            line[f"paper, {column}"] = plain(row[f"reported_{column}"])
        lines.append(line)
    data = settings["datasets"]["cifar10"]
    title = f"Accuracy on {data}, mean ± standard deviation {runs_said(rows['runs'])}"
    notes = not_trained(rows["trained"], [settings["trained"]])
    notes += left_out(map(_runs, rows.to_dict("records")))
    return Typeset(pd.DataFrame(lines), title, notes)


def _runs(row: Mapping[str, Any]) -> tuple[str, int, int]:
    gate = "" if pd.isna(row["beta"]) else f", ε = {row['eps']:g}, β = {row['beta']:g}"
    return f"{TITLES[row['regime']]}{gate}", row["diverged"], row["runs"]
