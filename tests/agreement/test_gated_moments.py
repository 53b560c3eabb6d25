"""Mean and variance of K^v: closed forms compared with means over all networks."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.gated_moments import (
    gate_counts,
    leading_variance,
    unit_counts,
    value_kernel_moments,
)
from finitewidth.kernels.gated_ntk import soft_relu_ntk
from finitewidth.kernels.wide_limits import wide_limits
from finitewidth.networks.random_gated import (
    draw_weights,
    every_signed_network,
)

ONE = np.ones((1, 1))


def network(sizes, seed=1, mu=0.7):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(3, sizes[0], generator=generator, dtype=torch.float64)
    return x, [(torch.rand(3, n, generator=generator) < mu).double() for n in sizes[1:-1]]


def all_open(depth, width):
    return unit_counts(*[np.full((depth - 1, 1, 1), width)] * 3)


def random_gates(depth, width, mu, same):
    """Mean counts of gates open with probability mu, for an input with itself or for two inputs."""
    share = mu if same else mu * mu
    counts = width * np.array([share, (width - 1) * share**2, (width - 1) * mu**2])
    return np.broadcast_to(counts[:, None, None], (depth - 1, 3, 1, 1))


def test_moments_over_random_gates_too():
    width, depth, mu = 2, 3, 0.3
    gates = 2 * width * (depth - 1)
    patterns = np.array(list(itertools.product((0.0, 1.0), repeat=gates)))  # (2^gates, gates)
    chances = np.where(patterns > 0, mu, 1 - mu).prod(axis=1)
    layers = np.moveaxis(patterns.reshape(-1, depth - 1, 2, width), 1, 0)
    moments = value_kernel_moments(np.ones((2, 1)), gate_counts(layers), 0.7)
    second_moments = moments.variance + moments.mean**2  # (2^gates, 2, 2), given the gates
    for same, (s, t) in ((True, (0, 0)), (False, (0, 1))):
        mean = chances @ moments.mean[:, s, t]
        variance = chances @ second_moments[:, s, t] - mean**2
        found = value_kernel_moments(ONE, random_gates(depth, width, mu, same), 0.7)
        np.testing.assert_allclose(found.mean.item(), mean, rtol=1e-12)
        np.testing.assert_allclose(found.variance.item(), variance, rtol=1e-11)
        np.testing.assert_allclose(mean, depth * (0.7 * width * (mu if same else mu**2)) ** 2)


@given(
    depth=st.integers(2, 8),
    width=st.integers(1, 30),
    shared=st.floats(0, 1),
    sigma2=st.floats(0.01, 4),
    size=st.floats(0.1, 3),
)
def test_moments_scale_with_weights_and_inputs(depth, width, shared, sigma2, size):
    both = np.full((depth - 1, 1, 1), float(round(shared * width)))
    counts = unit_counts(both, width + 0 * both, width + 0 * both)
    unit = value_kernel_moments(ONE, counts, 1.0)
    scaled = value_kernel_moments(size * ONE, counts, sigma2)
    factor = size**2 * sigma2 ** (depth - 1)
    mean = factor * unit.mean.item()
    variance = factor**2 * unit.variance.item()
    assert scaled.mean.item() == pytest.approx(mean, rel=1e-10)
    # the variance is a difference, so its error is relative to the squared mean
    assert scaled.variance.item() == pytest.approx(variance, rel=1e-9, abs=1e-12 * mean**2)


@pytest.mark.parametrize("depth", [2, 3, 4, 8, 32])
def test_leading_variance_of_wide_networks(depth):
    width = 10**6
    found = value_kernel_moments(ONE, all_open(depth, width), 1 / width).variance.item()
    assert width * found == pytest.approx(
        width * leading_variance(depth, width), abs=1e-3 * depth**3
    )


def test_signed_networks_are_all_different_and_all_there_are():
    weights = every_signed_network((2, 2, 1), 0.5)
    rows = torch.cat([weight.flatten(1) for weight in weights], dim=1)
    assert rows.shape == (64, 6)
    assert len(set(map(tuple, rows.tolist()))) == 64
    assert set(rows.unique().tolist()) == {-0.5, 0.5}
    with pytest.raises(ConfigError, match="19 weights"):
        every_signed_network((18, 1, 1), 1.0)


@pytest.mark.parametrize(("law", "kurtosis"), [("signed", 1.0), ("gaussian", 3.0)])
def test_drawn_weights_have_the_moments_of_their_law(law, kurtosis):
    # 84,000 weights, 4.5 standard errors, seed fixed
    found = draw_weights((30, 40, 7), 0.3, 50, np.random.default_rng(0), law)
    w = torch.cat([weight.flatten() for weight in found]).numpy() / 0.3
    errors = 4.5 / len(w) ** 0.5 * np.sqrt([1, 2, 96])  # bounds of the variances of w, w^2, w^4
    differences = [w.mean(), (w**2).mean() - 1, (w**4).mean() - kurtosis]
    assert (np.abs(differences) < errors).all()


def test_drawn_signs_are_fair_and_follow_the_stream():
    first, again = (draw_weights((30, 40, 7), 0.3, 50, np.random.default_rng(0)) for _ in range(2))
    assert [weight.shape for weight in first] == [(50, 30, 40), (50, 40, 7)]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    signs = torch.cat([weight.flatten() for weight in first]) / 0.3
    torch.testing.assert_close(signs.abs(), torch.ones_like(signs))
    assert abs(signs.mean()) < 4.5 / len(signs) ** 0.5  # error rate 1e-5, seed fixed


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_wide_limits_are_the_arc_cosine_recursion(depth):
    x = np.random.default_rng(0).normal(size=(6, 5))
    gram = signal = tangent = x @ x.T
    shared = np.ones_like(gram)
    for _ in range(depth - 1):
        sizes = np.sqrt(np.outer(np.diag(signal), np.diag(signal)))
        angle = np.arccos(np.clip(signal / sizes, -1, 1))
        slope = 1 - angle / np.pi
        signal = sizes * (np.sin(angle) / np.pi + slope * np.cos(angle))
        tangent = tangent * slope + signal
        shared = shared * slope
    found = wide_limits(x, depth)
    np.testing.assert_allclose(found.tangent, tangent, rtol=1e-10)
    np.testing.assert_allclose(found.halved, (tangent + signal) / 2, rtol=1e-10)
    np.testing.assert_allclose(found.path, depth * gram * shared, rtol=1e-10)


@pytest.mark.parametrize("law", ["gaussian", "signed"])
def test_output_variance_decides_which_limit_a_relu_network_has(law):
    # npf appendix A: K~ for 2/w in every layer, K^(d) for 1/w in the last. 30 networks, 4.5 s.e.
    depth, width, runs = 4, 400, 30
    x = torch.nn.functional.normalize(network((3, 1))[0], dim=1)
    wide = wide_limits(x.numpy(), depth, law)
    sizes = (3, *[width] * (depth - 1), 1)
    sigma = (2 / width) ** 0.5
    drawn = draw_weights(sizes, sigma, runs, np.random.default_rng(1), law)
    *hidden, last = drawn
    for output, limit, other in (
        (last, wide.tangent, wide.halved),
        (last / 2**0.5, wide.halved, wide.tangent),
    ):
        weights = [*hidden, output]
        kernels = soft_relu_ntk(x, weights, None, beta=None, with_biases=False).numpy()
        mean = kernels.mean(axis=0)
        error = kernels.std(axis=0, ddof=1) / runs**0.5
        # the noise, and corrections of order 1 / width
        assert (np.abs(mean - limit) < 4.5 * error + 5 / width).all()
        assert (np.abs(mean - other).diagonal() > 0.5).all()


def test_signs_and_gaussian_weights_differ_at_any_width_for_few_inputs_only():
    rng = np.random.default_rng(0)
    gaps = []
    for n0 in (2, 16):
        x = rng.normal(size=(6, n0))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        signed = wide_limits(x, 4, "signed").tangent
        gaussian = wide_limits(x, 4).tangent
        np.testing.assert_allclose(signed.diagonal(), gaussian.diagonal(), rtol=1e-12)
        gaps.append(np.abs(signed - gaussian).max())
    assert gaps[0] > 0.2 > 0.1 > gaps[1]
