"""Errata of ``trust`` in the mean-field recursions and their consequences."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import dblquad, quad
from scipy.special import erf

from finitewidth.errata import evidence
from finitewidth.errata.evidence import Evidence, exactly, generator, on_average
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width

# the constants a and b in the integrals of appendix E
A = 0.7
B = 0.3


def erf_slope(h: float) -> float:
    """Derivative of erf."""
    return 2 / np.pi**0.5 * np.exp(-h * h)


def gaussian_mean(phi: Callable[[float], float], q: float, covariance: float) -> float:
    """E φ(u) φ(v) for Gaussian u, v of variance ``q``, by quadrature over two normals."""
    # u = a z1 and v = b z1 + rest z2 for independent standard normal z1, z2
    a = q**0.5
    b = covariance / q**0.5
    rest = (q - b * b) ** 0.5

    def density(z2: float, z1: float) -> float:
        product = phi(a * z1) * phi(b * z1 + rest * z2)
        return product * np.exp(-(z1**2 + z2**2) / 2) / (2 * np.pi)

    return dblquad(density, -8, 8, -8, 8, epsabs=1e-11, epsrel=1e-11)[0]


def relu_mean(a: float, b: float) -> float:
    """E φ(a z₁) φ(b z₁ + √(a² − b²) z₂) for ReLU, as an integral over the angle of (z₁, z₂)."""
    angle = np.arccos(b / a)

    def density(t: float) -> float:
        return np.cos(t) * np.cos(t - angle)

    # both pre-activations are positive between these two angles
    integral, _ = quad(density, angle - np.pi / 2, np.pi / 2, epsabs=1e-14)
    return a * a * integral / np.pi


def erf_mean(q: float, covariance: float) -> float:
    """E φ(u) φ(v) for erf in closed form; u, v as in `gaussian_mean`."""
    bracket = np.sqrt((1 + 2 * q) ** 2 - 4 * covariance * covariance)
    return 2 / np.pi * np.arctan(2 * covariance / bracket)


def slope_mean(q: float, covariance: float) -> float:
    """E φ'(u) φ'(v) for φ = erf in closed form; u, v as in `gaussian_mean`."""
    return 4 / np.pi / np.sqrt((1 + 2 * q) ** 2 - 4 * covariance * covariance)


def variance_of_weights() -> Evidence:
    """q² of (5) for tanh, compared with the variance that follows from the weights of (1)."""
    q1 = 1.2
    fan_in = 60
    fan_out = 20
    sigma_w2 = 2.0
    sigma_b2 = 0.3

    def density(z: float) -> float:
        return np.tanh(q1**0.5 * z) ** 2 * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5

    square, _ = quad(density, -12, 12, epsabs=1e-13)  # E tanh(h)^2
    truth = sigma_w2 * square + sigma_b2
    # the weights of (1) have the variance sigma_w^2 over the layer's own width
    printed = sigma_w2 / fan_out * fan_in * square + sigma_b2
    corrected = sigma_w2 / fan_in * fan_in * square + sigma_b2
    return exactly(truth, printed, corrected)


def error_recursion(networks: int) -> Evidence:
    """E|δ¹|² / E|δ²|² of random ReLU networks with unequal widths."""
    widths = (6, 30, 10, 25, 20)
    sigma_w2 = 1.6
    draws = max(2, networks // 10)
    _, errors, _ = evidence.relu_pass(generator("trust-2"), widths, draws, sigma_w2)
    ratio = errors[0].mean() / errors[1].mean()
    # a sample with the variance of the ratio to leading order
    sample = ratio + (errors[0] - ratio * errors[1]) / errors[1].mean()
    printed = sigma_w2 / 2 * (widths[2] / widths[3])
    return on_average(sample, printed, sigma_w2 / 2)


def relu_product() -> Evidence:
    """The first integral of E.1."""
    c = B / A
    bracket = np.sqrt(1 - c * c) + c * np.pi / 2 + c * np.arcsin(c)
    printed = A / (2 * np.pi) * bracket
    corrected = A * A / (2 * np.pi) * bracket
    return exactly(relu_mean(A, B), printed, corrected)


def relu_errors() -> Evidence:
    """Covariance of errors two layers below the output, from (9).

    The integral is evaluated from the angle between the inputs of a layer.
    """
    sigma_w2 = 1.6
    cosines = np.array([0.2, 0.5])  # of the inputs of the last two layers
    # share of units that are active for both inputs, in each of the two layers
    shares = (np.pi - np.arccos(cosines)) / (2 * np.pi)
    truth = sigma_w2**2 * shares[0] * shares[1]
    first, second = sigma_w2 / (2 * np.pi) * (np.pi / 2 + np.arcsin(cosines))
    return exactly(truth, first * sigma_w2 / 2, first * second)


def erf_product() -> Evidence:
    """The integral of E.2 over erf erf, as a function of standard deviations."""
    q = A * A
    cov = A * B
    return exactly(gaussian_mean(erf, q, cov), erf_mean(A, B), erf_mean(q, cov))


def erf_slopes() -> Evidence:
    """The integral of E.2 over erf′ erf′, as a function of standard deviations."""
    q = A * A
    cov = A * B
    return exactly(gaussian_mean(erf_slope, q, cov), slope_mean(A, B), slope_mean(q, cov))


def erf_covariance() -> Evidence:
    """The recursion of E.2 for q_sr, σ_w² = 1 and σ_b = 0."""
    q = 1.3
    cov = 0.4
    bracket = np.sqrt((1 + 2 * q**0.5) ** 2 - 4 * cov)
    printed = 2 / np.pi * np.arctan(2 * cov**0.5 / bracket)
    return exactly(gaussian_mean(erf, q, cov), printed, erf_mean(q, cov))


def erf_errors() -> Evidence:
    """The recursion of E.2 for p_sr, σ_w² = 1, equal widths."""
    q = 1.3
    cov = 0.4
    printed = 4 / np.pi / np.sqrt((1 + 2 * q**0.5) ** 2 - 4 * cov)
    return exactly(gaussian_mean(erf_slope, q, cov), printed, slope_mean(q, cov))


def first_layer(networks: int) -> Evidence:
    """Variance of the first pre-activation at |x|² = M₀; no ReLU precedes the first layer."""
    rng = generator("trust-9")
    fan_in = 10
    sigma_w2 = 1.6
    sigma_b2 = 0.1
    weights = rng.standard_normal((networks, fan_in)) * (sigma_w2 / fan_in) ** 0.5
    biases = rng.standard_normal(networks) * sigma_b2**0.5
    h = weights.sum(axis=1) + biases
    return on_average(h * h, sigma_w2 / 2 + sigma_b2, sigma_w2 + sigma_b2)


def kernel_of_pair() -> Evidence:
    """Weights' part of the last layer, compared with its value if q replaces q̂."""
    q = 1.0
    cov = 0.5
    width = 200
    truth = width * relu_mean(q**0.5, cov / q**0.5)
    angle = np.pi / 2 + np.arcsin(cov / q)
    corrected = width * q / (2 * np.pi) * (np.sqrt(1 - (cov / q) ** 2) + cov / q * angle)
    return exactly(truth, width * cov, corrected)


