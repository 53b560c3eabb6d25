"""The flow under a block kernel: its definition, its invariant, closed forms, and its tables."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.measures import collapse as measures
from finitewidth.papers.collapse.errata import dynamics as definition
from finitewidth.papers.collapse.experiments import block_flow, flow
from finitewidth.papers.collapse.experiments.block_flow import BlockKernel, FlowState
from finitewidth.papers.collapse.settings.flow import Flow, Start
from finitewidth.settings.presets import preset_only
from finitewidth.settings.typed import section_from

CONFIG = preset_only("quick", "config")["collapse"]["flow"]
SMOKE = section_from(Flow, preset_only("smoke", "config")["collapse"]["flow"])
KERNEL = BlockKernel(4, 3, 0.3, 0.2, 0.05)
FEATURES = 6
START = section_from(Start, {"means": 0.4, "within": 0.2})
TIMES = [0.0, 1.0, 4.0]


def rng(*key):
    return np.random.default_rng([7, *key])


def drawn(*, seed=0, **given):
    arguments = {"centred": False, "bias": 0.1, "weight_scale": 0.5} | given
    return block_flow.random_start(KERNEL, FEATURES, START, rng(seed), **arguments)


def norm(matrices):
    return np.linalg.norm(matrices, axis=(-2, -1))


def test_the_rates_are_those_of_the_definition_sample_by_sample():
    given = definition
    state = given.random_state(rng())
    expected = given.flow(state)
    rest = state.rest
    rest_rate = given.second_part(expected.features)
    parts = state.weights, state.biases, state.means, rest @ rest.T
    found = block_flow.rates(given.KERNEL, FlowState(*(part[None] for part in parts)))
    np.testing.assert_allclose(found.weights[0], expected.weights, atol=1e-12)
    np.testing.assert_allclose(found.biases[0], expected.biases, atol=1e-12)
    np.testing.assert_allclose(found.means[0], given.first_part(expected.features), atol=1e-12)
    np.testing.assert_allclose(found.scatter[0], given.product_rate(rest, rest_rate), atol=1e-11)


def test_eigenvalues_are_those_of_the_matrix_of_the_kernel():
    values, counts = np.unique(np.linalg.eigvalsh(KERNEL.matrix).round(10), return_counts=True)
    np.testing.assert_allclose(values, [KERNEL.mu_single, KERNEL.mu_class, KERNEL.mu_global])
    assert counts.tolist() == [8, 3, 1]
    # (69)
    c = KERNEL.same_class
    d = KERNEL.diagonal
    n = KERNEL.other_class
    assert math.isclose(KERNEL.alpha, 1 / (c / n * (1 - 1 / 3) + d / n / 3 + 3))


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_the_invariant_is_conserved_and_nothing_else_is(frozen, scale):
    start = drawn(weight_scale=scale)
    path = block_flow.integrate(KERNEL, start, TIMES, 1e-11, frozen=frozen)
    expected = block_flow.invariant(KERNEL, start)
    size = norm(start.weight_gram / KERNEL.samples)
    for state in path[1:]:
        assert norm(block_flow.invariant(KERNEL, state) - expected) <= 1e-10 * size
        assert norm(state.weight_gram - start.weight_gram) > 0.1 * size
        assert (state.biases == start.biases).all() == frozen
    # with another alpha it changes
    other = BlockKernel(4, 3, 0.3, 0.2, 0.04)
    moved = block_flow.invariant(other, path[-1]) - block_flow.invariant(other, start)
    assert norm(moved) > 1e-3 * size


def test_a_balanced_start_has_no_invariant_and_the_rank_of_the_classes():
    state = drawn(weight_scale=None, centred=True, bias=0.25)
    assert norm(block_flow.invariant(KERNEL, state)) < 1e-13
    assert np.linalg.matrix_rank(state.scatter[0], tol=1e-10) == KERNEL.classes
    np.testing.assert_allclose(state.means.sum(axis=-1), 0, atol=1e-14)


def test_stacked_states_flow_as_each_of_them_does():
    first = drawn(seed=1)
    second = drawn(seed=2)
    stacked = FlowState(*map(np.concatenate, zip(first, second, strict=True)))
    both = block_flow.integrate(KERNEL, stacked, TIMES, 1e-11)[-1]
    for place, start in enumerate((first, second)):
        alone = block_flow.integrate(KERNEL, start, TIMES, 1e-11)[-1]
        for part, expected in zip(both, alone, strict=True):
            np.testing.assert_allclose(part[place], expected[0], atol=1e-8)


def test_runge_kutta_has_order_four():
    start = drawn()
    exact = block_flow.integrate(KERNEL, start, [0.0, 0.5], 1e-13)[-1].flat()
    errors = [
        np.abs(block_flow.runge_kutta_4(KERNEL, start, 0.5, step).flat() - exact).max()
        for step in (0.02, 0.01, 0.005)
    ]
    for coarse, fine in itertools.pairwise(errors):
        assert 3.8 < math.log2(coarse / fine) < 4.4


def test_an_integration_that_stops_early_is_an_error(monkeypatch):
    stopped = SimpleNamespace(success=False, message="step size too small")
    monkeypatch.setattr("scipy.integrate.solve_ivp", lambda *given, **options: stopped)
    with pytest.raises(ConfigError, match=r"to time 4 \(.*step size"):
        block_flow.integrate(KERNEL, drawn(), TIMES, 1e-11)


def test_a_flow_that_would_take_hours_is_refused(monkeypatch):
    """As with collapse.flow.start.within = 1000, which fuzzing found."""
    monkeypatch.setattr(block_flow, "MOST_RATES", 100)
    with pytest.raises(ConfigError, match=r"start\.within"):
        block_flow.integrate(KERNEL, drawn(), TIMES, 1e-11)


def test_late_times_from_no_invariant_follow_the_leading_terms():
    start = drawn(weight_scale=None, centred=True, bias=0.25)
    times = [0.0, 200.0, 800.0]
    path = block_flow.integrate(KERNEL, start, times, 1e-11)
    leading = flow.leading_terms(KERNEL, times[1:])
    points = rng().standard_normal((100, 6))
    errors = []
    for state, expected in zip(path[1:], leading, strict=True):
        found = flow.collapse_of(KERNEL, state, 0, points)
        assert found["nc2"] < 1e-8
        assert found["bias_gap"] < 1e-7
        errors.append([abs(found[name] / expected[name] - 1) for name in ("h2", "nc3")])
    assert max(errors[1]) < 0.02
    assert all(late < early for early, late in zip(*errors, strict=True))


def least_eigenvalue(state):
    return float(np.linalg.eigvalsh(block_flow.invariant(KERNEL, state)[0])[0])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("excess", [0.0, 0.5, 5.0])
def test_variation_within_classes_is_bounded_from_a_positive_invariant(seed, excess):
    """d/dt tr S <= -(2 m / min(n, C)) (tr S)^2 at all times, although the means are not fitted."""
    start = drawn(seed=seed, weight_scale=None, excess=excess)
    assert least_eigenvalue(start) > -1e-12
    assert norm(start.residuals) > 0.5  # not the end of training
    times = [0.0, 0.1, 1.0, 10.0]
    first = float(np.trace(start.scatter[0]))
    for time, state in zip(times, block_flow.integrate(KERNEL, start, times, 1e-11), strict=True):
        scatter = float(np.trace(state.scatter[0]))
        rate = float(np.trace(block_flow.rates(KERNEL, state).scatter[0]))
        assert rate <= -2 * KERNEL.samples / min(FEATURES, KERNEL.classes) * scatter**2
        assert math.sqrt(scatter) <= flow.bound_within(KERNEL, 6, first, time) * (1 + 1e-9)


def test_variation_within_classes_that_stays_is_bounded_by_the_negative_part_of_the_invariant():
    start = drawn(weight_scale=0.01)
    negative = -least_eigenvalue(start)
    assert negative > 0
    late = block_flow.integrate(KERNEL, start, [0.0, 2000.0], 1e-9)[-1]
    scatter = float(np.trace(late.scatter[0]))
    assert scatter <= FEATURES * KERNEL.mu_single * negative
    early = float(np.trace(start.scatter[0]))
    assert math.sqrt(scatter) > 2 * flow.bound_within(KERNEL, 6, early, 2000.0)  # it does not apply


@pytest.mark.parametrize("beta", [0.0, 0.15, 0.6])
def test_frozen_biases_end_at_the_corrected_gamma_and_theta(beta):
    start = drawn(weight_scale=None, bias=beta)
    end = block_flow.integrate(KERNEL, start, [0.0, 300.0], 1e-12, frozen=True)[-1]
    expected = flow.angles(KERNEL, beta)
    grams = {"gamma": end.weights[0] @ end.weights[0].T, "theta": end.means[0].T @ end.means[0]}
    for name, gram in grams.items():
        assert abs(flow.off_diagonal_part(gram) - expected[name, "corrected"]) < 1e-6
        # (62) and (66): the whole matrix, and its scale
        scale = (KERNEL.samples / KERNEL.mu_class) ** (0.5 if name == "gamma" else -0.5)
        frame = scale * (np.eye(4) - expected[name, "corrected"])
        np.testing.assert_allclose(gram, frame, atol=1e-6)
    assert abs(expected["theta", "printed"] / expected["theta", "corrected"] - 1) > 0.1


def test_measures_of_a_state_are_those_of_samples_with_these_means_and_deviations():
    features = rng().standard_normal((12, 6))
    labels = np.repeat(np.arange(4), 3)
    W = rng(1).standard_normal((4, 6))
    b = np.full(4, 0.1)
    parts = measures.class_parts(features, labels, 4)
    state = FlowState(W[None], b[None], parts.means[None], parts.scatter[None] / 3)
    found = flow.collapse_of(KERNEL, state, 0, rng().standard_normal((10, 6)))
    kappa = (KERNEL.diagonal, KERNEL.same_class, KERNEL.other_class)
    expected = measures.collapse_measures(features, labels, W, b, kappa)
    same = {
        "nc1": "nc1_ratio",
        "nc2": "nc2",
        "nc3": "nc3",
        "bias_gap": "bias_gap",
        "alignment": "invariant_alignment",
    }
    for ours, theirs in same.items():
        assert math.isclose(found[ours], expected[theirs], rel_tol=1e-10), ours


def test_components_of_residuals_fall_at_their_eigenvalues():
    starts = rng().standard_normal((12, 2))
    found = flow.times_to_fall(KERNEL, starts, 1e-3, 0.01)
    for times, rate in zip(
        found, (KERNEL.mu_global, KERNEL.mu_class, KERNEL.mu_single), strict=True
    ):
        np.testing.assert_allclose(times, math.log(1000) / rate, rtol=0.02)


def test_biases_of_features_with_a_global_mean_tend_to_another_value_than_one_over_c():
    """b - 1/C + W <h> is the mean of a row of R1, and falls with R1; |b - 1/C| does not."""
    rows = pd.DataFrame(flow._uncentred(SMOKE)).set_index(["case", "run", "time"])
    early = rows.xs(SMOKE.time / 4, level="time")
    last = rows.xs(SMOKE.time, level="time")
    assert (rows["error"] <= rows["residual"] * (1 + 1e-9)).all()
    assert (last["error"] < early["error"]).all()
    assert (last["gap"] > 0.5 * early["gap"]).all()
    assert len(last) == (1 + len(SMOKE.weights)) * SMOKE.runs


def test_cases_of_the_formulas_differ_although_a_grid_point_is_nearly_a_bias():
    frozen = CONFIG["frozen"] | {"points": 3, "margin": 0.1, "biases": [0.0, 0.1 + 1e-15]}
    rows = pd.DataFrame(flow._formulas(section_from(Flow, CONFIG | {"frozen": frozen})))
    assert not rows.duplicated(["case", "quantity", "form"]).any()


def positive_start(kernel, features, random, *, means, within, excess, bias):
    """A start with E >= 0: W^T W is what E = excess G G^T makes of the features' terms."""
    inside = min(features, kernel.classes)  # the rank that W^T W can have
    frame = np.linalg.qr(random.standard_normal((features, inside)))[0]
    class_means = means * frame @ random.standard_normal((inside, kernel.classes))
    factor = within * frame @ random.standard_normal((inside, inside))
    nothing = np.zeros((kernel.classes, features))
    biases = np.full(kernel.classes, bias)
    parts = nothing, biases, class_means, factor @ factor.T
    state = FlowState(*(part[None] for part in parts))
    invariant = excess * frame @ random.standard_normal((inside, inside))
    gram = block_flow.feature_terms(kernel, state)[0] + invariant @ invariant.T
    values, vectors = np.linalg.eigh(kernel.samples * frame.T @ gram @ frame)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    rotation = np.linalg.qr(random.standard_normal((kernel.classes, inside)))[0]
    return state._replace(weights=(rotation @ root @ frame.T)[None])


