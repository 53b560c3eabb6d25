"""The comparisons of held-out networks raise no more alarms than stated, and see small errors."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from tests.helpers.error_rates import Ledger, has_mean, near_mean, same_law, same_mean
from tests.helpers.held_out_networks import RELU
from tests.helpers.held_out_statistics import (
    CHAIN,
    DRAWS,
    LEDGER,
    compared,
    grown,
    scalar_statistics,
)
from tests.helpers.plain_autograd import drawn_kernels

from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.moment_recursion import log_theta_moment
from finitewidth.kernels.ntk_init.moments import log_moments, printed_log_moments
from finitewidth.kernels.ntk_init.pair_chain import sample_pairs
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain

TAIL = 1e-6  # probability that a correct comparison has more alarms than `most_alarms`
SIZE = 500


def most_alarms(repetitions, level):
    return int(binom.ppf(1 - TAIL, repetitions, level))


# law: (draw a sample, mean, mean of squares)
LAWS = {
    "normal": (lambda rng, n: rng.standard_normal(n), None, None),
    "Cauchy": (lambda rng, n: rng.standard_cauchy(n), None, None),
    "atoms": (lambda rng, n: rng.integers(0, 3, n).astype(float), 1.0, 5 / 3),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), 1.0, 2.0),
    "lognormal": (lambda rng, n: rng.lognormal(0.0, 1.5, n), math.exp(1.125), math.exp(4.5)),
    "rare": (lambda rng, n: 1.0 * (rng.random(n) < 2 / n), 2 / SIZE, 2 / SIZE),
}


@pytest.mark.parametrize("name", LAWS)
def test_samples_of_equal_law_raise_no_more_alarms_than_stated(name):
    draw, mean, square = LAWS[name]
    rng = np.random.default_rng(1)
    repetitions = 1500
    p_values = {"same_law": [], "same_mean": [], "has_mean": []}
    for _ in range(repetitions):
        left = draw(rng, SIZE)
        right = draw(rng, SIZE)
        p_values["same_law"].append(same_law(left, right))
        p_values["same_mean"].append(same_mean(left, right))
        if mean is not None:
            p_values["has_mean"].append(has_mean(left, mean, square))
    for comparison, found in p_values.items():
        for level in (0.2, 0.05, 0.01, 0.001):
            alarms = sum(p <= level for p in found)
            assert alarms <= most_alarms(repetitions, level), (comparison, level, alarms)


def test_means_of_wide_networks_raise_as_many_alarms_as_stated():
    rng = np.random.default_rng(2)
    repetitions = 4000
    level = 0.01
    samples = rng.gamma(8.0, size=(repetitions, SIZE))  # skewness .7
    alarms = sum(near_mean(sample, 8.0) <= level for sample in samples)
    assert repetitions - most_alarms(repetitions, 1 - level) - 1 < most_alarms(repetitions, level)
    assert alarms <= most_alarms(repetitions, 1.2 * level)
    assert near_mean(samples[0], 8.5) < 1e-3 < near_mean(samples[0], 8.5, 0.5)


def test_a_whole_ledger_raises_no_more_alarms_than_stated():
    """Run the ledger with the false alarm probability .1 on 600 sets of 30 correct comparisons."""
    rng = np.random.default_rng(3)
    alarms = 0
    sets = 600
    for _ in range(sets):
        ledger = Ledger(false_alarm=0.1, comparisons=30)
        samples = rng.standard_normal((2, 15, SIZE))
        found = {("law", i): same_law(*samples[:, i]) for i in range(15)}
        found |= {("mean", i): same_mean(*samples[:, i]) for i in range(15)}
        try:
            ledger.check(found)
        except AssertionError:
            alarms += 1
    assert alarms <= most_alarms(sets, 0.1)


# Power. Seeds are fixed and sizes are those of the held-out tests.

RIGHT = Initialisation(widths=(5, 4, 8, 3, 6), sigma_w2=2.1, sigma_b2=0.3)
PLAIN = Initialisation(widths=(5, 4, 8, 3, 6), sigma_w2=2.1)
X = np.eye(1, 5)


def changed(init, **others):
    values = {name: getattr(init, name) for name in init.__dataclass_fields__}
    return Initialisation(**(values | others))


@pytest.fixture(scope="module")
def networks():
    rng = np.random.default_rng(4)
    return {init: drawn_kernels(init, RELU.plain, X, DRAWS, rng) for init in (RIGHT, PLAIN)}


def smallest(init, networks, sampler_of):
    """Return the smallest p-value of a sampler of the network ``sampler_of``."""
    axes = np.random.default_rng(5).standard_normal((3, 3))
    samples = grown(sample_scalar_chain(sampler_of, DRAWS, 6)), networks[init]
    found = compared(*(scalar_statistics(sample, axes) for sample in samples))
    return min(found.values())


WRONG = {
    "weight variance 5 % too large": (PLAIN, {"sigma_w2": 1.05 * 2.1}),
    "weight variance 5 % too small": (RIGHT, {"sigma_w2": 0.95 * 2.1}),
    "bias variance 20 % too large": (RIGHT, {"sigma_b2": 1.2 * 0.3}),
    "no biases": (RIGHT, {"sigma_b2": 0.0}),
    "a unit too many in a layer of three": (PLAIN, {"widths": (5, 4, 8, 4, 6)}),
    "a unit too few in a layer of three": (RIGHT, {"widths": (5, 4, 8, 2, 6)}),
    "an input too many": (PLAIN, {"widths": (6, 4, 8, 3, 6)}),
    "another parametrisation": (PLAIN, {"parametrisation": "ntk"}),
}


@pytest.mark.parametrize("error", WRONG)
def test_a_wrong_sampler_is_seen(error, networks):
    init, change = WRONG[error]
    assert smallest(init, networks, changed(init, **change)) < LEDGER.level / 10


@pytest.mark.parametrize("init", [RIGHT, PLAIN], ids=["biases", "no biases"])
def test_the_right_sampler_raises_no_alarm(init, networks):
    assert smallest(init, networks, init) > LEDGER.level


def test_a_wrong_cosine_is_seen():
    samples = []
    for cosine, seed in ((0.5, 1), (0.45, 2)):
        blocks = list(sample_pairs(8, [4], [cosine], DRAWS, seed))
        samples.append(
            np.concatenate([block[4, cosine].scaled_theta(2.0, 8) for block in blocks], axis=1)
        )
    assert same_law(*(own[1] / own[0] for own in samples)) < LEDGER.level / 10


def test_a_wrong_moment_is_seen():
    """Errors of 3 % in the mean, of 10 % in the second moment, and the printed second moment."""
    init = constant_width(6, 12, sigma_w2=1.9)
    mean = np.exp(log_moments(init).mean)
    second = np.exp(log_moments(init).second)
    fourth = np.exp(log_theta_moment(init, 4))
    theta = sample_scalar_chain(init, CHAIN, 7).theta
    assert has_mean(theta, mean, second) > LEDGER.level
    assert has_mean(theta**2, second, fourth) > LEDGER.level
    for sign in (-1, 1):
        assert has_mean(theta, (1 + 0.03 * sign) * mean, second) < LEDGER.level / 10
        assert has_mean(theta**2, (1 + 0.1 * sign) * second, fourth) < LEDGER.level / 10
    printed = np.exp(printed_log_moments(init).second)
    assert has_mean(theta**2, printed, fourth) < LEDGER.level / 10


# The draws
