"""Metrics of neural collapse against their definitions, and the invariant against its flow."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from finitewidth.common.errors import ConfigError
from finitewidth.measures import collapse
from finitewidth.measures.collapse import (
    class_parts,
    collapse_measures,
    invariant,
    kernel_measures,
    nc2,
    nc3,
)

C, M, WIDTH = 4, 3, 7  # classes, inputs of each, features
KAPPA = (0.9, 0.5, 0.2)
LABELS = np.tile(np.arange(C), M)


def batch(seed=0, labels=LABELS):
    """Features, W and b of an ordinary network."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(len(labels), WIDTH)) + rng.normal(size=(C, WIDTH))[labels]
    return features, rng.normal(size=(C, WIDTH)), rng.normal(size=C)


def collapsed(seed=0, scale=1.7, offset=0.3):
    """Features and W of a collapsed network: class means form a simplex, W is parallel to them."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(WIDTH, C)))[0]
    frame = scale * basis @ (np.eye(C) - 1 / C)  # (n, C)
    features = frame.T[LABELS] + offset * rng.normal(size=WIDTH)
    return features, 0.4 * frame.T, np.full(C, 1 / C)


def measured(features, labels, weight, bias, **options):
    return collapse_measures(features, labels, weight, bias, KAPPA, **options)


@pytest.mark.parametrize("normalise", [False, True])
def test_a_collapsed_network_has_metrics_of_zero(normalise):
    features, weight, bias = collapsed()
    found = measured(features, LABELS, weight, bias, normalise_columns=normalise)
    zeros = [found[name] for name in ("nc1", "nc1_ratio", "nc2", "nc3", "h2", "bias_gap")]
    np.testing.assert_allclose(zeros, 0, atol=1e-12)
    assert found["dead"] == 0


def test_metrics_are_those_of_loops():
    features, weight, bias = batch()
    found = measured(features, LABELS, weight, bias)
    mean = features.mean(0)
    means = []
    stds = []
    between = []
    for c in range(C):
        of_class = features[c == LABELS]
        means.append(of_class.mean(0))
        stds.append(of_class.std(0).mean())
        between.append(((means[c] - mean) ** 2).sum())
    within = []
    agree = []
    second = np.zeros((WIDTH, WIDTH))
    for h, label in zip(features, LABELS, strict=True):
        deviation = h - means[label]
        within.append(deviation @ deviation)
        second += np.outer(deviation, deviation)
        nearest = np.argmin([np.linalg.norm(h - class_mean) for class_mean in means])
        agree.append(np.argmax(weight @ h + bias) == nearest)
    first = sum(np.outer(class_mean, class_mean) for class_mean in means)
    np.testing.assert_allclose(found["nc1"], np.mean(stds))
    np.testing.assert_allclose(found["nc1_ratio"], np.mean(within) / np.mean(between))
    assert 0 < np.mean(agree) < 1
    np.testing.assert_allclose(found["nc4"], np.mean(agree))
    np.testing.assert_allclose(found["h1"], np.linalg.norm(first))
    np.testing.assert_allclose(found["h2"], np.linalg.norm(second))
    np.testing.assert_allclose(found["hbar"], np.linalg.norm(np.outer(mean, mean)))
    np.testing.assert_allclose(found["bias_gap"], max(abs(b - 1 / C) for b in bias))


@pytest.mark.parametrize("normalise", [False, True])
def test_nc2_and_nc3_are_those_of_loops(normalise):
    features, weight, _ = batch(1)
    parts = class_parts(features, LABELS, C)
    columns = [features[c == LABELS].mean(0) - features.mean(0) for c in range(C)]
    if normalise:
        columns = [column / np.linalg.norm(column) for column in columns]
    gram = np.empty((C, C))
    frame = np.empty((C, C))  # Gram matrix of a simplex, of norm 1
    for i, j in np.ndindex(C, C):
        gram[i, j] = columns[i] @ columns[j]
        frame[i, j] = ((i == j) - 1 / C) / np.sqrt(C - 1)
    np.testing.assert_allclose(np.linalg.norm(frame), 1)
    expected = np.linalg.norm(gram / np.linalg.norm(gram) - frame)
    np.testing.assert_allclose(nc2(parts, normalise_columns=normalise), expected)
    means = np.array(columns) / np.linalg.norm(columns)
    expected = np.linalg.norm(weight / np.linalg.norm(weight) - means)
    np.testing.assert_allclose(nc3(parts, weight, normalise_columns=normalise), expected)


def test_terms_of_the_invariant_are_those_of_equation_26():
    """m E with the paper's H2, by the matrix Q of equation (22)."""
    labels = np.repeat(np.arange(C), M)
    features, weight, _ = batch(2, labels)
    ones = np.ones((M, 1))
    basis = np.linalg.qr(np.hstack([ones, np.eye(M)[:, 1:]]))[0]
    helmert = basis[:, 1:]  # orthonormal columns whose entries add up to zero
    H1 = features.T @ np.kron(np.eye(C), ones) / M  # (WIDTH, C)
    H2 = features.T @ np.kron(np.eye(C), helmert) / np.sqrt(M)  # (WIDTH, C (M - 1))
    single = KAPPA[0] - KAPPA[1]
    by_class = single + M * (KAPPA[1] - KAPPA[2])
    alpha = KAPPA[2] * M / (by_class + C * KAPPA[2] * M)
    centring = np.eye(C) - alpha * np.ones((C, C))
    terms = H1 @ centring @ H1.T / by_class + H2 @ H2.T / single
    E = weight.T @ weight / M - terms
    weights = weight.T @ weight
    gram, ours, _ = invariant(class_parts(features, labels, C), weight, KAPPA)
    np.testing.assert_allclose(gram - ours, M * E, atol=1e-12)
    found = measured(features, labels, weight, np.zeros(C))
    size = np.linalg.norm(weights)
    product = np.vdot(weights, terms)
    assert found["e_norm"] == pytest.approx(M * np.linalg.norm(E))
    assert found["alpha_c"] == pytest.approx(C * alpha)
    assert found["invariant_alignment"] == pytest.approx(product / size / np.linalg.norm(terms))
    assert found["e_relative"] == pytest.approx(M * np.linalg.norm(E) / size)
    scales = product / np.vdot(terms, terms) * np.linspace(0.9, 1.1, 201)
    best = min(np.linalg.norm(weights - scale * terms) for scale in scales)
    np.testing.assert_allclose(found["residual"], best / size)


