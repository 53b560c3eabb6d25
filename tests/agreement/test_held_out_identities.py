"""Kernels and moments of networks drawn anew for each version, without random error.

Widths, variances, activations, gates and inputs follow from the version as in test_held_out.py.
Kernels are compared with autograd, with lists of paths, with sums over all networks and with
numerical integrals, to 1e-9 of the largest entry. These tests cannot raise a false alarm by chance,
apart from a pre-activation so near 0 that rounding decides a gate (probability about 1e-10).
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.helpers.held_out_networks import (
    ERF,
    PHASES,
    RELU,
    TANH,
    edge,
    law,
    numbers,
    other_activation,
    shown,
    stream,
    weight_variance,
)
from tests.helpers.held_out_networks import inputs as drawn_inputs
from tests.helpers.kernels_by_definition import limiting_dispersion
from tests.helpers.plain_autograd import gram_of_jacobian, limit_kernels, perceptron

from finitewidth.kernels import gated_ntk
from finitewidth.kernels.gated_moments import (
    GAUSSIAN,
    gate_counts,
    unit_counts,
    value_kernel_moments,
)
from finitewidth.kernels.npk import npk, nu
from finitewidth.kernels.ntk_init.brute_force import tangent_kernel
from finitewidth.kernels.ntk_init.infinite_width import infinite_width
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.off_diagonal import infinite_width_mean_ratio
from finitewidth.kernels.ntk_init.phases import chi_1, fixed_variance, phase
from finitewidth.kernels.wide_limits import wide_limits
from finitewidth.networks.random_gated import every_signed_network


def agree(found, expected, tolerance=1e-9):
    found = np.asarray(found)
    expected = np.asarray(expected)
    largest = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(largest, 1e-300))


# Tangent kernels at initialisation


@pytest.mark.parametrize("number", numbers(8, 80))
def test_tangent_kernel_of_a_drawn_network(number):
    rng = stream("given", number)
    phi = (RELU, TANH, ERF, other_activation(rng))[number % 4]
    init = law(rng, number, phi, outputs=int(rng.integers(1, 4)))
    x = drawn_inputs(rng, int(rng.integers(2, 5)), init.widths[0])
    sizes = list(itertools.pairwise(init.layer_widths))
    normal = [torch.from_numpy(rng.standard_normal((a, b))) for a, b in sizes]
    shifts = [torch.from_numpy(rng.standard_normal(b)) for _, b in sizes]
    scales = [(init.sigma_w2 / a) ** 0.5 for a, _ in sizes]
    weights = [scale * part for scale, part in zip(scales, normal, strict=True)]
    biases = [init.sigma_b2**0.5 * shift for shift in shifts]
    standard = init.parametrisation == "standard"

    def outputs(parameters):
        w = parameters[: len(sizes)]
        b = parameters[len(sizes) :]
        if not standard:
            w = [scale * part for scale, part in zip(scales, w, strict=True)]
            b = [init.sigma_b2**0.5 * part for part in b]
        return perceptron(w, b, torch.from_numpy(x), lambda _, h: phi.plain(h)).flatten()

    parameters = weights + biases if standard else normal + shifts
    with shown(activation=phi, init=init, inputs=x):
        grams = gram_of_jacobian(outputs, parameters)
        theta_w, theta_b, f = tangent_kernel(
            [weight.T for weight in weights],
            biases,
            torch.from_numpy(x),
            activation=phi.accepted,
            weight_gains=init.weight_gains,
            bias_gain=init.bias_gain,
        )
        agree(theta_w, sum(grams[: len(sizes)]))
        agree(theta_b, sum(grams[len(sizes) :]))
        agree(f.flatten(), outputs(parameters))


@pytest.mark.parametrize("number", numbers(6, 60))
def test_dispersion_approaches_its_limit_at_the_rate_1_over_the_width(number):
    """Extrapolate the dispersion from three widths; the rest is of order 1 / width^3.

    The rest grows towards the edge of chaos. In 450 other draws it was at most a tenth of the
    tolerance.
    """
    rng = stream("dispersion", number)
    kind = PHASES[number % 3]
    lam = rng.integers(4, 31) / 25
    alpha = rng.integers(1, 9) / 4
    ends = {"ordered": (1.0, 1.7), "critical": (2.0, 2.0), "chaotic": (2.4, 4.0)}
    sigma_w2 = float(rng.uniform(*ends[kind]))
    with shown(sigma_w2=sigma_w2, lam=lam, alpha=alpha):
        found = []
        for width in (2000, 4000, 8000):
            depth = round(lam * width)
            first = round(alpha * width)
            init = Initialisation(widths=(first,) + (width,) * (depth - 1), sigma_w2=sigma_w2)
            found.append(log_moments(init).dispersion)
        limit = dispersion_limit(float(lam), kind, alpha_0=float(alpha))
        first_order = [2 * fine - coarse for coarse, fine in itertools.pairwise(found)]
        agree((4 * first_order[1] - first_order[0]) / 3, limit, 1e-4)


# Infinite width


@pytest.mark.parametrize("number", numbers(8, 40))
def test_infinite_width_is_the_recursion_with_numerical_integrals(number):
    rng = stream("integrals", number)
    phi = (RELU, TANH, ERF, other_activation(rng, smooth=True))[number % 4]
    init = law(rng, number + int(stream("integrals").integers(6)), phi)
    init = replace(init, widths=(init.widths[0] + 1, *init.widths[1:]))
    x = drawn_inputs(rng, 2, init.widths[0])
    with shown(activation=phi, init=init, inputs=x):
        field = infinite_width(init, x, activation=phi.accepted)
        gram = x @ x.T / init.widths[0]
        covariance, theta = limit_kernels(init, gram, phi.plain, phi.smooth)
        agree(field.nngp, covariance)
        agree(field.ntk, theta)


@pytest.mark.parametrize("number", numbers(4, 20))
def test_wide_limits_of_relu_networks(number):
    rng = stream("limits", number)
    depth = int(rng.integers(2, 7))
    x = drawn_inputs(rng, 2, int(rng.integers(2, 6)))
    sigma_w2 = weight_variance(rng, PHASES[number % 3], RELU, 0.0)
    with shown(depth=depth, inputs=x, sigma_w2=sigma_w2):
        # one input unit, variance 2 and no gradients of biases: the scale of npf appendix A
        init = Initialisation(widths=(1,) * depth, sigma_w2=2.0, parametrisation="ntk")
        covariance, theta = limit_kernels(init, x @ x.T, torch.relu, smooth=False)
        limits = wide_limits(x, depth)
        agree(limits.tangent, theta / 2)
        agree(limits.halved, (theta + covariance) / 4)
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        cosine = float(unit[0] @ unit[1])
        wide = Initialisation(widths=tuple(rng.integers(2, 50, depth).tolist()), sigma_w2=sigma_w2)
        _, theta = limit_kernels(wide, unit @ unit.T / wide.widths[0], torch.relu, smooth=False)
        agree(infinite_width_mean_ratio(wide, cosine), theta[0, 1] / theta[0, 0])


@pytest.mark.parametrize("number", numbers(6, 30))
def test_phases(number):
    rng = stream("phases", number)
    phi = (RELU, TANH, ERF)[number % 3]
    sigma_b2 = float(rng.uniform(0.05, 2))
    expected = PHASES[rng.integers(3)]
    variance = weight_variance(rng, expected, phi, sigma_b2)
    with shown(activation=phi, sigma_w2=variance, sigma_b2=sigma_b2, phase=expected):
        assert phase(phi.accepted, variance, sigma_b2, tolerance=1e-6) == expected
        if phi is not RELU:
            one = Initialisation(widths=(1, 1), sigma_w2=variance, sigma_b2=sigma_b2)
            q = fixed_variance(phi.accepted, variance, sigma_b2)
            unit = np.array([[(q - sigma_b2) / variance]])
            covariance, theta = limit_kernels(one, unit, phi.plain, smooth=True)
            agree(covariance, [[q]], 1e-8)
            # theta = E phi^2 + 1 + sigma_w2 E phi'^2 (unit + 1)
            slope = (theta - (covariance - sigma_b2) / variance - 1) / (unit + 1)
            agree(slope, [[chi_1(phi.accepted, variance, q)]], 1e-8)
            assert edge(phi, sigma_b2) > edge(phi, 0.0)


# Gated networks and paths


def gated_network(rng, widest=7, outputs=None):
    """Draw sizes, inputs, weights (fan_in, fan_out) and biases of a network."""
    depth = int(rng.integers(2, 6))
    sizes = [int(size) for size in rng.integers(1, widest + 1, depth)]
    sizes.append(outputs or int(rng.integers(1, 4)))
    sigma = rng.uniform(0.5, 2)
    pairs = list(itertools.pairwise(sizes))
    weights = [
        torch.from_numpy(sigma * rng.standard_normal(pair) / pair[0] ** 0.5) for pair in pairs
    ]
    biases = [torch.from_numpy(rng.uniform(0.1, 1) * rng.standard_normal(b)) for _, b in pairs]
    x = torch.from_numpy(drawn_inputs(rng, int(rng.integers(2, 6)), sizes[0]))
    return sizes, x, weights, biases


def drawn_gates(rng, samples, widths, soft):
    share = rng.uniform(0.3, 0.9)
    layers = [rng.random((samples, width)) for width in widths]
    return [torch.from_numpy(part if soft else 1.0 * (part < share)) for part in layers]


def kernel_by_jacobian(logits, weights, biases, with_biases, labels):
    """Return the kernel (S, S) of logits(weights, biases): of all outputs, or of the labels' ones.

    Biases need not be counted, and ``labels`` is None for all outputs.
    """
    depth = len(weights)

    def chosen(parameters):
        z = logits(parameters[:depth], parameters[depth:])
        return (z if labels is None else z[torch.arange(len(z)), labels][:, None]).flatten()

    grams = gram_of_jacobian(chosen, [*weights, *biases])
    total = sum(grams if with_biases else grams[:depth])
    samples = len(logits(weights, biases))
    outputs = len(total) // samples
    return total.reshape(samples, outputs, samples, outputs).diagonal(dim1=1, dim2=3).sum(-1)


@pytest.mark.parametrize("number", numbers(8, 80))
def test_kernels_of_gated_networks(number):
    rng = stream("gated", number)
    sizes, x, weights, biases = gated_network(rng)
    labels = torch.from_numpy(rng.integers(0, sizes[-1], len(x))) if number % 2 else None
    feature = [torch.from_numpy(rng.standard_normal(w.shape)) for w in weights[:-1]]
    shifts = [torch.from_numpy(rng.standard_normal(b.shape)) for b in biases[:-1]]
    soft = {"beta": float(rng.uniform(0.5, 5)), "eps": float(rng.uniform(0, 0.3))}
    with_biases = bool(rng.integers(2))
    hidden = ("hard", "soft")[rng.integers(2)]
    gates = drawn_gates(rng, len(x), sizes[1:-1], soft=bool(rng.integers(2)))
    options = {
        "with_biases": with_biases,
        "labels": labels,
        "output": "logits_trace" if labels is None else "true_class_logit",
    }

    def gate(q):
        return (1 + soft["eps"]) / (1 + torch.exp(-soft["beta"] * q))

    def of_features(v, c):
        opened = []
        z = x
        for weight, bias in zip(v, c, strict=True):
            q = z @ weight + bias
            opened.append(gate(q))
            z = torch.relu(q) if hidden == "hard" else q * opened[-1]
        return perceptron(weights, biases, x, lambda layer, h: h * opened[layer])

    def of_weights(unit):
        return lambda w, b: perceptron(w, b, x, unit)

    gating = gated_ntk.Gating(**soft, hidden=hidden)
    found = {
        "value": gated_ntk.value_kernel(x, weights, biases, gates, **options),
        "feature": gated_ntk.feature_kernel(
            x, (feature, shifts), (weights, biases), gating, **options
        ),
        "relu": gated_ntk.soft_relu_ntk(x, weights, biases, beta=None, **options),
        "soft relu": gated_ntk.soft_relu_ntk(x, weights, biases, **soft, **options),
    }
    units = {
        "value": lambda layer, h: h * gates[layer],
        "relu": lambda _, h: torch.relu(h),
        "soft relu": lambda _, h: h * gate(h),
    }
    with shown(sizes=sizes, inputs=x, labels=labels, hidden=hidden, biases=with_biases, **soft):
        for name, unit in units.items():
            expected = kernel_by_jacobian(of_weights(unit), weights, biases, with_biases, labels)
            agree(found[name], expected)
        expected = kernel_by_jacobian(of_features, feature, shifts, with_biases, labels)
        agree(found["feature"], expected)
        opened = gated_ntk.relu_gates(weights, biases, x)
        agree(gated_ntk.value_kernel(x, weights, biases, opened, **options), found["relu"])


@pytest.mark.parametrize("number", numbers(6, 60))
def test_path_kernels(number):
    """Compare with a list of all paths, and K^v with the gradients of the values of the paths."""
    rng = stream("paths", number)
    sizes, x, weights, _ = gated_network(rng, widest=5, outputs=1)
    gates = drawn_gates(rng, len(x), sizes[1:-1], soft=number % 2 == 0)
    paths = list(itertools.product(*map(range, sizes[:-1])))
    units = [*np.array(paths).T, np.zeros(len(paths), int)]
    features = x.numpy()[:, units[0]]
    for gate, unit in zip(gates, units[1:-1], strict=True):
        features = features * gate.numpy()[:, unit]

    def values(w):
        parts = [part[i, j] for part, (i, j) in zip(w, itertools.pairwise(units), strict=True)]
        return torch.stack(parts).prod(dim=0)

    with shown(sizes=sizes, inputs=x, gates=[gate.tolist() for gate in gates]):
        expected = features @ features.T
        agree(npk(x, gates), expected)
        kernel = gated_ntk.value_kernel(x, weights, None, gates, with_biases=False)
        agree(kernel, features @ sum(gram_of_jacobian(values, weights)).numpy() @ features.T)
        if expected.trace() > 0:
            normalised = expected / expected.trace()
            agree(npk(x, gates, "trace"), normalised)
            y = rng.standard_normal(len(x))
            ridge = float(rng.uniform(0.01, 1))
            solved = np.linalg.solve(normalised + ridge * np.eye(len(x)), y)
            agree(nu(torch.from_numpy(y), torch.from_numpy(expected), ridge)[0], y @ solved)


def every_heavy_network(sizes, sigma):
    """Return networks of weights 0 and ±sqrt(3) sigma, and the probability of each.

    With 2/3 for 0 the variance is sigma^2 and the fourth moment 3 sigma^4, as for Gaussian weights.
    """
    pairs = list(itertools.pairwise(sizes))
    counts = [a * b for a, b in pairs]
    digits = np.array(list(itertools.product((0, 1, 2), repeat=sum(counts))))
    values = sigma * np.array([0.0, 3**0.5, -(3**0.5)])[digits]
    parts = torch.from_numpy(values).split(counts, dim=1)
    weights = [part.reshape(-1, *pair) for part, pair in zip(parts, pairs, strict=True)]
    return weights, np.array([2 / 3, 1 / 6, 1 / 6])[digits].prod(axis=1)


def small_sizes(rng, weights):
    """Draw the sizes of a network of depth 2 to 5 with at most this number of weights."""
    while True:
        sizes = [*rng.integers(1, 5, rng.integers(2, 6)).tolist(), 1]
        if sum(a * b for a, b in itertools.pairwise(sizes)) <= weights:
            return sizes


@pytest.mark.parametrize("law_of_weights", ["signed", "heavy"])
@pytest.mark.parametrize("number", numbers(5, 25))
def test_moments_over_all_networks(number, law_of_weights):
    rng = stream("enumerated", law_of_weights, number)
    sizes = small_sizes(rng, 13 if law_of_weights == "signed" else 8)
    sigma = float(rng.uniform(0.4, 1.5))
    x = rng.standard_normal((2, sizes[0]))
    gates = drawn_gates(rng, 2, sizes[1:-1], soft=False)
    with shown(sizes=sizes, sigma=sigma, inputs=x, gates=[gate.tolist() for gate in gates]):
        if law_of_weights == "signed":
            weights = every_signed_network(sizes, sigma)
            chances = np.full(len(weights[0]), 1 / len(weights[0]))
        else:
            weights, chances = every_heavy_network(sizes, sigma)
        kernels = gated_ntk.value_kernel(
            torch.from_numpy(x), weights, None, gates, with_biases=False
        ).numpy()
        mean = np.einsum("r,rst->st", chances, kernels)
        second = np.einsum("r,rst->st", chances, kernels**2)
        kurtosis = {} if law_of_weights == "signed" else {"kurtosis": GAUSSIAN}
        found = value_kernel_moments(x, gate_counts(gates), sigma**2, **kurtosis)
        agree(found.mean, mean)
        agree(found.variance + found.mean**2, second)


@pytest.mark.parametrize("number", numbers(4, 20))
def test_gated_dispersion_approaches_its_limit_at_the_rate_1_over_the_width(number):
    rng = stream("gated dispersion", number)
    ratio = int(rng.integers(2, 31)) / 20
    kurtosis = float(rng.uniform(1, 3))
    with shown(ratio=ratio, kurtosis=kurtosis):
        found = []
        for width in (500, 1000, 2000):
            counts = np.full((round(ratio * width) - 1, 1, 1), width)
            counts = unit_counts(counts, counts, counts)
            mean, variance = value_kernel_moments(
                np.ones((1, 1)), counts, 1 / width, kurtosis=kurtosis
            )
            found.append(1 + (variance / mean**2).item())
        first_order = [2 * fine - coarse for coarse, fine in itertools.pairwise(found)]
        agree((4 * first_order[1] - first_order[0]) / 3, limiting_dispersion(ratio), 3e-5)
