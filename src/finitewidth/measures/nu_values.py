"""nu_t = yᵀ (K / tr K)⁻¹ y of networks during training: examples, weights, rows of a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.data.select import first_per_class, scaled
from finitewidth.data.store import Dataset
from finitewidth.declarations import columns
from finitewidth.kernels.npk import SingularKernelError, nu
from finitewidth.measures.accuracy import averaged
from finitewidth.networks.weights import as_lists
from finitewidth.records.tables import Table

TABLE = Table(  # rows of `nu_row`
    columns.NU,
    columns.CONDITION_NUMBER,
    columns.RIDGE_OF_NU,
    columns.PROBLEM,
)
POINT = Table(  # points of a curve, of `nu_point`
    columns.MEAN_NU,
    columns.SPREAD,
    columns.RUNS,
    columns.FAILED_RUNS,
    columns.RIDGED_RUNS,
    columns.LARGEST_CONDITION_NUMBER,
)
RIDGE = 1e-10  # times the mean eigenvalue; used if a kernel cannot be inverted without a ridge


def nu_row(y: Tensor, kernel: Callable[[], Tensor]) -> dict[str, Any]:
    """Return the value of nu without a ridge or, if the kernel cannot be inverted, with one.

    The labels are (S,). ``kernel`` returns K, (S, S); it may raise `SingularKernelError`, e.g. for
    a dead network. The row has the columns of `TABLE`.
    """
    try:
        matrix = kernel()
    except SingularKernelError as error:
        return _row_without_value(0.0, str(error))
    if not torch.isfinite(matrix).all():
        return _row_without_value(0.0, "the kernel is not finite: the training diverged")
    problem: str | None = None
    for ridge in (0.0, RIDGE):
        try:
            value = nu(y, matrix, ridge=ridge / len(y))
        except SingularKernelError as error:
            problem = str(error)
        else:
            return {
                "nu": float(value.nu),
                "condition_number": float(value.condition_number),
                "ridge": ridge,
                "problem": problem,
            }
    return _row_without_value(RIDGE, problem)


def _row_without_value(ridge: float, problem: str | None) -> dict[str, Any]:
    """Return the row of `nu_row` for a kernel that cannot be inverted."""
    return {"nu": None, "condition_number": None, "ridge": ridge, "problem": problem}


def nu_point(runs: pd.DataFrame) -> dict[str, float | int]:
    """Return one point of a curve of nu from rows of `nu_row`, and how kernels were inverted.

    It has the columns of `POINT`.
    """
    known = runs[runs["nu"].notna()]
    return averaged(runs["nu"]) | {
        "ridged": int((known["ridge"] > 0).sum()),
        "condition_number": known["condition_number"].astype(float).max(),
    }


def binary_examples(data: Dataset, classes: Sequence[int], per_class: int) -> tuple[Tensor, Tensor]:
    """Return the first training images of two classes, labelled -1 and +1.

    Images (2·per_class, inputs) are in [0, 1], labels (2·per_class,); both are float64.
    """
    index = first_per_class(data.train_labels, classes, per_class)
    images = torch.from_numpy(scaled(data.train_images[index])).flatten(1).double()
    labels = torch.from_numpy(data.train_labels[index])
    return images, torch.where(labels == classes[0], -1.0, 1.0).double()


def epochs_kept(arrays: Mapping[str, np.ndarray]) -> list[int]:
    """Return the epochs for which weights were kept, ascending."""
    labels = {name.split("/")[0] for name in arrays}
    epochs = [label.removeprefix("epoch") for label in labels if label.startswith("epoch")]
    return sorted(map(int, epochs))


def network_at(
    arrays: Mapping[str, np.ndarray], epoch: int, part: str
) -> tuple[list[Tensor], list[Tensor] | None]:
    """Return weights and biases of a ``value`` or ``feature`` network at one of `epochs_kept`.

    They are one weight tensor (R, fan_in, fan_out) per layer, and one bias tensor (R, fan_out) per
    layer or None, all float64. A feature network has no output layer.
    """
    prefix = f"epoch{epoch}/{part}/"
    weights = {}
    for name, array in arrays.items():
        if name.startswith(prefix):
            weights[name.removeprefix(prefix)] = torch.from_numpy(array).double()
    return as_lists(weights)
