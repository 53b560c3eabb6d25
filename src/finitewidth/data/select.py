"""Subsets, pairs of classes and scalings of a dataset: pure functions, numpy only."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.common.provenance import seed_for
from finitewidth.data.store import Dataset

VARIANTS = ("original", "random_labels", "random_pixels", "permuted_pixels")


def stratified_subset(
    dataset: Dataset, train: int | None, test: int | None, seed_words: Sequence[str | int]
) -> Dataset:
    """Take ``train`` and ``test`` images with the class shares of the whole; None takes all.

    The same words give the same images in the same order, and a smaller subset is the beginning
    of a larger one. Shares are exact to within one image per class. None keeps the file's order.

    Raises:
        ConfigError: fewer than one or more images than there are.
    """
    chosen = {}
    for split, count in (("train", train), ("test", test)):
        labels = getattr(dataset, f"{split}_labels")
        if count is None:
            continue
        if not 1 <= count <= len(labels):
            raise ConfigError(
                f"{split} = {count}: {dataset.title} has {len(labels)} {split} images, "
                f"allowed are 1 to {len(labels)} or null for all"
            )
        index = _mixed_order(labels, seed_for(*seed_words, split))[:count]
        chosen[f"{split}_images"] = getattr(dataset, f"{split}_images")[index]
        chosen[f"{split}_labels"] = labels[index]
    return replace(dataset, **chosen)


def _mixed_order(labels: np.ndarray, seed: int) -> np.ndarray:
    """An order (n,) of all images of which every beginning has the class shares of the whole."""
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(len(labels))
    position = np.empty(len(labels))
    for label in np.unique(labels):
        members = shuffled[labels[shuffled] == label]
        position[members] = (np.arange(len(members)) + 0.5) / len(members)
    # equal positions in different classes: the shuffled order decides
    return shuffled[np.argsort(position[shuffled], kind="stable")]


def binary(dataset: Dataset, negative: int | str, positive: int | str) -> Dataset:
    """Keep two classes, given by index or name; labels become float64 -1 and +1.

    ``class_names`` becomes (negative, positive); the result is for computing, not for a file.

    Raises:
        ConfigError: a class is absent, or both are the same.
    """
    low, high = (
        _class_index(dataset, "negative", negative),
        _class_index(dataset, "positive", positive),
    )
    if low == high:
        raise ConfigError(f"positive = {positive!r} is the negative class too; choose two classes")
    fields = {"class_names": (dataset.class_names[low], dataset.class_names[high])}
    for split in ("train", "test"):
        labels = getattr(dataset, f"{split}_labels")
        kept = np.flatnonzero((labels == low) | (labels == high))
        fields[f"{split}_images"] = getattr(dataset, f"{split}_images")[kept]
        fields[f"{split}_labels"] = np.where(labels[kept] == high, 1.0, -1.0)
    return replace(dataset, **fields)


def _class_index(dataset: Dataset, key: str, wanted: int | str) -> int:
    names = dataset.class_names
    index = names.index(wanted) if wanted in names else wanted
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(names):
        allowed = ", ".join(f"{i} ({name})" for i, name in enumerate(names))
        raise ConfigError(f"{key} = {wanted!r} is no class of {dataset.title}: {allowed}")
    for split in ("train", "test"):
        if not np.any(getattr(dataset, f"{split}_labels") == index):
            raise ConfigError(f"{key} = {wanted!r}: {dataset.title} has no {split} image of it")
    return index


def altered(dataset: Dataset, variant: str) -> Dataset:
    """The dataset with its training images or labels made random; test images stay.

    ``random_labels`` draws each label uniformly from those that occur; ``random_pixels`` draws
    each pixel uniformly from 0 to 255; ``permuted_pixels`` moves the pixels of each image by a
    permutation of its own. ``original`` changes nothing. A function of the dataset's name and
    size: every training sees the same random images.

    Raises:
        ConfigError: no such variant.
    """
    if variant not in VARIANTS:
        raise ConfigError(f"variant: {variant!r} is unknown; allowed are {', '.join(VARIANTS)}")
    generator = np.random.default_rng(seed_for(variant, dataset.name))
    images, labels = dataset.train_images, dataset.train_labels
    if variant == "random_labels":
        return replace(dataset, train_labels=generator.choice(np.unique(labels), len(labels)))
    if variant == "random_pixels":
        pixels = generator.integers(0, 256, images.shape, np.uint8)
        return replace(dataset, train_images=pixels)
    if variant == "permuted_pixels":
        count, height, width, channels = images.shape
        places = generator.permuted(np.tile(np.arange(height * width), (count, 1)), axis=1)
        flat = images.reshape(count, height * width, channels)
        moved = np.take_along_axis(flat, places[..., None], axis=1)
        return replace(dataset, train_images=moved.reshape(images.shape))
    return dataset


def first_per_class(labels: np.ndarray, classes: Sequence[int], per_class: int) -> np.ndarray:
    """Indices int64 (len(classes) * per_class,) of the first images of each class.

    Grouped by class in the order of ``classes``, file order within a class.

    Raises:
        ConfigError: a class has fewer images than ``per_class``, or that is below one.
    """
    if per_class < 1 or len(set(classes)) < len(classes) or not len(classes):
        raise ConfigError(
            f"per_class = {per_class}, classes = {list(classes)}: "
            "at least one image of at least one class is needed, and no class twice"
        )
    groups = []
    for label in classes:
        members = np.flatnonzero(labels == label)
        if len(members) < per_class:
            raise ConfigError(
                f"per_class = {per_class}: class {label} has {len(members)} images "
                f"(classes with images: {np.unique(labels).tolist()})"
            )
        groups.append(members[:per_class])
    return np.concatenate(groups).astype(np.int64)


def scaled(images: np.ndarray) -> np.ndarray:
    """Pixels uint8 0..255 as float32 in [0, 1]; shape (n, H, W, C) stays."""
    return images.astype(np.float32) / np.float32(255)


def averaged(images: np.ndarray, pool: int) -> np.ndarray:
    """Means over squares of ``pool`` × ``pool`` pixels: (n, H, W, C) to (n, H/pool, W/pool, C).

    Raises:
        ConfigError: ``pool`` does not divide both sides.
    """
    count, height, width, channels = images.shape
    if pool < 1 or height % pool or width % pool:
        raise ConfigError(f"pool = {pool} must divide the sides of images of {height}×{width}")
    squares = images.reshape(count, height // pool, pool, width // pool, pool, channels)
    return squares.mean(axis=(2, 4), dtype=images.dtype)


def channels_first(images: np.ndarray) -> np.ndarray:
    """(n, H, W, C) as contiguous (n, C, H, W)."""
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2))
