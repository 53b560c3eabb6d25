"""The examples on which kernels are computed."""

from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.data.select import first_per_class, scaled
from finitewidth.data.store import Dataset


def binary_examples(data: Dataset, classes: Sequence[int], per_class: int) -> tuple[Tensor, Tensor]:
    """The first training images of two classes, and their labels.

    Args:
        data: the dataset.
        classes: two class indices; the first is labelled -1, the second +1.
        per_class: number of images of each class.

    Returns:
        Images (2·per_class, inputs) in [0, 1] and labels (2·per_class,), both float64.

    Raises:
        ConfigError: a class has fewer images.
    """
    index = first_per_class(data.train_labels, classes, per_class)
    images = torch.from_numpy(scaled(data.train_images[index])).flatten(1).double()
    labels = torch.from_numpy(data.train_labels[index])
    return images, torch.where(labels == classes[0], -1.0, 1.0).double()
