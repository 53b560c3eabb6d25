"""Axes of inputs and positions in any order, on one axis or several: right, and without a warning.

Layers act on tensors whose axes (inputs, rows, columns) are permuted and merged at random, such as
(rows, inputs) on one axis or (rows, inputs, columns). Autograd would be right, too, with a warning.
"""

import random
import warnings
from itertools import pairwise
from math import prod

import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from torch import nn

import finitewidth as fw

FEATURES = 3
LAYERS = ("linear", "scale and shift", "quotient", "norm", "bias", "matrix")


class Layer(nn.Module):
    """A layer on the last axis of a tensor whose other axes are permuted and merged."""

    def __init__(self, kind, order, cuts):
        super().__init__()
        self.kind = kind
        self.order = order
        self.cuts = cuts
        self.linear = nn.Linear(FEATURES, FEATURES)
        self.norm = nn.LayerNorm(FEATURES)
        self.scale = nn.Parameter(torch.rand(FEATURES) + 0.5)
        self.shift = nn.Parameter(torch.randn(FEATURES))
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)

    def applied(self, x):
        return {
            "linear": lambda: self.linear(x),
            "scale and shift": lambda: x * self.scale + self.shift,
            "quotient": lambda: x / self.scale - self.shift,
            "norm": lambda: self.norm(x),
            "bias": lambda: x + self.shift,
            "matrix": lambda: x @ self.linear.weight,
        }[self.kind]()

    def forward(self, x):
        permuted = x.permute(*self.order, 3)
        bounds = [0, *self.cuts, 3]
        sizes = [prod(permuted.shape[a:b]) for a, b in pairwise(bounds)]
        merged = permuted.reshape(*sizes, FEATURES)
        after = torch.tanh(self.applied(merged)).reshape(permuted.shape)
        back = [self.order.index(axis) for axis in range(3)]
        return x + after.permute(*back, 3)


class Layouts(nn.Module):
    def __init__(self, layers, positions):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(FEATURES * positions, 2)

    def forward(self, x):
        return self.head(self.layers(x).flatten(1))


def drawn(seed):
    stream = random.Random(seed)
    torch.manual_seed(seed)
    rows = stream.randint(1, 4)
    columns = stream.randint(1, 4)
    layers = []
    for _ in range(stream.randint(1, 3)):
        order = stream.sample(range(3), 3)
        cuts = stream.choice([(), (1,), (2,), (1, 2)])
        layers.append(Layer(stream.choice(LAYERS), order, cuts))
    network = Layouts(layers, rows * columns).double().eval()
    count = stream.choice([2, 3, 5])
    return network, torch.randn(count, rows, columns, FEATURES, dtype=torch.float64)


@pytest.mark.filterwarnings("error:.*do not agree:UserWarning")
@pytest.mark.parametrize("seed", range(40))
def test_layouts(seed):
    network, x = drawn(seed)
    counted = {"parameters": lambda name: not name.startswith("head")}
    expected = jacobian_kernel(network, x, parameters=counted["parameters"])
    found = fw.full_kernel(network, x, **counted)
    assert (found - expected).abs().max() < 1e-11 * expected.abs().max()
    traced = torch.einsum("kikj->ij", expected)
    block = fw.cross_kernel(network, x[:1], x[1:], **counted)
    assert (block - traced[:1, 1:]).abs().max() < 1e-11 * traced.abs().max()


def test_one_input():
    """Copies fill it up. Where they do not tell an order, autograd is asked, with a warning."""
    for seed in range(20):
        network, x = drawn(seed)
        expected = jacobian_kernel(network, x[:1])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*do not agree")
            found = fw.full_kernel(network, x[:1])
        assert (found - expected).abs().max() < 1e-11 * expected.abs().max()
