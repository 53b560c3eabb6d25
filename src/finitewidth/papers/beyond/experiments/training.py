"""The tangent kernel of fully connected networks during training, job `beyond_training`.

Shown in ``beyond`` Figure 4 and in the thesis, Figure 2.5.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.progress import in_turn
from finitewidth.common.torch_setup import prepare_torch
from finitewidth.data.select import first_per_class, scaled, stratified_subset
from finitewidth.data.store import Dataset
from finitewidth.declarations import columns as shared
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.measures.blocks import block_means, gap, label_alignment
from finitewidth.measures.diagonal import over_smaller_diagonal
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.settings import Training
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.full_batch import adam
from finitewidth.training.fully_connected import Draw, Passes, initial_stack

NAME = "beyond/training"
CHUNK = 4096  # images of which a loss is computed at once
LOSSES = ("test_loss", "train_loss")
QUANTITIES = {  # of the curves, and the spread of entries that belongs to each
    **dict.fromkeys(LOSSES),
    "same_class": "spread_same",
    "same_class_with_diagonal": None,
    "other_class": "spread_other",
}
TABLES = {
    "rows": Table(
        columns.SIGMA_W2_AT_START,
        shared.SEED,
        columns.STEP,
        columns.DIAGONAL,
        columns.SAME_CLASS,
        columns.SAME_CLASS_WITH_DIAGONAL,
        columns.OTHER_CLASS,
        columns.SPREAD_DIAGONAL,
        columns.SPREAD_SAME,
        columns.SPREAD_OTHER,
        columns.CLASS_GAP,
        columns.OVER_SMALLER_DIAGONAL,
        columns.ALIGNMENT,
        columns.TRAIN_LOSS,
        columns.TEST_LOSS,
    ),
    "curves": Table(
        columns.SIGMA_W2_AT_START,
        columns.STEP,
        columns.QUANTITY_OF_CURVE,
        columns.MIDDLE_OF_RUNS,
        columns.LEAST_OF_RUNS,
        columns.MOST_OF_RUNS,
        columns.SPREAD_OF_ENTRIES,
        columns.RUNS,
    ),
    "kernels": Table(
        columns.SIGMA_W2_AT_START,
        columns.STEP,
        columns.ROW,
        columns.COLUMN,
        columns.CLASS_ROW,
        columns.CLASS_COLUMN,
        columns.KERNEL,
        columns.KERNEL_SHARE,
    ),
}


def measure(
    inputs: Mapping[str, Any],
    settings: Training,
    device: str = "cpu",
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Train networks by full-batch Adam, and follow their losses and the blocks of their kernels.

    All biases are 0 at the start; they are trained and counted. The loss is 1/(2S) sum_s
    |f(x_s) - y_s|^2 with one-hot labels y. The kernel is summed over the outputs. Runs of the same
    number start from the same normal numbers for every sigma_w^2.

    Checkpoints store each network and what was observed of it.

    Returns:
        ``rows``: blocks as in `finitewidth.measures.blocks.BlockMeans`, gap, alignment and losses.
        ``curves``: losses, and means of blocks over the mean diagonal, summarised over runs. Of
        blocks it is the mean, so that the distance of two curves is the mean distance of the runs.
        ``kernels``: entries of run 0 at ``maps``.
        See `TABLES`.
    """
    device = prepare_torch(torch.get_num_threads(), device)
    data = stratified_subset(inputs["data"], settings.train, settings.test, (NAME,))
    images = _Images(data, settings.per_class, device)
    rows: list[dict[str, Any]] = []
    kernels: list[pd.DataFrame] = []
    for network, state in _observations(images, settings, checkpoints):
        rows.append(network | state["row"])
        if "kernel" in state and network["seed"] == 0:
            place = {name: network[name] for name in ("sigma_w2", "step")}
            kernel = state["kernel"].cpu().numpy()  # (S, S)
            kernels.append(_entries(place, kernel, images.labels))
    table = pd.DataFrame(rows)
    return {
        "rows": table,
        "curves": curves(table),
        "kernels": pd.concat(kernels, ignore_index=True),
    }


