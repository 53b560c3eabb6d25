"""Kernels beyond the range of a type: what comes out is right, or refused in one line.

Networks multiply their inputs, hidden units and outputs by numbers from 1e-35 to 1e25 in float32
and bfloat16, and by their eighth powers in float64. The reference is computed in float64.
"""

import copy
import re

import numpy as np
import pytest
import torch
from tests.helpers.kernels_by_jacobian import jacobian_kernel
from torch import nn

import finitewidth as fw

# relative errors, of which those of bfloat16 are 25 times its rounding unit
PRECISIONS = {torch.float32: 1e-4, torch.bfloat16: 0.2, torch.float64: 1e-6}
# factors of inputs, hidden units and outputs
FACTORS = [
    *((1, 1, power) for power in (2e9, 1e15, 1e18, 1e25, 1e-10, 1e-15, 1e-18, 1e-25, 1e-35)),
    *((1e-20, 1, power) for power in (1, 1e10)),
    (1e-30, 1, 1e20),
    (1, 1e-18, 1),
    (1, 1e18, 1e-18),
    (1, 1e-18, 1e18),
]
REFUSED = "products of its gradients are too (small|large)"
EXTREMES = [10.0**power for power in (-305, -200, -110, -90, 90, 110, 200, 300)]


class Scaled(nn.Module):
    def __init__(self, body, width, factors):
        super().__init__()
        self.body = body
        self.head = nn.Linear(width, 2, bias=False)
        self.before, self.between, self.after = factors

    def forward(self, x):
        return self.head(self.body(x * self.before) * self.between) * self.after


def dense(factors):
    return Scaled(nn.Linear(4, 6, bias=False), 6, factors), torch.randn(3, 4)


def convolutional(factors):
    body = nn.Sequential(nn.Conv2d(2, 3, 2, bias=False), nn.Flatten())
    return Scaled(body, 12, factors), torch.randn(3, 2, 3, 3)


def right_or_refused(function, network, x):
    """Return a result in float64, or None where it is refused for its range."""
    try:
        return function(network, x).double()
    except fw.ConfigError as error:
        if not re.search(REFUSED, str(error)):
            raise
        return None


def largest(network, x):
    return fw.largest_eigenvalue(network, x).value


def eigenvalue_of(theta):
    flat = theta.reshape(6, 6)
    size = flat.abs().max()
    return torch.linalg.eigvalsh(flat / size)[-1] * size


def sum_of_terms(network, x):
    return sum(fw.kernel_terms(network, x).values())


def cross(network, x):
    return fw.cross_kernel(network, x[:1], x[1:])


def unchanged(theta):
    return theta


def trace_of(theta):
    return torch.einsum("kikj->ij", theta)


def diagonal_of(theta):
    return torch.einsum("kiki->ki", theta)


def norms_of(theta):
    size = theta.abs().max()  # whose square may overflow
    return torch.linalg.vector_norm(theta / size, dim=(1, 3)) * size


def cross_of(theta):
    return trace_of(theta)[:1, 1:]


# name -> function of a network and its inputs, and the same of the full kernel
RESULTS = {
    "full": (fw.full_kernel, unchanged),
    "traced": (fw.traced_kernel, trace_of),
    "terms": (sum_of_terms, trace_of),
    "diagonal": (fw.kernel_diagonal, diagonal_of),
    "norms": (fw.output_norms, norms_of),
    "cross": (cross, cross_of),
    "eigenvalue": (largest, eigenvalue_of),
}


@pytest.mark.parametrize("factors", FACTORS, ids=str)
@pytest.mark.parametrize("make", [dense, convolutional])
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_kernels_are_right_or_refused(dtype, make, factors):
    if dtype == torch.float64:
        factors = [float(factor) ** 8 for factor in factors]
    torch.manual_seed(0)
    network, x = make(factors)
    network = network.to(dtype)
    x = x.to(dtype)
    theta = jacobian_kernel(copy.deepcopy(network).double(), x.double())
    for name, (function, of_kernel) in RESULTS.items():
        found = right_or_refused(function, network, x)
        if found is None:
            continue
        expected = of_kernel(theta)
        assert torch.isfinite(expected).all(), name
        assert expected.any(), name
        assert (found - expected).abs().max() <= PRECISIONS[dtype] * expected.abs().max(), name


@pytest.mark.parametrize("size", [1e-10, 1, 2e9, 1e15])
def test_usual_sizes_are_not_refused(size):
    """Among them outputs of 2e9 in float32, whose eigenvalue has squares beyond the range."""
    network, x = dense((1, 1, size))
    theta = jacobian_kernel(copy.deepcopy(network).double(), x.double())
    for name, (function, of_kernel) in RESULTS.items():
        expected = of_kernel(theta)
        found = function(network, x).double()
        assert (found - expected).abs().max() <= 1e-4 * expected.abs().max(), name
    assert fw.largest_eigenvalue(network, x).residual < 1e-5


