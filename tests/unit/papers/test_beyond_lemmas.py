"""Statements of beyond without a figure: norms, gradient steps, estimators in known cases."""

import itertools
import math

import numpy as np
import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.brute_force import sample_by_brute_force
from finitewidth.kernels.ntk_init.gradient_step import log_mean_decrease
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.papers.beyond.experiments import lemmas
from finitewidth.papers.beyond.experiments.grids import network
from finitewidth.papers.beyond.settings import Estimators, GradientSteps, Moments, Products
from finitewidth.settings.typed import section_from


@pytest.fixture(scope="module")
def drawn():
    values = {"draws": 40_000, "width": 8, "layers": 3, "sigma_w2": 2.2}
    rows = lemmas.moments(section_from(Moments, values))
    return {(row["quantity"], row["weights"]): row for row in rows}


def test_moments_of_networks_are_the_exact_ones(drawn):
    """Ten means within 4.5 standard errors: one in 14,000 seeds would fail."""
    assert len(drawn) == 14
    for row in drawn.values():
        assert abs(row["value"] - row["exact"]) < 4.5 * row["error"] + 1e-12, row["quantity"]


def test_the_printed_product_is_that_of_independent_backward_weights(drawn):
    """Lemma A.4(2) has what its assumption A.3 would give."""
    tied = drawn["chain_product", "tied"]
    untied = drawn["chain_product", "untied"]
    assert untied["exact"] == pytest.approx(tied["printed"])
    # chance gives 3 standard errors the other way once in 700 seeds
    assert tied["value"] - tied["printed"] > 3 * tied["error"]
    assert abs(untied["value"] - tied["printed"]) < 4.5 * untied["error"]
    difference = drawn["chain_product", "difference"]["value"]
    assert difference == pytest.approx(tied["value"] - untied["value"])


def test_exact_products_are_the_closed_form_and_those_of_drawn_networks(drawn):
    (small, wide) = lemmas.products(section_from(Products, {"ratio": 0.375, "widths": [8, 80]}))
    assert (small["layers"], wide["layers"]) == (3, 30)
    for row in (small, wide):
        n = row["width"]
        s = row["layers"]
        assert row["exact"] == pytest.approx((2 * (1 - 1 / n) ** s + (1 + 5 / n) ** s) / 3)
    tied = drawn["chain_product", "tied"]
    # 4.5 standard errors: one in 140,000 seeds would fail
    assert abs(tied["value"] - small["exact"]) < 4.5 * tied["error"]
    assert small["printed"] == pytest.approx(tied["printed"])


def test_ratios_of_errors_are_independent_with_the_law_of_forward_ratios():
    """docs/theory.md, section 3: chi^2 with a binomial number of degrees of freedom, at least 1.

    26 product moments of three layers, each within 4.5 standard errors: one in 5,000 seeds would
    fail.
    """
    n, layers = 5, 3
    found = lemmas.norm_ratios(np.random.default_rng(11), 100_000, n, layers, 2.0)
    alive = (found["forward"] > 0).all(axis=1)
    ratios = found["tied"][alive] * n / 2.0  # the chi^2
    active = np.arange(1, n + 1)
    chances = np.array([math.comb(n, k) for k in active]) / (2**n - 1)
    moments = {0: 1.0, 1: chances @ active, 2: chances @ (active * (active + 2))}
    for powers in itertools.product(range(3), repeat=layers):
        sample = np.prod(ratios ** np.array(powers), axis=1)
        expected = math.prod(moments[power] for power in powers)
        error = sample.std(ddof=1) / len(sample) ** 0.5
        assert abs(sample.mean() - expected) <= 4.5 * error, powers


def test_norms_of_one_network_follow_from_its_matrices():
    rng = np.random.default_rng(3)
    found = lemmas.norm_ratios(rng, 2, 5, 2, 1.8)
    again = np.random.default_rng(3)
    deviation = np.sqrt(1.8 / 5)
    first = again.standard_normal((2, 5, 5)) * deviation
    second = again.standard_normal((2, 5, 5)) * deviation
    last = again.standard_normal((2, 1, 5)) * deviation
    x = np.maximum(first[0, :, 0], 0)
    y = np.maximum(second[0] @ x, 0)
    above = (y > 0) * last[0, 0]
    below = (x > 0) * (second[0].T @ above)
    norm_above = above @ above
    norm_below = below @ below
    np.testing.assert_allclose(found["forward"][0], [x @ x, (y @ y) / (x @ x)])
    np.testing.assert_allclose(found["tied"][0], [norm_below / norm_above, norm_above])


def test_a_small_step_changes_the_kernel_by_its_derivative():
    found = lemmas.kernel_changes(constant_width(3, 6, sigma_w2=2.0), 1e-7, 8)
    np.testing.assert_allclose(found["step"], found["derivative"], rtol=1e-4, atol=1e-12)