def test_the_invariant_does_not_change_in_the_flow_of_theorem_4_1():
    """Integrates (19) for H itself, so neither H1 and H2 nor the scale of E are assumed."""
    labels = np.repeat(np.arange(C), M)
    features, weight, bias = batch(3, labels)
    same = (labels[:, None] == labels) / M
    N = len(labels)
    Y = np.eye(C)[:, labels]
    d, c, n = KAPPA

    def split(state):
        H, W, b = np.split(state, [WIDTH * N, WIDTH * (N + C)])
        return H.reshape(WIDTH, N), W.reshape(C, WIDTH), b

    def flow(_, state):
        H, W, b = split(state)
        R = W @ H + b[:, None] - Y
        everywhere = R.mean(axis=1, keepdims=True)
        dH = -W.T @ ((d - c) * R + (c - n) * M * R @ same + n * N * everywhere)
        return np.concatenate([dH.ravel(), (-R @ H.T).ravel(), -R.sum(axis=1)])

    start = np.concatenate([0.5 * features.T.ravel(), 0.5 * weight.ravel(), bias])
    found = solve_ivp(
        flow, (0, 4), start, method="DOP853", rtol=1e-10, atol=1e-11, t_eval=[0, 0.5, 4]
    )
    states = [split(state) for state in found.y.T]
    parts = [class_parts(H.T, labels, C) for H, _, _ in states]
    terms = [invariant(part, state[1], KAPPA) for part, state in zip(parts, states, strict=True)]
    conserved = [gram - rest for gram, rest, _ in terms]
    np.testing.assert_allclose(conserved[1:], [conserved[0]] * 2, atol=1e-7)
    for moved in ("means", "scatter"):
        change = getattr(parts[2], moved) - getattr(parts[0], moved)
        assert np.linalg.norm(change) > 0.3


