"""Errata of ``thesis``, chapter 2."""

import itertools

import numpy as np
from scipy.integrate import solve_ivp

from finitewidth.errata.evidence import Evidence, exactly, generator, on_average
from finitewidth.kernels.ntk_init.activations import activation_of, mean_products
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width


def tangent_kernel() -> Evidence:
    """NTK of infinitely wide erf networks of four layers, summed over layers."""
    sigma_w2 = 1.5
    sigma_b2 = 0.2
    depth = 4
    gram = np.array([[1.0, 0.3], [0.3, 1.0]])
    init = constant_width(depth, 1, sigma_w2=sigma_w2, sigma_b2=sigma_b2, parametrisation="ntk")
    truth = infinite_width_of_gram(init, gram, activation="erf").ntk[0, 1]

    covariances = [sigma_w2 * gram + sigma_b2]
    slopes = []
    for _ in range(depth):
        products, slope = mean_products(activation_of("erf"), covariances[-1])
        covariances.append(sigma_w2 * products + sigma_b2)
        slopes.append(slope[0, 1])
    sigma = [covariance[0, 1] for covariance in covariances]  # layers 1, 2, ..
    below = [gram[0, 1], *sigma]  # layer 0 is the input: <x, x~> / n_0
    printed = 0.0
    corrected = 0.0
    for k in range(depth):
        printed += below[k] * np.prod(slopes[k:depth])
        corrected += sigma[k] * np.prod(sigma_w2 * np.array(slopes[k : depth - 1]))
    return exactly(truth, printed, corrected)


