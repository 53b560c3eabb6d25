"""Closed forms of the moments compared with recursions and samplers.

Also the printed formulas.
"""

import numpy as np
import pytest
from tests.helpers.standard_errors import assert_mean

from finitewidth.errata.evidence import extrapolated
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import (
    dispersion_correction,
    dispersion_limit,
    dispersion_lower_bound,
    limit_parts,
)
from finitewidth.kernels.ntk_init.moment_recursion import log_kernel_moments, log_theta_moment
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

WIDTHS = [(5, 4, 8, 6, 5), (3, 1, 2, 1), (2,), (4, 1), (1, 1, 1), (30,) * 12, (7, *[20] * 40)]


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("sigma_w2", [1.5, 2.0, 2.7])
@pytest.mark.parametrize("parametrisation", ["standard", "ntk"])
def test_closed_forms_are_the_recursion_dead_layers_included(widths, sigma_w2, parametrisation):
    init = Initialisation(widths=widths, sigma_w2=sigma_w2, parametrisation=parametrisation)
    closed = log_moments(init, input_norm2=1.7)
    recursion = log_kernel_moments(init, 2, input_norm2=1.7)
    keys = {(1, 0): "w", (0, 1): "b", (2, 0): "w2", (0, 2): "b2", (1, 1): "wb"}
    for powers, name in keys.items():
        assert getattr(closed, name) == pytest.approx(recursion[powers], abs=1e-11), name
    assert closed.second == pytest.approx(log_theta_moment(init, 2, input_norm2=1.7), abs=1e-11)


@pytest.mark.parametrize("sigma_w2", [1.5, 2.0, 2.3])
def test_recursion_is_the_mean_of_powers_up_to_order_four(sigma_w2):
    init = constant_width(8, 60, sigma_w2=sigma_w2, input_width=20)
    theta = sample_scalar_chain(init, 200_000, 21).scaled_theta
    log_growth = sample_scalar_chain(init, 1, 21).log_growth
    for order in (1, 2, 3, 4):
        exact = np.exp(log_theta_moment(init, order) - order * log_growth)
        assert_mean(theta**order, exact)


@pytest.mark.parametrize("alpha_0", [0.5, 2.0])
@pytest.mark.parametrize("sigma_w2", [1.5, 2.0, 2.5])
def test_width_times_the_distance_from_the_limit_tends_to_the_constant(sigma_w2, alpha_0):
    lam = 0.5
    phase = phase_of("relu", sigma_w2)
    gaps = []
    for width in (1000, 2000):
        init = constant_width(
            width // 2, width, sigma_w2=sigma_w2, input_width=int(alpha_0 * width)
        )
        limit = dispersion_limit(lam, phase, alpha_0=alpha_0)
        gaps.append(width * (log_moments(init).dispersion - limit))
        assert dispersion_lower_bound(lam, phase, alpha_0=alpha_0) < limit or phase == "ordered"
    constant = dispersion_correction(lam, sigma_w2, alpha_0=alpha_0)
    # the rest of order 1 / M is gone
    assert 2 * gaps[1] - gaps[0] == pytest.approx(constant, rel=0.005)


RANDOM = [(phase, seed) for phase in ("ordered", "critical", "chaotic") for seed in range(5)]


@pytest.mark.parametrize(("phase", "seed"), RANDOM)
def test_no_random_network_leaves_the_corrected_limit_or_its_constant(phase, seed):
    """Tries to refute Theorem 3.1 corrected by the moment recursion, which has none of its sums.

    Exact dispersions at five doubled sizes are extrapolated; their numerical error is multiplied by
    10. The printed limits are refuted in the same way.
    """
    rng = np.random.default_rng([31, seed])
    a = {"ordered": rng.uniform(0.2, 0.85), "critical": 1.0, "chaotic": rng.uniform(1.15, 3)}[phase]
    width = int(rng.integers(20, 60))
    depth = int(rng.integers(8, 60))
    input_width = int(rng.integers(5, 100))
    lam = depth / width
    alpha_0 = input_width / width
    limit = dispersion_limit(lam, phase, alpha_0=alpha_0)
    values = []
    gaps = []
    for size in (1, 2, 4, 8, 16):
        widths = (size * input_width, *[size * width] * (size * depth - 1))
        init = Initialisation(widths=widths, sigma_w2=2 * a)
        log_ratio = log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1)
        values.append(float(np.exp(log_ratio)))
        gaps.append(size * width * (values[-1] - limit))
    found, error = extrapolated(values)
    assert error < 1e-3 * found
    assert abs(found - limit) < 10 * error
    constant, error_of_constant = extrapolated(gaps)
    expected = dispersion_correction(lam, 2 * a, alpha_0=alpha_0)
    assert error_of_constant < 1e-3 * abs(expected)
    assert abs(constant - expected) < 10 * error_of_constant
    if phase != "ordered":
        printed = dispersion_limit(lam, phase, alpha_0=alpha_0, form="printed")
        assert found - printed > 10 * error


