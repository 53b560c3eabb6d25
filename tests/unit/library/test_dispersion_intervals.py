"""Intervals of dispersions contain the truth as often as they say; too few draws say so.

Coverage tests have fixed seeds and state their rates of false alarms over other seeds.
"""

from math import comb

import numpy as np
import pytest

import finitewidth as fw
from finitewidth.kernels.ntk_init.estimators import dispersion as bootstrapped
from finitewidth.kernels.ntk_init.tail_errors import NORMAL
from finitewidth.library import law_trust
from finitewidth.library.dispersion import estimated, interval_text

SEEDS = 200
# Of 200 intervals, 13 or more miss with a probability of .002 if 2.5 % do. Those of the bootstrap
# alone miss 10 to 45 %, and fewer than 13 times with a probability below .05.
MOST = 12
CASES = {
    "relu, biases": ("relu", 30, 12, 2.0, 0.2, 500),
    "relu, few layers": ("relu", 25, 5, 2.3, 0.5, 200),
    "relu, M = 50": ("relu", 50, 15, 3.0, 0.0, 500),
    "tanh": ("tanh", 20, 10, 3.0, 0.2, 200),
}


@pytest.mark.parametrize("name", CASES)
def test_intervals_of_draws_contain_the_truth(name):
    """Truths are exact for ReLU; for tanh, that of all 40,000 draws together."""
    activation, width, depth, sigma_w2, sigma_b2, draws = CASES[name]
    init = fw.constant_width(depth, width, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
    drawn = {"activation": activation, "input_norm2": float(width)}
    theta = fw.draw_ntk(init, draws=SEEDS * draws, seed=1, **drawn)
    truth = float((theta**2).mean() / theta.mean() ** 2)
    if activation == "relu":
        truth = fw.ntk_moments(init, input_norm2=float(width)).dispersion
    samples = theta.reshape(SEEDS, draws)
    found = [estimated(sample, resamples=100) for sample in samples]
    above = sum(one.high < truth for one in found)
    below = sum(one.low > truth for one in found)
    assert above <= MOST
    assert below <= MOST
    alone = [bootstrapped(sample, resamples=100) for sample in samples]
    assert sum(one.value + NORMAL * one.standard_error < truth for one in alone) > MOST


def test_networks_of_relu_are_exact():
    init = fw.network([25] * 5 + [1], sigma_w2=2.3, sigma_b2=0.5)
    found = fw.dispersion(init)
    assert (found.draws, found.standard_error, found.low) == (0, 0.0, found.high)
    drawn = fw.dispersion(fw.draw_ntk(init, draws=50_000, seed=1))
    assert drawn.low < found.value < drawn.high
    assert str(found) == f"{found.value:.4g} (exact)"
    answer = fw.trust(init)
    assert answer.dispersion == found.value
    assert (answer.draws, answer.mean_error, answer.distance_low) == (0, 0.0, answer.distance_high)


def test_too_few_draws_give_a_bound_and_a_number_that_does():
    """Exactly 16.2. A sample of the number that is named has an interval."""
    init = fw.constant_width(20, 20, sigma_w2=2.0)
    few = fw.dispersion(fw.draw_ntk(init, draws=100))
    assert np.isinf(few.high)
    assert np.isnan(few.standard_error)
    assert 1 < few.low < 16.2
    assert str(few).startswith(f"at least {few.low:.3g}: 100 draws are too few, about ")
    log_normal = np.exp(1.5 * np.random.default_rng(2).standard_normal(50))
    bound = estimated(log_normal)
    assert np.isinf(bound.high)
    more = np.exp(1.5 * np.random.default_rng(3).standard_normal(2 * bound.enough))
    assert estimated(more).low < np.exp(1.5**2) < estimated(more).high < np.inf


def test_draws_of_both_signs_and_equal_draws():
    normal = np.random.default_rng(4).normal(1.0, 1.0, 1000)
    found = estimated(normal)
    assert found.low < 2 < found.high < 1.2 * found.low
    equal = estimated(np.full(10, 3.0))
    assert (equal.value, equal.low, equal.high) == (1, 1, 1)


def test_the_words_of_trust():
    net = fw.network([20] * 10 + [1], sigma_w2=3.0, sigma_b2=0.2)
    known = fw.trust(net, activation="tanh", draws=2000, inputs=4)
    assert known.dispersion_low < known.dispersion < known.dispersion_high
    assert known.distance_low < known.distance < known.distance_high
    assert f"{known.dispersion:.4g}, 95 % interval [" in str(known)
    deeper = fw.network([10] * 15 + [1], sigma_w2=3.0, sigma_b2=0.2)
    few = fw.trust(deeper, activation="tanh", draws=50, inputs=4)
    assert f"at least {few.dispersion_low:.3g}: 50 draws are too few" in str(few)
    assert f"from the kernel of infinite width by at least {few.distance_low:.0%}" in str(few)
    assert interval_text(1.00041, 1.00052) == "95 % interval [1.00041, 1.00052]"
    assert interval_text(219.4, 246.1) == "95 % interval [219, 246]"
    assert interval_text(1.0, 1.0) == "95 % interval [1, 1]"


def test_the_largest_step_lies_between_order_statistics():
    count = law_trust.EIGENVALUE_DRAWS
    below = law_trust.BELOW_MEDIAN
    assert count - 1 - below == law_trust.ABOVE_MEDIAN
    missed = 2 * sum(comb(count, k) for k in range(below + 1)) / 2**count
    assert 1 - missed == pytest.approx(0.959, abs=5e-4)
    # of 4 intervals, three or more miss with a probability of 3e-4
    net = fw.network([6, 8, 8, 1], sigma_w2=2.0)
    steps = np.array([law_trust._largest_steps(3, net, "relu", 1.0, seed)[0] for seed in range(4)])
    median = np.median(steps)
    missing = (steps[:, below] > median) | (steps[:, law_trust.ABOVE_MEDIAN] < median)
    assert missing.sum() <= 2
    answer = fw.trust(net, inputs=3, seed=0)
    assert (answer.largest_step_low, answer.largest_step_high) == (steps[0, 5], steps[0, 14])
