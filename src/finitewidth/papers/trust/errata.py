"""Errata of ``trust`` in the mean-field recursions and their consequences."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import dblquad, quad
from scipy.special import erf

from finitewidth.errata import evidence
from finitewidth.errata.evidence import Evidence, exactly, generator, on_average
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width

A, B = 0.7, 0.3  # of the integrals of appendix E


def erf_slope(h: float) -> float:
    """Derivative of erf."""
    return 2 / np.pi**0.5 * np.exp(-h * h)


def gaussian_mean(phi: Callable[[float], float], q: float, covariance: float) -> float:
    """E φ(u) φ(v) for Gaussian u, v of variance ``q``, by quadrature over two normals."""
    a, b = q**0.5, covariance / q**0.5
    rest = (q - b * b) ** 0.5

    def density(z2: float, z1: float) -> float:
        return phi(a * z1) * phi(b * z1 + rest * z2) * np.exp(-(z1**2 + z2**2) / 2) / (2 * np.pi)

    return dblquad(density, -8, 8, -8, 8, epsabs=1e-11, epsrel=1e-11)[0]


def relu_mean(a: float, b: float) -> float:
    """E φ(a z₁) φ(b z₁ + √(a² − b²) z₂) for ReLU, as an integral over the angle of (z₁, z₂)."""
    angle = np.arccos(b / a)
    low, high = angle - np.pi / 2, np.pi / 2
    share = quad(lambda t: np.cos(t) * np.cos(t - angle), low, high, epsabs=1e-14)[0]
    return a * a * share / np.pi


def erf_mean(q: float, covariance: float) -> float:
    """E φ(u) φ(v) for erf in closed form; u, v as in `gaussian_mean`."""
    bracket = np.sqrt((1 + 2 * q) ** 2 - 4 * covariance * covariance)
    return 2 / np.pi * np.arctan(2 * covariance / bracket)


def slope_mean(q: float, covariance: float) -> float:
    """The same for the derivative of erf."""
    return 4 / np.pi / np.sqrt((1 + 2 * q) ** 2 - 4 * covariance * covariance)


def variance_of_weights() -> Evidence:
    """q² of (5) for tanh, compared with the variance that follows from the weights of (1)."""
    q1, widths, sigma_w2, sigma_b2 = 1.2, (60, 20), 2.0, 0.3
    density = lambda z: np.tanh(q1**0.5 * z) ** 2 * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5  # noqa: E731
    square = quad(density, -12, 12, epsabs=1e-13)[0]
    values = (sigma_w2 / m * widths[0] * square + sigma_b2 for m in (widths[1], widths[0]))
    return exactly(sigma_w2 * square + sigma_b2, *values)


def error_recursion(networks: int) -> Evidence:
    """E|δ¹|² / E|δ²|² of random ReLU networks with unequal widths."""
    widths, sigma_w2, draws = (6, 30, 10, 25, 20), 1.6, max(2, networks // 10)
    _, errors, _ = evidence.relu_pass(generator("trust-2"), widths, draws, sigma_w2)
    ratio = errors[0].mean() / errors[1].mean()
    # a sample with the variance of the ratio to leading order
    sample = ratio + (errors[0] - ratio * errors[1]) / errors[1].mean()
    factor = widths[2] / widths[3]
    return on_average(sample, sigma_w2 / 2 * factor, sigma_w2 / 2)


def relu_product() -> Evidence:
    """The first integral of E.1."""
    c = B / A
    bracket = np.sqrt(1 - c * c) + c * np.pi / 2 + c * np.arcsin(c)
    forms = A / (2 * np.pi) * bracket, A * A / (2 * np.pi) * bracket
    return exactly(relu_mean(A, B), *forms)


def relu_errors() -> Evidence:
    """Covariance of errors two layers below the output, from (9).

    The integral is evaluated from the angle between the inputs of a layer.
    """
    sigma_w2, cosines = 1.6, (0.2, 0.5)
    shares = [(np.pi - np.arccos(c)) / (2 * np.pi) for c in cosines]
    last, one = (sigma_w2 / (2 * np.pi) * (np.pi / 2 + np.arcsin(c)) for c in cosines)
    return exactly(sigma_w2**2 * shares[0] * shares[1], last * sigma_w2 / 2, last * one)


def erf_product() -> Evidence:
    """The integral of E.2 over erf erf, as a function of standard deviations."""
    q, cov = A * A, A * B
    return exactly(gaussian_mean(erf, q, cov), erf_mean(A, B), erf_mean(q, cov))


def erf_slopes() -> Evidence:
    """The integral of E.2 over erf′ erf′, as a function of standard deviations."""
    q, cov = A * A, A * B
    return exactly(gaussian_mean(erf_slope, q, cov), slope_mean(A, B), slope_mean(q, cov))


def erf_covariance() -> Evidence:
    """The recursion of E.2 for q_sr, σ_w² = 1 and σ_b = 0."""
    q, cov = 1.3, 0.4
    bracket = np.sqrt((1 + 2 * q**0.5) ** 2 - 4 * cov)
    printed = 2 / np.pi * np.arctan(2 * cov**0.5 / bracket)
    return exactly(gaussian_mean(erf, q, cov), printed, erf_mean(q, cov))


def erf_errors() -> Evidence:
    """The recursion of E.2 for p_sr, σ_w² = 1, equal widths."""
    q, cov = 1.3, 0.4
    printed = 4 / np.pi / np.sqrt((1 + 2 * q**0.5) ** 2 - 4 * cov)
    return exactly(gaussian_mean(erf_slope, q, cov), printed, slope_mean(q, cov))


def first_layer(networks: int) -> Evidence:
    """Variance of the first pre-activation at |x|² = M₀; no ReLU precedes the first layer."""
    rng, fan_in, sigma_w2, sigma_b2 = generator("trust-9"), 10, 1.6, 0.1
    weights = rng.standard_normal((networks, fan_in)) * (sigma_w2 / fan_in) ** 0.5
    h = weights.sum(axis=1) + rng.standard_normal(networks) * sigma_b2**0.5
    return on_average(h * h, sigma_w2 / 2 + sigma_b2, sigma_w2 + sigma_b2)


def kernel_of_pair() -> Evidence:
    """Weights' part of the last layer, compared with its value if q replaces q̂."""
    q, cov, width = 1.0, 0.5, 200
    truth = width * relu_mean(q**0.5, cov / q**0.5)
    angle = np.pi / 2 + np.arcsin(cov / q)
    corrected = width * q / (2 * np.pi) * (np.sqrt(1 - (cov / q) ** 2) + cov / q * angle)
    return exactly(truth, width * cov, corrected)


