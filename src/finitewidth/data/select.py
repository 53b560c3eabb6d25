"""Subsets, pairs of classes and scalings of a dataset, as pure functions of numpy arrays."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.data.store import Dataset
from finitewidth.records.provenance import seed_for


def stratified_subset(
    dataset: Dataset, train: int | None, test: int | None, seed_words: Sequence[str | int]
) -> Dataset:
    """Take ``train`` and ``test`` images with the class shares of the whole dataset.

    The same seed words give the same images in the same order. A smaller subset is the beginning of
    a larger one. The shares are exact to within one image per class. None takes all images in the
    order of the file.

    Raises:
        ConfigError: a number is below one or larger than the number of images.
    """
    changes = {}
    for split, count in (("train", train), ("test", test)):
        if count is None:
            continue
        images, labels = _split(dataset, split)
        if not 1 <= count <= len(labels):
            raise ConfigError(
                f"{split} = {count}: {dataset.title} has {len(labels)} {split} images; "
                f"set a number from 1 to {len(labels)}, or null for all"
            )
        index = _mixed_order(labels, seed_for(*seed_words, split))[:count]
        changes[f"{split}_images"] = images[index]
        changes[f"{split}_labels"] = labels[index]
    return replace(dataset, **changes)


def _split(dataset: Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the images and labels of a split, "train" or "test"."""
    return getattr(dataset, f"{name}_images"), getattr(dataset, f"{name}_labels")


def _mixed_order(labels: np.ndarray, seed: int) -> np.ndarray:
    """Return an order (n,) of all images; each beginning has the class shares of the whole."""
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(len(labels))
    position = np.empty(len(labels))
    for label in np.unique(labels):
        members = shuffled[labels[shuffled] == label]
        position[members] = (np.arange(len(members)) + 0.5) / len(members)
    # the shuffled order decides between equal positions of different classes
    return shuffled[np.argsort(position[shuffled], kind="stable")]


def binary(dataset: Dataset, negative: int, positive: int) -> Dataset:
    """Keep two classes, given by their indices; labels become float64 -1 and +1.

    Raises:
        ConfigError: a class does not exist or has no image.
    """
    names = dataset.class_names
    for index in (negative, positive):
        train = np.sum(dataset.train_labels == index)
        test = np.sum(dataset.test_labels == index)
        if not 0 <= index < len(names) or not train or not test:
            raise ConfigError(
                f"class {index}: {dataset.title} has {len(names)} classes, and "
                f"{train} training and {test} test images of this one"
            )
    changes: dict[str, Any] = {"class_names": (names[negative], names[positive])}
    for split in ("train", "test"):
        images, labels = _split(dataset, split)
        members = np.flatnonzero((labels == negative) | (labels == positive))
        changes[f"{split}_images"] = images[members]
        changes[f"{split}_labels"] = np.where(labels[members] == positive, 1.0, -1.0)
    return replace(dataset, **changes)


def altered(dataset: Dataset, variant: str) -> Dataset:
    """Return the dataset with random training images or labels; test images do not change.

    The random numbers depend only on the name and the size of the dataset, so all trainings see the
    same random images. The variant ``original`` changes nothing. ``random_labels`` draws each label
    uniformly from those that occur. ``random_pixels`` draws each pixel uniformly from 0 to 255.
    ``permuted_pixels`` permutes the pixels of each image, with a new permutation for each.
    """
    generator = np.random.default_rng(seed_for(variant, dataset.name))
    images = dataset.train_images
    if variant == "random_labels":
        labels = dataset.train_labels
        random_labels = generator.choice(np.unique(labels), len(labels))
        return replace(dataset, train_labels=random_labels)
    if variant == "random_pixels":
        random_images = generator.integers(0, 256, images.shape, np.uint8)
        return replace(dataset, train_images=random_images)
    if variant == "permuted_pixels":
        count, height, width, channels = images.shape
        pixels = height * width
        order = generator.permuted(np.tile(np.arange(pixels), (count, 1)), axis=1)  # (n, pixels)
        flat = images.reshape(count, pixels, channels)
        permuted = np.take_along_axis(flat, order[..., None], axis=1)
        return replace(dataset, train_images=permuted.reshape(images.shape))
    return dataset


def first_per_class(labels: np.ndarray, classes: Sequence[int], per_class: int) -> np.ndarray:
    """Return the indices of the first ``per_class`` images of each of some classes.

    They are int64 (len(classes) * per_class,), grouped by class in the order given, in file order
    within a class. Labels are (n,).

    Raises:
        ConfigError: a class has fewer images.
    """
    groups = []
    for label in classes:
        members = np.flatnonzero(labels == label)
        if len(members) < per_class:
            raise ConfigError(
                f"per_class = {per_class}: class {label} has {len(members)} images "
                f"(classes with images: {np.unique(labels).tolist()}); "
                "lower per_class or raise train"
            )
        groups.append(members[:per_class])
    return np.concatenate(groups).astype(np.int64)


def scaled(images: np.ndarray) -> np.ndarray:
    """Convert pixels from uint8 0..255 to float32 in [0, 1]; the shape (n, H, W, C) stays."""
    return images.astype(np.float32) / np.float32(255)


def averaged(images: np.ndarray, pool: int) -> np.ndarray:
    """Average over squares of ``pool`` × ``pool`` pixels: (n, H, W, C) to (n, H/pool, W/pool, C).

    Raises:
        ConfigError: ``pool`` does not divide both sides.
    """
    count, height, width, channels = images.shape
    if pool < 1 or height % pool or width % pool:
        raise ConfigError(f"pool = {pool} must divide the image size {height}×{width}")
    squares = images.reshape(count, height // pool, pool, width // pool, pool, channels)
    return squares.mean(axis=(2, 4), dtype=images.dtype)


def channels_first(images: np.ndarray) -> np.ndarray:
    """Return (n, H, W, C) as a contiguous array (n, C, H, W)."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))
