"""Kernels in the limit of infinite width of networks of several inputs, tokens and sequences."""

import pytest
import torch
from tests.helpers.random_architectures import least_budget
from torch import nn
from torch.nn.functional import one_hot

import finitewidth as fw
from finitewidth.common.errors import ConfigError

WORDS = 5
TOKENS = torch.tensor([[1, 2, 3, 1], [0, 4, 4, 2], [3, 1, 0, 0], [1, 2, 3, 1]])
EXACT = {"rtol": 1e-13, "atol": 1e-13}


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


class Branches(nn.Module):
    """Two arguments, whose branches are summed or concatenated."""

    def __init__(self, joins):
        super().__init__()
        self.joins = joins
        self.first = nn.Linear(3, 6)
        self.second = nn.Linear(2, 6)
        self.head = nn.Linear(12 if joins else 6, 1)

    def forward(self, left, right):
        left = self.first(left)
        right = self.second(right)
        if self.joins:
            return self.head(torch.cat([torch.relu(left), torch.sin(right)], dim=1))
        return self.head(torch.relu(left + right))


class Branch(nn.Module):
    """One branch alone."""

    def __init__(self, inputs, activation):
        super().__init__()
        self.first = nn.Linear(inputs, 6)
        self.head = nn.Linear(6, 1)
        self.activation = activation

    def forward(self, x):
        return self.head(self.activation(self.first(x)))


@pytest.mark.parametrize("kind", ["ntk", "nngp"])
def test_a_sum_of_branches_is_a_layer_that_reads_all_inputs(kind):
    left = normal(4, 3)
    right = normal(4, 2, seed=1)
    by_name = {"first": 0.6 * 1.7, "second": 0.4 * 1.7, "head": 1.3}
    found = fw.wide_kernel(Branches(False), (left, right), sigma_w2=by_name, kind=kind)
    whole = torch.cat([left, right], dim=1)
    by_name = {"first": 1.7, "head": 1.3}
    expected = fw.wide_kernel(Branch(5, torch.relu), whole, sigma_w2=by_name, kind=kind)
    torch.testing.assert_close(found, expected, **EXACT)


@pytest.mark.parametrize("kind", ["ntk", "nngp"])
def test_joined_branches_have_the_mean_of_their_kernels(kind):
    left = normal(4, 3)
    right = normal(4, 2, seed=1)
    found = fw.wide_kernel(Branches(True), (left, right), sigma_w2=1.7, kind=kind)
    one = fw.wide_kernel(Branch(3, torch.relu), left, sigma_w2=1.7, kind=kind)
    two = fw.wide_kernel(Branch(2, torch.sin), right, sigma_w2=1.7, kind=kind)
    torch.testing.assert_close(found, (one + two) / 2, **EXACT)


def test_arguments_are_passed_by_position_or_by_name():
    left = normal(4, 3)
    right = normal(4, 2, seed=1)
    network = Branches(True)
    whole = fw.wide_kernel(network, (left, right), sigma_w2=1.7)
    named = {"right": right.numpy(), "left": left}
    torch.testing.assert_close(fw.wide_kernel(network, named, sigma_w2=1.7), whole, **EXACT)
    some = {"right": right[:2].numpy(), "left": left[:2]}
    least = least_budget(network, named, some, sigma_w2=1.7)
    block = fw.wide_kernel(network, named, some, sigma_w2=1.7, budget=least)
    torch.testing.assert_close(block, whole[:, :2], **EXACT)


