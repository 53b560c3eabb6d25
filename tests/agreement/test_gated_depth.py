"""Effective rank of random gates: compared with all networks, with random ones and with limits."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from tests.helpers.standard_errors import assert_mean

from finitewidth.kernels.gated_depth import (
    best_depth,
    best_depth_of_wide,
    effective_rank,
    mean_product,
    random_gate_counts,
    scale_free_rank,
    second_moments,
)
from finitewidth.kernels.gated_moments import gate_counts, ideal_eigenvalues
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.networks.random_gated import draw_gates, draw_weights, every_signed_network

MU = 0.3
KURTOSES = {"signed": 1.0, "gaussian": 3.0}


def sizes_of(depth, width):
    return [1, *[width] * (depth - 1), 1]


def kernels(weights, gates):
    """Tangent kernels (R, n, n) of the constant input 1."""
    x = torch.ones(gates[0].shape[-2], 1, dtype=torch.float64)
    return value_kernel(x, weights, None, gates, with_biases=False).numpy()


def trace_of_square(kernel):
    """tr K^2 of symmetric kernels."""
    return (kernel**2).sum(axis=(1, 2))


def every_gate(samples, depth, width):
    """All patterns of gates, one tensor (2^N, n, width) per hidden layer."""
    shape = (depth - 1, samples, width)
    patterns = itertools.product((0.0, 1.0), repeat=math.prod(shape))
    gates = torch.tensor(list(patterns), dtype=torch.float64)
    return list(gates.reshape(-1, *shape).unbind(1))


@pytest.mark.parametrize(
    ("samples", "depth", "width"), [(2, 2, 3), (3, 4, 1), (2, 3, 2), (2, 5, 1), (1, 3, 2)]
)
def test_mean_over_all_weights_and_all_gates(samples, depth, width):
    gates = every_gate(samples, depth, width)
    opened = sum(gate.sum(dim=(1, 2)) for gate in gates).numpy()  # open gates of each pattern
    chances = MU**opened * (1 - MU) ** ((depth - 1) * samples * width - opened)
    weights = every_signed_network(sizes_of(depth, width), (MU * width) ** -0.5)
    trace = square = 0.0
    for network in range(len(weights[0])):
        kernel = kernels([weight[network] for weight in weights], gates)
        trace += chances @ np.trace(kernel, axis1=1, axis2=2) / len(weights[0])
        square += chances @ trace_of_square(kernel) / len(weights[0])
    assert trace == pytest.approx(samples * depth, rel=1e-12)
    exact = effective_rank(samples, depth, width, MU)
    assert exact == pytest.approx(trace**2 / square, rel=1e-12)


@pytest.mark.parametrize("law", ["signed", "gaussian"])
@pytest.mark.parametrize(("depth", "width", "mu"), [(4, 10, 0.5), (8, 25, 0.5), (5, 30, 0.2)])
def test_mean_over_random_networks(law, depth, width, mu):
    # tr K^2 of 1,000 networks, 4.5 standard errors, seeds fixed
    samples, networks = 12, 1000
    generator = torch.Generator().manual_seed(depth)
    shape = (networks, samples, width)
    gates = [draw_gates(shape, mu, generator) for _ in range(depth - 1)]
    stream = np.random.default_rng(width)
    weights = draw_weights(sizes_of(depth, width), (mu * width) ** -0.5, networks, stream, law)
    rank = effective_rank(samples, depth, width, mu, kurtosis=KURTOSES[law])
    assert_mean(trace_of_square(kernels(weights, gates)), (samples * depth) ** 2 / rank)


@given(width=st.integers(1, 40), mu=st.floats(0.05, 1))
def test_counts_are_means_over_gates(width, mu):
    # of two inputs and one layer: the probabilities of both, of one and of no gate open, per unit
    found = random_gate_counts(2, width, mu)[0, :, :, 0, 0]
    one_unit = list(itertools.product((0.0, 1.0), repeat=2))
    gates = np.array(one_unit)[:, :, None]  # (4, 2, 1)
    chances = np.where(gates > 0, mu, 1 - mu).prod(axis=(1, 2))
    counts = np.tensordot(chances, gate_counts([gates])[0], axes=(0, 1))  # (3, 2, 2)
    for pair, second in enumerate((0, 1)):
        both = counts[0, 0, second]
        assert found[0, pair] == pytest.approx(width * both)
        assert found[1, pair] == pytest.approx(width * (width - 1) * both**2)
        assert found[2, pair] == pytest.approx(width * (width - 1) * mu * mu)


@given(depth=st.integers(1, 30), width=st.integers(1, 60), mu=st.floats(0.1, 1))
def test_closed_form_of_gaussian_weights(depth, width, mu):
    # equation (10) of docs/theory.md
    growth = 1 + (3 / mu - 1) / width
    decay = (1 - 1 / width) / growth
    apart = np.arange(1, depth)
    pairs = (depth - apart) * (1 + 2 * decay**apart)
    same = growth ** (depth - 1) * (depth + 2 / 3 * pairs.sum()) / depth**2
    assert second_moments(depth, width, mu, kurtosis=3.0)[0] == pytest.approx(same, rel=1e-10)


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("kurtosis", [1.0, 3.0])
@pytest.mark.parametrize("depth", [2, 3, 8, 24])
def test_first_order_in_one_over_width(mu, kurtosis, depth):
    # equation (11) of docs/theory.md
    width = 10**6
    same, _ = second_moments(depth, width, mu, kurtosis=kurtosis)
    hidden = depth - 1
    first = hidden * (3 / mu - 1) - 2 * (depth**2 - 1) / (3 * mu * depth)
    first -= 2 * (3 - kurtosis) * hidden**2 / (mu * depth**2)
    assert width * (same - 1) == pytest.approx(first, abs=1e-4 * depth**2)


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.7])
@pytest.mark.parametrize("kurtosis", [1.0, 3.0])
def test_overlaps_of_deep_wide_networks_have_a_floor(mu, kurtosis):
    # equation (12) of docs/theory.md
    depth, width = 32, 10**6
    _, different = second_moments(depth, width, mu, kurtosis=kurtosis)
    b = mu**2
    floor = 2 * (1 + b) / (1 - b) ** 3 / depth**2
    assert width * (different - b ** (depth - 1)) == pytest.approx(floor, rel=1e-3)


@given(
    samples=st.integers(1, 1000),
    depth=st.integers(1, 25),
    width=st.integers(1, 100),
    mu=st.floats(0.1, 1),
    kurtosis=st.sampled_from([1.0, 3.0]),
)
@example(samples=7, depth=5, width=1, mu=1.0, kurtosis=1.0)
def test_bounds_of_the_effective_rank(samples, depth, width, mu, kurtosis):
    rank = effective_rank(samples, depth, width, mu, kurtosis=kurtosis)
    # the second moments are at least the squared means
    eigenvalues = ideal_eigenvalues(samples, depth, mu)
    ideal = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    assert rank <= ideal * (1 + 1e-12) <= samples * (1 + 1e-11)
    more = effective_rank(samples + 1, depth, width, mu, kurtosis=kurtosis)
    assert more >= rank * (1 - 1e-12)
    # deeper kernels vary more, which the order of best depths rests on
    shallow, deep = (second_moments(d, width, mu, kurtosis=kurtosis) for d in (depth, depth + 1))
    assert deep[0] >= shallow[0] * (1 - 1e-12)


@pytest.mark.parametrize("depth", [1, 2, 9])
@pytest.mark.parametrize("mu", [0.3, 0.9])
def test_wide_networks_have_the_rank_of_the_mean_kernel(depth, mu):
    eigenvalues = ideal_eigenvalues(30, depth, mu)
    ideal = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    assert effective_rank(30, depth, 10**8, mu) == pytest.approx(ideal, rel=1e-4)


@pytest.mark.parametrize("depth", [1, 2, 9])
def test_open_gates_make_all_inputs_alike(depth):
    # K is the number K_ss in every entry; with one unit and signs it is L
    assert effective_rank(30, depth, 1, 1.0) == pytest.approx(1)
    same, different = second_moments(depth, 20, 1.0)
    assert same == pytest.approx(different)


@given(
    width=st.integers(2, 60),
    mu=st.floats(0.15, 0.85),
    few=st.integers(2, 300),
    more=st.integers(1, 3000),
)
def test_more_samples_need_no_less_depth(width, mu, few, more):
    depths = range(1, 16)
    assert best_depth(few + more, width, mu, depths) >= best_depth(few, width, mu, depths)


@pytest.mark.parametrize(("samples", "mu"), [(10**4, 0.25), (10**4, 0.5), (10**5, 0.3)])
def test_best_depth_of_wide_networks_and_many_samples(samples, mu):
    found = best_depth(samples, 10**6, mu, range(2, 60))
    assert found == pytest.approx(best_depth_of_wide(samples, mu), abs=1)


def test_best_depth_grows_with_the_logarithm_of_the_width():
    found = [best_depth(50, 10**power, 0.5, range(2, 40)) for power in (6, 10)]
    per_decade = math.log(10) / (2 * math.log(2))
    assert found[1] - found[0] == pytest.approx(4 * per_decade, abs=1)


def test_best_depths_of_the_papers():
    # npf appendix D: 8 of width 25 and 12 of width 500 (claims N12 and N13)
    depths = (2, 4, 6, 8, 12, 16, 20)
    assert best_depth(200, 25, 0.5, depths) == 8
    assert best_depth(200, 500, 0.5, depths) == 12
    flat = [effective_rank(200, depth, 500, 0.5) for depth in (8, 10, 12, 16)]
    assert flat == pytest.approx([183.9, 185.8, 184.6, 180.6], abs=0.06)


@pytest.mark.parametrize("law", ["signed", "gaussian"])
def test_squared_trace_of_random_networks(law):
    # 1,000 networks, 4.5 standard errors, seeds fixed
    samples, depth, width, mu, networks = 12, 6, 20, 0.5, 1000
    generator = torch.Generator().manual_seed(7)
    gates = [draw_gates((networks, samples, width), mu, generator) for _ in range(depth - 1)]
    stream = np.random.default_rng(8)
    weights = draw_weights(sizes_of(depth, width), (mu * width) ** -0.5, networks, stream, law)
    traces = np.trace(kernels(weights, gates), axis1=1, axis2=2)
    kurtosis = KURTOSES[law]
    rank = scale_free_rank(samples, depth, width, mu, kurtosis=kurtosis)
    mean_square = (samples * depth) ** 2 / effective_rank(
        samples, depth, width, mu, kurtosis=kurtosis
    )
    assert_mean(traces**2, rank * mean_square)


@given(
    samples=st.integers(1, 300),
    depth=st.integers(1, 25),
    width=st.integers(1, 60),
    mu=st.floats(0.1, 1),
    kurtosis=st.sampled_from([1.0, 3.0]),
)
@example(samples=9, depth=1, width=1, mu=0.5, kurtosis=1.0)
def test_bounds_of_the_scale_free_rank(samples, depth, width, mu, kurtosis):
    # tr K^2 <= (tr K)^2 <= n tr K^2, and E[tr K]^2 <= E[(tr K)^2]
    rank = scale_free_rank(samples, depth, width, mu, kurtosis=kurtosis)
    smaller = effective_rank(samples, depth, width, mu, kurtosis=kurtosis)
    rounding = 1e-10
    assert max(1.0, smaller) * (1 - rounding) <= rank <= samples * (1 + rounding)


def test_open_gates_have_the_scale_free_rank_one():
    # all entries of K are the same number, which varies
    assert scale_free_rank(30, 9, 20, 1.0) == pytest.approx(1)
    assert effective_rank(30, 9, 20, 1.0) < 0.8


@pytest.mark.parametrize("width", [25, 50, 100, 500])
@pytest.mark.parametrize(("samples", "mu"), [(200, 0.3), (200, 0.5), (200, 0.7), (1000, 0.5)])
def test_both_ranks_have_one_best_depth_unless_networks_are_narrow(width, samples, mu):
    depths = range(1, 25)
    best = best_depth(samples, width, mu, depths)
    assert abs(best_depth(samples, width, mu, depths, scale_free_rank) - best) <= 1


def test_products_of_the_diagonal_do_not_grow_with_the_depth_of_wide_networks():
    # so that the first order of both ranks is the same but for a factor
    width = 10**6
    excess = [width * (mean_product(depth, width, 0.5) - 1) for depth in (16, 32, 64)]
    assert max(excess) - min(excess) < 0.5


@pytest.mark.parametrize("kurtosis", [1.0, 3.0])
@pytest.mark.parametrize(("depth", "width", "mu"), [(1, 5, 0.5), (2, 3, 0.2), (7, 4, 0.9)])
def test_layers_summed_one_pair_after_the_other(depth, width, mu, kurtosis):
    # (8) of docs/theory.md for E[K_ss K_tt], with matrix powers
    factor = (mu * width) ** -2.0
    open_for_both = factor * width * mu**2
    overlap, norms = factor * width * (width - 1) * np.array([mu**4, mu**2])
    laws = np.array([1, 1, 1, kurtosis - 3])
    step = np.diag([norms, overlap, overlap, 0]) + open_for_both * laws  # (4, 4)
    gates = open_for_both + np.array([norms, 0, 0, 0])

    def through(layers, start):
        return (np.linalg.matrix_power(step, layers) @ start)[0]

    ones = np.ones(4)
    total = 0.0
    for lower, upper in itertools.product(range(1, depth + 1), repeat=2):
        first, last = sorted((lower, upper))
        ends = through(first - 1, ones) * through(depth - last, ones)
        total += ends * (through(last - first - 1, gates) if first < last else 1)
    found = mean_product(depth, width, mu, kurtosis=kurtosis)
    assert found == pytest.approx(total / depth**2, rel=1e-12)


@pytest.mark.parametrize(("depth", "width"), [(3, 2), (2, 3), (5, 1)])
def test_product_of_two_entries_of_the_diagonal_over_all_networks(depth, width):
    gates = every_gate(2, depth, width)
    opened = sum(gate.sum(dim=(1, 2)) for gate in gates).numpy()
    chances = MU**opened * (1 - MU) ** (2 * width * (depth - 1) - opened)
    weights = every_signed_network(sizes_of(depth, width), (MU * width) ** -0.5)
    product = 0.0
    for network in range(len(weights[0])):
        kernel = kernels([weight[network] for weight in weights], gates)
        product += chances @ (kernel[:, 0, 0] * kernel[:, 1, 1]) / len(weights[0])
    assert mean_product(depth, width, MU) == pytest.approx(product / depth**2, rel=1e-12)
