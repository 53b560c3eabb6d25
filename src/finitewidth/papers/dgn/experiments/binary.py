"""Experiments 3 to 5 of dgn, job `dgn_binary`: adaptable, learnt and frozen gates (Figure 7)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from finitewidth.data.select import binary, stratified_subset
from finitewidth.data.store import Dataset
from finitewidth.declarations import columns as shared
from finitewidth.measures.accuracy import SCORES, curve, scores_by_replica, train_accuracies
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.settings import Binary
from finitewidth.records.tables import Table

# series -> regimes; soft-GaLU is DLNPF of npf if the hidden units of its gating network are hard
FOUR = {
    "soft-GaLU": ("soft_galu", "dlnpf"),
    "soft-ReLU": ("soft_relu",),
    "ReLU": ("relu",),
    "GaLU": ("galu",),
}
PANELS = (
    ("train", FOUR, ("train",)),
    ("test", FOUR, ("test",)),
    ("gates", {"learnt gates": ("flnpf",), "unlearnt gates": ("galu",)}, ("train", "test")),
    ("adaptable", {"ReLU": ("relu",), "frozen ReLU": ("frnpf_di",)}, ("train", "test")),
)
TABLES = {
    "runs": Table(
        *SCORES.without("row", "stage", "variant"),
        columns.LAST_TRAIN_LOSS,
        columns.LAST_TEST_LOSS,
    ),
    "curves": Table(
        columns.PANEL_OF_GATES,
        columns.SERIES_OF_GATES,
        columns.SPLIT,
        columns.EPOCH_OF_CURVE,
        columns.MEAN_SQUARED_ERROR,
        columns.SQUARED_ERROR_SPREAD,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        columns.TEST_ACCURACY_AT_EPOCH,
        columns.TRAIN_ACCURACY,
        columns.LOWEST_TRAIN_ACCURACY,
        columns.ALL_TRAINED,
        columns.TEST_IMAGES,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Binary) -> dict[str, pd.DataFrame]:
    """Mean squared errors of all networks over epochs.

    Returns:
        ``runs``, a row per run, and ``curves``, see `TABLES`.
    """
    history = inputs["histories"]
    last = history[history["epoch"] == history["epoch"].max()]
    losses = last[["regime", "seed", "train_loss", "test_loss"]]
    runs = scores_by_replica(history, settings.trained).merge(losses, on=["regime", "seed"])
    images = count_test_images(inputs["data"], settings.test, settings.classes)
    # if all runs diverged, there are no curves
    curves = pd.DataFrame(_curves(history, runs), columns=TABLES["curves"].names)
    curves = curves.assign(test_images=images)
    return {"runs": runs.drop(columns=["row", "stage", "variant"]), "curves": curves}


def count_test_images(data: Dataset, test: int | None, classes: Sequence[int]) -> int:
    """Number of images of two classes among the ``test`` images of a training; None for all."""
    subset = stratified_subset(data, None, test, ("subset", data.name))
    negative, positive = classes
    return len(binary(subset, negative, positive).test_labels)


def _curves(history: pd.DataFrame, runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for panel, networks, splits in PANELS:
        for series, regimes in networks.items():
            rows = history[history["regime"].isin(regimes)]
            accuracies = list(curve(rows, "test_accuracy"))
            trained = train_accuracies(runs[runs["regime"].isin(regimes)])
            for split in splits:
                losses = curve(rows, f"{split}_loss")
                for point, accuracy in zip(losses, accuracies, strict=True):
                    yield {
                        "panel": panel,
                        "series": series,
                        "split": split,
                        **point,
                        "test_accuracy": accuracy["y"],
                        **trained,
                    }
