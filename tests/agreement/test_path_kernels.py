"""Path and gated tangent kernels of stacked networks are those of the networks one by one."""

import itertools

import pytest
import torch

from finitewidth.kernels import gated_ntk
from finitewidth.kernels.npk import npk

SIZES = (4, 6, 5, 3)
SAMPLES = 6


def random_network(sizes, seed, replicas=()):
    generator = torch.Generator().manual_seed(seed)
    normal = {"generator": generator, "dtype": torch.float64}
    pairs = list(itertools.pairwise(sizes))
    weights = [torch.randn(*replicas, a, b, **normal) * (2 / a) ** 0.5 for a, b in pairs]
    biases = [torch.randn(*replicas, b, **normal) for _, b in pairs]
    return weights, biases


def inputs(sizes, replicas=(), seed=99):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*replicas, SAMPLES, sizes[0], generator=generator, dtype=torch.float64)


def agree(found, expected, tolerance=1e-10):
    assert found.dtype == torch.float64
    torch.testing.assert_close(
        found, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max())
    )


def all_kernels(x, feature, value):
    soft = {"beta": 4.0, "eps": 0.1}
    gating = gated_ntk.Gating(**soft)
    gates = gated_ntk.feature_gates(x, *feature, gating)
    hard = gated_ntk.relu_gates(*value, x)
    return [
        gated_ntk.value_kernel(x, *value, gates, with_biases=True),
        gated_ntk.feature_kernel(x, feature, value, gating, with_biases=True),
        gated_ntk.value_kernel(x, *value, hard, with_biases=False),
        gated_ntk.soft_relu_ntk(x, *value, **soft, with_biases=True),
        npk(x, gates),
        npk(x, hard, "trace"),
    ]


@pytest.mark.parametrize("own_inputs", [False, True])
def test_stacked_networks_are_the_networks_one_by_one(own_inputs):
    sizes = SIZES
    replicas = (3,)
    x = inputs(sizes, replicas if own_inputs else ())
    feature = random_network(sizes[:-1], 2, replicas=replicas)
    value = random_network(sizes, 1, replicas=replicas)
    found = all_kernels(x, feature, value)
    for r in range(3):
        alone = ([[t[r] for t in part] for part in network] for network in (feature, value))
        expected = all_kernels(x[r] if own_inputs else x, *alone)
        for stacked, single in zip(found, expected, strict=True):
            agree(stacked[r], single)
