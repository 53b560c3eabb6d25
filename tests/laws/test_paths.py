"""Laws of neural paths: NPF Propositions 2.1, 3.1 and 3.3, Lemma 2.1 and their consequences."""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.kernels_by_definition import (
    npk_by_definition,
    overlap_by_definition,
    value_tangent_kernel,
)

from finitewidth.common.errors import ConfigError
from finitewidth.kernels import paths
from finitewidth.kernels.gated_ntk import Gating, feature_kernel, relu_gates, value_kernel
from finitewidth.kernels.npk import SingularKernelError, npk, nu, overlap


@st.composite
def networks(draw, outputs=2):
    """Draw weights, inputs and ReLU gates of a small network with L <= 4 and widths <= 4."""
    widths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    sizes = [draw(st.integers(1, 4)), *widths, draw(st.integers(1, outputs))]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    normal = {"generator": generator, "dtype": torch.float64}
    weights = [torch.randn(a, b, **normal) for a, b in itertools.pairwise(sizes)]
    x = torch.randn(draw(st.integers(1, 5)), sizes[0], **normal)
    return weights, x, relu_gates(weights, None, x)


def relu_ntk(x, weights):
    return value_kernel(x, weights, None, relu_gates(weights, None, x), with_biases=False)


def relu_output(weights, x):
    for weight in weights[:-1]:
        x = torch.relu(x @ weight)
    return x @ weights[-1]


def listed(weights, output=0):
    sizes = (*(weight.shape[-2] for weight in weights), weights[-1].shape[-1])
    return paths.enumerate_paths(sizes, output)


def close(found, wanted, tolerance):
    torch.testing.assert_close(
        found, wanted, rtol=tolerance, atol=tolerance * float(wanted.abs().max())
    )


@settings(max_examples=100, deadline=None)
@given(networks())
def test_the_output_is_features_times_values(network):  # N01
    weights, x, gates = network
    for output in range(weights[-1].shape[1]):
        found = paths.path_output(x, weights, gates, output)
        close(found, relu_output(weights, x)[:, output], 1e-12)


@settings(max_examples=100, deadline=None)
@given(networks())
def test_the_kernel_is_gram_times_shared_paths(network):  # N02
    weights, x, gates = network
    found = listed(weights)
    close(npk(x, gates), npk_by_definition(x, gates, found), 1e-12)
    assert torch.equal(overlap(gates), overlap_by_definition(gates, found))
    for unit in range(x.shape[1]):
        assert torch.equal(overlap(gates), overlap_by_definition(gates, found, unit))


@settings(max_examples=200, deadline=None)
@given(networks(outputs=1))
def test_the_tangent_kernel_is_bounded_by_the_path_kernel(network):  # N03
    weights, x, gates = network
    features = paths.path_features(x, gates, listed(weights))
    values = value_tangent_kernel(weights)
    kernel = relu_ntk(x, weights)
    close(features @ values @ features.mT, kernel, 1e-10)
    least = torch.linalg.eigvalsh(kernel)[0]
    bound = torch.linalg.eigvalsh(npk(x, gates))[0] * torch.linalg.eigvalsh(values)[-1]
    scale = kernel.diagonal().sum() + npk(x, gates).diagonal().sum() * values.diagonal().sum()
    assert least <= bound + 1e-13 * scale


@settings(max_examples=30, deadline=None)
@given(networks(), st.booleans())
def test_hard_gates_pass_no_gradient(network, with_biases):  # N23
    weights, x, _ = network
    features = [weight + 0.1 for weight in weights[:-1]]
    for hidden in ("hard", "soft"):
        kernel = feature_kernel(
            x, (features, None), (weights, None), Gating(hidden=hidden), with_biases=with_biases
        )
        assert torch.equal(kernel, torch.zeros(len(x), len(x), dtype=torch.float64))