def output_variance(networks: int) -> Evidence:
    """Variance of fully trained outputs.

    The initial outputs f⁰ on S inputs and one test point are Gaussian, and the labels are ±1.
    """
    rng = generator("trust-11")
    size = 10  # S
    ratio = 2.5  # kappa_1 / kappa_2
    q = 1.0
    cov = 0.4
    a = size / (ratio + size - 1)
    shared = rng.standard_normal((networks, 1)) * cov**0.5
    single = rng.standard_normal((networks, size + 1)) * (q - cov) ** 0.5
    f = shared + single  # of the test point, and of the inputs
    labels = rng.integers(0, 2, (networks, size)) * 2.0 - 1.0
    trained = f[:, 0] + a * (labels - f[:, 1:]).mean(axis=1)
    printed = (1 + a**2 / size) * (q - cov) + (a - 1) ** 2 * cov
    return on_average(trained**2, printed, printed + a**2 / size)


def relu_covariances(depth: int, sigma_w2: float, sigma_b2: float) -> np.ndarray:
    """q^l and q_sr^l of (5) and (7), l = 1..L, for orthogonal inputs of |x|² = M₀; (L, 2)."""
    layers = [(sigma_w2 + sigma_b2, sigma_b2)]
    for _ in range(depth - 1):
        q, covariance = layers[-1]
        same = relu_mean(q**0.5, q**0.5)
        other = relu_mean(q**0.5, covariance / q**0.5)
        layers.append((sigma_w2 * same + sigma_b2, sigma_w2 * other + sigma_b2))
    return np.array(layers)


