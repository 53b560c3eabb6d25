"""Properties of the tangent kernel at initialisation, of its moments and of their limits."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.estimators import ESTIMATORS, dispersion, mean_ratio, naive
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit, limit_parts
from finitewidth.kernels.ntk_init.moment_recursion import log_theta_moment
from finitewidth.kernels.ntk_init.moments import (
    layer_coefficients,
    leading_excess,
    log_moments,
    reversal_input,
)
from finitewidth.kernels.ntk_init.off_diagonal import (
    infinite_width_mean_ratio,
    printed_mean_ratio,
)
from finitewidth.kernels.ntk_init.samplers import sample_kernels, sample_vectors
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain
from finitewidth.papers.beyond.experiments.shapes import Reversal, networks, random_reversal
from finitewidth.papers.beyond.experiments.theory import widths_of
from finitewidth.papers.beyond.settings import RandomShapes
from finitewidth.settings.typed import section_from

QUICK = settings(max_examples=30, deadline=None, derandomize=True)
WIDTHS = st.lists(st.integers(1, 40), min_size=1, max_size=8).map(tuple)
VARIANCES = st.floats(0.3, 4.0)


@QUICK
@given(WIDTHS, VARIANCES)
def test_moments_obey_their_inequalities(widths, sigma_w2):
    init = Initialisation(widths=widths, sigma_w2=sigma_w2)
    exact = log_moments(init)
    logs = [0.0] + [log_theta_moment(init, order) for order in (1, 2, 3, 4)]
    assert all(np.diff(logs, 2) >= -1e-9), "log E Theta^k is convex in k"
    assert exact.w2 >= 2 * exact.w - 1e-12
    assert exact.wb <= (exact.w2 + exact.b2) / 2 + 1e-12
    assert exact.dispersion >= 1 - 1e-12


def test_chaotic_depth_2000_gives_numbers():
    for sigma_w2 in (1.0, 2.0, 3.0):
        init = constant_width(2000, 100, sigma_w2=sigma_w2)
        exact = log_moments(init)
        assert np.isfinite([exact.w, exact.b, exact.w2, exact.b2, exact.wb, exact.second]).all()
        assert exact.second == pytest.approx(log_theta_moment(init, 2), abs=1e-8)
        draws = sample_scalar_chain(init, 10, 1)
        assert np.isfinite(draws.scaled_theta).all()
        vectors = sample_vectors(init, 2, 1, activation="relu")
        assert np.isfinite(vectors.scaled_theta).all()


def test_ordered_depth_2000_sums_its_biases():
    draws = sample_scalar_chain(constant_width(2000, 500, sigma_w2=1.0), 400, 2)
    assert draws.theta.mean() == pytest.approx(2.0, rel=0.01)  # 1 / (1 - a)
    vectors = sample_vectors(constant_width(2000, 100, sigma_w2=1.0), 20, 2, activation="relu")
    assert vectors.theta.mean() == pytest.approx(2.0, rel=0.1)


@given(st.floats(0.05, 3.0), st.floats(0.05, 5.0))
@QUICK
def test_limits_are_ordered(lam, alpha_0):
    chaotic = dispersion_limit(lam, "chaotic")
    critical = dispersion_limit(lam, "critical", alpha_0=alpha_0)
    assert 1 == dispersion_limit(lam, "ordered") < critical < chaotic
    assert critical > dispersion_limit(lam, "critical", alpha_0=alpha_0, form="printed")
    assert chaotic > dispersion_limit(lam, "chaotic", form="printed")
    assert dispersion_limit(1.1 * lam, "critical", alpha_0=alpha_0) > critical


def test_limits_start_at_one_and_forget_the_input_when_it_is_small():
    for form in ("corrected", "printed"):
        assert dispersion_limit(1e-7, "chaotic", form=form) == pytest.approx(1, abs=1e-5)
        assert dispersion_limit(0.0, "critical", form=form) == 1.0
        small = dispersion_limit(0.7, "critical", alpha_0=1e-9, form=form)
        assert small == pytest.approx(dispersion_limit(0.7, "chaotic", form=form), rel=1e-6)
    for lam in (0.01, 0.5):
        assert limit_parts(lam).w2 > limit_parts(lam, form="printed").w2


def test_dispersion_grows_with_the_weight_variance_and_falls_with_the_width():
    for width in (50, 200):
        grid = [
            log_moments(constant_width(25, width, sigma_w2=s)).dispersion
            for s in np.linspace(0.5, 3.0, 26)
        ]
        assert all(np.diff(grid) > 0)
    for sigma_w2 in (1.5, 2.0, 2.5):
        by_width = [
            log_moments(constant_width(25, width, sigma_w2=sigma_w2)).dispersion
            for width in (25, 50, 100, 200)
        ]
        assert all(np.diff(by_width) < 0)


def log_dispersions(sigma_w2, depth, narrow=100, wide=500):
    """Return log r by kind of input and architecture; "own" are the networks of Figure 6."""
    exact = {
        (kind, name): log_moments(init)
        for kind, name, init in networks(depth, narrow, wide, sigma_w2)
    }
    return {key: found.second - 2 * found.mean for key, found in exact.items()}


# ``beyond`` B.2 states that growing networks have the lower dispersion, without a restriction
@pytest.mark.parametrize(
    ("sigma_w2", "depth", "order"),
    [
        (1.8, 150, ["growing", "constant", "shrinking"]),
        (1.9, 50, ["constant", "growing", "shrinking"]),
        (1.98, 150, ["constant", "shrinking", "growing"]),
        (2.0, 150, ["constant", "shrinking", "growing"]),
        (2.02, 150, ["constant", "shrinking", "growing"]),
        (2.2, 150, ["constant", "growing", "shrinking"]),
        (3.0, 150, ["constant", "growing", "shrinking"]),
    ],
)
def test_the_order_of_architectures_does_not_follow_the_phase(sigma_w2, depth, order):
    found = log_dispersions(sigma_w2, depth)
    assert sorted(order, key=lambda name: found["own", name]) == order


# docs/findings.md, section 3: hidden widths that grow from at least 10 units, with reciprocals of
# the sum 2 at most, and input dimensions from half their mean on
NARROWEST, MOST_RECIPROCALS, SUFFICIENT = 10, 2.0, 0.5
DRAWN = section_from(
    RandomShapes,
    {
        "deepest": 200,
        "narrowest": NARROWEST,
        "widest": 200,
        "growth": 20.0,
        "most_reciprocals": MOST_RECIPROCALS,
    },
)


def reversals():
    """Draw 400 growing widths, a quarter each ordered, at the edge, near it and chaotic."""
    rng = np.random.default_rng(11)
    ranges = ((0.3, 2.0), (2.0, 2.0), (1.9, 2.1), (2.0, 20.0))
    for low, high in ranges * 100:
        yield random_reversal(rng, rng.uniform(low, high), DRAWN)


def test_growing_networks_have_the_lower_dispersion_from_half_the_mean_width_on():
    """Try to refute docs/findings.md, section 3, at 400 random widths in all phases."""
    higher = []
    for reversal in reversals():
        mean = np.mean(reversal.hidden)
        first = int(np.ceil(SUFFICIENT * mean))
        assert reversal.hidden[0] >= NARROWEST
        assert (1 / np.array(reversal.hidden)).sum() <= MOST_RECIPROCALS
        for input_width in (first, round(1.5 * mean), 10 * first):
            assert reversal.log_ratio(input_width) < 0, reversal
        assert reversal_input(reversal.hidden, reversal.sigma_w2) < mean / 2
        higher.append(reversal.log_ratio(1) > 0)
    assert 0.6 < np.mean(higher) < 0.9, "the condition on the input is needed"


@pytest.mark.parametrize(
    ("sigma_w2", "depth", "growing", "shrinking"),
    [(3.0, 150, 12.817, 12.790), (2.2, 150, 12.812, 12.789), (2.0, 50, 2.2056, 2.2032)],
)
def test_growing_networks_have_the_larger_dispersion_at_small_inputs(
    sigma_w2, depth, growing, shrinking
):
    reversal = Reversal(widths_of("growing", depth, 100, 500)[1:], sigma_w2)
    found = [log_moments(init).dispersion for init in reversal.networks(2)]
    assert found == pytest.approx([growing, shrinking], abs=6e-4)
    assert reversal_input(reversal.hidden, sigma_w2) > 2


def test_narrow_networks_are_excluded_for_a_reason():
    """Check counterexamples: layers that die, and reciprocals of a large sum."""
    dying = Reversal((2,) * 2 + (5,) * 5, 1.8)
    deep = Reversal((10,) * 90 + (15,) * 90, 1.95)
    assert (1 / np.array(dying.hidden)).sum() <= MOST_RECIPROCALS
    assert (1 / np.array(deep.hidden)).sum() > MOST_RECIPROCALS
    for reversal in (dying, deep):
        mean = np.mean(reversal.hidden)
        for share in (SUFFICIENT, 1):
            assert reversal.log_ratio(int(np.ceil(share * mean))) > 0.01
        assert reversal_input(reversal.hidden, reversal.sigma_w2) < mean / 4, "not to first order"


def test_reversed_widths_are_equal_to_first_order_at_one_input_dimension():
    """Check the sign of the first-order difference, and that of the exact one, on both sides."""
    for reversal in itertools.islice(reversals(), 60):
        limit = reversal_input(reversal.hidden, reversal.sigma_w2)
        if limit < 1:
            assert reversal.excess(1) < 0
            continue
        assert reversal.excess(int(limit)) >= 0 > reversal.excess(int(limit) + 1)
        wide = Reversal(tuple(10**4 * width for width in reversal.hidden), reversal.sigma_w2)
        below = round(0.99e4 * limit)
        above = round(1.01e4 * limit)
        assert wide.log_ratio(below) > 0 > wide.log_ratio(above)
    scaled = [reversal_input((c, 3 * c, 4 * c), 2.3) / c for c in (1, 7)]
    assert scaled[0] == pytest.approx(scaled[1], rel=1e-12)
    for widths in ((5, 5), (5, 7, 6), (5,)):
        with pytest.raises(ConfigError, match="grow with depth"):
            reversal_input(widths, 2.0)


@pytest.mark.parametrize(("sigma_w2", "limit"), [(2.2, 0.2 / 2.4), (3.0, 0.25), (200.0, 198 / 398)])
def test_the_input_of_equal_dispersions_has_a_limit_in_the_chaotic_phase(sigma_w2, limit):
    """Check docs/theory.md: (sigma_w2 - 2) / (2 sigma_w2 - 2) of the ratio A / H."""
    widths = np.array(widths_of("growing", 3000, 100, 500)[1:], dtype=float)
    balance = widths.sum() - 2 * np.cumsum(widths) + widths
    ratio = balance.sum() / (balance / widths).sum()
    assert reversal_input(widths, sigma_w2) == pytest.approx(limit * ratio, rel=0.02)


def test_the_input_of_equal_dispersions_falls_with_depth_outside_the_chaotic_phase():
    deep = {}
    for variance in (1.8, 2.0):
        deep[variance] = [
            reversal_input(widths_of("growing", depth, 100, 500)[1:], variance)
            for depth in (200, 400, 800)
        ]
    np.testing.assert_allclose(np.divide(deep[2.0][:-1], deep[2.0][1:]), 2, rtol=0.03)
    assert max(deep[1.8]) < 1e-7
    assert reversal_input(widths_of("growing", 4000, 100, 500)[1:], 0.2) == 0


@QUICK
@given(WIDTHS, VARIANCES)
def test_reversed_widths_have_the_same_dispersion_in_the_ntk_parametrisation(widths, sigma_w2):
    orders = (widths, (widths[0], *widths[:0:-1]))
    found = [
        log_moments(Initialisation(widths=order, sigma_w2=sigma_w2, parametrisation="ntk"))
        for order in orders
    ]
    logs = [moments.second - 2 * moments.mean for moments in found]
    assert logs[0] == pytest.approx(logs[1], abs=1e-10)


@pytest.mark.parametrize("sigma_w2", [2.2, 3.0])
def test_reversed_widths_have_the_same_dispersion_in_the_chaotic_limit(sigma_w2):
    """Check that the difference halves if depth and widths double, and does not vanish before."""
    gaps = []
    for scale in (2, 4, 8):
        found = log_dispersions(sigma_w2, 50 * scale, 25 * scale, 125 * scale)
        gaps.append(found["common", "shrinking"] - found["common", "growing"])
    assert min(gaps) > 0
    np.testing.assert_allclose(np.divide(gaps[:-1], gaps[1:]), 2, rtol=0.3)


@QUICK
@given(WIDTHS, VARIANCES, st.sampled_from(["standard", "ntk"]))
def test_coefficients_of_layers_give_the_dispersion_of_wide_networks(
    widths, sigma_w2, parametrisation
):
    wide = tuple(10**7 * width for width in widths)
    init = Initialisation(widths=wide, sigma_w2=sigma_w2, parametrisation=parametrisation)
    exact = log_moments(init)
    excess = leading_excess(init)
    assert excess == pytest.approx(np.expm1(exact.second - 2 * exact.mean), rel=1e-5, abs=1e-12)
    coefficients = layer_coefficients(init)
    assert coefficients.shape == (len(widths) - 1,)
    assert ((coefficients >= 0) & (coefficients <= 5 + 1e-12)).all()


@pytest.mark.parametrize("sigma_w2", [1.5, 2.0, 2.2])
@pytest.mark.parametrize("cosine", [0.1, 0.9])
def test_bounds_of_theorem_3_3_hold_at_finite_width(sigma_w2, cosine):
    init = constant_width(12, 50, sigma_w2=sigma_w2)
    x = np.zeros((2, 50))
    x[0, 0], x[1, 0], x[1, 1] = 1.0, cosine, (1 - cosine**2) ** 0.5
    theta = sample_kernels(init, x, 4000, 6, activation="relu").theta
    ratio = mean_ratio(theta[:, 0, 1], theta[:, 0, 0], resamples=200)
    # equations 16 and 17
    assert ratio.value - 4 * ratio.standard_error > 0.25
    assert ratio.value + 4 * ratio.standard_error < 1
    assert naive(theta[:, 0, 1]) < 16 * log_moments(init).dispersion


def test_infinitely_wide_mean_ratio_tends_to_its_limits():
    deep = [
        infinite_width_mean_ratio(constant_width(5000, 10, sigma_w2=s), 0.1)
        for s in (1.5, 2.0, 2.5)
    ]
    assert deep[0] == pytest.approx(1, abs=3e-3)
    assert deep[1] == pytest.approx(0.25, abs=2e-3)
    assert deep[2] == pytest.approx(0.25, abs=2e-3)
    ratios = [printed_mean_ratio(depth, 1.0, 0.5) for depth in (10, 20, 50, 100)]
    assert all(left < right < 1 for left, right in itertools.pairwise(ratios))


def test_most_estimates_of_a_heavy_tail_lie_below_the_truth():
    """Check that, at the edge of chaos with L / M = 1, most 500-draw estimates are too low."""
    init = constant_width(100, 100, sigma_w2=2.0)
    samples = sample_scalar_chain(init, 200_000, 9).theta.reshape(-1, 500)
    estimates = ESTIMATORS["leave_one_out"](samples)
    assert 0.8 < (estimates < log_moments(init).dispersion).mean() < 0.93
    assert np.median(estimates) < 15


def test_bootstrap_error_is_the_spread_over_experiments():
    init = constant_width(10, 100, sigma_w2=2.0)
    theta = sample_scalar_chain(init, 400 * 500, 10).theta.reshape(400, 500)
    spread = naive(theta).std()
    estimate = dispersion(theta[0], estimator="naive", resamples=400)
    assert estimate.standard_error == pytest.approx(spread, rel=0.5)
    assert estimate.low < estimate.value < estimate.high
    assert dispersion(1e-150 * theta[0]).value == pytest.approx(estimate.value)