def _regression() -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A kernel of three inputs, its row at the test point, initial errors f - y, and a time."""
    rng = generator("thesis-2")
    root = rng.standard_normal((4, 6))
    kernel = root @ root.T
    errors = rng.standard_normal(3)
    return kernel[:3, :3], kernel[3, :3], errors, 0.3


def _flow() -> np.ndarray:
    """Errors on the inputs and change at the test point at this time, integrated numerically."""
    kernel, test, errors, time = _regression()

    def law(_: float, state: np.ndarray) -> np.ndarray:
        on_inputs = kernel @ state[:3]
        at_test_point = test @ state[:3]
        return -np.concatenate([on_inputs, [at_test_point]]) / 3

    start = np.concatenate([errors, [0.0]])
    path = solve_ivp(law, (0, time), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return path.y[:, -1]


def _decay(rate: float) -> np.ndarray:
    """exp(-rate time kernel), the matrix that takes initial errors to those at this time."""
    kernel, _, _, time = _regression()
    values, vectors = np.linalg.eigh(kernel)
    return vectors @ np.diag(np.exp(-rate * time * values)) @ vectors.T


def training_outputs() -> Evidence:
    """Output on the first input, from (2.59) integrated."""
    errors = _regression()[2]
    printed = (_decay(1.0) @ errors)[0]
    corrected = (_decay(1 / 3) @ errors)[0]
    return exactly(_flow()[0], printed, corrected)


def new_output() -> Evidence:
    """Output at a point outside the training set, from gradient flow integrated."""
    printed = _change_at_test_point(1.0)
    corrected = _change_at_test_point(1 / 3)
    return exactly(_flow()[3], printed, corrected)


def _change_at_test_point(rate: float) -> float:
    """-kernel(test, inputs) kernel^-1 (1 - exp(-rate time kernel)) (f - y)."""
    kernel, test, errors, _ = _regression()
    return float(-test @ np.linalg.solve(kernel, errors - _decay(rate) @ errors))


def least_norm_risk(networks: int) -> Evidence:
    """Excess risk of the least-norm least-squares solution, P = 2N, r = 0, σ = 1."""
    rng = generator("thesis-4")
    samples = 100
    parameters = 200
    risks = []
    for _ in range(max(2, networks // 1000)):
        features = rng.standard_normal((samples, parameters))
        noise = rng.standard_normal(samples)
        dual = np.linalg.solve(features @ features.T, noise)
        risks.append(float(dual @ noise))  # |Xᵀ dual|², as X Xᵀ dual = noise
    gamma = parameters / samples
    return on_average(np.array(risks), 1 / (1 - gamma), 1 / (gamma - 1))


def signal_risk(networks: int) -> Evidence:
    """Risk of the least-norm solution without noise, P = 2N, w* = (2, 0, ..).

    The solution is the projection of w* on the span of N Gaussian inputs.
    """
    rng = generator("thesis-5")
    samples = 50
    parameters = 100
    norm = 2.0
    risks = []
    for _ in range(max(32, networks // 1000)):
        basis = np.linalg.qr(rng.standard_normal((parameters, samples))).Q
        share_in_span = float((basis[0] ** 2).sum())
        risks.append(norm**2 * (1 - share_in_span))
    share_lost = 1 - samples / parameters
    return on_average(np.array(risks), norm * share_lost, norm**2 * share_lost)


def one_step() -> Evidence:
    """One step of gradient descent from 0 on |Xw − y|², X = (1), y = 1, by finite differences."""
    step = 0.1
    h = 1e-6
    slope = ((h - 1) ** 2 - (-h - 1) ** 2) / (2 * h)
    return Evidence(-step * slope, 1e-9, step, 2 * step)


def risk_beyond_the_peak() -> Evidence:
    """Whether the risk of more parameters is lower, from its exact mean at finite N.

    With Gaussian inputs the mean of the trace of the inverse Wishart matrix gives it for P > N + 1.
    """
    samples = 10**6
    signal = 1.0
    noise = 0.25

    def mean_risk(gamma: float) -> float:
        parameters = gamma * samples
        return signal * (1 - 1 / gamma) + noise * samples / (parameters - samples - 1)

    return exactly(float(np.sign(mean_risk(10) - mean_risk(2))), -1, 1)


def two_sided_deviation() -> Evidence:
    """How often (2.36) holds for one function and one sample, whose label is a fair coin.

    Both labels are listed. Hoeffding's inequality for both signs allows exceptions of probability
    2δ to the printed bound.
    """
    delta = 0.9
    bound = np.sqrt(np.log(1 / delta) / 2)
    losses = np.array([0.0, 1.0])  # of the two labels, each with probability 1/2
    truth = np.mean(abs(losses.mean() - losses) <= bound)
    return exactly(truth, 1 - delta, max(0.0, 1 - 2 * delta))


def chaotic_correlations() -> Evidence:
    """Change of a correlation over ten layers of an infinitely wide ReLU network."""
    sigma_w2 = 4.0
    cosine = 0.1
    covariance = np.array([[1.0, cosine], [cosine, 1.0]])
    for _ in range(10):
        covariance = sigma_w2 * mean_products(activation_of("relu"), covariance)[0]
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    return exactly(float(np.sign(correlation - cosine)), -1, 1)


def rank_of_multiples() -> Evidence:
    """Rank of the infinite-width NTK of x and 2x, ReLU without biases."""
    gram = np.array([[1.0, 2.0], [2.0, 4.0]])
    init = constant_width(3, 1, sigma_w2=2.0, sigma_b2=0.0, parametrisation="ntk")
    kernel = infinite_width_of_gram(init, gram, activation="relu").ntk
    rank = np.linalg.matrix_rank(kernel, tol=1e-6 * np.trace(kernel))
    return exactly(rank, len(gram), 1)


def minimiser_of_the_sign_loss() -> Evidence:
    """Share of right signs where a risk is smallest, with all signs of f on four points listed."""
    labels = np.array([1, -1, -1, 1])
    outputs = np.array(list(itertools.product((-1, 1), repeat=len(labels))))  # (16, 4)
    right = (outputs == labels).mean(axis=1)
    risk = (outputs * labels).mean(axis=1)  # as printed
    printed = right[np.argmin(risk)]
    corrected = right[np.argmin(-risk)]
    return exactly(right.max(), printed, corrected)


def slope_of_outputs() -> Evidence:
    """Slope of the first output by (2.58), with derivatives of (2.11) by finite differences."""
    kernel, _, errors, _ = _regression()
    h = 1e-5
    count = len(errors)
    slopes = ((errors + h) ** 2 - (errors - h) ** 2) / (2 * h)
    truth = -float(kernel[0] @ slopes) / count
    printed = -float(kernel[0] @ errors) / count
    return Evidence(truth, 1e-9, printed, 2 * printed)


def rescaled_gradient() -> Evidence:
    """Derivative of a tanh network with respect to a parameter of (2.51) and to its weight.

    Both are finite differences; W = sigma_w w / sqrt(n_1) in layer 2.
    """
    rng = generator("thesis-15")
    width = 3
    h = 1e-5
    factor = (2.0 / width) ** 0.5
    below, parameters, above = rng.standard_normal((3, width))

    def output(weight: float) -> float:
        row = np.array([weight, *(factor * parameters[1:])])
        return float(above.sum() * np.tanh(row @ below))

    parameter = parameters[0]
    higher = output(factor * (parameter + h))
    lower = output(factor * (parameter - h))
    by_parameter = (higher - lower) / (2 * h)
    higher = output(factor * parameter + h)
    lower = output(factor * parameter - h)
    by_weight = (higher - lower) / (2 * h)
    return Evidence(by_parameter, 1e-8, factor * by_parameter, factor * by_weight)
