"""Figures 2.1 to 2.4 of the thesis: lists of connections, risks, gradient descent, the claim."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial import Legendre
from tests.claims.synthetic.thesis import regression

from finitewidth.claims import ledger, verdicts
from finitewidth.papers.thesis.experiments import classical, concepts, risk
from finitewidth.papers.thesis.experiments.risk import (
    exact_mean,
    limit,
    lowest_ratio,
    printed_root,
)
from finitewidth.papers.thesis.figures import fig2_4
from finitewidth.papers.thesis.settings import Image, Settings
from finitewidth.settings.presets import preset_only
from finitewidth.settings.typed import section_from

CONFIG = section_from(Settings, preset_only("quick", "config")["thesis"])
SMALL = section_from(Settings, preset_only("smoke", "config")["thesis"])


# drawings


def test_the_network_has_the_sizes_and_the_parameters_that_its_caption_gives():
    rows = concepts.measure({}, CONFIG.concepts)["network"]
    nodes = rows[rows["kind"] == "node"]
    edges = rows[rows["kind"] == "weight"]
    sizes = nodes.groupby("layer").size().tolist()
    assert sizes == [3, 5, 9, 9, 5, 2]
    # P = sum_l n_l (n_{l-1} + 1), below (2.4)
    parameters = sum(n * (m + 1) for m, n in itertools.pairwise(sizes))
    assert len(edges) + sum(sizes[1:]) == parameters
    assert not edges.duplicated(["layer", "start", "end"]).any()


@pytest.mark.parametrize(("size", "window"), [(6, 3), (4, 2), (3, 3), (3, 1)])
def test_windows_of_the_convolution_are_those_of_a_correlation(size, window):
    rows = pd.DataFrame(concepts.convolution(section_from(Image, {"size": size, "window": window})))
    edges = rows[rows["kind"] == "weight"]
    rng = np.random.default_rng(0)
    image = rng.standard_normal((size, size))
    weights = rng.standard_normal((window, window))
    for end, own in edges.groupby("end"):
        top, left = divmod(int(end) - 1, size - window + 1)
        expected = (image[top : top + window, left : left + window] * weights).sum()
        starts = own["start"].astype(int).to_numpy() - 1
        taps = own["weight"].astype(int).to_numpy() - 1
        assert math.isclose(image.ravel()[starts] @ weights.ravel()[taps], expected)


def test_recurrent_connections_lead_back_and_identities_join_equal_units():
    rows = concepts.measure({}, CONFIG.concepts)["layers"]
    back = rows[rows["kind"] == "recurrent"]
    assert set(back["start_layer"]) == set(back["layer"]) == {1}
    assert len(back) == CONFIG.concepts.recurrent.units**2
    added = rows[rows["kind"] == "identity"]
    assert (added["start"] == added["end"]).all()
    assert (added["layer"] - added["start_layer"] == 2).all()


# Figure 2.3


def test_risks_of_polynomials_are_those_of_fits_made_one_by_one():
    given = CONFIG.classical.model_copy(update={"draws": 5})
    training, expected = classical.risks(given, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (5, given.samples))
    noise = math.sqrt(given.noise) * rng.standard_normal(x.shape)

    def truth(at):
        return np.sin(np.pi * (given.frequency * at + given.phase))

    grid = np.linspace(-1, 1, 20001)
    for draw, degree in ((0, 0), (1, 3), (4, 6)):
        y = truth(x[draw]) + noise[draw]
        fit = Legendre.fit(x[draw], y, degree, domain=(-1, 1))
        assert math.isclose(training[draw, degree], ((fit(x[draw]) - y) ** 2).mean(), rel_tol=1e-9)
        error = np.trapezoid((fit(grid) - truth(grid)) ** 2, grid) / 2 + given.noise
        assert math.isclose(expected[draw, degree], error, rel_tol=1e-5)


def test_every_training_risk_falls_and_no_expected_risk_is_below_the_noise():
    training, expected = classical.risks(CONFIG.classical, np.random.default_rng(4))
    assert (np.diff(training, axis=1) <= 1e-12).all()
    assert (expected >= CONFIG.classical.noise).all()


# Figure 2.4


@pytest.mark.parametrize("parameters", [4, 10, 11, 25])
def test_risks_are_those_of_the_pseudoinverse(parameters):
    targets, samples = 3, 10
    bias, variance = risk.unit_risks(parameters, samples, targets, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    x = rng.standard_normal((samples, parameters))
    weights = rng.standard_normal((parameters, targets))
    weights /= np.linalg.norm(weights, axis=0)
    noise = rng.standard_normal((samples, targets))
    for signal, sigma2 in ((1.0, 0.25), (2.0, 4.0)):
        true = math.sqrt(signal) * weights
        found = np.linalg.pinv(x) @ (x @ true + math.sqrt(sigma2) * noise)
        expected = ((found - true) ** 2).sum(axis=0)
        assert np.allclose(signal * bias + sigma2 * variance, expected, rtol=1e-8)


def test_the_error_of_a_median_is_that_of_order_statistics():
    found = risk._summary(np.arange(100.0)[::-1])
    assert (found["median"], found["median_error"]) == (49.5, 5.0)  # between the 46th and the 56th


@pytest.mark.parametrize("parameters", [5, 30, 80, 300])
def test_the_exact_mean_is_that_of_many_draws(parameters):
    rng = np.random.default_rng(parameters)
    parts = [risk.unit_risks(parameters, 40, 20, rng) for _ in range(1000)]
    drawn = np.mean([1.5 * bias + 0.5 * variance for bias, variance in parts], axis=1)
    error = drawn.std(ddof=1) / math.sqrt(len(drawn))
    assert abs(drawn.mean() - exact_mean(parameters, 40, 1.5, 0.5)) < 5 * error


def test_next_to_the_ratio_1_there_is_no_mean():
    without = [d for d in range(-5, 6) if math.isnan(exact_mean(50 + d, 50, 1, 1))]
    assert without == [-1, 0, 1]


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9, 1.5, 2.0, 10.0])
def test_exact_means_tend_to_the_corrected_limit_and_not_to_the_printed_one(ratio):
    size = 10**7
    exact = exact_mean(round(ratio * size), size, 1.0, 0.25)
    assert math.isclose(exact, limit(ratio, 1.0, 0.25), rel_tol=1e-5)
    assert (limit(ratio, 1.0, 0.25, "printed") == limit(ratio, 1.0, 0.25)) == (ratio < 1)


@pytest.fixture(scope="module")
def tables():
    return risk.measure({}, SMALL.risk)


def test_figure_2_4_shows_means_with_errors_and_medians_where_there_is_no_variance(tables):
    rows = fig2_4.select(tables, {})
    known = tables["drawn"]["has_variance"].astype(bool)
    means = rows[rows["series"] == "mean"]
    medians = rows[rows["series"] == "median"]
    assert means["risk"].tolist() == tables["drawn"].loc[known, "mean"].tolist()
    assert means["standard_error"].tolist() == tables["drawn"].loc[known, "mean_error"].tolist()
    assert medians["risk"].tolist() == tables["drawn"].loc[~known, "median"].tolist()
    assert medians["standard_error"].isna().all()
    assert (medians["lowest"] < medians["risk"]).all()
    assert set(rows["signal_to_noise"]) == {4, 0.25}


@pytest.mark.parametrize("parameters", [8, 30])
def test_gradient_descent_reaches_the_weights_of_least_norm(parameters):
    rng = np.random.default_rng(11)
    x = rng.standard_normal((15, parameters))
    y = rng.standard_normal(15)
    rate = 1 / np.linalg.eigvalsh(x.T @ x).max()
    expected = np.linalg.pinv(x) @ y
    found = risk.descend(x, y, rate, 5000)
    assert np.allclose(found, expected, atol=1e-9)
    one = risk.descend(x, y, rate, 1)
    assert np.allclose(one, rate * x.T @ y)


def test_a_removed_ratio_changes_no_other(tables):
    part = risk.measure({}, SMALL.risk.model_copy(update={"ratios": [2.0]}))["drawn"]
    kept = tables["drawn"].query("x == 2").reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, part)


# H01 and H02


def judged(name, tables):
    claim = next(claim for claim in ledger.claims_of("thesis") if claim.id == name)
    found = ledger.judge(claim, tables, ledger.Situation())
    return found, {row["part"] for row in found.parts if row["outcome"] == verdicts.FAILS}


@pytest.mark.parametrize(
    ("name", "change", "words", "verdict"),
    [
        ("H01", {"limits": 1.001}, "over (2.46)", verdicts.CONTRADICTED),
        ("H01", {"means": 1.2}, "mean of drawn risks", verdicts.CAVEAT),
        ("H01", {"distance": 1e-5}, "gradient descent", verdicts.CAVEAT),
        ("H02", {"turn": 1.0}, "above 1: largest rise", verdicts.IN_PART),
        ("H02", {"peak": 0.5}, "log of the median risk", verdicts.IN_PART),
    ],
)
def test_each_part_of_the_claims_can_fail(name, change, words, verdict):
    found, failing = judged(name, regression(**change))
    assert failing
    assert all(words in part for part in failing)
    assert found.verdict == verdict


@pytest.mark.parametrize(("signal", "noise"), [(1.0, 0.25), (1.0, 4.0), (2.0, 0.5), (3.0, 2.9)])
def test_the_shape_of_the_limit_is_known_exactly(signal, noise):
    lowest = lowest_ratio(signal, noise)
    root = printed_root(signal, noise)
    assert limit(root, signal, noise, "printed") == pytest.approx(0, abs=1e-12)
    assert limit(0.99 * root, signal, noise, "printed") < 0 < limit(1.01 * root, signal, noise)
    ratios = np.linspace(1.001, 400, 200_000)
    values = [limit(ratio, signal, noise) for ratio in ratios]
    if noise >= signal:
        assert np.isnan(lowest)
        assert (np.diff(values) < 0).all()
    else:
        assert ratios[np.argmin(values)] == pytest.approx(lowest, rel=3e-3)
