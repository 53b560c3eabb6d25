"""Kernel regression with the CNTK, and networks trained on the same images: job `npf_cntk`.

The paper quotes the accuracy of the CNTK on all of CIFAR-10 (npf section 6.2 (2)). Here the kernel
of GCONV is computed for as many images as a preset allows, and the networks are trained on exactly
these images.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.progress import in_turn
from finitewidth.data.select import averaged, channels_first, scaled, stratified_subset
from finitewidth.data.store import Dataset
from finitewidth.kernels.cntk import cntk
from finitewidth.measures.accuracy import SCORES, scores_by_replica, train_accuracies
from finitewidth.networks.architecture import Architecture
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.experiments.regimes import in_percent
from finitewidth.papers.npf.settings import CntkOnImages
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints, stored_map

CHECKED = 6  # images on which float32 is compared with float64
TABLES = {
    "runs": Table(
        *SCORES.without("stage"),
    ),
    "rows": Table(
        columns.METHOD,
        columns.METHOD_REGIME,
        columns.TRAIN_IMAGES,
        columns.TEST_IMAGES,
        columns.TEST_ACCURACY,
        columns.STANDARD_ERROR,
        columns.RIDGE,
        columns.RIDGED_CONDITION_NUMBER,
        columns.ROUNDING,
        columns.NETWORK_RUNS,
        columns.DOF,
        columns.MEAN_BEST_TEST,
        columns.MEAN_LAST,
        columns.MEAN_TRAIN_ACCURACY,
        columns.LOWEST_OF_NETWORK,
        columns.NETWORK_TRAINED,
        columns.TRAINED_FROM,
        columns.COMPARABLE,
    ),
}


def measure(
    inputs: Mapping[str, Any],
    settings: CntkOnImages,
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Test accuracy of the kernel for several numbers of images and of all regimes for the largest.

    Accuracies of networks use the epoch chosen on the other half of the test images, as the ridge
    of the kernel is chosen without the test images too.

    Returns:
        ``runs``: accuracies of each network, as fractions; and ``rows``: the CNTK by number of
        images, the regimes, and the printed number, in percent. Diverged runs are excluded from all
        means. See `TABLES`.
    """
    data = inputs["data"]
    data = stratified_subset(data, settings.train, settings.test, ("subset", data.name))
    runs = scores_by_replica(inputs["histories"], settings.trained).drop(columns="stage")
    printed = inputs["reported_npf"].query("artifact == 'npf_fig3' and column == 'cntk'")
    rows = [
        *_kernel_rows(data, settings, checkpoints),
        *_network_rows(runs, data),
        {"kind": "printed", "regime": "cntk", "accuracy": float(printed["value"].iloc[0])},
    ]
    trained_from = 100 * settings.trained
    comparable = int(all(settings.comparable.values()))
    # without any network that did not diverge, there are fewer columns in the rows
    table = pd.DataFrame(rows, columns=TABLES["rows"].names)
    return {"runs": runs, "rows": table.assign(trained_from=trained_from, comparable=comparable)}


def _kernel_rows(
    data: Dataset, settings: CntkOnImages, checkpoints: Checkpoints | None
) -> list[dict[str, Any]]:
    """Accuracies of the kernel, for each number of training images."""
    architecture = Architecture.from_mapping(dict(settings.network))
    train = _pooled(data.train_images, settings.pool)
    test = _pooled(data.test_images, settings.pool)
    kernel, across = _kernels(train, test, architecture, checkpoints)  # (N, N), (N', N)
    exact = cntk(train[:CHECKED], architecture=architecture).numpy()
    rounding = float(np.abs(kernel[:CHECKED, :CHECKED] / exact - 1).max())
    rows = []
    for size in (*settings.sizes, len(train)):
        labels = data.train_labels[:size]
        of_size = kernel[:size, :size]
        ridge = _best_ridge(of_size, labels, settings.ridges)
        predicted = _regression(of_size, across[:, :size], labels, ridge)
        accuracy = float((predicted == data.test_labels).mean())
        eigenvalues = np.linalg.eigvalsh(_ridged(of_size, ridge))
        rows.append(
            {
                "kind": "kernel",
                "regime": "cntk",
                "train": size,
                "test": len(test),
                "accuracy": 100 * accuracy,
                "standard_error": 100 * _binomial(accuracy, len(test)),
                "ridge": ridge,
                "condition_number": eigenvalues[-1] / eigenvalues[0],
                "rounding": rounding,
            }
        )
    return rows


