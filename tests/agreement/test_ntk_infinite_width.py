"""Mean-field recursions at finite widths, and quadrature compared with closed forms.

Also borders between phases and ratios of kernel elements.
"""

import numpy as np
import pytest
import torch
from tests.helpers.standard_errors import assert_mean

from finitewidth.kernels.ntk_init.activations import (
    ERF,
    activation_of,
    mean_products,
)
from finitewidth.kernels.ntk_init.infinite_width import infinite_width, infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.off_diagonal import (
    infinite_width_mean_ratio,
    printed_mean_ratio,
)
from finitewidth.kernels.ntk_init.phases import border
from finitewidth.kernels.ntk_init.samplers import sample_kernels

INPUTS = np.array([[1.0, 0.5, -0.3, 0.0, 0.2], [0.8, -0.2, 0.1, 0.4, -0.9]])


def test_finite_relu_networks_have_the_mean_field_mean_on_the_diagonal():
    init = Initialisation(widths=(5, 30, 60, 10), sigma_w2=2.3)
    field = infinite_width(init, INPUTS, activation="relu")
    exact = log_moments(init, input_norm2=float(INPUTS[0] @ INPUTS[0]))
    theta_w, theta_b, top = field.kernel_parts()
    assert np.log(theta_w[0, 0]) + top == pytest.approx(exact.w, abs=1e-12)
    assert np.log(theta_b[0, 0]) + top == pytest.approx(exact.b, abs=1e-3)  # dead layers, 2^-10


def test_quadrature_is_the_closed_form_for_erf():
    q = np.array([[1.3, 0.4, -1.0], [0.4, 0.9, 0.1], [-1.0, 0.1, 6.0]])
    by_quadrature = mean_products(activation_of(torch.erf), q)
    for left, right in zip(by_quadrature, mean_products(ERF, q), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-11)
    assert mean_products(ERF, q)[0][0, 1] == pytest.approx(
        2 / np.pi * np.arcsin(0.8 / np.sqrt(3.6 * 2.8))
    )


def test_erf_appendix_formula_needs_variances_and_not_deviations():
    """Compare the means for erf with a simulation at q = 1.3 and q_sr = 0.4."""
    rng = np.random.default_rng(6)
    pairs = rng.multivariate_normal([0, 0], [[1.3, 0.4], [0.4, 1.3]], 400_000)
    slopes = np.prod(2 / np.sqrt(np.pi) * np.exp(-(pairs**2)), axis=1)
    exact = mean_products(ERF, np.array([[1.3, 0.4], [0.4, 1.3]]))[1][0, 1]
    assert_mean(slopes, exact)
    deviation = 1.3**0.5
    printed = 4 / np.pi / np.sqrt((1 + 2 * deviation) ** 2 - 4 * 0.4)
    with pytest.raises(AssertionError):
        assert_mean(slopes, printed)


def test_borders_of_the_phases():
    assert [border("relu", b) for b in (0, 0.5, 2)] == [2.0, 2.0, 2.0]
    tanh = [border("tanh", b) for b in (0, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2)]
    erf = [border("erf", b) for b in (0, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2)]
    np.testing.assert_allclose(tanh, [1, 1.42, 1.76, 1.99, 2.29, 2.84, 3.44, 4.27], atol=0.006)
    np.testing.assert_allclose(erf, [0.785, 1.11, 1.38, 1.55, 1.79, 2.23, 2.72, 3.39], atol=0.006)
    assert border(torch.erf, 0.5) == pytest.approx(border("erf", 0.5), rel=1e-9)


RATIOS = {  # kappa_1 / kappa_2 at depths 5, 10, 20, 60 from a cosine of 1/2
    ("relu", 1, 1): (1.138, 1.021, 1.001, 1.000),
    ("relu", 2, 0): (2.37, 2.64, 2.95, 3.43),
    ("relu", 3, 1): (1.80, 2.01, 2.43, 3.16),
    ("erf", 2.718, 1): (2.82, 2.97, 3.05, 3.07),
    ("erf", 6, 1): (11.8, 108, 1.14e4, 1.84e12),
}


@pytest.mark.parametrize("setting", RATIOS, ids=str)
def test_kappa_ratios(setting):
    activation, sigma_w2, sigma_b2 = setting
    for depth, ratio in zip((5, 10, 20, 60), RATIOS[setting], strict=True):
        init = constant_width(depth, 10, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
        kappa = infinite_width_of_gram(init, [[1, 0.5], [0.5, 1]], activation=activation).kappa
        assert kappa[0, 0] / kappa[0, 1] == pytest.approx(ratio, rel=0.006)


def test_equation_18_is_the_biases_part_and_no_bound_near_the_edge_of_chaos():
    """Check that the ratio lies below the printed lower bound if the weights are included."""
    assert printed_mean_ratio(50, 1.9, 0.1) == pytest.approx(0.5026, abs=2e-4)
    init = constant_width(25, 400, sigma_w2=1.9)
    both = infinite_width_mean_ratio(init, 0.1)
    biases = printed_mean_ratio(25, 1.9, 0.1)
    x = np.zeros((2, 400))
    x[0, 0], x[1, 0], x[1, 1] = 1.0, 0.1, 0.99**0.5
    theta = sample_kernels(init, x, 400, 32, activation="relu").theta
    theta = theta / np.exp(log_moments(init).mean)
    # the mean of the diagonal is known; its deviation is used as a control variate
    ratios = theta[:, 0, 1] - 0.27 * (theta[:, 0, 0] - 1)
    error = ratios.std() / len(ratios) ** 0.5
    assert both < ratios.mean() + 4 * error
    assert ratios.mean() + 4 * error < biases


@pytest.mark.parametrize("sigma_w2", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("sigma_b2", [0.0, 0.1, 1.0])
def test_inputs_of_relu_networks_become_similar_in_every_phase(sigma_w2, sigma_b2):
    """docs/glossary.md and erratum trust-15, whose numbers at (3, 1) are those below."""

    def cosine(depth):
        init = constant_width(depth, 100, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
        q = infinite_width_of_gram(init, np.eye(2), activation="relu").scaled_q[-1]
        return q[0, 1] / q[0, 0]

    assert cosine(2) < cosine(60) <= cosine(2000)
    assert cosine(2000) == pytest.approx(1, abs=1e-4)
    if (sigma_w2, sigma_b2) == (3.0, 1.0):
        assert [round(cosine(depth), 3) for depth in (2, 60)] == [0.531, 0.992]
