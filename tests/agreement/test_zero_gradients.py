"""Parameters whose gradient is zero by symmetry: what is computed for them is rounding.

A softmax does not see the bias of the keys, and a norm of single channels does not see the bias of
the convolution below. Such a bias counts as zero in every kernel, and no function refuses it.
"""

import numpy as np
import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import finitewidth as fw
from finitewidth.kernels.trained import formed

SEEDS = 8  # of the eigenvalue, whose check is one of its own
FEW = 2  # of the other functions
PRECISIONS = {torch.float64: 1e-11, torch.float32: 1e-4}
SMALL = {"steps": 2, "times": [0, 2], "per_class": 2, "device": "cpu", "progress": False}


@pytest.fixture(autouse=True)
def products(monkeypatch):
    """Products are tested, although the kernels are so small that they would be formed."""
    monkeypatch.setattr(formed, "ROWS", 0)


class Attention(nn.Module):
    """One head with separate projections, as BERT and vision transformers have it."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(4, 4)
        self.key = nn.Linear(4, 4)
        self.value = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def attended(self, q, k, v):
        return scaled_dot_product_attention(q, k, v)

    def forward(self, x):
        return self.head(self.attended(self.query(x), self.key(x), self.value(x)).mean(1))


class Softmax(Attention):
    """The same with the softmax written out."""

    def attended(self, q, k, v):
        return (q @ k.mT / 2).softmax(-1) @ v


class OfTorch(nn.Module):
    """Attention of torch, whose bias of the keys is a part of one parameter."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        several = isinstance(self.inner, nn.MultiheadAttention)
        attended = self.inner(x, x, x, need_weights=False)[0] if several else self.inner(x)
        return self.head(attended.mean(1))


class Number(nn.Module):
    """A parameter that is one number: added to all logits, or a factor of all units."""

    def __init__(self, added):
        super().__init__()
        self.number = nn.Parameter(torch.ones(()))
        self.added = added

    def forward(self, x):
        return x + self.number if self.added else x * self.number


def several_heads():
    return OfTorch(nn.MultiheadAttention(4, 2, batch_first=True))


def encoder():
    layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, batch_first=True)
    return OfTorch(layer)


def shifted():
    return nn.Sequential(nn.Linear(4, 2), Number(added=True), nn.LogSoftmax(-1))


def scaled():
    norm = nn.LayerNorm(6, eps=1e-12, elementwise_affine=False)
    return nn.Sequential(nn.Linear(4, 6), Number(added=False), norm, nn.Tanh(), nn.Linear(6, 2))


def normed(norm):
    return nn.Sequential(nn.Conv2d(2, 3, 3), norm, nn.Tanh(), nn.Flatten(), nn.Linear(12, 2))


# name -> network, shape of one input, name of the parameter that has no effect
CASES = {
    "attention": (Attention, (5, 4), "key.bias"),
    "softmax": (Softmax, (5, 4), "key.bias"),
    "instance norm": (lambda: normed(nn.InstanceNorm2d(3)), (2, 4, 4), "0.bias"),
    "group norm": (lambda: normed(nn.GroupNorm(3, 3)), (2, 4, 4), "0.bias"),
    "layer norm of channels": (lambda: normed(nn.LayerNorm((2, 2))), (2, 4, 4), "0.bias"),
    "shift of logits": (shifted, (4,), "1.number"),
    "scale before a norm": (scaled, (4,), "1.number"),
    "attention of torch": (
        lambda: OfTorch(nn.MultiheadAttention(4, 2, batch_first=True)),
        (5, 4),
        "",
    ),
    "encoder of torch": (encoder, (5, 4), ""),
}
ALONE = [name for name, (*_, parameter) in CASES.items() if parameter]


def drawn(name, dtype, seed, count=5):
    make, shape, _ = CASES[name]
    torch.manual_seed(seed)
    return make().to(dtype).eval(), torch.randn(count, *shape, dtype=dtype)


def by_autograd(network, x):
    """The full kernel in float64 by the definition; the network is in float32 afterwards again."""
    dtype = x.dtype
    expected = jacobian_kernel(network.double(), x.double())
    network.to(dtype)
    return expected


