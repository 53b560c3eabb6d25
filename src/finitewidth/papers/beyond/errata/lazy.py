"""Errata of ``beyond`` in appendix B.3 (lazy training) and in the NTK parametrisation."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from finitewidth.errata.erratum import Evidence, exactly, extrapolated
from finitewidth.errata.shared import generator

WIDTHS = (3, 6, 5, 1)
INPUT = np.array([0.6, -0.3, 0.7])
STEP_SIZES = tuple(2.0**-k for k in range(8, 14))
TINY = 1e-100
"""Imaginary step of a derivative: `slopes` has no error but rounding."""


def output(parameters: np.ndarray, x: np.ndarray) -> complex:
    """Output of a ReLU network of the widths `WIDTHS` with biases.

    Args:
        parameters: weights and biases of all layers, one after another; they may be complex, with
            gates from the real part.
        x: input, (n₀,).
    """
    signal, used = x, 0
    for layer, (fan_in, width) in enumerate(pairwise(WIDTHS), 1):
        weights = parameters[used : used + width * fan_in].reshape(width, fan_in)
        used += width * fan_in
        h = weights @ signal + parameters[used : used + width]
        used += width
        signal = h if layer == len(WIDTHS) - 1 else np.where(h.real > 0, h, 0)
    return signal[0]


def slopes(function: Callable[[np.ndarray], complex], at: np.ndarray) -> np.ndarray:
    """Gradient of a function of parameters that is analytic around ``at``."""
    steps = at + 1j * TINY * np.eye(len(at))
    return np.array([function(row).imag for row in steps]) / TINY


def drawn_parameters() -> np.ndarray:
    """He's initialisation of the widths `WIDTHS`: Gaussian weights, no biases."""
    rng, parts = generator("beyond-20"), []
    for fan_in, width in pairwise(WIDTHS):
        parts += [rng.standard_normal(width * fan_in) * (2 / fan_in) ** 0.5, np.zeros(width)]
    return np.concatenate(parts)


def relative_change(start: np.ndarray, alpha: float, label: float = 1.0) -> tuple[float, float]:
    """Change of the kernel of αf in a step on L(αf)/α², over the kernel and the step size.

    L is half the squared error on one input, and the step size tends to 0.

    Returns:
        The limit and its numerical error.
    """

    def loss(parameters: np.ndarray) -> complex:
        return (alpha * output(parameters, INPUT) - label) ** 2 / (2 * alpha**2)

    def kernel(parameters: np.ndarray) -> float:
        return float((slopes(lambda p: alpha * output(p, INPUT), parameters) ** 2).sum())

    step, before = -slopes(loss, start), kernel(start)
    changes = [(kernel(start + size * step) / before - 1) / size for size in STEP_SIZES]
    return extrapolated(changes)


def lazy_step() -> Evidence:
    """Mean relative change of two equally likely networks, one with the outputs -f of the other.

    They differ in the signs of the last layer, and have the same kernel.
    """
    plain = drawn_parameters()
    mirrored = plain.copy()
    mirrored[-WIDTHS[-2] - 1 :] *= -1
    means, errors = [], []
    for alpha in (10.0, 1.0):
        changes = [relative_change(start, alpha) for start in (plain, mirrored)]
        means.append(np.mean([value for value, _ in changes]))
        errors.append(np.mean([error for _, error in changes]))
    ratio = means[0] / means[1]
    error = abs(ratio) * sum(e / abs(m) for m, e in zip(means, errors, strict=True))
    quantity = (
        "E ΔΘ̃_α / E Θ̃_α at α = 10, over that at α = 1; one step on (x, y) with y = 1, its size "
        "to 0; ReLU, widths 3-6-5-1, ±f equally likely"
    )
    return Evidence(quantity, float(ratio), float(error), 1 / 10**2, 1.0)


def scaled_parameters() -> Evidence:
    """Gradient by the trained parameters w of a layer of fan-in 64, over that by its weights W."""
    width, sigma_w = 64, 1.3
    rng = generator("beyond-22")
    signal, start = rng.standard_normal(width), rng.standard_normal(width)
    trained = slopes(lambda w: (sigma_w / width**0.5 * w) @ signal, start)
    weights = slopes(lambda w: w @ signal, sigma_w / width**0.5 * start)
    truth = np.linalg.norm(trained) / np.linalg.norm(weights)
    forms = (sigma_w / width, sigma_w / width**0.5)
    return exactly("|∂f/∂w| / |∂f/∂W|, fan-in M = 64, σ_w = 1.3", truth, *forms)
