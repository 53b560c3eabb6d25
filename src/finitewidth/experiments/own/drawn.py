"""What the experiments on a network of the user share: its images and its random weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from finitewidth.common.provenance import seed_for
from finitewidth.data.select import channels_first, first_per_class, scaled
from finitewidth.data.store import Dataset
from finitewidth.networks import own
from finitewidth.networks.own_file import own_file

NAME = "own"
DIGITS = 6  # of the entries of kernels in tables


class Networks:
    """Networks of the user with independent random weights, by names of random streams.

    Args:
        network: what the plan tells of it: ``file``, as in the setting ``own.network``.
        data: the images, which determine the sizes of input and output.

    Raises:
        ConfigError: see `finitewidth.networks.own`.
    """

    def __init__(self, network: Mapping[str, Any], data: Dataset):
        self._own = own_file(network["file"])
        self._factory = own.factory_of(self._own)
        height, width, channels = data.shape
        self._shape, self._classes = (channels, height, width), len(data.class_names)

    @property
    def name(self) -> str:
        """The name of the network in messages."""
        return self._own.name

    def draw(self, *purpose: str | int) -> nn.Module:
        """Return a network in eval mode; the same words give the same weights."""
        seed = seed_for(NAME, *purpose, "weights")
        return own.draw(self._own, self._factory, self._shape, self._classes, seed)


def tensor(images: np.ndarray) -> Tensor:
    """Return images uint8 (n, H, W, C) as float32 (n, C, H, W) from 0 to 1."""
    return torch.from_numpy(channels_first(scaled(images)))


def few(data: Dataset, per_class: int) -> tuple[Tensor, np.ndarray]:
    """Return the first training images of each class, (S, C, H, W), and their labels (S,).

    Raises:
        ConfigError: a class has fewer images.
    """
    index = first_per_class(data.train_labels, range(len(data.class_names)), per_class)
    return tensor(data.train_images[index]), data.train_labels[index]


def entries(kernel: np.ndarray, labels: Sequence[int], /, **place: Any) -> pd.DataFrame:
    """Return the entries of a kernel on and above its diagonal, one per row.

    Args:
        kernel: (S, S), symmetric.
        labels: classes of the inputs, (S,).
        **place: further columns.

    Returns:
        ``row``, ``column``, ``class_row``, ``class_column``, ``share``: the entry over the mean of
        the diagonal.
    """
    classes = np.asarray(labels)
    row, column = np.triu_indices(len(kernel))
    share = kernel[row, column] / np.diag(kernel).mean()
    return pd.DataFrame({
        **place, "row": row, "column": column,
        "class_row": classes[row], "class_column": classes[column],
        "share": [float(f"{value:.{DIGITS - 1}e}") for value in share],
    })  # fmt: skip


def curves(rows: pd.DataFrame, keys: Sequence[str], quantities: Sequence[str]) -> pd.DataFrame:
    """Summarise quantities over runs.

    Args:
        rows: one row for each run and value of ``keys``.
        keys: columns that distinguish points, such as ``step``.
        quantities: columns to summarise.

    Returns:
        The keys, ``quantity``, ``median``, ``lowest``, ``highest`` and ``runs``.
    """
    found = []
    for place, runs in rows.groupby(list(keys), sort=False):
        for quantity in quantities:
            values = runs[quantity]
            found.append({
                **dict(zip(keys, place, strict=True)), "quantity": quantity,
                "median": values.median(), "lowest": values.min(), "highest": values.max(),
                "runs": len(runs),
            })  # fmt: skip
    return pd.DataFrame(found)
