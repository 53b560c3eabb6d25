"""Computations for errata of several papers: random networks, with all weights drawn by numpy."""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from finitewidth.common.provenance import fixed_seed_for
from finitewidth.errata.erratum import Evidence, exactly


def generator(erratum: str) -> np.random.Generator:
    """Random generator for the check of an erratum; it does not depend on the base seed."""
    return np.random.default_rng(fixed_seed_for("errata", erratum))


def relu_pass(
    rng: np.random.Generator, widths: tuple[int, ...], draws: int, sigma_w2: float = 2.0
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Draw Gaussian ReLU networks without biases and propagate x = (1, 0, ..) through them.

    The widths are n_0, ..., n_(L-1), and there is one output. The variance of the weights is
    ``sigma_w2`` over fan-in.

    Returns:
        |x^l|^2 for l = 0..L-1, |delta^l|^2 for l = 1..L, and the outputs f; each (draws,).
    """
    x = np.zeros((draws, widths[0]))
    x[:, 0] = 1.0
    weights, signals = [], [x]
    for fan_in, width in zip(widths, (*widths[1:], 1), strict=True):
        weights.append(rng.standard_normal((draws, width, fan_in)) * (sigma_w2 / fan_in) ** 0.5)
        h = np.einsum("dij,dj->di", weights[-1], signals[-1])
        signals.append(np.maximum(h, 0.0))
    delta = np.ones((draws, 1))
    errors = [np.ones(draws)]
    for layer in range(len(widths) - 1, 0, -1):
        delta = np.einsum("dij,di->dj", weights[layer], delta) * (signals[layer] > 0)
        errors.append((delta**2).sum(axis=1))
    return [(s**2).sum(axis=1) for s in signals[:-1]], errors[::-1], h[:, 0]


def edge_of_chaos_of_relu() -> Evidence:
    """Weight variance at which errors neither grow nor shrink for ReLU, found as a root."""
    share = quad(lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi), 0, 40)[0]
    root = brentq(lambda variance: variance * share - 1, 0.1, 10, xtol=1e-14)
    return exactly("σ_w² at which σ_w² E[φ′²] = 1, ReLU", root, 2.0**2, 2.0)