def relu_kappa(covariances: np.ndarray, sigma_w2: float, sigma_b2: float) -> np.ndarray:
    """κ₁ and κ₂, (2,), from the (L, 2) of `relu_covariances`: Σ_l q̂^(l-1) p^l."""
    depth = len(covariances)
    # factor of a layer in p^l: σ_w² times the share of units that are active for both inputs
    cosines = covariances[:-1, 1] / covariances[:-1, 0]
    shares = (np.pi - np.arccos(cosines)) / (2 * np.pi)
    slopes = sigma_w2 * np.column_stack([np.full(depth - 1, 0.5), shares])  # (L - 1, 2)
    # p^l is the product of the slopes of the layers from l on
    products = np.cumprod(slopes[::-1], axis=0)[::-1]
    p = np.vstack([products, [1.0, 1.0]])  # (L, 2)
    signals = (covariances - sigma_b2) / sigma_w2  # q̂^(l-1), of the layer below
    return (signals * p).sum(axis=0)


def constant_blocks(values: np.ndarray, size: int) -> np.ndarray:
    """The matrix (S, S) with ``values[0]`` on its diagonal and ``values[1]`` beside it."""
    same, other = values
    return other + (same - other) * np.eye(size)


def variance_in_the_chaotic_phase() -> Evidence:
    """Variance over weights of a trained ReLU network at (3, 1), over q^L, for S = 10 inputs.

    The networks are infinitely wide. The truth solves for the outputs with the whole kernel of the
    paper, κ₁ and κ₂, from integrals over angles. The printed and the corrected value follow from
    Theorem 5.3 and the closed forms of E.1.
    """
    depth = 20
    size = 10
    sigma_w2 = 3.0
    sigma_b2 = 1.0
    covariances = relu_covariances(depth, sigma_w2, sigma_b2)
    # matrices of the S inputs and, last, the test point: (S + 1, S + 1)
    kernel = constant_blocks(relu_kappa(covariances, sigma_w2, sigma_b2), size + 1)
    outputs = constant_blocks(covariances[-1], size + 1)
    # f(x) - K(x, X) K(X, X)^-1 f(X), as coefficients of the outputs (S + 1,)
    solution = np.linalg.solve(kernel[:-1, :-1], kernel[-1, :-1])
    trained = np.append(-solution, 1.0)
    q = covariances[-1, 0]
    truth = trained @ outputs @ trained / q

    init = constant_width(depth, 100, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
    field = infinite_width_of_gram(init, np.eye(2), activation="relu")
    cosine = field.nngp[0, 1] / field.nngp[0, 0]
    ratio = field.kappa[0, 0] / field.kappa[0, 1]

    def predicted(c: float) -> float:
        """Theorem 5.3 in units of q^L for the correlation c = q_sr / q^L of two outputs."""
        a = size / (ratio + size - 1)
        return (1 + a**2 / size) * (1 - c) + (a - 1) ** 2 * c

    return exactly(truth, predicted(0.0), predicted(cosine))


edge_of_chaos = evidence.edge_of_chaos_of_relu