BRANCHES = Branches(True)
WRONG = {
    r"x: it is 1 tensor\(s\), but the network takes left, right": ((normal(4, 3),), None),
    "x: it has left, middle, but the network takes left, right": (
        {"left": normal(4, 3), "middle": normal(4, 2)},
        None,
    ),
    "x.1.: 3 rows must be 4, as x.0. has": ((normal(4, 3), normal(3, 2)), None),
    r"other: inputs of shape \(5,\) must be \(2,\), as x": (
        (normal(4, 3), normal(4, 2)),
        (normal(4, 3), normal(4, 5)),
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_other_arguments_are_refused(words):
    x, other = WRONG[words]
    with pytest.raises(ConfigError, match=words):
        fw.wide_kernel(BRANCHES, x, other, sigma_w2=2.0)


class Sequences(nn.Module):
    """Convolutions over time (N, C, T), or linear layers (N, T, C), after a first layer."""

    def __init__(self, first, over_time):
        super().__init__()
        self.first = first
        self.over_time = over_time
        self.inner = nn.Conv1d(6, 6, 1) if over_time else nn.Linear(6, 6)
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        h = self.first(x)
        h = h.transpose(1, 2) if self.over_time else h
        h = torch.relu(self.inner(torch.relu(h)))
        return self.head(h.mean(2 if self.over_time else 1))


@pytest.mark.parametrize("parametrisation", ["ntk", "standard"])
@pytest.mark.parametrize("over_time", [False, True])
def test_an_embedding_is_a_linear_layer_of_one_hot_inputs(over_time, parametrisation):
    options = {"sigma_b2": 0.0, "parametrisation": parametrisation}
    by_name = {"first": 1.7, "inner": 1.2, "head": 0.9}
    table = Sequences(nn.Embedding(WORDS, 6), over_time)
    found = fw.wide_kernel(table, TOKENS, sigma_w2=by_name, **options)
    linear = Sequences(nn.Linear(WORDS, 6, bias=False), over_time)
    by_name["first"] *= WORDS  # its fan-in
    expected = fw.wide_kernel(linear, one_hot(TOKENS), sigma_w2=by_name, **options)
    torch.testing.assert_close(found, expected, **EXACT)
    block = fw.wide_kernel(
        linear, one_hot(TOKENS), one_hot(TOKENS)[:2], sigma_w2=by_name, **options
    )
    torch.testing.assert_close(block, expected[:, :2], **EXACT)


def test_both_layouts_of_a_sequence_have_one_kernel():
    x = normal(3, 4, 5)
    kernels = [
        fw.wide_kernel(Sequences(nn.Linear(5, 6), over_time), x, sigma_w2=1.7, sigma_b2=0.2)
        for over_time in (False, True)
    ]
    torch.testing.assert_close(*kernels, **EXACT)


@pytest.mark.parametrize("mode", ["mean", "sum"])
@pytest.mark.parametrize("padding", [None, 0])
def test_a_bag_is_the_mean_or_sum_of_its_vectors(mode, padding):
    bag = nn.EmbeddingBag(WORDS, 6, mode=mode, padding_idx=padding)
    found = fw.wide_kernel(bag, TOKENS, sigma_w2=1.7)
    kept = TOKENS.ne(-1 if padding is None else padding)
    for i, one in enumerate(TOKENS):
        for j, two in enumerate(TOKENS):
            equal = (one[kept[i]][:, None] == two[kept[j]]).double()
            expected = 1.7 * (equal.mean() if mode == "mean" else equal.sum())
            assert found[i, j] == pytest.approx(float(expected), rel=1e-13)


def test_tables_have_the_variance_of_torch_and_no_vector_of_padding():
    table = nn.Embedding(WORDS, 6, padding_idx=4)
    kernel = fw.wide_kernel(table, [0, 0, 2, 4], sigma_w2="torch", sigma_b2="torch")
    expected = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    assert torch.equal(kernel, expected.double())
    # torch draws numbers of variance 1: 4,000 of them have a mean square within 5 errors of it
    torch.manual_seed(0)
    drawn = nn.Embedding(40, 100).weight.detach()
    assert drawn.square().mean() == pytest.approx(1, abs=5 * (2 / drawn.numel()) ** 0.5)


class Constant(nn.Module):
    """A layer that acts on a number, and not on the inputs."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Linear(1, 5)
        self.head = nn.Linear(5, 1)

    def forward(self, x):
        return self.head(x + self.shift(torch.ones(1)))


REFUSED = {
    r"'0' \(Embedding\) reads tokens, which must be inputs of integers": (
        nn.Sequential(nn.Embedding(WORDS, 6), nn.Flatten(), nn.Linear(24, 1)),
        TOKENS.double(),
    ),
    r"'0' \(EmbeddingBag\) must be the mean or sum": (
        nn.EmbeddingBag(WORDS, 6, mode="max"),
        TOKENS,
    ),
    r"'0' \(Embedding\) has max_norm": (nn.Embedding(WORDS, 6, max_norm=1.0), TOKENS[:, 0]),
    "module 'shift' does not act on the inputs": (Constant(), normal(4, 5)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_has_no_limit_is_refused_by_name(words):
    network, x = REFUSED[words]
    with pytest.raises(ConfigError, match=words):
        fw.wide_kernel(network, x, sigma_w2=2.0)
