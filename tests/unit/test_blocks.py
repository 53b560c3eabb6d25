"""Block means and alignments of kernels against loops over pairs, and on kernels known exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finitewidth.common.errors import ConfigError
from finitewidth.measures.blocks import block_means, gap
from finitewidth.measures.blocks import label_alignment as alignment

LABELS = np.array([0, 0, 0, 1, 1, 2])


def kernels(seed=0, leading=(2, 3)):
    J = np.random.default_rng(seed).normal(size=(*leading, 6, 9))
    return J @ np.swapaxes(J, -1, -2)


def by_class(theta, wanted):
    """Entries at the wanted pairs of each class, as ``beyond`` equation 23 averages them."""
    found = [
        np.array(
            [
                theta[..., i, j]
                for i in range(6)
                for j in range(6)
                if LABELS[i] == k and wanted(i, j)
            ]
        )
        for k in range(3)
    ]
    return [entries for entries in found if len(entries)]


def test_means_are_those_of_a_loop_over_pairs():
    """The classes have different sizes; the third has one input and no pair of its own."""
    theta = kernels()
    means = block_means(theta, LABELS)
    diagonal = np.array([theta[..., i, i] for i in range(6)])
    same = by_class(theta, lambda i, j: i != j and LABELS[i] == LABELS[j])
    both = by_class(theta, lambda i, j: LABELS[i] == LABELS[j])
    other = by_class(theta, lambda i, j: LABELS[i] != LABELS[j])
    assert (len(same), len(both), len(other)) == (2, 3, 3)

    def mean(parts):
        return np.mean([part.mean(0) for part in parts], axis=0)

    def spread(parts):
        return np.sqrt(mean([(part - mean(parts)) ** 2 for part in parts]))

    np.testing.assert_allclose(means.diagonal, diagonal.mean(0))
    np.testing.assert_allclose(means.same_class, mean(same))
    np.testing.assert_allclose(means.other_class, mean(other))
    np.testing.assert_allclose(means.same_class_with_diagonal, mean(both))
    np.testing.assert_allclose(means.spread_diagonal, diagonal.std(0))
    np.testing.assert_allclose(means.spread_same, spread(same))
    np.testing.assert_allclose(means.spread_other, spread(other))
    wanted = (means.same_class - means.other_class) / means.diagonal
    np.testing.assert_allclose(gap(means), wanted)


@given(
    values=st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    per_class=st.integers(2, 5),
    classes=st.integers(2, 5),
    seed=st.integers(0, 99),
)
def test_a_block_structured_kernel_gives_its_three_values(values, per_class, classes, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(classes), per_class))
    d, c, n = values
    same = labels[:, None] == labels
    theta = np.where(same, c, n).astype(float)
    np.fill_diagonal(theta, d)
    means = block_means(theta, labels)
    found = (means.diagonal, means.same_class, means.other_class)
    np.testing.assert_allclose(found, (d, c, n), atol=1e-12)
    np.testing.assert_allclose(
        (means.spread_diagonal, means.spread_same, means.spread_other), 0, atol=1e-12
    )
    # with m inputs a class the two definitions differ by (d - c) / m
    np.testing.assert_allclose(
        means.same_class_with_diagonal - means.same_class, (d - c) / per_class, atol=1e-12
    )


def test_missing_pairs_give_nan():
    means = block_means(np.eye(3), [0, 1, 2])
    assert np.isnan(means.same_class)
    assert np.isnan(means.spread_same)
    assert np.isnan(block_means(np.eye(3), [5, 5, 5]).other_class)


def test_alignment_with_the_label_matrix():
    labels = np.repeat(np.arange(4), 3)
    ideal = (labels[:, None] == labels).astype(float)
    assert alignment(ideal, labels) == pytest.approx(1)
    assert alignment(np.ones((12, 12)), labels) == pytest.approx(1 / np.sqrt(4))
    assert alignment(np.eye(12), labels) == pytest.approx(1 / np.sqrt(3))


def test_alignments_by_their_matrix_form():
    theta = kernels()
    Y = np.eye(3)[LABELS]

    def cosine(a, b):
        return np.trace(a @ b) / np.sqrt(np.trace(a @ a) * np.trace(b @ b))

    for index in np.ndindex(2, 3):
        K, L = theta[index], Y @ Y.T
        np.testing.assert_allclose(alignment(theta, LABELS)[index], cosine(K, L))


@pytest.mark.parametrize(
    ("function", "kernel", "labels", "word"),
    [
        (block_means, np.eye(3), [0, 1], "shape"),
        (block_means, np.eye(3), [[0, 1, 2]], "shape"),
        (alignment, np.zeros((2, 2)), [0, 1], "zero"),
    ],
)
def test_refusals(function, kernel, labels, word):
    with pytest.raises(ConfigError, match=word):
        function(kernel, labels)