def test_a_step_of_the_weights_leaves_out_the_biases():
    found = lemmas.kernel_changes(constant_width(3, 6, sigma_w2=2.0), 0.1, 8)
    assert np.abs(found["step"] - found["step_of_weights"]).max() > 1e-3


def test_steps_start_from_networks_of_the_right_law():
    """The mean kernel before a step of size 0 is unchanged, and the rows name both phases."""
    settings = {"draws": 30, "depths": [2, 3], "ratio": 0.5, "sigma_w2": [1.0, 2.5], "rate": 1e-9}
    rows = lemmas.steps(section_from(GradientSteps, settings))
    assert {(row["phase"], row["width"]) for row in rows} == {
        ("ordered", 4),
        ("ordered", 6),
        ("chaotic", 4),
        ("chaotic", 6),
    }
    assert all(row["value"] < 1e-6 for row in rows)
    init = constant_width(3, 6, sigma_w2=2.5)
    theta = sample_by_brute_force(init, np.eye(1, 6), 4000, 1, activation="relu").theta[:, 0, 0]
    # relative standard error about 2 per cent
    assert theta.mean() == pytest.approx(np.exp(log_moments(init).mean), rel=0.1)


def test_estimators_of_a_constant_kernel_know_it():
    """No spread: all estimators but the printed prefactor give 1, that one N / (N - 2)."""
    settings = {"draws": 3, "sizes": [10], "dispersions": [1.0]}
    rows = lemmas.estimators(section_from(Estimators, settings))
    found = {row["estimator"]: row["value"] for row in rows}
    assert found.pop("printed_leave_one_out") == pytest.approx(10 / 8)
    assert list(found.values()) == pytest.approx([1.0] * 3)


def test_the_mean_change_to_first_order_is_the_exact_one():
    """4,000 networks; chance gives 4.5 standard errors once in 140,000 seeds."""
    init = constant_width(3, 6, sigma_w2=2.5)
    found = lemmas.kernel_changes(init, 1.0, 4000)["derivative"]
    error = found.std(ddof=1) / len(found) ** 0.5
    exact = -np.exp(log_mean_decrease(init))
    assert abs(found.mean() - exact) < 4.5 * error
    assert abs(exact) > 10 * error


def test_rows_of_steps_have_the_sign_and_the_exact_mean_of_the_derivative():
    settings = {"draws": 50, "depths": [3], "ratio": 0.5, "sigma_w2": [2.5], "rate": 0.5}
    rows = {row["change"]: row for row in lemmas.steps(section_from(GradientSteps, settings))}
    init = network(3, 6, 1.0, 2.5)
    mean = np.exp(log_moments(init).mean)
    changes = lemmas.kernel_changes(init, 0.5, 50)
    for name, row in rows.items():
        assert row["with_sign"] == pytest.approx(changes[name].mean() / mean)
        assert row["value"] == pytest.approx(np.abs(changes[name]).mean() / mean)
    exact = -0.5 * np.exp(log_mean_decrease(init)) / mean
    assert rows["derivative"]["exact_with_sign"] == pytest.approx(exact)
    assert np.isnan(rows["step"]["exact_with_sign"])


def test_the_exact_mean_change_of_two_layers_is_that_of_the_squared_output():
    """With one hidden layer the derivative is 4 f^2 (|x|^2 + 1), and E f^2 = 2 a^2 |x|^2 / n_0."""
    a, norm2 = 1.3, 0.7
    for width in (1, 5):
        init = Initialisation(widths=(3, width), sigma_w2=2 * a)
        mean = np.exp(log_mean_decrease(init, input_norm2=norm2))
        assert mean == pytest.approx(4 * (norm2 + 1) * 2 * a**2 * norm2 / 3)


def test_the_kernel_of_one_layer_does_not_change():
    assert log_mean_decrease(Initialisation(widths=(3,), sigma_w2=2.0)) == -np.inf


def test_the_mean_change_is_given_in_the_standard_parametrisation_only():
    init = Initialisation(widths=(3, 4), sigma_w2=2.0, parametrisation="ntk")
    with pytest.raises(ConfigError, match="parametrisation"):
        log_mean_decrease(init)


def test_the_mean_change_in_the_ordered_phase_falls_as_a_power_of_the_depth():
    """It tends to 8 a^L / (n_0 (1 - a)^3) at a fixed ratio of depth to width."""
    a = 0.5
    ratios = []
    for width in (200, 400, 800):
        depth = width // 4
        limit = 8 / width * a**depth / (1 - a) ** 3
        exact = np.exp(log_mean_decrease(constant_width(depth, width, sigma_w2=2 * a)))
        ratios.append(exact / limit)
    assert ratios == pytest.approx([1.0] * 3, abs=0.06)
    assert ratios[0] - 1 == pytest.approx(4 * (ratios[2] - 1), rel=0.1)
