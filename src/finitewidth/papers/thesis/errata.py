"""Errata of ``thesis``, chapter 2."""

import numpy as np
from scipy.integrate import solve_ivp

from finitewidth.errata.evidence import Evidence, exactly, generator, on_average
from finitewidth.kernels.ntk_init.activations import activation_of, mean_products
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width


def tangent_kernel() -> Evidence:
    """NTK of infinitely wide erf networks of four layers, summed over layers."""
    sigma_w2, sigma_b2, depth = 1.5, 0.2, 4
    gram = np.array([[1.0, 0.3], [0.3, 1.0]])
    init = constant_width(depth, 1, sigma_w2=sigma_w2, sigma_b2=sigma_b2, parametrisation="ntk")
    truth = infinite_width_of_gram(init, gram, activation="erf").ntk[0, 1]
    covariances, slopes = [sigma_w2 * gram + sigma_b2], []
    for _ in range(depth):
        products, slope = mean_products(activation_of("erf"), covariances[-1])
        covariances.append(sigma_w2 * products + sigma_b2)
        slopes.append(slope[0, 1])
    sigma = [value[0, 1] for value in covariances]  # layers 1, 2, ..
    # layer 0 is the input: <x, x~> / n_0
    below = [gram[0, 1], *sigma]
    printed = sum(below[k] * np.prod(slopes[k:depth]) for k in range(depth))
    corrected = sum(
        sigma[k] * np.prod(sigma_w2 * np.array(slopes[k : depth - 1])) for k in range(depth)
    )
    return exactly(truth, printed, corrected)


def _regression() -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A kernel of three inputs, its row at the test point, initial errors f - y, and a time."""
    rng = generator("thesis-2")
    root = rng.standard_normal((4, 6))
    kernel = root @ root.T
    return kernel[:3, :3], kernel[3, :3], rng.standard_normal(3), 0.3


def _flow() -> np.ndarray:
    """Errors on the inputs and change at the test point at this time, integrated numerically."""
    kernel, test, errors, time = _regression()

    def law(_: float, state: np.ndarray) -> np.ndarray:
        return -np.concatenate([kernel @ state[:3], [test @ state[:3]]]) / 3

    start = np.concatenate([errors, [0.0]])
    return solve_ivp(law, (0, time), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


def _decay(rate: float) -> np.ndarray:
    kernel, _, _, time = _regression()
    values, vectors = np.linalg.eigh(kernel)
    return vectors @ np.diag(np.exp(-rate * time * values)) @ vectors.T


def training_outputs() -> Evidence:
    """Output on the first input, from (2.59) integrated."""
    errors = _regression()[2]
    forms = ((_decay(rate) @ errors)[0] for rate in (1.0, 1 / 3))
    return exactly(_flow()[0], *forms)


def new_output() -> Evidence:
    """Output at a point outside the training set, from gradient flow integrated."""
    kernel, test, errors, _ = _regression()
    forms = (
        -test @ np.linalg.solve(kernel, errors - _decay(rate) @ errors) for rate in (1.0, 1 / 3)
    )
    return exactly(_flow()[3], *forms)


def least_norm_risk(networks: int) -> Evidence:
    """Excess risk of the least-norm least-squares solution, P = 2N, r = 0, σ = 1."""
    rng, size, count = generator("thesis-4"), 100, 200
    risks = []
    for _ in range(max(2, networks // 1000)):
        features, noise = rng.standard_normal((size, count)), rng.standard_normal(size)
        dual = np.linalg.solve(features @ features.T, noise)
        risks.append(float(dual @ noise))  # |Xᵀ dual|², as X Xᵀ dual = noise
    gamma = count / size
    return on_average(np.array(risks), 1 / (1 - gamma), 1 / (gamma - 1))


def one_step() -> Evidence:
    """One step of gradient descent from 0 on |Xw − y|², X = (1), y = 1, by finite differences."""
    step, h = 0.1, 1e-6
    slope = ((h - 1) ** 2 - (-h - 1) ** 2) / (2 * h)
    return Evidence(-step * slope, 1e-9, step, 2 * step)


def risk_beyond_the_peak() -> Evidence:
    """Whether the risk of more parameters is lower, from its exact mean at finite N.

    With Gaussian inputs the mean of the trace of the inverse Wishart matrix gives it for P > N + 1.
    """
    samples, signal, noise = 10**6, 1.0, 0.25

    def mean_risk(gamma: float) -> float:
        count = gamma * samples
        return signal * (1 - 1 / gamma) + noise * samples / (count - samples - 1)

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
    sigma_w2, cosine = 4.0, 0.1
    covariance = np.array([[1.0, cosine], [cosine, 1.0]])
    for _ in range(10):
        covariance = sigma_w2 * mean_products(activation_of("relu"), covariance)[0]
    change = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]) - cosine
    return exactly(float(np.sign(change)), -1, 1)
