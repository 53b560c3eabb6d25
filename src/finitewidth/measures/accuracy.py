"""Accuracies of finished trainings.

The papers report the best test accuracy over epochs, which is optimistic. Two accuracies without
this bias are computed as well.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations import columns
from finitewidth.records.tables import Table

SELECTIONS = ("best_test", "cross_fitted", "last")  # how the epoch of a test accuracy is chosen
# what describes a replica in a history
REPLICA = Table(
    columns.ROW,
    columns.REGIME,
    columns.STAGE,
    columns.BETA,
    columns.EPS,
    columns.VARIANT,
    columns.SEED,
    columns.STEP_SIZE,
)
SCORES = Table(
    *REPLICA,
    columns.EPOCHS,
    columns.BEST_TEST,
    columns.CROSS_FITTED,
    columns.LAST,
    columns.TRAIN_LAST,
    columns.BEST_TRAIN,
    columns.DIVERGED,
    columns.TRAINED_RUN,
)


def scores_by_replica(history: pd.DataFrame, trained_from: float) -> pd.DataFrame:
    """Summarise a training history in one row per replica, with the columns of `SCORES`.

    The best test accuracy over epochs is what the papers report. It is optimistic, because the
    same images select the epoch and measure the accuracy. The cross-fitted one is not, and it needs
    no training images.

    Args:
        history: one row per replica and epoch, of `finitewidth.training.gated`.
        trained_from: train accuracy, a fraction, from which a run counts as trained if it is
            reached in some epoch. A last epoch alone may fall into one of the short drops that
            follow a large step of Adam.
    """
    rows = []
    for replica, epochs in history.groupby(REPLICA.names, sort=False, dropna=False):
        description = dict(zip(REPLICA.names, replica, strict=True))
        rows.append(description | _scores(epochs))
    runs = pd.DataFrame(rows)
    trained = (runs["best_train"] >= trained_from) & (runs["diverged"] == 0)
    return runs.assign(trained=trained.astype(int))


def _scores(epochs: pd.DataFrame) -> dict[str, float]:
    """Return the further columns of `scores_by_replica` from the epochs of one replica."""
    first = epochs["test_accuracy_first"]
    second = epochs["test_accuracy_second"]
    last = epochs.loc[epochs["epoch"].idxmax()]
    second_at_best_first = second[first.idxmax()]
    first_at_best_second = first[second.idxmax()]
    return {
        "epochs": int(last["epoch"]),
        "best_test": epochs["test_accuracy"].max(),
        "cross_fitted": (second_at_best_first + first_at_best_second) / 2,
        "last": last["test_accuracy"],
        "train_last": last["train_accuracy"],
        "best_train": epochs["train_accuracy"].max(),
        "diverged": int(epochs["diverged"].any()),
    }


def train_accuracies(runs: pd.DataFrame) -> dict[str, float | int]:
    """Summarise how well the runs of one network fit their training images.

    Args:
        runs: rows of `scores_by_replica`.

    Returns:
        ``train_accuracy``, the mean over runs that did not diverge, and ``train_accuracy_lowest``,
        the lowest of all runs; both of the best epoch of each run. ``trained``: 1 if all runs are
        trained, otherwise 0.
    """
    return {
        "train_accuracy": runs["best_train"][runs["diverged"] == 0].mean(),
        "train_accuracy_lowest": runs["best_train"].min(),
        "trained": int(runs["trained"].min()),
    }


def means_of_runs(
    runs: pd.DataFrame, columns: Iterable[str], select: str, unit: float = 1
) -> dict[str, Any]:
    """Average ``columns`` of the runs that did not diverge, rows of `scores_by_replica`.

    Returns:
        ``runs`` (that are averaged), ``diverged`` (that are not), ``select``, and for each column
        ``<column>_mean`` and ``<column>_spread`` (sample standard deviation), times ``unit``.
    """
    converged = runs[runs["diverged"] == 0]
    row = {"runs": len(converged), "diverged": int(runs["diverged"].sum()), "select": select}
    for column in columns:
        values = unit * converged[column]
        row[f"{column}_mean"] = values.mean()
        row[f"{column}_spread"] = values.std()
    return row


def averaged(values: pd.Series) -> dict[str, float | int]:
    """Average one point of a curve over runs.

    A run has failed if its value is missing or not finite. It is counted, but it does not enter
    the mean or the standard deviation.

    Returns:
        ``y`` (mean), ``spread`` (sample standard deviation), ``runs`` (number of runs that did not
        fail) and ``failed`` (number of runs that failed).
    """
    numbers = values.astype(float)
    finite = numbers[np.isfinite(numbers)]
    return {
        "y": finite.mean(),
        "spread": finite.std(),
        "runs": len(finite),
        "failed": len(values) - len(finite),
    }


def curve(history: pd.DataFrame, column: str) -> Iterator[dict[str, Any]]:
    """Yield the points (x, y, spread, runs, diverged) of a column of one network; x is the epoch.

    A run whose training loss was not finite at some epoch is counted in ``diverged`` and is
    excluded from everything else.
    """
    diverged = history[history["diverged"] == 1]["seed"].unique()
    converged = history[~history["seed"].isin(diverged)]
    for epoch, group in converged.groupby("epoch"):
        values = group[column]
        yield {
            "x": epoch,
            "y": values.mean(),
            "spread": values.std(),
            "runs": len(values),
            "diverged": len(diverged),
        }