def _pooled(images: np.ndarray, pool: int) -> Tensor:
    """Images (N, C, H, W), averaged over squares of ``pool`` pixels along a side."""
    return torch.from_numpy(channels_first(averaged(scaled(images), pool)))


def _kernels(
    train: Tensor, test: Tensor, architecture: Architecture, checkpoints: Checkpoints | None
) -> list[np.ndarray]:
    """The kernel of the training images (N, N), and that of test and training images (N', N)."""
    images = {"training": (train,), "test": (test, train)}
    costs = [len(train) / 2, len(test)]  # half of the first kernel follows from the other half
    kernels = []
    for name in in_turn(images, "kernels", costs):
        part = f"kernel of {name} images"
        each = partial(stored_map, checkpoints=checkpoints, part=part)
        kernel = cntk(*images[name], architecture=architecture, dtype=torch.float32, each=each)
        kernels.append(kernel.numpy())
    return kernels


def _best_ridge(kernel: np.ndarray, labels: np.ndarray, ridges: Sequence[float]) -> float:
    """The ridge of the best regression on the first half of the images, tried on the second.

    Among equally accurate ones it is the largest.
    """
    half = len(labels) // 2

    def accuracy(ridge: float) -> float:
        predicted = _regression(kernel[:half, :half], kernel[half:, :half], labels[:half], ridge)
        return float((predicted == labels[half:]).mean())

    return max(ridges, key=lambda ridge: (accuracy(ridge), ridge))


def _ridged(kernel: np.ndarray, ridge: float) -> np.ndarray:
    return kernel + ridge * np.diagonal(kernel).mean() * np.eye(len(kernel))


def _regression(
    kernel: np.ndarray, across: np.ndarray, labels: np.ndarray, ridge: float
) -> np.ndarray:
    """Classes (N',) predicted by ridge regression on centred one-hot targets.

    ``kernel`` is (N, N), ``across`` that of test and training images (N', N); the ridge is in units
    of the mean diagonal.
    """
    classes = np.unique(labels)
    targets = (labels[:, None] == classes).astype(float)
    mean = targets.mean(axis=0)
    scores = across @ np.linalg.solve(_ridged(kernel, ridge), targets - mean) + mean
    return classes[scores.argmax(axis=1)]


def _binomial(accuracy: float, images: int) -> float:
    return float(np.sqrt(accuracy * (1 - accuracy) / images))


def _network_rows(runs: pd.DataFrame, data: Dataset) -> list[dict[str, Any]]:
    """Accuracies of the networks of each regime; those that diverged are left out."""
    images = len(data.test_labels)
    rows = []
    for regime, of_regime in runs.groupby("regime", sort=False):
        sound = of_regime[of_regime["diverged"] == 0]
        if sound.empty:
            continue
        count = len(sound)
        accuracy = float(sound["cross_fitted"].mean())
        # variances of the mean: over runs, and with that over test images
        over_runs = float(sound["cross_fitted"].std(ddof=1)) ** 2 / count
        total = over_runs + _binomial(accuracy, images) ** 2
        # Satterthwaite's formula; only the variance between runs has few degrees of freedom
        dof = (count - 1) * (total / over_runs) ** 2 if over_runs > 0 else np.inf
        rows.append(
            {
                "kind": "network",
                "regime": regime,
                "train": len(data.train_labels),
                "test": images,
                "runs": count,
                "accuracy": 100 * accuracy,
                "standard_error": 100 * np.sqrt(total),
                "dof": dof,
                "best_test": 100 * float(sound["best_test"].mean()),
                "last": 100 * float(sound["last"].mean()),
                **in_percent(train_accuracies(of_regime)),
            }
        )
    return rows
