"""Training images and labels made random: what changes, what stays, and that it repeats."""

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.small_datasets import make_dataset

from finitewidth.data.select import altered, binary


@pytest.fixture
def dataset():
    rng = np.random.default_rng(5)
    made = make_dataset(train=400, test=40, classes=4, shape=(4, 4, 2))
    return replace(made, train_images=rng.integers(0, 256, made.train_images.shape, np.uint8))


@pytest.mark.parametrize(
    "variant", ["original", "random_labels", "random_pixels", "permuted_pixels"]
)
def test_a_variant_is_the_same_every_time_and_of_the_same_kind(dataset, variant):
    one = altered(dataset, variant)
    two = altered(dataset, variant)
    for name in ("train_images", "train_labels", "test_images", "test_labels"):
        first = getattr(one, name)
        second = getattr(two, name)
        before = getattr(dataset, name)
        np.testing.assert_array_equal(first, second)
        assert (first.shape, first.dtype) == (before.shape, before.dtype)
        if name.startswith("test"):
            np.testing.assert_array_equal(first, before)


def test_random_labels_are_uniform_and_know_nothing_of_the_images(dataset):
    """Of 400 labels of 4 classes, 100 agree by chance, standard deviation 8.7: within 5 of them."""
    made = altered(dataset, "random_labels")
    np.testing.assert_array_equal(made.train_images, dataset.train_images)
    assert abs((made.train_labels == dataset.train_labels).sum() - 100) < 44
    assert np.abs(np.bincount(made.train_labels, minlength=4) - 100).max() < 44


def test_random_labels_of_two_classes_are_plus_and_minus_one(dataset):
    labels = altered(binary(dataset, 1, 3), "random_labels").train_labels
    assert labels.dtype == np.float64
    assert set(labels) == {-1.0, 1.0}


def test_random_pixels_are_uniform_and_labels_stay(dataset):
    """Mean of a uniform byte 127.5, standard deviation 73.9: within 5 standard errors."""
    made = altered(dataset, "random_pixels")
    np.testing.assert_array_equal(made.train_labels, dataset.train_labels)
    pixels = made.train_images.astype(float)
    assert abs(pixels.mean() - 127.5) < 5 * 73.9 / np.sqrt(pixels.size)
    correlation = np.corrcoef(pixels.ravel(), dataset.train_images.ravel())[0, 1]
    assert abs(correlation) < 5 / np.sqrt(pixels.size)


def test_permuted_pixels_keep_each_image_as_a_bag_of_pixels_and_their_colours_together(dataset):
    made = altered(dataset, "permuted_pixels")
    channels = dataset.shape[2]
    moved = 0
    for before, after in zip(dataset.train_images, made.train_images, strict=True):
        old = before.reshape(-1, channels)
        new = after.reshape(-1, channels)
        assert sorted(map(tuple, old)) == sorted(map(tuple, new))
        moved += not np.array_equal(old, new)
    assert moved == 400
    places = [np.argsort(image.ravel(), kind="stable") for image in made.train_images[:2]]
    assert not np.array_equal(*places)  # each image has a permutation of its own
