"""Comparisons from runs: means, differences, slopes, medians and rank correlations."""

import math

import numpy as np
import pytest
from scipy import stats

from finitewidth.claims import samples
from finitewidth.claims.verdicts import (
    CONTRADICTED,
    INCONCLUSIVE,
    LEVEL,
    SUPPORTED,
    CannotDecideError,
    Part,
    decide,
)


def test_runs_all_alike_leave_a_band_at_either_end():
    assert samples.mean("m", [2.0] * 6, low=0).p_outside == 0.5**6
    assert samples.mean("m", [2.0] * 6, high=1).p_inside == 0.5**6
    assert samples.mean("m", [2.0] * 6, low=0, high=1).p_inside == 2 * 0.5**6


def test_samples_agree_with_scipy():
    a = [1.0, 2.0, 4.0]
    b = [0.5, 0.7, 0.2, 0.9]
    welch = stats.ttest_ind(a, b, equal_var=False)
    found = samples.difference("d", a, b, low=0)
    assert found.dof == pytest.approx(welch.df)
    assert found.p_outside == pytest.approx(welch.pvalue / 2)
    assert found.interval == pytest.approx(welch.confidence_interval(0.95))
    mean = samples.mean("m", a, low=0)
    assert mean.interval == pytest.approx(stats.ttest_1samp(a, 0).confidence_interval(0.95))
    x = [1.0, 2.0, 3.0, 5.0]
    y = [1.1, 1.9, 3.2, 5.3]
    line = stats.linregress(x, y)
    slope = samples.slope("s", x, y, low=0)
    assert (slope.value, slope.standard_error) == pytest.approx((line.slope, line.stderr))


def test_samples_too_small_are_refused():
    for call in (
        lambda: samples.mean("m", [1.0], low=0),
        lambda: samples.difference("d", [1.0, 2.0], [1.0], low=0),
        lambda: samples.paired("p", [1.0, 2.0], [1.0], low=0),
        lambda: samples.slope("s", [1, 1, 1], [1, 2, 3], low=0),
    ):
        with pytest.raises(CannotDecideError):
            call()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_run_without_a_value_is_not_left_out(value):
    with pytest.raises(CannotDecideError, match="1 of 3 runs have no finite value"):
        samples.mean("m", [1.0, 2.0, value], low=0)


@pytest.mark.parametrize(
    ("runs", "verdict"), [(2, INCONCLUSIVE), (5, INCONCLUSIVE), (6, SUPPORTED)]
)
def test_runs_all_alike_count_as_in_a_sign_test(runs, verdict):
    for call in (samples.mean, samples.median):
        assert decide([call("m", [0.9] * runs, low=0.5)]).verdict == verdict
        assert decide([call("m", [0.9] * runs, low=0.9)]).verdict == INCONCLUSIVE


def test_a_median_is_tested_by_the_signs_of_its_runs():
    runs = [0.7, 1.0, 1.1, 1.2, 1.2, 1.3]
    all_above = samples.median("m", runs, low=0.5, paper=True)
    assert all_above.value == pytest.approx(1.15)
    assert (all_above.p_outside, all_above.p_inside) == (pytest.approx(1 / 64), 1)
    assert all_above.interval == (0.7, 1.3)
    one_below = samples.median("m", runs, low=0.8)
    assert one_below.p_outside == pytest.approx(7 / 64)
    assert samples.median("m", runs, high=0.5).p_inside == pytest.approx(1 / 64)
    assert samples.median("m", runs[1:], low=0.5).p_outside == pytest.approx(1 / 32)
    assert samples.median("m", runs[1:], low=0.5).interval == (-math.inf, math.inf)


def test_a_median_in_a_band_needs_both_ends():
    runs = [0.7, 1.0, 1.1, 1.2, 1.2, 1.3, 1.4]
    assert samples.median("m", runs, low=0, high=2).p_outside == pytest.approx(1 / 128)
    assert samples.median("m", runs, low=0, high=1.3).p_outside == pytest.approx(29 / 128)
    beyond = samples.median("m", runs, low=-1, high=0.5)
    assert beyond.p_inside == pytest.approx(2 / 128)  # it could have left at either end


