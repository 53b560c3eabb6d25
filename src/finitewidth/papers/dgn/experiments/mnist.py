"""ReLU and GaLU on images, random labels and random pixels, job `dgn_mnist` (dgn Figure 5)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.measures.accuracy import SCORES, curve, scores_by_replica, train_accuracies
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.settings import Mnist
from finitewidth.records.tables import Table

MOST_IMAGES = 100_000  # that `images_of` tells from accuracies
LEARNT = 0.99  # train accuracy from which a network counts as trained (claims D14, D16)
TABLES = {
    "runs": Table(
        *SCORES.without("row", "stage", "beta", "eps"),
        columns.EPOCHS_TO_99,
        columns.TRAIN_IMAGES,
    ),
    "curves": Table(
        columns.PANEL_OF_IMAGES,
        columns.RELU_OR_GALU,
        columns.EPOCH_OF_CURVE,
        columns.MEAN_ACCURACY_AT_EPOCH,
        columns.ACCURACY_SPREAD,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        columns.TRAIN_ACCURACY,
        columns.LOWEST_TRAIN_ACCURACY,
        columns.ALL_TRAINED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Mnist) -> dict[str, pd.DataFrame]:
    """Train accuracy over epochs on three kinds of images, and test accuracy on the original ones.

    Returns:
        ``runs``, a row per run, and ``curves``, see `TABLES`.
    """
    history = inputs["histories"]
    runs = scores_by_replica(history, settings.trained)
    keys = ["regime", "variant", "seed"]
    epochs = []
    for run in runs[keys].to_dict("records"):
        of_run = (history[keys] == list(run.values())).all(axis=1)
        epochs.append(epochs_to(LEARNT, history[of_run]))
    runs["epochs_to_99"] = epochs
    runs["train_images"] = images_of(history["train_accuracy"])
    # if all runs diverged, there are no curves
    curves = pd.DataFrame(_curves(history, runs, settings), columns=TABLES["curves"].names)
    return {"runs": runs.drop(columns=["row", "stage", "beta", "eps"]), "curves": curves}


def epochs_to(accuracy: float, history: pd.DataFrame) -> float:
    """Number of epochs after which the train accuracy of one run reaches ``accuracy``, or NaN.

    It is interpolated linearly from the epoch before (with accuracy 0 at epoch 0), because whole
    epochs are too coarse for a network that learns within a few.
    """
    accuracies = [0.0, *history.sort_values("epoch")["train_accuracy"]]
    for epoch, now in enumerate(accuracies):
        if now >= accuracy:
            before = accuracies[epoch - 1]
            return epoch - 1 + (accuracy - before) / (now - before)
    return float("nan")


def images_of(accuracies: pd.Series) -> int:
    """The least number of images of which all accuracies are whole shares.

    It is the number of images of a training, or smaller if the accuracies are few. It is at most
    `MOST_IMAGES`. Accuracies are known to 1e-7; missing ones are left out.
    """
    shares = np.unique(accuracies.dropna())
    for images in range(1, MOST_IMAGES):
        counts = images * shares
        if np.abs(counts - np.rint(counts)).max(initial=0) <= 1e-7 * images:
            return images
    return MOST_IMAGES


def _curves(history: pd.DataFrame, runs: pd.DataFrame, settings: Mnist) -> Iterator[dict[str, Any]]:
    panels = {
        "mnist": ("original", "train_accuracy"),
        "labels": ("random_labels", "train_accuracy"),
        "pixels": (settings.pixels, "train_accuracy"),
        "test": ("original", "test_accuracy"),
    }
    for panel, (variant, column) in panels.items():
        for regime, series in (("relu", "ReLU"), ("galu", "GaLU")):
            rows = history[(history["variant"] == variant) & (history["regime"] == regime)]
            scores = runs[(runs["variant"] == variant) & (runs["regime"] == regime)]
            trained = train_accuracies(scores)
            for point in curve(rows, column):
                yield {"panel": panel, "series": series, **point, **trained}