def test_no_measure_depends_on_the_order_of_inputs_or_on_a_rotation_of_features():
    features, weight, bias = batch(4)
    expected = measured(features, LABELS, weight, bias)
    order = np.random.default_rng(5).permutation(len(LABELS))
    permuted = measured(features[order], LABELS[order], weight, bias)
    assert permuted == pytest.approx(expected)
    rotation = np.linalg.qr(np.random.default_rng(6).normal(size=(WIDTH, WIDTH)))[0]
    rotated = measured(features @ rotation, LABELS, weight @ rotation, bias)
    free = set(expected) - {"nc1"}  # a mean over coordinates
    assert {name: rotated[name] for name in free} == pytest.approx({n: expected[n] for n in free})
    assert rotated["nc1"] != pytest.approx(expected["nc1"])
    renamed = measured(features, (LABELS + 1) % C, np.roll(weight, 1, 0), np.roll(bias, 1))
    assert renamed == pytest.approx(expected)


def test_dead_features_are_counted():
    features, weight, bias = batch(8)
    features[:, [1, 4]] = 0
    features[0, 2] = 0
    assert measured(features, LABELS, weight, bias)["dead"] == 2


def test_a_network_that_diverged_has_no_measures():
    features, weight, bias = batch(9)
    features[3, 2] = np.inf
    found = measured(features, LABELS, weight, bias)
    assert set(found) == {*collapse.COLLAPSE}
    assert np.isnan(list(found.values())).all()
    theta = np.full((len(LABELS), len(LABELS)), np.nan)
    kernels = kernel_measures(theta, theta, LABELS, outputs=C, features=WIDTH)
    assert np.isnan(list(kernels.values())).all()


def test_features_that_are_all_zero_give_nan_where_there_is_no_value():
    _, weight, bias = batch(10)
    found = measured(np.zeros((len(LABELS), WIDTH)), LABELS, weight, bias)
    assert np.isnan([found["nc1_ratio"], found["nc2"], found["nc3"]]).all()
    assert (found["nc1"], found["dead"]) == (0, WIDTH)
    zero = np.zeros((len(LABELS), len(LABELS)))
    kernels = kernel_measures(zero, zero, LABELS, outputs=C, features=WIDTH)
    assert kernels["kappa_d"] == 0
    assert np.isnan(kernels["alignment_theta"])


def test_blocks_of_kernels_are_means_over_outputs_and_features():
    same = LABELS[:, None] == LABELS
    theta = np.where(same, 0.5, 0.2) + 0.4 * np.eye(len(LABELS))
    found = kernel_measures(C * theta, WIDTH * theta, LABELS, outputs=C, features=WIDTH)
    for name in ("kappa", "gamma"):
        assert [found[f"{name}_{kind}"] for kind in "dcn"] == pytest.approx(KAPPA)
    cosine = np.vdot(theta, same) / np.linalg.norm(theta) / np.linalg.norm(same)
    assert found["alignment_theta"] == pytest.approx(cosine)
    assert found["alignment_theta_h"] == pytest.approx(cosine)
    assert tuple(found) == collapse.KERNELS


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (LABELS[:-1], "must be"),
        (np.where(LABELS == 0, 1, LABELS), "equally many"),
        (np.repeat(np.arange(6), 2), "equally many"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    features, weight, bias = batch()
    with pytest.raises(ConfigError, match=message):
        measured(features, labels, weight, bias)
