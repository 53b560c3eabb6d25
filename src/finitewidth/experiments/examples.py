"""The examples kernels are computed on."""

from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.data.select import first_per_class, scaled
from finitewidth.data.store import Dataset


def binary_examples(data: Dataset, classes: Sequence[int], per_class: int) -> tuple[Tensor, Tensor]:
    """The first training images of two classes (2·per_class, inputs) in [0, 1], and labels ∓1.

    Both float64; the first of ``classes`` is -1.
    """
    index = first_per_class(data.train_labels, classes, per_class)
    images = torch.from_numpy(scaled(data.train_images[index])).flatten(1).double()
    labels = torch.from_numpy(data.train_labels[index])
    return images, torch.where(labels == classes[0], -1.0, 1.0).double()
