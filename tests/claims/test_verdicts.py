"""Intervals, Holm's correction, and what parts say together."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from finitewidth.claims.estimates import Estimate, largest, smallest
from finitewidth.claims.verdicts import (
    BOUND,
    CAVEAT,
    CONTRADICTED,
    IN_PART,
    INCONCLUSIVE,
    LEVEL,
    NEEDS_MORE,
    NO_THRESHOLD,
    NOT_SEEN,
    OBSERVATION,
    SEEN,
    SUPPORTED,
    THEOREM,
    CannotDecideError,
    Part,
    Terms,
    decide,
    distance,
    holm,
)


def part(value, error=1.0, **facts):
    """A comparison with a threshold of the paper's, unless a reason makes it ours."""
    facts = {"paper": "ours" not in facts} | facts
    return Part(name="x", value=value, standard_error=error, **facts)


def ours(value, **facts):
    return part(value, ours="the paper gives no number", **facts)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(2.0, SUPPORTED), (1.9, INCONCLUSIVE), (-1.9, INCONCLUSIVE), (-2.0, CONTRADICTED)],
)
def test_one_comparison_is_decided_by_its_interval(value, verdict):
    assert decide([part(value, low=0)]).verdict == verdict
    assert decide([part(-value, high=0)]).verdict == verdict


def test_a_band_is_a_test_of_equivalence():
    assert decide([part(0, low=-2, high=2)]).verdict == SUPPORTED
    assert decide([part(1, low=-2, high=2)]).verdict == INCONCLUSIVE
    assert decide([part(5, low=-2, high=2)]).verdict == CONTRADICTED


@pytest.mark.parametrize("width", [0, 1, 3, 50])
@pytest.mark.parametrize("error", [{}, {"dof": 3}])
def test_a_truth_at_the_end_of_a_band_leaves_it_as_often_as_stated(width, error):
    """Both tails count: at the end of a band of width 0 either side is equally likely."""
    law = stats.t(error.get("dof", 1e9))

    def excess(score):
        return part(score, low=0, high=width, **error).p_inside - LEVEL

    below = optimize.brentq(excess, -60, 0)
    above = optimize.brentq(excess, width, width + 60)
    assert law.cdf(below) + law.sf(above) == pytest.approx(LEVEL)


def test_exact_values_know_no_doubt():
    assert decide([part(2, 0, low=2)]).verdict == SUPPORTED
    assert decide([part(1.999, 0, low=2), part(3, 0, low=2)]).verdict == IN_PART
    assert decide([part(0, 0, low=-1, high=1)]).verdict == SUPPORTED


def test_all_must_hold_and_one_clear_failure_contradicts():
    assert decide([part(3, low=0), part(1, low=0)]).verdict == INCONCLUSIVE
    found = decide([part(3, low=0), part(-4, low=0), part(5, low=0)])
    assert found.verdict == IN_PART
    assert found.decisive.value == -4
    assert found.reason == ("1 of 3 comparisons fails; 1 by the paper's own words in its own range")


def test_holm_guards_against_one_unlucky_comparison_of_many():
    unlucky = part(-2.2, low=0)
    assert decide([unlucky]).verdict == CONTRADICTED
    assert decide([unlucky, *[part(5, low=0)] * 9]).verdict == INCONCLUSIVE


def test_holm_as_published():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_lowers_a_p_value_nor_changes_their_order(p_values):
    adjusted = holm(p_values)
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_no_threshold_and_no_comparison_are_refused():
    with pytest.raises(ValueError, match="needs a threshold"):
        part(1)
    with pytest.raises(ValueError, match="nothing lies between"):
        part(1, low=2, high=1)
    with pytest.raises(CannotDecideError):
        decide([])


def test_what_has_no_error_decides_nothing_and_stops_nothing():
    unknown = part(5, math.nan, low=0)
    assert decide([unknown]).verdict == INCONCLUSIVE
    assert decide([unknown, part(-9, low=0)]).verdict == IN_PART
    # it is no p-value of 0 that lowers the bar for the others
    assert decide([part(math.nan, 0, low=0), *[part(-2.2, low=0)] * 2]).verdict == INCONCLUSIVE


def test_one_number_missing_leaves_the_largest_and_the_smallest_open():
    found = [Estimate(1.0), Estimate(math.nan), Estimate(3.0)]
    for extreme, threshold in ((largest, {"high": 4}), (smallest, {"low": 0})):
        assert decide([extreme("x", found, **threshold, paper=True)]).verdict == INCONCLUSIVE
        known = [found[0], found[2]]
        assert decide([extreme("x", known, **threshold, paper=True)]).verdict == SUPPORTED


