"""Errata of ``beyond`` about gradients and steps of gradient descent: Theorem 4.1, appendix B.3."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from finitewidth.errata import evidence
from finitewidth.errata.evidence import Evidence, exactly, extrapolated, generator, on_average
from finitewidth.kernels.ntk_init.gradient_step import log_mean_decrease
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import log_moments

DIRECTIONS = (3, 5, 5)  # widths of `dependent_directions`
EQUAL = (4, 4, 4, 4)  # n_0, ..., n_(L-1) of networks of which the change of the kernel is drawn


@dataclass(frozen=True)
class Networks:
    """Random ReLU networks without biases, and their signals and errors for x = (1, 0, ..).

    Attributes:
        weights: W^l for l = 1..L; (draws, n_l, n_(l-1)) each.
        signals: x^l for l = 0..L-1; (draws, n_l) each.
        gates: 1 where a unit of layer l = 1..L-1 is active, else 0; (draws, n_l) each.
        errors: delta^l for l = 1..L; (draws, n_l) each.
        output: f; (draws,).
    """

    weights: list[np.ndarray]
    signals: list[np.ndarray]
    gates: list[np.ndarray]
    errors: list[np.ndarray]
    output: np.ndarray


def drawn_networks(
    rng: np.random.Generator, widths: tuple[int, ...], draws: int, sigma_w2: float
) -> Networks:
    """Draw networks of the widths n_0, ..., n_(L-1) with one output; variances have the fan-in."""
    signal = np.zeros((draws, widths[0]))
    signal[:, 0] = 1.0
    weights = []
    signals = [signal]
    gates = []
    for fan_in, width in zip(widths, (*widths[1:], 1), strict=True):
        normal = rng.standard_normal((draws, width, fan_in))
        weights.append(normal * (sigma_w2 / fan_in) ** 0.5)
        h = forward(weights[-1], signals[-1])
        gates.append((h > 0).astype(float))
        signals.append(gates[-1] * h)
    errors = [np.ones((draws, 1))]
    for layer in range(len(widths) - 1, 0, -1):
        errors.append(gates[layer - 1] * backward(weights[layer], errors[-1]))
    return Networks(
        weights=weights,
        signals=signals[:-1],
        gates=gates[:-1],
        errors=errors[::-1],
        output=h[:, 0],
    )


def forward(weights: np.ndarray, signal: np.ndarray) -> np.ndarray:
    """W x of each network."""
    return np.einsum("dij,dj->di", weights, signal)


def backward(weights: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The transpose of W, times delta, of each network."""
    return np.einsum("dij,di->dj", weights, error)