def output_variance(networks: int) -> Evidence:
    """Variance of fully trained outputs.

    The initial outputs f⁰ on S inputs and one test point are Gaussian, and the labels are ±1.
    """
    rng, size, ratio, q, cov = generator("trust-11"), 10, 2.5, 1.0, 0.4
    a = size / (ratio + size - 1)
    shared = rng.standard_normal((networks, 1)) * cov**0.5
    f = shared + rng.standard_normal((networks, size + 1)) * (q - cov) ** 0.5
    labels = rng.integers(0, 2, (networks, size)) * 2.0 - 1.0
    trained = f[:, 0] + a * (labels - f[:, 1:]).mean(axis=1)
    printed = (1 + a**2 / size) * (q - cov) + (a - 1) ** 2 * cov
    return on_average(trained**2, printed, printed + a**2 / size)


def relu_covariances(depth: int, sigma_w2: float, sigma_b2: float) -> np.ndarray:
    """q^l and q_sr^l of (5) and (7), l = 1..L, for orthogonal inputs of |x|² = M₀; (L, 2)."""
    found = [(sigma_w2 + sigma_b2, sigma_b2)]
    for _ in range(depth - 1):
        q, covariance = found[-1]
        same, other = relu_mean(q**0.5, q**0.5), relu_mean(q**0.5, covariance / q**0.5)
        found.append((sigma_w2 * same + sigma_b2, sigma_w2 * other + sigma_b2))
    return np.array(found)


def variance_in_the_chaotic_phase() -> Evidence:
    """Variance over weights of a trained ReLU network at (3, 1), over q^L, for S = 10 inputs.

    The networks are infinitely wide. Outputs are solved for with the whole kernel of the paper,
    κ₁ and κ₂, from integrals over angles; the forms use the closed forms of E.1.
    """
    depth, size, sigma_w2, sigma_b2 = 20, 10, 3.0, 1.0
    covariances = relu_covariances(depth, sigma_w2, sigma_b2)
    shares = (np.pi - np.arccos(covariances[:-1, 1] / covariances[:-1, 0])) / (2 * np.pi)
    slopes = sigma_w2 * np.column_stack([np.full(depth - 1, 0.5), shares])
    # p^l is the product of the slopes of the layers from l on
    p = np.vstack([np.cumprod(slopes[::-1], axis=0)[::-1], [1.0, 1.0]])
    signals = (covariances - sigma_b2) / sigma_w2  # of the layer below, without biases
    kappa = (signals * p).sum(axis=0)
    q, covariance = covariances[-1]
    eye = np.eye(size + 1)
    kernel = kappa[1] + (kappa[0] - kappa[1]) * eye
    outputs = covariance + (q - covariance) * eye
    # f - K(x, X) K(X, X)^-1 f(X), of which the last input is x
    trained = np.append(-np.linalg.solve(kernel[:-1, :-1], kernel[-1, :-1]), 1.0)
    truth = trained @ outputs @ trained / q

    init = constant_width(depth, 100, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
    field = infinite_width_of_gram(init, np.eye(2), activation="relu")
    cosine = field.nngp[0, 1] / field.nngp[0, 0]
    a = size / (field.kappa[0, 0] / field.kappa[0, 1] + size - 1)
    forms = ((1 + a**2 / size) * (1 - c) + (a - 1) ** 2 * c for c in (0.0, cosine))
    return exactly(truth, *forms)


edge_of_chaos = evidence.edge_of_chaos_of_relu