def test_one_number_missing_does_not_hide_another_that_fails():
    found = [Estimate(1.0), Estimate(math.nan), Estimate(3.0)]
    for extreme, threshold in ((largest, {"high": 2}), (smallest, {"low": 2})):
        assert decide([extreme("x", found, **threshold, paper=True)]).verdict == CONTRADICTED


def test_an_estimate_without_an_error_leaves_the_largest_open():
    """Its value may be anything, although it is estimated as the smaller one."""
    found = [Estimate(1.0, math.nan), Estimate(2.0, 0.1)]
    assert largest("largest", found, high=9).undefined
    assert smallest("smallest", found, low=0).undefined


def test_the_largest_shows_the_estimate_that_decides():
    """0.9 is the largest. It may be below 0.5; 0.8 is certainly not."""
    found = [Estimate(0.1, 0.01), Estimate(0.9, 0.4), Estimate(0.8, 0.01)]
    failing = largest("x", found, high=0.5, paper=True)
    assert (failing.value, failing.standard_error) == (0.8, 0.01)
    assert failing.name == "x; of 3 the one that decides"
    assert decide([failing]).verdict == CONTRADICTED
    undecided = largest("x", found[:2], high=0.5, paper=True)
    assert (undecided.value, decide([undecided]).verdict) == (0.9, INCONCLUSIVE)


def test_p_values_of_the_largest_are_those_of_all_estimates():
    """It holds if each one holds; it fails if one fails after Bonferroni's correction."""
    found = [Estimate(-2.0, 1.0), Estimate(-1.0, 0.4), Estimate(-3.0, 1.0)]
    compared = largest("x", found, high=0)
    assert compared.p_outside == pytest.approx(stats.norm.sf(2.0))
    assert compared.p_inside == 1
    beyond = [Estimate(-one.value, one.error) for one in found]
    assert largest("x", beyond, high=0).p_inside == pytest.approx(3 * stats.norm.sf(3.0))
    assert largest("x", found, high=0).exact is False
    assert largest("x", [Estimate(-1.0), Estimate(-2.0, 0.1)], high=0).exact is False
    assert largest("x", [Estimate(-1.0), Estimate(-2.0)], high=0).name == "x"


def test_a_strict_threshold_is_not_met_by_itself():
    assert decide([part(0, 0, low=0)]).verdict == SUPPORTED
    assert decide([part(0, 0, low=0, strict=True)]).verdict == CONTRADICTED
    assert decide([part(1e-9, 0, low=0, strict=True)]).verdict == SUPPORTED


GOOD, BAD, OPEN = 5, -5, 0


@pytest.mark.parametrize(
    ("kind", "hedged", "verdict"),
    [
        (THEOREM, False, CONTRADICTED),
        (BOUND, False, CONTRADICTED),
        (THEOREM, True, IN_PART),
        (OBSERVATION, False, IN_PART),
        (OBSERVATION, True, IN_PART),
    ],
)
def test_one_failure_contradicts_a_theorem_and_a_part_of_an_observation(kind, hedged, verdict):
    terms = Terms(kind=kind, hedged=hedged)
    assert decide([part(GOOD, low=0), part(BAD, low=0)], terms).verdict == verdict
    assert decide([part(BAD, low=0), part(BAD, low=0)], terms).verdict == CONTRADICTED


@pytest.mark.parametrize("soft", [{"ours": "a number of ours"}, {"outside": "beyond the figure"}])
@pytest.mark.parametrize("value", [BAD, OPEN])
def test_only_the_papers_words_in_its_own_range_can_contradict(soft, value):
    found = decide([part(GOOD, low=0), part(value, low=0, **soft)])
    assert found.verdict == CAVEAT
    assert found.caveat
    assert decide([part(OPEN, low=0), part(value, low=0, **soft)]).verdict == INCONCLUSIVE


def test_without_a_threshold_of_the_paper_a_failure_decides_nothing():
    found = decide([ours(GOOD, low=0), ours(BAD, low=0)])
    assert found.verdict == NO_THRESHOLD
    assert "all thresholds are ours, the paper sets none, so that no run decides" in found.reason
    assert decide([ours(GOOD, low=0), ours(OPEN, low=0)]).verdict == INCONCLUSIVE
    assert decide([ours(GOOD, low=0)]).verdict == SUPPORTED