@settings(max_examples=30, deadline=None)
@given(networks(), st.randoms(use_true_random=False))
def test_the_order_of_hidden_units_does_not_matter(network, random):
    _, x, gates = network
    shuffled = [gate[:, random.sample(range(gate.shape[1]), gate.shape[1])] for gate in gates]
    assert torch.equal(npk(x, gates), npk(x, shuffled))


@settings(max_examples=30, deadline=None)
@given(networks(), st.sampled_from([0.25, 2.0, 8.0]))
def test_scaling_inputs_scales_the_kernels(network, scale):
    weights, x, gates = network
    assert all(map(torch.equal, relu_gates(weights, None, scale * x), gates))
    close(npk(scale * x, gates), scale**2 * npk(x, gates), 1e-14)
    kernels = [relu_ntk(a * x, weights) for a in (1.0, scale)]
    close(kernels[1], scale**2 * kernels[0], 1e-14)


@settings(max_examples=30, deadline=None)
@given(networks(), st.sampled_from([0.5, 4.0]))
def test_scaling_weights_scales_the_tangent_kernel_and_leaves_the_path_kernel(network, scale):
    weights, x, _ = network
    scaled = [scale * weight for weight in weights]
    factor = scale ** (2 * (len(weights) - 1))
    kernels = [relu_ntk(x, w) for w in (weights, scaled)]
    close(kernels[1], factor * kernels[0], 1e-13)
    assert torch.equal(*(npk(x, relu_gates(w, None, x)) for w in (weights, scaled)))


@settings(max_examples=50, deadline=None)
@given(networks())
def test_the_normalised_kernel_is_the_kernel_over_its_trace(network):
    _, x, gates = network
    kernel = npk(x, gates)
    if kernel.diagonal().sum() == 0:
        with pytest.raises(SingularKernelError, match="dead"):
            npk(x, gates, normalise="trace")
        return
    close(npk(x, gates, normalise="trace"), kernel / kernel.diagonal().sum(), 1e-13)