def close(found, expected, tolerance):
    assert found.shape == expected.shape
    assert (found.double() - expected).abs().max() <= tolerance * expected.abs().max()


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", CASES)
def test_eigenvalues(name, dtype):
    for seed in range(SEEDS):
        network, x = drawn(name, dtype, seed, count=2)
        expected = by_autograd(network, x).reshape(4, 4)
        found = fw.largest_eigenvalue(network, x).value
        largest = float(torch.linalg.eigvalsh(expected)[-1])
        assert float(found) == pytest.approx(largest, rel=PRECISIONS[dtype])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", CASES)
def test_kernels(name, dtype):
    tolerance = PRECISIONS[dtype]
    for seed in range(FEW):
        network, x = drawn(name, dtype, seed)
        expected = by_autograd(network, x)
        traced = torch.einsum("kikj->ij", expected)
        close(fw.full_kernel(network, x), expected, tolerance)
        close(fw.traced_kernel(network, x), traced, tolerance)
        close(sum(fw.kernel_terms(network, x).values()), traced, tolerance)
        close(fw.kernel_diagonal(network, x), torch.einsum("kiki->ki", expected), tolerance)
        close(fw.output_norms(network, x), expected.square().sum((1, 3)).sqrt(), tolerance)
        close(fw.cross_kernel(network, x[:2], x[2:]), traced[:2, 2:], tolerance)
        close(fw.tiled_kernel(network, x, tile=2), traced, tolerance)
        over = fw.kernel_over_training(network, x, lambda: None, [0, 1])
        close(over, traced.expand(2, -1, -1), tolerance)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", ALONE)
def test_a_bias_without_effect_alone(name, dtype):
    """Its kernel is zero up to the square of rounding."""
    bias = CASES[name][2]
    for seed in range(FEW):
        network, x = drawn(name, dtype, seed)
        alone = {"parameters": lambda parameter: parameter == bias}
        scale = float(fw.largest_eigenvalue(network, x).value)
        assert float(fw.largest_eigenvalue(network, x, **alone).value) < PRECISIONS[dtype] * scale
        assert float(fw.traced_kernel(network, x, **alone).abs().max()) < PRECISIONS[dtype] * scale


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", CASES)
def test_regressions(name, dtype):
    """The prediction is that of the kernel by autograd."""
    for seed in range(FEW):
        network, x = drawn(name, dtype, seed, count=7)
        expected = torch.einsum("kikj->ij", by_autograd(network, x)) / 2
        y = torch.arange(5, dtype=torch.float64)[:, None]
        regression = fw.KernelRegression(network, ridge=1.0).fit(x[:5], y)
        known = torch.linalg.solve(expected[:5, :5] + torch.eye(5), y)
        close(regression.predict(x[5:]), expected[5:, :5] @ known, 10 * PRECISIONS[dtype])


@pytest.mark.parametrize("name", CASES)
def test_studies(name):
    """At step 0, the eigenvalue of the table is that of autograd."""
    make, shape, _ = CASES[name]
    labels = np.arange(8) % 2
    for seed in range(FEW):
        torch.manual_seed(seed)
        x = torch.randn(8, *shape)
        network = make()
        tables = fw.study(network, (x, labels), seed=seed, **SMALL).tables
        order = np.r_[np.flatnonzero(labels == 0)[:2], np.flatnonzero(labels == 1)[:2]]
        expected = by_autograd(network, x[order]).reshape(8, 8)
        largest = float(torch.linalg.eigvalsh(expected)[-1])
        assert tables["training"]["eigenvalue"][0] == pytest.approx(largest / 4, rel=1e-4)


def test_networks_that_mix_inputs_are_still_refused():
    """Outputs agree, gradients do not: a sum over the batch that is subtracted again."""

    class Mixing(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 2)

        def forward(self, x):
            outputs = self.inner(x)
            total = outputs.sum(0)
            return outputs + 1e-3 * (total - total.detach())

    torch.manual_seed(0)
    with pytest.raises(fw.ConfigError, match=r"inner\.weight, inner\.bias do not add up"):
        fw.largest_eigenvalue(Mixing().double(), torch.randn(4, 3, dtype=torch.float64))
