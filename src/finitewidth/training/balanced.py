"""Images with the same number of each class, and batches with the same number of each class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for
from finitewidth.data.select import averaged, channels_first, scaled, stratified_subset
from finitewidth.data.store import Dataset
from finitewidth.networks.weights import generator


@dataclass(frozen=True, eq=False)
class BalancedImages:
    """Images and labels on the device of the training, with equally many training images per class.

    Attributes:
        train_x, test_x: (n, C, H, W), pixels in [0, 1].
        train_y, test_y: (n,), int64, classes counted from 0.
        classes: number of classes.
    """

    train_x: Tensor
    train_y: Tensor
    test_x: Tensor
    test_y: Tensor
    classes: int

    @property
    def per_class(self) -> int:
        """Number of training images of each class."""
        return len(self.train_y) // self.classes

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W) of one image."""
        return tuple(self.train_x.shape[1:])

    def by_class(self) -> Tensor:
        """Indices of the training images, (classes, per_class), on the CPU."""
        return self.train_y.cpu().argsort(stable=True).view(self.classes, self.per_class)


def balanced_images(
    dataset: Dataset,
    *,
    per_class: int | None = None,
    pool: int = 1,
    size: int | None = None,
    test: int | None = None,
    device: str = "cpu",
) -> BalancedImages:
    """Take equally many training images of each class, and test images.

    The images of a class are drawn from a random stream that the name of the dataset determines. A
    smaller choice is part of a larger one.

    Args:
        dataset: to choose from.
        per_class: number of training images of each class; None for the size of the smallest class.
        pool: images are averaged over squares of ``pool`` × ``pool`` pixels; 1 leaves them
            unchanged.
        size: afterwards images are resized to ``size`` × ``size`` pixels by bilinear interpolation
            (`resized`); None leaves them unchanged.
        test: number of test images, with the class shares of the test set; None for all.
        device: where the tensors are stored.

    Raises:
        ConfigError: a class has fewer than ``per_class`` images, there are fewer than ``test``
            test images, ``per_class`` is below one, or ``pool`` does not divide the
            size of the images.
    """
    dataset = stratified_subset(dataset, None, test, ("balanced", dataset.name))
    chosen = _chosen(dataset, per_class)

    def tensor(images: np.ndarray) -> Tensor:
        pixels = torch.from_numpy(channels_first(averaged(scaled(images), pool)))
        return (pixels if size is None else resized(pixels, size)).to(device)

    return BalancedImages(
        train_x=tensor(dataset.train_images[chosen]),
        train_y=torch.from_numpy(dataset.train_labels[chosen]).to(device),
        test_x=tensor(dataset.test_images),
        test_y=torch.from_numpy(dataset.test_labels).to(device),
        classes=len(dataset.class_names),
    )


def _chosen(dataset: Dataset, per_class: int | None) -> np.ndarray:
    """Indices of the chosen training images, ascending."""
    classes = len(dataset.class_names)
    members = [np.flatnonzero(dataset.train_labels == label) for label in range(classes)]
    smallest = min(len(part) for part in members)
    wanted = smallest if per_class is None else per_class
    if not 1 <= wanted <= smallest:
        raise ConfigError(
            f"per_class = {per_class}: the smallest class of {dataset.title} has {smallest} "
            f"training images; set a number from 1 to {smallest}, or null for {smallest}"
        )
    drawn = []
    for label, part in enumerate(members):
        stream = np.random.default_rng(seed_for("balanced", dataset.name, label))
        drawn.append(stream.permutation(part)[:wanted])
    return np.sort(np.concatenate(drawn))


def resized(images: Tensor, size: int) -> Tensor:
    """Resize images by bilinear interpolation, with averaging if they become smaller.

    Args:
        images: (n, C, H, W).
        size: the new height and width.

    Returns:
        (n, C, size, size), within the range of the pixels of each image.
    """
    return torch.nn.functional.interpolate(images, (size, size), mode="bilinear", antialias=True)


def epoch_batches(by_class: Tensor, per_class: int, words: Sequence[str | int]) -> Tensor:
    """Draw the batches of an epoch: the same number of images of each class in every batch.

    Images of a class that do not fill a batch are left out in this epoch.

    Args:
        by_class: indices of the images, (classes, images of a class).
        per_class: number of images of each class in a batch.
        words: name of the random stream.

    Returns:
        Indices (batches, per_class * classes). In a batch the classes take turns: 0, 1, ..., 0, 1,
        ..., so that the labels are those of `batch_labels`.
    """
    stream = generator(*words)
    classes, images = by_class.shape
    orders = torch.stack([torch.randperm(images, generator=stream) for _ in range(classes)])
    batches = images // per_class
    shuffled = by_class.gather(1, orders)[:, : batches * per_class]
    return shuffled.T.reshape(batches, per_class * classes)


def batch_labels(classes: int, per_class: int) -> Tensor:
    """The labels (per_class * classes,) of every batch of `epoch_batches`, int64."""
    return torch.arange(classes).repeat(per_class)
