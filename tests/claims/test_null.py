"""At the border of what it says, a claim is contradicted no more often than the ledger states.

The two nulls are described in `tests.helpers.null_calibration`. Bounds on counts are exceeded with
a probability below 1e-6 at the stated rate.
"""

import numpy as np
import pytest
from scipy import stats
from tests.helpers import null_calibration as null
from tests.helpers.judged_claims import JUDGED
from tests.helpers.null_calibration import INDEPENDENT, LEVEL, NULLS, SAME, SHUFFLED

from finitewidth.claims import samples
from finitewidth.claims.estimates import Estimate, largest, smallest
from finitewidth.claims.verdicts import OBSERVATION, THEOREM, Part, Terms, decide

ESTIMATES, TABLES = 100, 4  # replications
SHORT = (SHUFFLED, "grid")  # laws of tables in the short version
VERSIONS = {
    "as they are": lambda parts: parts,
    "others failing": null.others_failing,
    "all binding": null.all_binding,
}
NOISES = (INDEPENDENT, SAME)
each_claim = pytest.mark.parametrize("claim", JUDGED, ids=lambda claim: claim.id)


def most(trials, rate=LEVEL):
    """The count that has a probability below 1e-6 of being exceeded."""
    return stats.binom.isf(1e-6, trials, rate)


def kept(function):
    """Keep the results, by the id of the claim and the other arguments."""
    known = {}

    def call(claim, *others):
        key = (claim.id, *others)
        if key not in known:
            known[key] = function(claim, *others)
        return known[key]

    return call


@kept
def compared(claim):
    """Comparisons of the made-up tables, and of a finished run if there is one."""
    return [parts for tables in null.sources(claim) if (parts := null.compared(claim, tables))]


@kept
def estimate_alarms(claim, version, noise):
    """Replications and alarms, for each source of comparisons; the same noise in all versions."""
    found = []
    for parts in map(VERSIONS[version], compared(claim)):
        uniforms = null.uniforms_of(null.stream(claim.id), noise, (ESTIMATES, len(parts)))
        found.append(null.alarms(parts, null.terms_of(claim), uniforms))
    return found


@kept
def order_alarms(claim, law):
    """Alarms of the claim's borderline orders; None if it makes none."""
    return null.order_alarms(claim, next(null.sources(claim)), law, TABLES)


@each_claim
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("version", VERSIONS)
def test_borderline_estimates_contradict_no_claim_more_often_than_stated(claim, version, noise):
    for parts, found in zip(compared(claim), estimate_alarms(claim, version, noise), strict=True):
        chosen = VERSIONS[version](parts)
        stated = decide(chosen, null.terms_of(claim)).false_alarm
        assert found.sum() <= most(len(found), stated)
        sampled = any(part.binding and not part.exact for part in chosen)
        assert stated == (LEVEL if sampled else 0)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("version", VERSIONS)
def test_borderline_estimates_contradict_the_ledger_no_more_often_than_stated(version, noise):
    trials = alarms = 0
    for claim in JUDGED:
        for parts, found in zip(
            compared(claim), estimate_alarms(claim, version, noise), strict=True
        ):
            stated = decide(VERSIONS[version](parts), null.terms_of(claim)).false_alarm
            trials += len(found) * (stated > 0)
            alarms += found.sum()
    assert trials
    # the same noise everywhere in a claim is still independent between claims
    assert alarms <= most(trials)
    if noise == INDEPENDENT:  # the stated rate is no loose bound
        assert alarms >= trials * LEVEL / 3


@each_claim
def test_comparisons_of_a_claim_have_names_of_their_own(claim):
    for parts in compared(claim):
        names = [part.name for part in parts]
        assert len(set(names)) == len(names)


@each_claim
def test_clear_failures_contradict(claim):
    """The same with truths 6 standard errors on the wrong side; too few for less than 5 runs."""
    for parts in map(null.all_binding, compared(claim)):
        sampled = [p for p in parts if not p.exact and p.chance is None and p.dof >= 4]
        if not sampled:
            continue
        uniforms = null.uniforms_of(null.stream(claim.id), INDEPENDENT, (10, len(sampled)))
        found = null.alarms(sampled, null.terms_of(claim), uniforms, shift=6.0)
        assert found.mean() >= 0.9