def _observations(
    images: "_Images", settings: Training, checkpoints: Checkpoints | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Train one network after the other; yield it at each time, with what `_train` observed."""
    variances = [float(variance) for variance in settings.sigma_w2]
    networks = list(product(variances, range(settings.runs)))
    for sigma_w2, seed in in_turn(networks, "networks"):
        name = f"sigma_w2 {sigma_w2}, seed {seed}"
        store = checkpoints.store(name) if checkpoints else None
        draw = Draw(sigma_w2, 0.0, seed)
        states = _train(images, draw, settings, title=name, checkpoints=store)
        for step, state in zip(settings.times, states, strict=True):
            yield {"sigma_w2": sigma_w2, "seed": seed, "step": step}, state


def curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Summarise the table ``rows`` over runs, see `measure`."""
    summaries = []
    for (sigma_w2, step), runs in rows.groupby(["sigma_w2", "step"], sort=False):
        for quantity in QUANTITIES:
            place = {"sigma_w2": sigma_w2, "step": step, "quantity": quantity}
            summaries.append(place | _over_runs(runs, quantity))
    return pd.DataFrame(summaries)


def _over_runs(runs: pd.DataFrame, quantity: str) -> dict[str, Any]:
    """Middle, range and spread of a quantity over the runs of one variance at one step."""
    is_loss = quantity in LOSSES
    scale = 1 if is_loss else runs["diagonal"]
    values = runs[quantity] / scale
    spread = QUANTITIES[quantity]
    return {
        "y": values.median() if is_loss else values.mean(),
        "low": values.min(),
        "high": values.max(),
        "spread": (runs[spread] / scale).mean() if spread else np.nan,
        "runs": len(runs),
    }


class _Images:
    """Images (n, n_0) and one-hot labels (n, K) of a dataset, float32.

    Kernels are computed on the images ``kernel``, (S, n_0), grouped by class, with ``labels`` (S,).
    """

    def __init__(self, data: Dataset, per_class: int, device: str):
        classes = len(data.class_names)
        self.train = _tensors(data.train_images, data.train_labels, classes, device)
        self.test = _tensors(data.test_images, data.test_labels, classes, device)
        index = first_per_class(data.train_labels, range(classes), per_class)
        train_images, _ = self.train
        self.kernel = train_images[torch.from_numpy(index)]
        self.labels = data.train_labels[index]


def _tensors(
    images: np.ndarray, labels: np.ndarray, classes: int, device: str
) -> tuple[Tensor, Tensor]:
    x = torch.from_numpy(scaled(images)).flatten(1)
    y = torch.nn.functional.one_hot(torch.from_numpy(labels).long(), classes).to(x)
    return x.to(device), y.to(device)


def _train(images: _Images, draw: Draw, settings: Training, **job: Any) -> list[dict[str, Any]]:
    """Train one network, and observe it at each time.

    An observation has the ``row`` of blocks and losses; at ``maps`` it also has the ``kernel``,
    (S, S).
    """
    x, y = images.train
    hidden = [settings.width] * settings.hidden
    stack = initial_stack((NAME,), [draw], [x.shape[1], *hidden, y.shape[1]], "relu")
    stack = stack.with_parameters([tensor.to(x.device) for tensor in stack.parameters])

    def observe(now: FullyConnected, step: int) -> dict[str, Any]:
        kernel = traced_kernel(now, images.kernel)[0].cpu()
        row = _kernel_row(kernel.numpy(), images.labels)
        row["train_loss"] = loss(now, *images.train)
        row["test_loss"] = loss(now, *images.test)
        return {"row": row, "kernel": kernel} if step in settings.maps else {"row": row}

    return adam(stack, x, y, rate=settings.rate, times=settings.times, observe=observe, **job)


def _kernel_row(kernel: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Blocks, gap and alignment of a kernel (S, S) of images with these labels (S,)."""
    means = block_means(kernel, labels)
    row = {name: float(value) for name, value in vars(means).items()}
    row["gap"] = float(gap(means))
    row["over_smaller_diagonal"] = float(over_smaller_diagonal(kernel).mean())
    row["alignment"] = float(label_alignment(kernel, labels))
    return row


def loss(stack: FullyConnected, x: Tensor, y: Tensor) -> float:
    """Mean over images of half the squared error of the first network of a stack, in pieces."""
    total = 0.0
    for inputs, targets in zip(torch.split(x, CHUNK), torch.split(y, CHUNK), strict=True):
        passes = Passes(stack, inputs, targets)
        passes.forward()
        total += float(passes.losses()[0]) * len(inputs)
    return total / len(x)


def _entries(place: Mapping[str, Any], kernel: np.ndarray, labels: np.ndarray) -> pd.DataFrame:
    """Entries on and above the diagonal; six significant digits, so that tables stay small."""
    row, column = np.triu_indices(len(kernel))
    value = kernel[row, column]
    share = value / np.diag(kernel).mean()
    return pd.DataFrame(
        {
            **place,
            "row": row,
            "column": column,
            "class_row": labels[row],
            "class_column": labels[column],
            "value": _six_digits(value),
            "share": _six_digits(share),
        }
    )


def _six_digits(numbers: np.ndarray) -> list[float]:
    return [float(f"{number:.5e}") for number in numbers]
