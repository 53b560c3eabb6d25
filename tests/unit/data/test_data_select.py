from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.small_datasets import make_dataset

from finitewidth.common.errors import ConfigError
from finitewidth.data.select import (
    averaged,
    binary,
    channels_first,
    first_per_class,
    scaled,
    stratified_subset,
)

WORDS = ("a table", 3, "subset")


def same(one, other):
    return all(
        np.array_equal(getattr(one, key), getattr(other, key))
        for key in ("train_images", "train_labels", "test_images", "test_labels")
    )


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 5), st.integers(0, 9))
def test_subsets_are_nested_stratified_and_repeatable(one, other, classes, seed):
    dataset = make_dataset(train=60, test=60, classes=classes)
    small, large = sorted((one, other))
    words = ("subset", seed)
    first = stratified_subset(dataset, small, small, words)
    second = stratified_subset(dataset, large, large, words)
    assert same(first, stratified_subset(dataset, small, small, words))
    np.testing.assert_array_equal(first.train_images, second.train_images[:small])
    np.testing.assert_array_equal(first.test_labels, second.test_labels[:small])
    shares = np.bincount(first.train_labels, minlength=classes) - small / classes
    assert np.abs(shares).max() <= 1


def test_uneven_classes_keep_their_shares():
    labels = np.repeat(np.arange(3), (70, 20, 10))
    dataset = replace(make_dataset(train=100), train_labels=labels)
    for count in (10, 37, 50, 99):
        part = stratified_subset(dataset, count, None, WORDS)
        expected = np.array([0.7, 0.2, 0.1]) * count
        assert np.abs(np.bincount(part.train_labels, minlength=3) - expected).max() <= 1


def test_images_keep_their_labels_and_none_is_taken_twice():
    dataset = make_dataset(train=50, shape=(3, 3, 2))
    part = stratified_subset(dataset, 40, None, WORDS)
    label_of = {
        image.tobytes(): label
        for image, label in zip(dataset.train_images, dataset.train_labels, strict=True)
    }
    keys = [image.tobytes() for image in part.train_images]
    assert len(set(keys)) == 40
    assert [label_of[key] for key in keys] == part.train_labels.tolist()


def test_none_takes_all_in_file_order(tiny):
    assert same(stratified_subset(tiny, None, None, WORDS), tiny)


def test_other_words_give_other_images():
    dataset = make_dataset(train=60)
    one = stratified_subset(dataset, 20, None, ("seed", 0))
    other = stratified_subset(dataset, 20, None, ("seed", 1))
    assert not same(one, other)


@pytest.mark.parametrize("count", [0, -1, 31])
def test_impossible_sizes_say_what_is_allowed(tiny, count):
    with pytest.raises(ConfigError, match=rf"train = {count}: .*30 train images; .* 1 to 30"):
        stratified_subset(tiny, count, None, WORDS)
    with pytest.raises(ConfigError, match="test = 13"):
        stratified_subset(tiny, None, 13, WORDS)


def test_binary_keeps_two_classes(tiny):
    pair = binary(tiny, 2, 0)
    assert pair.class_names == ("class 2", "class 0")
    assert pair.train_labels.dtype == np.float64
    for split in ("train", "test"):
        labels = getattr(pair, f"{split}_labels")
        before = getattr(tiny, f"{split}_labels")
        kept = before != 1
        np.testing.assert_array_equal(labels, np.where(before[kept] == 0, 1.0, -1.0))
        expected = getattr(tiny, f"{split}_images")[kept]
        np.testing.assert_array_equal(getattr(pair, f"{split}_images"), expected)


def test_a_pair_can_be_cut_down_further(tiny):
    part = stratified_subset(binary(tiny, 0, 1), 10, 4, WORDS)
    assert np.sum(part.train_labels) == np.sum(part.test_labels) == 0


def test_absent_classes_are_refused(tiny):
    with pytest.raises(ConfigError, match="class 3: tiny squares has 3 classes"):
        binary(tiny, 0, 3)
    with pytest.raises(ConfigError, match="1 training and 0 test images"):
        binary(make_dataset(train=3, test=2), 0, 2)


def test_first_of_each_class():
    labels = np.array([1, 0, 2, 1, 0, 1, 2])
    index = first_per_class(labels, [2, 1], 2)
    assert index.tolist() == [2, 6, 0, 3]
    assert index.dtype == np.int64
    with pytest.raises(ConfigError, match="per_class = 3: class 0 has 2 images"):
        first_per_class(labels, [1, 0], 3)
    with pytest.raises(ConfigError, match="class 7 has 0"):
        first_per_class(labels, [7], 1)


def test_scaling_and_layout():
    images = np.arange(256, dtype=np.uint8).reshape(1, 16, 8, 2)
    values = scaled(images)
    assert (values.dtype, values.shape) == (np.float32, images.shape)
    assert (values.min(), values.max()) == (0, 1)
    np.testing.assert_array_equal(np.round(values * 255).astype(np.uint8), images)
    turned = channels_first(images)
    assert turned.shape == (1, 2, 16, 8)
    assert turned.flags.c_contiguous
    assert turned[0, 1, 3, 5] == images[0, 3, 5, 1]


def test_averaged_takes_means_of_squares_and_refuses_other_sides():
    images = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    pooled = averaged(images, 2)
    assert pooled.dtype == np.float32
    assert pooled.shape == (1, 2, 2, 2)
    assert pooled[0, 0, 1, 1] == images[0, :2, 2:, 1].mean()
    assert np.array_equal(averaged(images, 1), images)
    with pytest.raises(ConfigError, match="pool = 3"):
        averaged(images, 3)