def test_a_failure_outside_the_papers_range_alone_asks_for_a_larger_run():
    outside = part(BAD, low=0, outside="half of the paper's width")
    found = decide([outside, ours(GOOD, low=0)])
    assert found.verdict == NEEDS_MORE
    assert "none in the range that the paper speaks about" in found.reason


def test_a_comparison_that_is_sure_to_hold_is_no_evidence():
    sure = part(GOOD, low=0, certain="true of every kernel")
    assert decide([sure, ours(BAD, low=0)]).verdict == NO_THRESHOLD
    assert decide([sure, ours(OPEN, low=0)]).verdict == INCONCLUSIVE
    found = decide([sure, part(BAD, low=0)])
    assert found.verdict == CONTRADICTED  # every comparison that can fail does
    assert found.parts[0]["threshold_of"] == "the paper, but sure to hold"
    assert found.parts[0]["reason"] == "true of every kernel"
    assert decide([sure, part(2 * GOOD, low=0)]).decisive.value == 2 * GOOD
    assert decide([sure, ours(GOOD, low=0)]).false_alarm == 0
    unsure = part(OPEN, low=0, certain="true of every kernel")
    assert decide([unsure, part(GOOD, low=0)]).caveat == "1 comparison sure to hold is undecided"
    with pytest.raises(ValueError, match="needs a comparison that can fail"):
        decide([sure])
    with pytest.raises(ValueError, match="a threshold of the paper"):
        ours(GOOD, low=0, certain="true of every kernel")


def test_a_comparison_without_a_value_is_decisive_only_if_it_is_binding():
    nothing = part(math.nan, low=0, outside="not trained")
    assert decide([part(GOOD, low=0), nothing]).decisive.value == GOOD
    assert math.isnan(decide([part(GOOD, low=0), part(math.nan, low=0)]).decisive.value)
    assert math.isnan(decide([nothing]).decisive.value)


def test_an_observation_is_contradicted_at_the_papers_sizes_only():
    smaller = Terms(sizes=False)
    assert decide([part(BAD, low=0)], smaller).verdict == NEEDS_MORE
    found = decide([part(GOOD, low=0)], smaller)
    assert (found.verdict, found.caveat) == (CAVEAT, "not at the paper's own sizes")
    theorem = Terms(kind=THEOREM, sizes=False)
    assert decide([part(BAD, low=0)], theorem).verdict == CONTRADICTED
    assert decide([part(GOOD, low=0)], theorem).verdict == SUPPORTED


@pytest.mark.parametrize("sizes", [True, False])
def test_a_stand_in_neither_supports_nor_contradicts_an_observation(sizes):
    terms = Terms(stand_in=True, sizes=sizes)
    assert decide([part(GOOD, low=0)], terms).verdict == SEEN
    assert decide([part(BAD, low=0)], terms).verdict == NOT_SEEN
    assert decide([ours(BAD, low=0)], terms).verdict == NOT_SEEN
    assert decide([part(OPEN, low=0)], terms).verdict == INCONCLUSIVE
    # a theorem holds for any data
    assert decide([part(BAD, low=0)], Terms(kind=THEOREM, stand_in=True)).verdict == CONTRADICTED


def test_the_decisive_comparison_is_a_binding_one_where_one_fails():
    found = decide([ours(-50, low=0), part(-5, low=0), part(GOOD, low=0)])
    assert found.decisive.value == -5
    assert decide([ours(-50, low=0), part(GOOD, low=0)]).decisive.value == -50


@pytest.mark.parametrize(
    ("value", "error", "ends", "far"),
    [
        (3, 0.5, {"high": 2}, (2, 0.5)),
        (1, 0.5, {"high": 2}, (-2, -0.5)),
        (3, 0.5, {"low": 4}, (2, 0.25)),
        (0.5, 0.1, {"low": 0}, (-5, -0.5)),
        (2, 0, {"low": 0.99, "high": 1.01}, (math.inf, 0.99 / 1.01)),
        (1, 0, {"low": 0.99, "high": 1.01}, (-math.inf, -0.01 / 1.01)),
        (24, 0, {"low": 24, "high": 24}, (-math.inf, 0)),
        (0, 0, {"low": 0}, (-math.inf, 0)),
        (0, 0, {"low": 0, "strict": True}, (math.inf, 0)),
        (math.inf, 0, {"high": 2}, (math.inf, math.inf)),
        (math.inf, 0, {"low": 2}, (-math.inf, -math.inf)),
        (math.nan, 0, {"low": 2}, (-math.inf, -math.inf)),
        (1, math.nan, {"low": 2}, (-math.inf, -math.inf)),
    ],
)
def test_the_distance_is_in_standard_errors_and_relative_to_the_threshold(value, error, ends, far):
    assert distance(part(value, error, **ends)) == pytest.approx(far)