def test_the_remedy_helps():
    network, x = dense((1, 1, 1e-25))
    with pytest.raises(fw.ConfigError, match=f"{REFUSED} for float32.*convert .* to float64"):
        fw.traced_kernel(network, x)
    found = fw.traced_kernel(network.double(), x.double())
    assert torch.allclose(found, torch.einsum("kikj->ij", jacobian_kernel(network, x.double())))
    network, x = dense((1, 1, 1e200))
    network = network.double()
    x = x.double()
    with pytest.raises(fw.ConfigError, match=f"{REFUSED} for float64.*of=lambda x: network"):
        fw.traced_kernel(network, x)
    found = fw.traced_kernel(network, x, of=lambda x: network(x) * 1e-200)
    assert 0 < found.max() < 1e4


@pytest.mark.parametrize("size", [1e-250, 1e-100, 1e150, 1e250])
def test_networks_in_closed_form(size):
    """A Sequential of float64 is computed in closed form, or refused as others are."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    with torch.no_grad():
        network[2].weight.mul_(size)
    for function, _ in RESULTS.values():
        found = right_or_refused(function, network, x)
        if found is not None:
            assert torch.isfinite(found).all()
            assert found.any()


@pytest.mark.parametrize("size", [1e-200, 1e-20, 1e20, 1e200])
def test_eigenvalues_of_stacks(size):
    """A stack whose output layer is multiplied by the root of a number."""
    weights = [torch.full((1, 1), c, dtype=torch.float64) for c in (1.0, size**0.5)]
    stack = fw.FullyConnected(weights, biases=None, activation=torch.tanh)
    x = torch.tensor([[0.5], [-0.25]], dtype=torch.float64)
    theta = fw.full_kernel(stack, x).reshape(2, 2)
    expected = torch.linalg.eigvalsh(theta / theta.max())[-1] * theta.max()
    found = fw.largest_eigenvalue(stack, x)
    assert float(found.value / expected) == pytest.approx(1, rel=1e-6)
    assert found.residual < 1e-6


@pytest.mark.parametrize("start", [torch.zeros(3, 2), torch.full((3, 2), torch.nan)])
def test_a_start_without_direction_is_refused(start):
    network, x = dense((1, 1, 1))
    with pytest.raises(fw.ConfigError, match="start: it must hold finite numbers"):
        fw.largest_eigenvalue(network, x, start=start)
    expected = fw.largest_eigenvalue(network, x).value
    for size in (1e-30, 1e30):
        found = fw.largest_eigenvalue(network, x, start=torch.full((3, 2), size)).value
        assert float(found) == pytest.approx(float(expected), rel=1e-5)


def kernel_and_targets():
    stream = np.random.default_rng(0)
    features = stream.normal(size=(6, 8))
    return features @ features.T, [0, 0, 1, 1, 2, 2], stream.normal(size=6)


@pytest.mark.parametrize("size", EXTREMES)
def test_alignment_and_means_of_extreme_kernels(size):
    kernel, labels, _ = kernel_and_targets()
    alignment = fw.label_alignment(kernel, labels)
    assert fw.label_alignment(kernel * size, labels) == pytest.approx(alignment, rel=1e-14)
    found = fw.block_means(kernel * size, labels)
    expected = fw.block_means(kernel, labels)
    for name, value in vars(expected).items():
        assert getattr(found, name) / size == pytest.approx(float(value), rel=1e-13), name


@pytest.mark.parametrize("size", EXTREMES)
def test_regression_with_extreme_kernels(size):
    kernel, _, y = kernel_and_targets()

    def predicted(kernel):
        regression = fw.KernelRegression(kind="precomputed")
        return regression.fit(kernel[:4, :4], y[:4]).predict(kernel[4:, :4])

    assert predicted(kernel * size) == pytest.approx(predicted(kernel), rel=1e-12)


def test_regression_beyond_the_range_is_refused():
    kernel, _, y = kernel_and_targets()
    with pytest.raises(fw.ConfigError, match="coefficients: some are not finite"):
        fw.KernelRegression(kind="precomputed").fit(kernel * 1e-300, y * 1e30)
    regression = fw.KernelRegression(kind="precomputed").fit(kernel, y * 1e300)
    with pytest.raises(fw.ConfigError, match="predictions: some are not finite"):
        regression.predict(kernel * 1e300)
