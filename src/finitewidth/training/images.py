"""Images of a training as tensors: parts and variants of a dataset, and balanced classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.data import select
from finitewidth.data.store import Dataset
from finitewidth.networks.weights import generator
from finitewidth.records.provenance import seed_for
from finitewidth.training.run import TrainingRun


@dataclass(frozen=True, eq=False)
class Images:
    """Images and targets on the device of the training.

    Images are (n, inputs) for fully connected, (n, C, H, W) for convolutional networks; targets are
    (n,), classes counted from 0 (int64) or ±1 (float32). The training images contain the variants
    one after the other, with the same number of images each.
    """

    train_x: Tensor
    train_y: Tensor
    test_x: Tensor
    test_y: Tensor
    outputs: int  # of a network: the number of classes, or 1
    variants: tuple[str, ...] = ("original",)

    @property
    def train_count(self) -> int:
        """Number of training images that each replica sees."""
        return len(self.train_x) // len(self.variants)

    @property
    def per_class(self) -> int:
        """Number of training images of each class, of `balanced_images`."""
        return len(self.train_y) // self.outputs

    @property
    def shape(self) -> tuple[int, ...]:
        """(C, H, W) of one image, or (inputs,)."""
        return tuple(self.train_x.shape[1:])

    def by_class(self) -> Tensor:
        """Indices of the training images of `balanced_images`, (classes, per_class), on the CPU."""
        return self.train_y.cpu().argsort(stable=True).view(self.outputs, self.per_class)


def load_images(dataset: Dataset, run: TrainingRun, device: str) -> Images:
    """Return the part of the dataset that a run uses, as tensors.

    Pixels are scaled to [0, 1]. Images are flattened for fully connected networks. The test images
    are the same for all variants.
    """
    classes = run.data.classes
    stream = ("subset", dataset.name)
    subset = select.stratified_subset(dataset, run.data.train, run.data.test, stream)
    if classes is not None:
        subset = select.binary(subset, *classes)
    variants = [select.altered(subset, variant) for variant in run.variants]

    def tensor(images: np.ndarray) -> Tensor:
        pixels = _pixels(images, run.data.pool)
        if not run.architecture.channels:
            pixels = pixels.flatten(1)
        return pixels.to(device)

    def targets(labels: np.ndarray) -> Tensor:
        dtype = torch.int64 if classes is None else torch.float32
        return torch.from_numpy(labels).to(device, dtype)

    return Images(
        train_x=torch.cat([tensor(variant.train_images) for variant in variants]),
        train_y=torch.cat([targets(variant.train_labels) for variant in variants]),
        test_x=tensor(subset.test_images),
        test_y=targets(subset.test_labels),
        outputs=len(dataset.class_names) if classes is None else 1,
        variants=run.variants,
    )


def _pixels(images: np.ndarray, pool: int) -> Tensor:
    """Return images (n, C, H, W) in [0, 1], averaged over squares of ``pool`` × ``pool`` pixels."""
    pixels = select.averaged(select.scaled(images), pool)
    return torch.from_numpy(select.channels_first(pixels))


def balanced_images(
    dataset: Dataset,
    *,
    per_class: int | None = None,
    pool: int = 1,
    size: int | None = None,
    test: int | None = None,
    device: str = "cpu",
) -> Images:
    """Take equally many training images of each class, and test images.

    The images of a class are drawn from a random stream that the name of the dataset determines. A
    smaller choice is part of a larger one.

    Args:
        dataset: to choose from.
        per_class: number of training images of each class; None for the size of the smallest class.
        pool: images are averaged over squares of ``pool`` × ``pool`` pixels.
        size: afterwards images are `resized` to ``size`` × ``size`` pixels; None: they are not.
        test: number of test images, with the class shares of the test set; None for all.
        device: where the tensors are stored.

    Raises:
        ConfigError: there are too few images, or ``pool`` does not divide their size.
    """
    dataset = select.stratified_subset(dataset, None, test, ("balanced", dataset.name))
    chosen = _chosen(dataset, per_class)

    def tensor(images: np.ndarray) -> Tensor:
        pixels = _pixels(images, pool)
        if size is not None:
            pixels = resized(pixels, size)
        return pixels.to(device)

    return Images(
        train_x=tensor(dataset.train_images[chosen]),
        train_y=torch.from_numpy(dataset.train_labels[chosen]).to(device),
        test_x=tensor(dataset.test_images),
        test_y=torch.from_numpy(dataset.test_labels).to(device),
        outputs=len(dataset.class_names),
    )


def _chosen(dataset: Dataset, per_class: int | None) -> np.ndarray:
    """Return the indices of the chosen training images, ascending."""
    classes = range(len(dataset.class_names))
    members = [np.flatnonzero(dataset.train_labels == label) for label in classes]
    smallest = min(len(indices) for indices in members)
    count = smallest if per_class is None else per_class
    if not 1 <= count <= smallest:
        raise ConfigError(
            f"per_class = {per_class}: the smallest class of {dataset.title} has {smallest} "
            f"training images; set a number from 1 to {smallest}, or null for {smallest}"
        )
    chosen = []
    for label, indices in enumerate(members):
        stream = np.random.default_rng(seed_for("balanced", dataset.name, label))
        chosen.append(stream.permutation(indices)[:count])
    return np.sort(np.concatenate(chosen))


def resized(images: Tensor, size: int) -> Tensor:
    """Resize images (n, C, H, W) by bilinear interpolation, averaged if they become smaller."""
    return torch.nn.functional.interpolate(images, (size, size), mode="bilinear", antialias=True)


def epoch_batches(by_class: Tensor, per_class: int, words: Sequence[str | int]) -> Tensor:
    """Draw the batches of an epoch: the same number of images of each class in every batch.

    Images of a class that do not fill a batch are left out in this epoch. ``by_class`` are indices
    (classes, images of a class); the result are indices (batches, per_class * classes). In a batch
    the classes take turns: 0, 1, ..., 0, 1, ..., so that the labels are those of `batch_labels`.
    ``words`` name the random stream.
    """
    stream = generator(*words)
    classes, images = by_class.shape
    orders = torch.stack([torch.randperm(images, generator=stream) for _ in range(classes)])
    batches = images // per_class
    shuffled = by_class.gather(1, orders)[:, : batches * per_class]
    return shuffled.T.reshape(batches, per_class * classes)


def batch_labels(classes: int, per_class: int) -> Tensor:
    """Return the labels (per_class * classes,) of every batch of `epoch_batches`, int64."""
    return torch.arange(classes).repeat(per_class)
