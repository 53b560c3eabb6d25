"""Block means and alignments of kernels against loops over pairs, and on kernels known exactly."""

import numpy as np
import pytest
import torch
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
    found = []
    for k in range(3):
        found.append(
            np.array(
                [
                    theta[..., i, j]
                    for i in range(6)
                    for j in range(6)
                    if LABELS[i] == k and wanted(i, j)
                ]
            )
        )
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
    expected = (means.same_class - means.other_class) / means.diagonal
    np.testing.assert_allclose(gap(means), expected)


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
        K = theta[index]
        L = Y @ Y.T
        np.testing.assert_allclose(alignment(theta, LABELS)[index], cosine(K, L))


def centring():
    return np.eye(6) - 1 / 6


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("columns", [(), (1,), (3,)])
def test_alignments_with_real_targets_by_their_matrix_form(columns, centred):
    """Targets of one column are a vector; centring multiplies by I - 1/S from both sides."""
    theta = kernels()
    y = np.random.default_rng(1).normal(size=(6, *columns)) + 1
    Y = y.reshape(6, -1)
    H = centring() if centred else np.eye(6)
    K = H @ theta[1, 2] @ H
    L = H @ Y @ Y.T @ H
    expected = (K * L).sum() / np.sqrt((K**2).sum() * (L**2).sum())
    np.testing.assert_allclose(alignment(theta, y, centred=centred)[1, 2], expected)


@pytest.mark.parametrize("centred", [False, True])
def test_classes_are_integers_booleans_or_names(centred):
    """The same classes as numbers, as names, as tensors and as one-hot rows of any type."""
    theta = kernels()[0, 0]
    expected = alignment(theta, LABELS, centred=centred)
    one_hot = np.eye(3)[LABELS]
    tensor = torch.tensor(LABELS)
    same = [LABELS.tolist(), LABELS.astype("uint8"), LABELS.astype(str), tensor, one_hot]
    same += [one_hot.astype(int), one_hot.astype(bool), torch.nn.functional.one_hot(tensor)]
    for targets in same:
        assert alignment(theta, targets, centred=centred) == pytest.approx(expected, rel=1e-14)
    two = LABELS > 0
    assert alignment(theta, two) == pytest.approx(alignment(theta, two.astype(int)))


def test_whole_numbers_of_a_floating_type_are_real_targets():
    signs = np.array([1.0, -1, -1, 1, 1, 1])
    assert alignment(np.outer(signs, signs), signs) == pytest.approx(1)
    assert alignment(np.outer(signs, signs), signs.astype(int)) < 0.9
    assert alignment(np.outer(LABELS, LABELS), LABELS / 1.0) == pytest.approx(1)


def test_a_centred_alignment_does_not_see_constants():
    theta = kernels()[0, 0]
    y = np.random.default_rng(2).normal(size=6)
    expected = alignment(theta, y, centred=True)
    assert alignment(theta + 5, y + 7, centred=True) == pytest.approx(expected)
    assert alignment(theta + 5, y + 7) != pytest.approx(expected, rel=0.1)


def test_tensors_that_need_gradients_are_taken():
    theta = torch.tensor(kernels()[0, 0], requires_grad=True)
    y = torch.randn(6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    expected = alignment(theta.detach().numpy(), y.detach().numpy())
    assert alignment(theta, y) == expected
    diagonal = block_means(theta, torch.tensor(LABELS)).diagonal
    assert diagonal == pytest.approx(float(theta.detach().diagonal().mean()))


@pytest.mark.parametrize(
    ("function", "kernel", "labels", "word"),
    [
        (block_means, np.eye(3), [0, 1], "shape"),
        (block_means, np.eye(3), [[0, 1, 2]], "shape"),
        (block_means, np.eye(3), [0.5, 0.5, 1], "labels: must be classes"),
        (alignment, np.eye(3), [0, 1], r"their labels have the shape \(2,\)"),
        (alignment, np.eye(2), np.zeros((2, 1, 1)), r"targets: shape \(2, 1, 1\)"),
        (alignment, np.eye(2), 3.0, r"targets: shape \(\)"),
        (alignment, np.zeros((2, 2)), [0, 1], "kernel: it is zero"),
        (alignment, np.eye(2), [0.0, 0.0], "targets: all are zero"),
        (alignment, np.eye(2), [0.0, np.nan], "targets: all must be finite"),
        (alignment, np.eye(2), [["a"], ["b"]], "targets: must be an array of real numbers"),
        (alignment, np.eye(2) * 1j, [0, 1], "kernel: must be an array of real numbers"),
    ],
)
def test_refusals(function, kernel, labels, word):
    with pytest.raises(ConfigError, match=word):
        function(kernel, labels)


@pytest.mark.parametrize(
    ("kernel", "targets", "word"),
    [
        (np.full((3, 3), 0.1), [0, 1, 1], "kernel: it is zero after centring"),
        (np.eye(3), [2, 2, 2], "targets: all are zero after centring"),
        (np.eye(3), [0.1, 0.1, 0.1], "targets: all are zero after centring"),
    ],
)
def test_constants_have_no_centred_alignment(kernel, targets, word):
    with pytest.raises(ConfigError, match=word):
        alignment(kernel, targets, centred=True)
    alignment(kernel, targets)