@pytest.mark.parametrize("kind", [THEOREM, OBSERVATION])
def test_where_alarms_are_ruled_out_decide_raises_none(kind):
    """`alarms` leaves out replications in which no p-value is small enough for Holm's rule."""
    ends = ({"low": 0}, {"high": 1}, {"low": 0, "high": 0.5}, {"low": 0, "high": 0})
    errors = ({"standard_error": 1}, {"standard_error": 0.2, "dof": 3}, {"chance": 0.02})
    parts = []
    for end in ends:
        for error in errors:
            parts.append(Part(name="x", value=0.2, paper=True, **end, **error))
    parts += [Part(name="y", value=value, low=0, ours="a reason") for value in (-1, 1)]
    uniforms = null.uniforms_of(null.stream(kind), INDEPENDENT, (400, len(parts))) ** 2
    terms = Terms(kind=kind)
    found = null.alarms(parts, terms, uniforms)
    expected = [null.is_alarm(parts, range(12), terms, row, 0.0) for row in uniforms]
    assert found.tolist() == expected
    assert 40 < found.sum() < 360


@pytest.mark.parametrize(
    "law", [law if law in SHORT else pytest.param(law, marks=pytest.mark.full) for law in NULLS]
)
def test_cells_that_are_alike_contradict_orders_no_more_often_than_stated(law):
    """Made-up runs shuffled over their cells, or drawn from one law; estimates that are equal."""
    found = {
        claim.id: alarms for claim in JUDGED if (alarms := order_alarms(claim, law)) is not None
    }
    assert len(found) >= 20
    assert sum(alarms.sum() for alarms in found.values()) <= most(TABLES * len(found))


@each_claim
def test_cells_that_are_alike_contradict_no_order_more_often_than_stated(claim):
    found = [alarms for law in SHORT if (alarms := order_alarms(claim, law)) is not None]
    assert sum(alarms.sum() for alarms in found) <= most(TABLES * len(found))


def test_orders_that_are_true_or_wrong_are_no_part_of_the_null():
    """Borderline are orders of cells: no limit on a size, and nothing that is computed exactly."""
    claim = next(claim for claim in JUDGED if claim.id == "N19")
    tables = next(null.sources(claim))
    keys = null.borderline(claim, tables, SHUFFLED)
    assert ("stage 2 - stage 1, points", 0, np.inf) in keys
    assert all(0 in key[1:] for key in keys)
    exact = next(claim for claim in JUDGED if claim.id == "B10")
    assert not null.borderline(exact, next(null.sources(exact)), SHUFFLED)


# ---- the statistics themselves


REPEATS = 600
RUNS_OF = {"normal": np.asarray, "log-normal": np.exp, "grid": lambda z: np.round(0.8 * z)}
STATISTICS = {
    "difference": lambda z: samples.difference("d", z[0], z[1], low=0, paper=True),
    "paired": lambda z: samples.paired("p", z[0], z[1], low=0, paper=True),
    "slope": lambda z: samples.slope("s", np.arange(z.size), z.ravel(), low=0, paper=True),
}


@pytest.mark.parametrize("runs", [3, 5, 20])
@pytest.mark.parametrize("law", RUNS_OF)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_comparisons_of_runs_with_one_law_keep_their_level(statistic, law, runs):
    """Runs may be skewed, or lie on a grid of few images: differences of equals are symmetric."""
    rng = null.stream(statistic, law, runs)
    draws = RUNS_OF[law](rng.standard_normal((REPEATS, 2, runs)))
    alarms = sum(STATISTICS[statistic](z).p_inside <= LEVEL for z in draws)
    assert alarms <= most(REPEATS)


@pytest.mark.parametrize(("series", "points"), [(3, 3), (2, 4), (3, 12)])
def test_rank_correlations_of_nothing_keep_their_level(series, points):
    """Few orders: the p-values are coarse. Many: they are those of random orders."""
    rng = null.stream("ranks", series, points)
    draws = np.exp(rng.standard_normal((80, series, 2, points)))
    found = [samples.rank_correlation("r", rows, low=0, paper=True).p_inside for rows in draws]
    assert sum(p <= LEVEL for p in found) <= most(80)
    assert sum(p <= 0.2 for p in found) >= 80 * 0.1  # it is no loose bound


@pytest.mark.parametrize("runs", [3, 5, 50])
def test_means_of_normal_runs_keep_their_level(runs):
    draws = null.stream("mean", runs).standard_normal((REPEATS, runs))
    assert failures(samples.mean, draws, low=0) <= most(REPEATS)


# laws with the median 1; the runs of the second lie near 0 and near 2
MEDIANS_OF_1 = {"log-normal": np.exp, "two clusters": lambda z: 1 + np.sign(z) + 0.01 * z}