@pytest.mark.parametrize("count", [6, 7, 10, 20])
def test_the_interval_of_a_median_is_the_one_of_order_statistics(count):
    runs = list(range(1, count + 1))
    low, high = samples.median("m", runs, low=0).interval
    missed = 2 * stats.binom.cdf(low - 1, count, 0.5)
    assert high == count + 1 - low
    assert missed <= 2 * LEVEL < 2 * stats.binom.cdf(low, count, 0.5)


def test_a_resolution_bounds_the_spread_that_equal_runs_do_not_show():
    assert decide([samples.mean("m", [1.0] * 3, resolution=1e-3, low=0.99)]).verdict == SUPPORTED
    near = samples.mean("m", [1.0] * 3, resolution=1e-3, low=0.9995)
    assert decide([near]).verdict == INCONCLUSIVE


def test_two_samples_all_alike_count_as_in_a_permutation_test():
    for runs, verdict in ((3, INCONCLUSIVE), (4, SUPPORTED)):
        assert decide([samples.difference("d", [2] * runs, [1] * runs, low=0)]).verdict == verdict
        equal = samples.difference("d", [1] * runs, [1] * runs, low=0)
        assert decide([equal]).verdict == INCONCLUSIVE


def test_few_series_of_few_points_count_as_in_a_permutation_test():
    """Three orders of three points: one of 6 ** 3 has the mean -1."""
    falling = [([1, 2, 3], [9.0, 5.0, 4.0])] * 3
    found = samples.rank_correlation("r", falling, high=0, paper=True)
    assert found.value == pytest.approx(-1)
    assert (found.p_outside, found.p_inside) == (pytest.approx(1 / 216), 1)
    assert decide([found]).verdict == SUPPORTED
    rising = samples.rank_correlation("r", falling, low=0, paper=True)
    assert decide([rising]).verdict == CONTRADICTED
    two = samples.rank_correlation("r", falling[:1] * 2, high=0, paper=True)
    assert two.p_outside == pytest.approx(1 / 36)
    assert decide([two]).verdict == INCONCLUSIVE


@pytest.mark.parametrize(("points", "room"), [(6, 1e-12), (12, 0.04)])
def test_a_permutation_test_of_one_series_agrees_with_scipy(points, room):
    """Up to 20,000 orders are all taken; of more, a sample is."""
    x = np.arange(points)
    y = np.random.default_rng(points).standard_normal(points) - 0.1 * x
    found = samples.rank_correlation("r", [(x, y)], high=0)
    alternative = "less" if found.value < 0 else "greater"
    known = stats.permutation_test(
        (y,),
        lambda y: stats.spearmanr(x, y).statistic,
        permutation_type="pairings",
        alternative=alternative,
        n_resamples=2000,
        rng=np.random.default_rng(0),
    )
    assert found.value == pytest.approx(known.statistic)
    assert found.chance == pytest.approx(known.pvalue, abs=room)


def test_permutations_test_against_0_only_and_need_values():
    with pytest.raises(ValueError, match="only test a correlation of 0"):
        samples.rank_correlation("r", [([1, 2, 3], [3, 2, 1])], high=-0.5)
    for column in ([1, math.nan, 2], [1, 1, 1]):
        with pytest.raises(CannotDecideError, match="r: a column lacks a value"):
            samples.rank_correlation("r", [([1, 2, 3], column)], high=0)


def test_an_interval_ends_where_its_number_must():
    """A correlation is at least -1; a cut interval misses the truth no more often."""
    runs = [-1.0, -0.83, -0.83]
    free = samples.mean("m", runs, high=0)
    cut = samples.mean("m", runs, high=0, bounds=(-1, 1))
    assert free.interval[0] < -1
    assert cut.interval == (-1, free.interval[1])
    assert (cut.p_outside, cut.p_inside) == (free.p_outside, free.p_inside)
    unknown = Part(name="x", value=0.5, standard_error=math.nan, high=0, bounds=(-1, 1), ours="any")
    assert all(map(math.isnan, unknown.interval))


def test_exact_equality_is_within_a_band_of_equivalence():
    draws = [1.0, 2.0, 4.0, 0.5, 1.5, 3.0]
    assert decide([samples.paired("p", draws, draws, low=-1, high=1)]).verdict == SUPPORTED