def products(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Inner products of the vectors of each network; (draws,)."""
    return np.einsum("di,di->d", first, second)


def squares(vectors: list[np.ndarray]) -> list[np.ndarray]:
    """Squared norms of vectors of each network; (draws,) each."""
    return [products(vector, vector) for vector in vectors]


def slope_of_kernel(networks: Networks) -> np.ndarray:
    """Derivative of Theta(x, x) along the gradient of f, by weights and biases; (draws,).

    Along the gradient the weights move by delta^l x^(l-1), transposed, and the biases by delta^l;
    gates stay as they are. Changes of signals go forward and those of errors go backward.
    """
    weights = networks.weights
    gates = networks.gates
    signals2 = squares(networks.signals)  # |x^l|^2
    errors2 = squares(networks.errors)  # |delta^l|^2
    depth = len(weights)
    signal_changes = [np.zeros_like(networks.signals[0])]
    for layer in range(depth - 1):
        moved = networks.errors[layer] * (signals2[layer] + 1)[:, None]
        change = forward(weights[layer], signal_changes[-1]) + moved
        signal_changes.append(gates[layer] * change)
    error_changes = [np.zeros_like(networks.errors[-1])]  # from the last layer down
    for layer in range(depth - 1, 0, -1):
        moved = networks.signals[layer] * errors2[layer][:, None]
        change = backward(weights[layer], error_changes[-1]) + moved
        error_changes.append(gates[layer - 1] * change)
    # Theta = sum_l |delta^l|^2 (|x^(l-1)|^2 + 1)
    total = np.zeros(len(networks.output))
    for layer, error_change in enumerate(reversed(error_changes)):
        by_errors = 2 * products(networks.errors[layer], error_change) * (signals2[layer] + 1)
        by_signals = 2 * products(networks.signals[layer], signal_changes[layer]) * errors2[layer]
        total += by_errors + by_signals
    return total


def _moments_of_layers(n: int, depth: int) -> list[float]:
    """The paper's (1 + 1/n)^(L-1-l) (1 + 5/n)^(l-1) for the layers l = 1..L."""
    return [
        (1 + 1 / n) ** max(0, depth - 1 - layer) * (1 + 5 / n) ** (layer - 1)
        for layer in range(1, depth + 1)
    ]


def first_step(networks: int) -> Evidence:
    """Mean change of the kernel in a step on (x, y) to first order, over the mean of the kernel.

    The part of y has the mean 0: f and -f are equally likely and have the same kernel.
    """
    n = EQUAL[1]
    depth = len(EQUAL)
    a = 1.5  # sigma_w^2 / 2
    drawn = drawn_networks(generator("beyond-25"), EQUAL, networks, 2 * a)
    init = Initialisation(widths=EQUAL, sigma_w2=2 * a)
    mean = np.exp(log_moments(init).mean)
    sample = -drawn.output * slope_of_kernel(drawn) / mean
    printed = 4 / n * a ** (2 * depth - 1) * sum(_moments_of_layers(n, depth)) / mean
    corrected = -np.exp(log_mean_decrease(init)) / mean
    return on_average(sample, printed, corrected)


def bound_of_step(networks: int) -> Evidence:
    """Mean of (n_0 / 2) f^2 sum_l |delta^(l+1)|^2 |x^(l-1)|^2 over l < L, widths 3-6-6-6."""
    widths = (3, 6, 6, 6)
    a = 2.0  # sigma_w^2 / 2
    n = widths[1]
    depth = len(widths)
    drawn = drawn_networks(generator("beyond-26"), widths, networks, 2 * a)
    signals2 = squares(drawn.signals)
    errors2 = squares(drawn.errors)
    terms = [errors2[layer] * signals2[layer - 1] for layer in range(1, depth)]
    sample = widths[0] / 2 * drawn.output**2 * sum(terms)
    printed = a ** (2 * depth - 1) * sum(_moments_of_layers(n, depth))
    shares = [widths[layer - 1] / widths[0] for layer in range(1, depth)]
    corrected = a ** (2 * depth - 2) * sum(shares) * (1 + 5 / n) ** (depth - 2)
    return on_average(sample, printed, corrected)


def derivative_of_signal(networks: int) -> Evidence:
    """E[f sum_i delta_i d|x|^2/dh_i] / E[|delta|^2 |x|^2], delta and h of layer 1, x of layer 3."""
    n = 4
    depth = 4
    drawn = drawn_networks(generator("beyond-27"), (n,) * depth, networks, 2.0)
    change = drawn.errors[0]
    for layer in range(1, depth - 1):
        change = drawn.gates[layer] * forward(drawn.weights[layer], change)
    top = drawn.output * 2 * products(drawn.signals[-1], change)
    bottom = squares(drawn.errors)[0] * squares(drawn.signals)[-1]
    ratio = top.mean() / bottom.mean()
    # a sample with the variance of the ratio to leading order
    sample = ratio + (top - ratio * bottom) / bottom.mean()
    # E|J^T x|^2 and E|J|^2 |x|^2 for the matrix J of derivatives of layer 3 by those of layer 1
    grown = (1 + 5 / n) ** (depth - 2)
    shrunk = (1 - 1 / n) ** (depth - 2)
    along = (n + 5) * grown - (n - 1) * shrunk
    everywhere = (n + 5) * grown + 2 * (n - 1) * shrunk
    return on_average(sample, 1.0, 2 * along / everywhere)


def dependent_directions(networks: int) -> Evidence:
    """E[<V, x^1 / |x^1|> sum_j delta_j / |delta|], V and delta of layer 2, no layer dead."""
    drawn = drawn_networks(generator("beyond-32"), DIRECTIONS, networks, 2.0)
    signal2 = squares(drawn.signals)[1]
    error2 = squares(drawn.errors)[1]
    alive = (signal2 > 0) & (error2 > 0)
    direction = drawn.errors[1][alive] / error2[alive][:, None] ** 0.5
    scale = (DIRECTIONS[1] / 2.0) ** 0.5
    v = scale * backward(drawn.weights[1][alive], direction)
    unit = drawn.signals[1][alive] / signal2[alive][:, None] ** 0.5
    sample = products(v, unit) * direction.sum(axis=1)
    return on_average(sample, 0.0, (2 / np.pi) ** 0.5)


def gradient_step(networks: int) -> Evidence:
    """Mean of f² |δ²|² |x⁰|² over random networks with four layers of 6 units, σ_w² = 2."""
    n = 6
    depth = 4
    signals, errors, f = evidence.relu_pass(generator("beyond-8"), (n,) * depth, networks)
    layers = depth - 2  # layers 2..L-1
    sample = n / 2 * f**2 * errors[1] * signals[0]
    return on_average(sample, (1 + 1 / n) ** layers, (1 + 5 / n) ** layers)


# appendix B.3, lazy training: widths of a network, its input, and sizes of a step
WIDTHS = (3, 6, 5, 1)
INPUT = np.array([0.6, -0.3, 0.7])
STEP_SIZES = tuple(2.0**-k for k in range(8, 14))
TINY = 1e-100  # imaginary step of a derivative: `slopes` has no error but rounding


def output(parameters: np.ndarray, x: np.ndarray) -> complex:
    """Output of a ReLU network of the widths `WIDTHS` with biases.

    Parameters are weights and biases of all layers, one after another; they may be complex, with
    gates from the real part.
    """
    signal = x
    used = 0  # parameters of the layers so far
    last = len(WIDTHS) - 1
    for layer, (fan_in, width) in enumerate(pairwise(WIDTHS), 1):
        weights = parameters[used : used + width * fan_in].reshape(width, fan_in)
        used += width * fan_in
        biases = parameters[used : used + width]
        used += width
        h = weights @ signal + biases
        signal = h if layer == last else np.where(h.real > 0, h, 0)
    return signal[0]


def slopes(function: Callable[[np.ndarray], Any], at: np.ndarray) -> np.ndarray:
    """Gradient of a function of parameters that is analytic around ``at``.

    The imaginary part of function(at + i h) is h times the derivative, without cancellation.
    """
    steps = at + 1j * TINY * np.eye(len(at))
    return np.array([function(row).imag for row in steps]) / TINY


def drawn_parameters() -> np.ndarray:
    """He's initialisation of the widths `WIDTHS`: Gaussian weights, no biases."""
    rng = generator("beyond-20")
    parts = []
    for fan_in, width in pairwise(WIDTHS):
        parts.append(rng.standard_normal(width * fan_in) * (2 / fan_in) ** 0.5)
        parts.append(np.zeros(width))
    return np.concatenate(parts)


def relative_change(start: np.ndarray, alpha: float) -> tuple[float, float]:
    """Change of the kernel of αf in a step on L(αf)/α², over the kernel and the step size.

    L is half the squared error on one input, and the step size tends to 0.
    """

    def loss(parameters: np.ndarray) -> complex:
        return (alpha * output(parameters, INPUT) - 1.0) ** 2 / (2 * alpha**2)

    def kernel(parameters: np.ndarray) -> float:
        gradient = slopes(lambda p: alpha * output(p, INPUT), parameters)
        return float((gradient**2).sum())

    step = -slopes(loss, start)
    before = kernel(start)
    changes = [(kernel(start + size * step) / before - 1) / size for size in STEP_SIZES]
    return extrapolated(changes)


def lazy_step() -> Evidence:
    """Mean relative change of two equally likely networks, one with the outputs -f of the other.

    They differ in the signs of the last layer, and have the same kernel.
    """
    plain = drawn_parameters()
    mirrored = plain.copy()
    mirrored[-WIDTHS[-2] - 1 :] *= -1
    means = []
    errors = []
    for alpha in (10.0, 1.0):
        changes = [relative_change(start, alpha) for start in (plain, mirrored)]
        mean, error = np.mean(changes, axis=0)
        means.append(mean)
        errors.append(error)
    ratio = means[0] / means[1]
    relative_errors = [error / abs(mean) for mean, error in zip(means, errors, strict=True)]
    return Evidence(float(ratio), float(abs(ratio) * sum(relative_errors)), 1 / 10**2, 1.0)


def scaled_parameters() -> Evidence:
    """Gradient by the trained parameters w of a layer of fan-in 64, over that by its weights W."""
    width = 64
    sigma_w = 1.3
    rng = generator("beyond-22")
    signal = rng.standard_normal(width)
    start = rng.standard_normal(width)
    scale = sigma_w / width**0.5
    by_trained = slopes(lambda w: (scale * w) @ signal, start)
    by_weights = slopes(lambda w: w @ signal, scale * start)
    ratio = np.linalg.norm(by_trained) / np.linalg.norm(by_weights)
    return exactly(float(ratio), sigma_w / width, scale)