def named(*values_and_errors, **ends):
    """The value of the decisive one of several comparisons with the same threshold."""
    parts = [part(value, error, **ends) for value, error in values_and_errors]
    first = decide(parts).decisive
    second = decide(parts[::-1]).decisive
    assert first is second
    return first.value


def test_the_decisive_failure_is_the_one_farthest_from_its_range():
    near_1 = {"low": 0.99, "high": 1.01}
    assert named((1.02, 0), (1.99, 0), (1.5, 0), **near_1) == 1.99
    # p-values of both are 0 in floating-point numbers
    assert named((-50, 1), (-80, 1), low=0) == -80
    assert named((-5, 1), (-4, 0.5), low=0) == -4
    # what is computed leaves no doubt
    assert named((-50, 1), (-0.1, 0), (5, 1), low=0) == -0.1


def test_of_comparisons_that_do_not_fail_the_nearest_to_failing_is_decisive():
    assert named((5, 1), (3, 0.1), (9, 0), low=0) == 5
    assert named((9, 0), (2, 0), low=0) == 2
    assert named((90, 1), (50, 1), low=0) == 50
    assert named((-1, 1), (0.5, 1), (9, 1), low=0) == -1
    assert math.isnan(named((9, 1), (math.nan, 1), low=0))
    assert named((9, 1), (1, 1), (math.nan, 1), low=0) == 1


def test_where_all_hold_the_decisive_comparison_is_a_binding_one():
    assert decide([ours(2, low=0), part(5, low=0)]).decisive.value == 5
    assert decide([ours(2, low=0), ours(5, low=0)]).decisive.value == 2
    assert decide([ours(1, low=0), part(5, low=0)]).decisive.value == 1  # it does not hold


def test_the_chance_of_a_false_contradiction_is_stated():
    assert decide([part(GOOD, low=0)]).false_alarm == LEVEL
    assert decide([part(GOOD, 0, low=0)]).false_alarm == 0  # exact
    assert decide([ours(GOOD, low=0)]).false_alarm == 0  # cannot contradict
    assert decide([part(GOOD, low=0)], Terms(sizes=False)).false_alarm == 0
    assert decide([part(GOOD, low=0)], Terms(kind=THEOREM, sizes=False)).false_alarm == LEVEL


def test_a_threshold_cannot_be_both_the_papers_and_ours():
    with pytest.raises(ValueError, match="either the paper's or ours"):
        Part(name="x", value=0, low=0, paper=True, ours="because")


def test_a_range_of_ours_does_not_contradict_and_says_whose_it_is():
    cut = Part(name="deep", value=-1, low=0, paper=True, cut="the paper says deep; 20 is ours")
    found = decide([cut, Part(name="deepest", value=1, low=0, paper=True)])
    assert found.verdict == CAVEAT
    assert found.caveat == "1 comparison in a range of ours fails"
    assert found.parts[0]["threshold_of"] == "the paper, in a range of ours"
    assert found.parts[0]["reason"] == "the paper says deep; 20 is ours"
    assert decide([cut]).verdict == NO_THRESHOLD
    both = Part(name="b", value=0, low=0, paper=True, tolerance="wider", cut="deep")
    assert decide([both]).parts[0]["reason"] == "wider; deep"
    with pytest.raises(ValueError, match="a threshold of the paper"):
        Part(name="c", value=0, low=0, ours="why", cut="deep")


def test_undecided_estimates_of_the_opposite_sign_are_told():
    """An estimate that is undecided only after Holm's correction may be far on the other side."""
    parts = [
        Part(name="a", value=-2.1, low=0, standard_error=1, paper=True),
        Part(name="b", value=0.3, high=0.2, standard_error=1, paper=True),
        Part(name="c", value=0.1, low=0, standard_error=1, paper=True),
    ]
    assert decide(parts).reason == (
        "3 of 3 comparisons are undecided; 1 undecided has the opposite sign; "
        "1 undecided has a value beyond the threshold"
    )