@pytest.mark.parametrize("excess", [0.0, 0.2, 1.0])
@pytest.mark.parametrize(("classes", "features"), [(3, 7), (5, 4), (4, 4), (2, 9), (6, 3)])
def test_no_random_flow_with_a_positive_invariant_leaves_the_bound(classes, features, excess):
    """Tries to refute the theorem: random kernels and starts, E of full rank, n above and below C.

    Of the rank of S, min(n, C), the theorem says that it stays; the bound is compared at times in
    which tr S falls by orders of magnitude.
    """
    random = rng(classes, features)
    other, same, diagonal = np.sort(random.uniform(0.02, 0.5, 3))
    kernel = BlockKernel(classes, int(random.integers(2, 6)), diagonal, same, other)
    scales = {"means": random.uniform(0.1, 0.6), "within": random.uniform(0.1, 0.6)}
    bias = random.uniform(0, 0.5)
    start = positive_start(kernel, features, random, excess=excess, bias=bias, **scales)
    assert np.linalg.eigvalsh(block_flow.invariant(kernel, start)[0])[0] > -1e-12
    times = [0.0, 0.1, 1.0, 10.0]
    first = float(np.trace(start.scatter[0]))
    for time, state in zip(times, block_flow.integrate(kernel, start, times, 1e-11), strict=True):
        bound = flow.bound_within(kernel, features, first, time)
        assert math.sqrt(np.trace(state.scatter[0])) <= bound * (1 + 1e-8)
        assert np.linalg.matrix_rank(state.scatter[0], tol=1e-9) <= min(features, classes)


def test_no_smaller_rank_than_min_n_c_would_do_in_the_bound():
    """Without class means and with E = 0, an S of equal variances in C directions starts at it."""
    frame = np.linalg.qr(rng(1).standard_normal((6, KERNEL.classes)))[0]
    scatter = 0.3 * frame @ frame.T
    means = np.zeros((6, KERNEL.classes))
    biases = np.zeros(KERNEL.classes)
    weights = np.sqrt(KERNEL.samples / KERNEL.mu_single * 0.3) * frame.T
    start = FlowState(*(part[None] for part in (weights, biases, means, scatter)))
    assert abs(block_flow.invariant(KERNEL, start)).max() < 1e-12
    rate = float(np.trace(block_flow.rates(KERNEL, start).scatter[0]))
    trace = float(np.trace(scatter))
    assert rate == pytest.approx(-2 * KERNEL.samples / KERNEL.classes * trace**2)