@pytest.mark.parametrize("runs", [3, 6, 8, 50])
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("law", MEDIANS_OF_1)
def test_medians_keep_their_level(law, end, runs):
    draws = MEDIANS_OF_1[law](null.stream("median", runs).standard_normal((REPEATS, runs)))
    assert failures(samples.median, draws, **{end: 1}) <= most(REPEATS)


@pytest.mark.parametrize("runs", [6, 10, 25])
def test_intervals_of_medians_cover_as_stated(runs):
    draws = np.exp(null.stream("interval", runs).standard_normal((REPEATS, runs)))
    intervals = [samples.median("x", sample, low=0).interval for sample in draws]
    missed = sum(not low <= 1 <= high for low, high in intervals)
    assert missed <= most(REPEATS, 2 * LEVEL)
    # the order statistics beside these would not do: 1.6 % each of 6 runs, 2.1 % each of 10
    assert missed >= REPEATS * 0.01


@pytest.mark.parametrize(("sigma", "stated"), [(0.25, 0.046), (0.5, 0.08), (1, 0.18)])
def test_means_of_skewed_runs_miss_their_level_by_what_the_docstring_says(sigma, stated):
    normal = null.stream("skewed").standard_normal((REPEATS, 5))
    draws = np.exp(sigma * normal - sigma**2 / 2)
    found = failures(samples.mean, draws, low=1)
    assert stats.binom.ppf(1e-4, REPEATS, stated) <= found <= stats.binom.isf(1e-4, REPEATS, stated)
    assert failures(samples.mean, draws, high=1) <= most(REPEATS)


# truths and standard errors of several estimates, of which the largest is compared with 0
FALSE_CLAIMS = {
    "one is larger and less certain": ([-1, 1], [0.1, 5]),
    "one is hardly larger and less certain": ([-0.3, 0.01], [0.1, 1]),
    "all are hardly larger": ([1e-9] * 10, [1] * 10),
}
TRUE_CLAIMS = {
    "one is at the threshold and certain": ([0, -1], [0.1, 5]),
    "all are at the threshold": ([0] * 10, [1] * 10),
    "all are at the threshold, errors differ": ([0] * 10, np.geomspace(0.001, 1, 10)),
}
LARGEST = 1000  # repetitions; 2.5 % of them are 25, and up to 52 pass
EXTREMES = {"largest": (largest, 1, "high"), "smallest": (smallest, -1, "low")}


def extremes(extreme, truths, errors, noise):
    """Comparisons with 0 of the largest, or smallest, of `LARGEST` drawings of several estimates.

    With the same noise all of them err by as many standard errors.
    """
    compare, sign, end = EXTREMES[extreme]
    draws = null.uniforms_of(null.stream(extreme, noise), noise, (LARGEST, len(truths)))
    values = np.asarray(truths) + np.asarray(errors) * stats.norm.isf(draws)
    for row in sign * values:
        candidates = [Estimate(*pair) for pair in zip(row, errors, strict=True)]
        yield compare("x", candidates, **{end: 0}, paper=True)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("case", FALSE_CLAIMS)
def test_a_false_claim_on_an_extreme_holds_no_more_often_than_stated(case, extreme, noise):
    found = extremes(extreme, *FALSE_CLAIMS[case], noise)
    assert sum(part.p_outside <= LEVEL for part in found) <= most(LARGEST)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("case", TRUE_CLAIMS)
def test_a_true_claim_on_an_extreme_fails_no_more_often_than_stated(case, extreme, noise):
    found = extremes(extreme, *TRUE_CLAIMS[case], noise)
    assert sum(part.p_inside <= LEVEL for part in found) <= most(LARGEST)


@pytest.mark.parametrize("extreme", EXTREMES)
def test_what_is_clear_of_an_extreme_is_decided(extreme):
    """True: all are 3 standard errors away. False: one of ten is 6 standard errors beyond."""
    true = list(extremes(extreme, np.full(10, -3), np.ones(10), INDEPENDENT))
    assert np.mean([part.p_outside <= LEVEL for part in true]) > 0.15  # 0.85 ** 10 = 0.20
    false = list(extremes(extreme, [*[-3] * 9, 6], np.ones(10), INDEPENDENT))
    assert np.mean([part.p_inside <= LEVEL for part in false]) > 0.99


def failures(call, draws, **thresholds):
    """How many of the samples fail at a level of 2.5 %."""
    return sum(call("x", runs, **thresholds).p_inside <= LEVEL for runs in draws)
