"""The samplers have the laws and moments of networks that are drawn in full."""

import numpy as np
import pytest
import torch
from ntk_two_sample import assert_same_law, assert_same_mean, p_values

from finitewidth.kernels.ntk_init.brute_force import drawn_network, sample_by_brute_force
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.draws import joined
from finitewidth.kernels.ntk_init.given_network import (
    tangent_kernel,
    tangent_kernel_by_definition,
)
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.matrix_sampler import sample_kernels
from finitewidth.kernels.ntk_init.normals import Normals
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain
from finitewidth.kernels.ntk_init.vector_sampler import sample_vectors

DRAWS = 8000
NORM2 = 1.69
PHASES = {"ordered": 1.2, "critical": 2.0, "chaotic": 3.0}


def network(widths, sigma_w2, sigma_b2=0.0, **others):
    return Initialisation(widths=widths, sigma_w2=sigma_w2, sigma_b2=sigma_b2, **others)


RELU_NETWORKS = [
    network((5, 4, 8, 6, 5), 2.1),
    network((5, 4, 8, 6, 5), 1.5, 0.7),
    network((3, 1, 2, 1), 2.5),  # a dead layer in most draws
    network((3, 1, 2, 1), 2.5, 0.3),
    network((4,), 2.0, 0.5),
    network((4, 3), 1.0),
    network((2, 40, 3, 17), 2.2, 0.1, parametrisation="ntk"),
    *(
        constant_width(9, 6, sigma_w2=s, sigma_b2=b, input_width=11)
        for s in PHASES.values()
        for b in (0.0, 1.0)
    ),
]
SMOOTH = [
    (activation, network(widths, s, b))
    for activation in ("tanh", "erf", torch.nn.functional.softplus)
    for widths, s, b in [((4, 6, 3, 7), 3.5, 0.0), ((7, 5, 5, 5, 5), 1.0, 0.5)]
]


def one_input(init, norm2=NORM2):
    x = np.zeros((1, init.widths[0]))
    x[0, 0] = norm2**0.5
    return x


def brute(init, activation, draws=DRAWS):
    return sample_by_brute_force(init, one_input(init), draws, 1, activation=activation)


def single_input_statistics(fast, slow):
    def statistics(draws):
        w, b, f = (np.ravel(part) for part in (draws.theta_w, draws.theta_b, draws.output))
        return {"W": w, "b": b, "f": f, "W+b": w + b, "W f^2": w * f * f, "W/b": w / (b + 1e-300)}

    left, right = statistics(fast), statistics(slow)
    return {name: (left[name], right[name]) for name in left}


def assert_same_moments(fast, slow):
    """Compare the first two moments of log(1 + Theta); those of Theta have too large errors."""
    for part in ("theta_w", "theta_b"):
        left, right = (np.log1p(np.ravel(getattr(draws, part))) for draws in (fast, slow))
        assert_same_mean(left, right)
        assert_same_mean(left**2, right**2)


@pytest.mark.parametrize("init", RELU_NETWORKS, ids=range(len(RELU_NETWORKS)))
def test_relu_samplers_draw_the_law_of_networks_drawn_in_full(init):
    slow = brute(init, "relu")
    samplers = [
        sample_scalar_chain(init, DRAWS, 2, input_norm2=NORM2),
        sample_vectors(init, DRAWS, 3, activation="relu", input_norm2=NORM2),
        sample_kernels(init, one_input(init), DRAWS, 4, activation="relu"),
    ]
    for fast in samplers:
        assert_same_law(single_input_statistics(fast, slow))
        assert_same_moments(fast, slow)


@pytest.mark.parametrize(("activation", "init"), SMOOTH, ids=range(len(SMOOTH)))
def test_samplers_of_smooth_activations_draw_the_law_of_networks_drawn_in_full(activation, init):
    slow = brute(init, activation)
    vectors = sample_vectors(init, DRAWS, 5, activation=activation, input_norm2=NORM2)
    kernels = sample_kernels(init, one_input(init), DRAWS, 6, activation=activation)
    for fast in (vectors, kernels):
        assert_same_law(single_input_statistics(fast, slow))
        assert_same_moments(fast, slow)


def test_the_comparison_sees_one_unit_too_many():
    slow = brute(constant_width(9, 6, sigma_w2=2.0, input_width=11), "relu")
    wrong = constant_width(9, 7, sigma_w2=2.0, input_width=11)
    statistics = single_input_statistics(
        sample_scalar_chain(wrong, DRAWS, 2, input_norm2=NORM2), slow
    )
    assert min(p_values(statistics).values()) < 1e-9


