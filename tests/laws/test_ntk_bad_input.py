"""Error messages for bad arguments contain the name, the value and what is allowed."""

from functools import partial

import numpy as np
import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.estimators import dispersion, mean_ratio
from finitewidth.kernels.ntk_init.infinite_width import infinite_width, infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.moment_recursion import log_kernel_moments
from finitewidth.kernels.ntk_init.phases import border
from finitewidth.kernels.ntk_init.samplers import sample_kernels, sample_vectors
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

INIT = Initialisation(widths=(3, 4, 5), sigma_w2=2.0)
BIASED = Initialisation(widths=(3, 4, 5), sigma_w2=2.0, sigma_b2=0.5)
TWO_OUTPUTS = Initialisation(widths=(3, 4, 5), sigma_w2=2.0, outputs=2)
X = np.eye(2, 3)

CASES = {
    "depth = 0: must be an integer of at least 1": partial(constant_width, 0, 5, sigma_w2=2.0),
    "widths = ()": partial(Initialisation, widths=(), sigma_w2=2.0),
    "widths[1] = 0": partial(Initialisation, widths=(3, 0), sigma_w2=2.0),
    "widths[0] = 2.5": partial(Initialisation, widths=(2.5, 3), sigma_w2=2.0),
    "sigma_w2 = -1.0": partial(Initialisation, widths=(3,), sigma_w2=-1.0),
    "sigma_w2 = nan": partial(Initialisation, widths=(3,), sigma_w2=np.nan),
    "sigma_b2 = -0.1": partial(Initialisation, widths=(3,), sigma_w2=1.0, sigma_b2=-0.1),
    "parametrisation = 'mup'": partial(
        Initialisation, widths=(3,), sigma_w2=1.0, parametrisation="mup"
    ),
    "activation = 'sine'": partial(sample_vectors, INIT, 5, 1, activation="sine"),
    "activation = 3": partial(sample_kernels, INIT, X, 5, 1, activation=3),
    "of shape (S, 3)": partial(sample_kernels, INIT, X[:, :2], 5, 1, activation="relu"),
    "inputs[1] = 'a vector of norm 0'": partial(
        sample_kernels, INIT, [[1, 0, 0], [0, 0, 0]], 5, 1, activation="relu"
    ),
    "must be finite": partial(infinite_width, INIT, [[1, np.nan, 0]], activation="relu"),
    "input_norm2 = 0": partial(sample_scalar_chain, INIT, 5, 1, input_norm2=0),
    "draws = 0": partial(sample_scalar_chain, INIT, 0, 1),
    "outputs = 2: must be 1 here": partial(sample_scalar_chain, TWO_OUTPUTS, 5, 1),
    "draws = 1000000000": partial(sample_scalar_chain, INIT, 10**9, 1),
    "device = 'abacus'": partial(sample_vectors, INIT, 5, 1, activation="relu", device="abacus"),
    "sigma_b2 = 0.5: must be 0 here": partial(log_kernel_moments, BIASED, 2),
    "theta: shape (1,) must be (draws,)": partial(dispersion, [1.0]),
    "theta: holds infinite numbers": partial(dispersion, [1.0, np.inf, 2.0]),
    "resamples = 1": partial(dispersion, [1.0, 3.0, 2.0], resamples=1),
    "estimator = 'best'": partial(dispersion, [1.0, 3.0, 2.0], estimator="best"),
    "numerator": partial(mean_ratio, [1.0, 2.0], [1.0, 2.0, 3.0]),
    "lam = -1": partial(dispersion_limit, -1, "chaotic"),
    "phase = 'liquid'": partial(dispersion_limit, 1, "liquid"),
    "alpha_0 = 0": partial(dispersion_limit, 1, "critical", alpha_0=0),
    "lam = 1000": partial(dispersion_limit, 1000, "chaotic"),
    "sigma_b2 = -2": partial(border, "tanh", -2),
    "gram": partial(infinite_width_of_gram, INIT, [[1, 0.5], [0.2, 1]], activation="erf"),
}


@pytest.mark.parametrize("words", CASES, ids=str)
def test_bad_argument_is_named_with_its_value_and_what_is_allowed(words):
    with pytest.raises(ConfigError) as refusal:
        CASES[words]()
    assert words in str(refusal.value)
    assert "must be" in str(refusal.value)


def test_overflow_is_reported_with_its_depth_and_the_way_out():
    draws = sample_scalar_chain(constant_width(2000, 100, sigma_w2=3.0), 5, 1)
    assert np.isfinite(draws.scaled_theta).all()
    with pytest.raises(ConfigError, match=r"depth 2000.*ntk_moments"):
        _ = draws.theta
    with pytest.raises(ConfigError, match=r"depth 2000.*log_kappa"):
        _ = infinite_width_of_gram(
            constant_width(2000, 100, sigma_w2=6.0, sigma_b2=1.0), [[1.0]], activation="erf"
        ).ntk


@pytest.mark.parametrize("sampler", ["vectors", "kernels"])
def test_overflow_of_other_activations_is_never_silent(sampler):
    init = constant_width(200, 2, sigma_w2=2.0)

    def steep(h):
        return 10 * h + h.tanh()

    samplers = {
        "vectors": partial(sample_vectors, init, 3, 1, activation=steep),
        "kernels": partial(sample_kernels, init, np.eye(2), 3, 1, activation=steep),
    }
    with pytest.raises(ConfigError, match="overflows float64 at depth 200"):
        samplers[sampler]()