def toy_gates():
    """Return the three gate patterns of NPF Figure 1: 2 inputs, two hidden layers of 3 units."""
    first = torch.tensor([[1, 1, 0], [1, 0, 1], [0, 1, 0]])
    second = torch.tensor([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    return [first, second]


def test_the_toy_network_shares_its_third_and_twelfth_path():
    gates = toy_gates()
    found = paths.enumerate_paths((2, 3, 3, 1))
    assert len(found) == 18
    activity = paths.path_activity(gates, found)
    shared = (activity[0] * activity[1]).nonzero().flatten() + 1
    assert shared.tolist() == [3, 12]
    assert found[2].tolist() == [0, 0, 2, 0]
    assert overlap(gates).tolist() == [[4, 1, 1], [1, 4, 0], [1, 0, 2]]


def test_wide_deep_networks_do_not_overflow():
    gates = [torch.ones(3, 2000) for _ in range(199)]
    gates[0][2] = 0
    gates[1][1, ::2] = 0
    x = torch.eye(3, dtype=torch.float64) + 1
    kernel = npk(x, gates, normalise="trace")
    # in units of 2000¹⁹⁹: H = [[6, 2.5, 0], [2.5, 3, 0], [0, 0, 0]]
    expected = torch.tensor([[12, 5, 0], [5, 6, 0], [0, 0, 0]]).double() / 18
    torch.testing.assert_close(kernel, expected, rtol=1e-13, atol=0)
    with pytest.raises(ConfigError, match="overflows float64"):
        npk(x, gates)


def test_no_digits_are_lost_at_great_depth():
    generator = torch.Generator().manual_seed(0)
    gates = [(torch.rand(4, 2000, generator=generator) < 0.5).double() for _ in range(199)]
    x = torch.randint(1, 9, (4, 5), generator=generator).double()
    # H_st = <x_s, x_t> times the product over layers of the gates that both inputs open: integers
    H = (x @ x.T).long().numpy().astype(object)
    for gate in gates:
        H = H * (gate @ gate.T).long().numpy()
    trace = sum(H[s, s] for s in range(4))
    expected = torch.empty(4, 4, dtype=torch.float64)
    for s, t in np.ndindex(4, 4):
        expected[s, t] = float(Fraction(int(H[s, t]), int(trace)))
    torch.testing.assert_close(npk(x, gates, "trace"), expected, rtol=3e-13, atol=0)


def test_a_dead_last_layer_leaves_no_path_after_any_number():
    gates = [torch.ones(2, 2000) for _ in range(199)] + [torch.zeros(2, 3)]
    assert not overlap(gates).any()


def test_random_gates_are_normalised_by_two_over_the_width():  # N08
    generator = torch.Generator().manual_seed(8)
    for layers in (1, 3, 5):
        gates = [torch.rand(20, 10, 256, generator=generator) < 0.5 for _ in range(layers)]
        sizes = overlap([gate.double() for gate in gates]).diagonal(dim1=-2, dim2=-1)
        assert abs((sizes * (2 / 256) ** layers).mean() - 1) < 0.15


def test_nu_is_the_sum_over_eigenvectors():
    generator = torch.Generator().manual_seed(1)
    root = torch.randn(2, 6, 8, generator=generator, dtype=torch.float64)
    kernels = root @ root.mT
    y = torch.tensor([1.0, -1, 1, 1, -1, 1])
    answer = nu(y, kernels)
    for r in range(2):
        values, vectors = torch.linalg.eigh(kernels[r] / kernels[r].trace())
        expected = ((vectors.T @ y.double()) ** 2 / values).sum()
        assert math.isclose(answer.nu[r], expected, rel_tol=1e-9)
        assert math.isclose(answer.condition_number[r], values[-1] / values[0], rel_tol=1e-9)
    assert torch.allclose(nu(y, 7e30 * kernels).nu, answer.nu, rtol=1e-9)
    assert (nu(y, kernels, ridge=0.1).nu < answer.nu).all()


def test_a_singular_kernel_is_refused_and_a_ridge_helps():
    kernel = torch.ones(2, 3, 3)
    kernel[1] = torch.eye(3)
    with pytest.raises(SingularKernelError, match="1 of 2 kernels cannot be inverted"):
        nu(torch.ones(3), kernel)
    with pytest.raises(SingularKernelError, match="H cannot be inverted"):
        nu(torch.ones(2), torch.diag(torch.tensor([1.0, 1e-16])))
    with pytest.raises(SingularKernelError, match="trace 0"):
        nu(torch.ones(3), torch.zeros(3, 3))
    answer = nu(torch.ones(3), torch.ones(3, 3), ridge=0.5)
    assert math.isclose(answer.nu, 3 / 1.5, rel_tol=1e-12)
    assert math.isclose(answer.condition_number, 3, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (partial(overlap, []), "gates"),
        (partial(overlap, [torch.ones(3)]), r"gates\[0\]"),
        (partial(overlap, [torch.ones(3, 2), torch.ones(4, 2)]), r"gates\[1\]"),
        (partial(overlap, [-torch.ones(3, 2)]), r"gates\[0\].*negative"),
        (partial(overlap, [torch.ones(2, 3, 2), torch.ones(4, 3, 2)]), "gates.*replica"),
        (partial(npk, torch.ones(4, 2), toy_gates()), "x"),
        (partial(npk, torch.ones(3, 2), toy_gates(), normalise="max"), "normalise"),
        (partial(nu, torch.ones(3), torch.ones(2, 3)), "H"),
        (partial(nu, torch.ones(2), torch.eye(3)), "y"),
        (partial(nu, torch.ones(2), torch.eye(2), ridge=-1.0), "ridge"),
        (partial(nu, torch.ones(2), torch.tensor([[1.0, 2.0], [0.0, 1.0]])), "H.*symmetric"),
        (partial(nu, torch.ones(2), torch.eye(2) / 0), "H"),
    ],
)
def test_impossible_arguments_are_named(call, argument):
    with pytest.raises(ConfigError, match=argument):
        call()