GENERIC = np.array([[1.0, 0.2, -0.3, 0.5], [0.1, -0.7, 0.4, 0.9], [0.0, 0.3, 0.8, -0.2]])
COLLINEAR = np.array([[1.0, 0.5], [1.0, 0.5], [-1.0, -0.5], [2.0, 1.0], [0.3, -1.0]])
KERNELS = [
    ("relu", network((4, 7, 5, 6), 2.0), GENERIC[:2]),
    ("relu", network((4, 7, 5, 6), 1.2, 0.5), GENERIC),
    ("relu", network((4, 2, 5, 2), 3.0, outputs=2), GENERIC),  # more inputs than units
    ("relu", network((2, 6, 4), 2.2, 0.2), COLLINEAR),  # more inputs than dimensions
    ("relu", network((2, 6, 4), 1.5), COLLINEAR),
    ("tanh", network((4, 7, 5, 6), 2.5, 0.1, outputs=3), GENERIC[:2]),
    ("tanh", network((2, 3, 4), 4.0), COLLINEAR),
    ("erf", network((4, 3, 3, 3, 3), 1.0, 1.0, parametrisation="ntk"), GENERIC),
]


def kernel_statistics(draws):
    theta = draws.theta
    spectrum = np.linalg.eigvalsh(theta)
    f = draws.output.reshape(len(theta), -1)
    first, last = theta[:, 0, 0], theta[:, -1, -1]
    return {
        "first": first,
        "last": last,
        "off": theta[:, 0, -1],
        "W off": draws.theta_w[:, 0, -1],
        "b off": draws.theta_b[:, 0, -1],
        "largest": spectrum[:, -1],
        "f f": f[:, 0] * f[:, -1],
        "f Theta f": np.einsum("ni,nij,nj->n", f, theta, f),
        "difference": first - last,
        "trace": spectrum.sum(axis=1),
    }


@pytest.mark.parametrize(("activation", "init", "inputs"), KERNELS, ids=range(len(KERNELS)))
def test_kernel_sampler_draws_the_law_of_networks_drawn_in_full(activation, init, inputs):
    fast = kernel_statistics(sample_kernels(init, inputs, DRAWS, 7, activation=activation))
    slow = sample_by_brute_force(init, inputs, DRAWS, 8, activation=activation)
    slow = kernel_statistics(slow)
    assert_same_law({name: (fast[name], slow[name]) for name in fast})


def test_duplicate_inputs_have_equal_rows_and_scaled_ones_scaled_rows():
    init = network((2, 6, 4, 5), 2.2)
    draws = sample_kernels(init, COLLINEAR, 500, 9, activation="relu")
    theta, w = draws.theta, draws.theta_w
    np.testing.assert_allclose(theta[:, 0], theta[:, 1], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(w[:, 3, 3], 4 * w[:, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(draws.output[:, 3], 2 * draws.output[:, 0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "tanh", "erf", torch.nn.functional.silu])
@pytest.mark.parametrize("parametrisation", ["standard", "ntk"])
def test_closed_form_of_a_given_network_is_the_jacobians_gram_matrix(activation, parametrisation):
    init = network((4, 6, 3, 7), 2.0, 0.3, outputs=2, parametrisation=parametrisation)
    weights, biases = drawn_network(init, Normals(11, range(1), 3, torch.device("cpu")))
    x = torch.from_numpy(GENERIC)
    gains = {"weight_gains": init.weight_gains, "bias_gain": init.bias_gain}
    theta_w, theta_b, _ = tangent_kernel(weights, biases, x, activation=activation, **gains)
    function = getattr(torch, activation) if isinstance(activation, str) else activation
    for i in range(3):
        layers = [w[i] for w in weights], [b[i] for b in biases]
        by_w, by_b = tangent_kernel_by_definition(*layers, x, activation=function, **gains)
        torch.testing.assert_close(theta_w[i], by_w, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(theta_b[i], by_b, rtol=1e-12, atol=1e-12)


def test_brute_force_by_products_is_brute_force_by_autograd():
    init = network((4, 3, 5), 2.0, 0.3, outputs=2)
    ways = [
        sample_by_brute_force(init, GENERIC, 6, 3, activation="tanh", method=method)
        for method in ("products", "autograd")
    ]
    np.testing.assert_allclose(ways[0].theta, ways[1].theta, rtol=1e-12)


@pytest.mark.parametrize(
    "init",
    [
        network((5, 6, 6, 6), 2.0, 0.4),
        network((5, 3, 8, 4), 1.5, 0.4),
        network((5, 6, 6, 6), 2.4, parametrisation="ntk"),
        network((5, 2, 2, 2), 1.4),
    ],
    ids=range(4),
)
@pytest.mark.parametrize("independent", [False, True])
def test_each_depth_of_a_sweep_is_its_own_network_drawn_in_full(init, independent):
    depths = [1, 2, 4]
    blocks = list(
        sample_depths(init, depths, DRAWS, 12, input_norm2=NORM2, independent=independent)
    )
    for depth in depths:
        fast = joined([block[depth, init.sigma_w2] for block in blocks])
        slow = brute(init.cut(depth), "relu")
        assert_same_law(single_input_statistics(fast, slow))