def test_finite_networks_at_the_edge_and_above_lie_below_the_limit():
    """c is negative in all 480 cases, and positive below the edge."""
    for lam in np.geomspace(0.05, 8, 10):
        for alpha_0 in np.geomspace(0.01, 100, 8):
            for sigma_w2 in (2.0, 2.001, 2.1, 2.5, 4.0, 20.0):
                assert dispersion_correction(lam, sigma_w2, alpha_0=alpha_0) < 0
            assert dispersion_correction(lam, 1.5, alpha_0=alpha_0) > 0


@pytest.mark.parametrize("lam", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("alpha_0", [0.1, 1.0, 3.0])
def test_printed_limits_are_equations_8_and_9_as_they_stand(lam, alpha_0):
    chaotic = dispersion_limit(lam, "chaotic", form="printed")
    assert chaotic == pytest.approx(equation_8(lam))
    critical = dispersion_limit(lam, "critical", alpha_0=alpha_0, form="printed")
    assert critical == pytest.approx(equation_9(lam, alpha_0))


def equation_8(lam):
    """The printed limit of the dispersion in the chaotic phase."""
    e5 = np.exp(5 * lam)
    return e5 / (2 * lam) * (1 - (1 - np.exp(-4 * lam)) / (4 * lam))


def equation_9(lam, alpha_0):
    """The printed limit of the dispersion at the edge."""
    e5 = np.exp(5 * lam)
    e1 = np.exp(lam)
    terms = e5 * (1 / (2 * lam) + (2 * alpha_0**2 - 8 * alpha_0) / (25 * lam**2))
    terms += (e1 - e5) * (1 - 4 * alpha_0) / (8 * lam**2)
    terms += 2 * alpha_0 / (5 * lam) * ((4 - alpha_0) / (5 * lam) - 1 - alpha_0)
    return terms / (1 + alpha_0) ** 2


def test_the_second_moment_is_the_sum_over_all_pairs_of_layers():
    """Equation (4) summed pair by pair; its square brackets are at least 1/3, hence the bound."""
    depth, width = 30, 20
    factor = (1 + 5 / width) ** (depth - 1)
    between = (width - 1) / (width + 5)
    lags = np.abs(np.subtract.outer(np.arange(depth), np.arange(depth)))
    second = factor * (1 / 3 + 2 / 3 * between**lags).mean()
    closed = factor * (
        1 / 3
        + 2 * (width + 2) / (9 * depth)
        - (width - 1) * (width + 5) * (1 - between**depth) / (27 * depth**2)
    )
    assert second == pytest.approx(closed, rel=1e-12)
    assert second > factor / 3


@pytest.mark.parametrize("lam", [0.3, 1.0, 2.0])
def test_limits_in_elementary_terms(lam):
    corrected = limit_parts(lam)
    printed = limit_parts(lam, form="printed")
    e5 = np.exp(5 * lam)
    e_minus1 = np.exp(-lam)
    e_minus6 = np.exp(-6 * lam)
    w2 = e5 * (1 / 3 + 2 / (9 * lam) - (1 - e_minus6) / (27 * lam**2))
    wb = (e5 * (11 / 225 + lam / 15) + e_minus1 / 9 - lam / 5 - 4 / 25) / lam**2
    b2 = 2 * (e5 - 1) / (25 * lam**2) - 2 / (5 * lam)
    assert corrected.w2 == pytest.approx(w2)
    assert corrected.wb == pytest.approx(wb)
    assert corrected.b2 == printed.b2 == pytest.approx(b2)
    assert printed.w2 == pytest.approx(equation_8(lam))
    for alpha_0 in (0.2, 1.0, 3.0):
        critical = dispersion_limit(lam, "critical", alpha_0=alpha_0, form="printed")
        assert critical == pytest.approx(equation_9(lam, alpha_0))


def test_mean_over_a_pair_of_units_in_the_proof_of_lemma_a4():
    """Check that E[V^2 1(U_i > 0) 1(U_j > 0) U_j^2], i != j, has the term (2 / pi) b_i b_j a^2."""
    rng = np.random.default_rng(25)
    a = 0.7
    b_i = 0.6
    b_j = 0.5
    count = 1_000_000
    w_i, w_j, rest, e_i, e_j = rng.standard_normal((5, count))
    v = b_i * w_i + b_j * w_j + (1 - b_i**2 - b_j**2) ** 0.5 * rest
    u_i = a * w_i + (1 - a * a) ** 0.5 * e_i
    u_j = a * w_j + (1 - a * a) ** 0.5 * e_j
    sample = v**2 * (u_i > 0) * (u_j > 0) * u_j**2
    common = 0.25 + b_j**2 * a**2 / 2
    assert_mean(sample, common + 2 / np.pi * b_i * b_j * a**2)
    with pytest.raises(AssertionError):
        assert_mean(sample, common + 8 * b_i * b_j * a**2 * (1 + 2 * a**2 - a**4))
