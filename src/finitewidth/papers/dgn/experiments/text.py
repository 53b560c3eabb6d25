"""Accuracies for the numbers that stand only in the text of dgn, job `dgn_text`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.measures import text_numbers
from finitewidth.measures.accuracy import scores_by_replica, train_accuracies
from finitewidth.measures.text_numbers import KEYS, printed_in_text, text_row
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.experiments.sweep import soft_relu_name
from finitewidth.papers.dgn.settings import NumbersInText
from finitewidth.records.tables import Table

TABLES = {
    "runs": Table(
        shared.QUANTITY,
        shared.PRINTED_ROW,
        shared.PRINTED_COLUMN,
        shared.SEED,
        columns.ACCURACY_OF_RUN,
        shared.DIVERGED,
        shared.SELECT,
        columns.BEST_TRAIN_PERCENT,
        shared.TRAINED_RUN,
    ),
    "rows": Table(
        *text_numbers.TABLE,
        columns.TRAIN_ACCURACY_PERCENT,
        columns.LOWEST_TRAIN_ACCURACY_PERCENT,
        columns.ALL_TRAINED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: NumbersInText) -> dict[str, pd.DataFrame]:
    """Compute our accuracies, in percent, for the printed numbers.

    Returns:
        ``runs``, a row per run, and ``rows``, a row per number, see `TABLES`.
    """
    # the images themselves, with neither random labels nor random pixels
    images = inputs["mnist"][inputs["mnist"]["variant"] == "original"]
    galu = images[images["regime"] == "galu"]
    relu = images[images["regime"] == "relu"]
    gates_only = scores_by_replica(inputs["gates_only"], settings.trained)
    sweep = inputs["sweep"]
    name = soft_relu_name(settings.in_text.eps, settings.in_text.beta)
    soft_relu = sweep[sweep["network"] == name]

    select = settings.select
    parts = [
        _part("test_accuracy", "cifar10", "gates_only", gates_only, select.gates_only),
        _part("test_accuracy", "cifar10", "soft_relu", soft_relu, select.sweep),
        _part("test_accuracy", "mnist", "galu", galu, select.mnist),
        _part("test_accuracy", "mnist", "relu", relu, select.mnist),
        _part("train_accuracy", "mnist", "all", images, "train_last"),
    ]
    runs = pd.concat(parts)
    printed = printed_in_text(inputs["reported"], "dgn")
    rows = []
    for key, group in runs.groupby(list(KEYS), sort=False):
        not_diverged = group["value"].where(group["diverged"] == 0)
        row = text_row(key, not_diverged, group["select"].iloc[0], printed)
        rows.append(row | train_accuracies(group))
    return {"runs": runs, "rows": pd.DataFrame(rows)}


def _part(quantity: str, row: str, column: str, scores: pd.DataFrame, select: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "quantity": quantity,
            "row": row,
            "column": column,
            "seed": scores["seed"],
            "value": 100 * scores[select],
            "diverged": scores["diverged"],
            "select": select,
            "best_train": 100 * scores["best_train"],
            "trained": scores["trained"],
        }
    )
