"""Errata of the final version of ``npf``."""

import itertools

import numpy as np
import torch
from scipy.optimize import root

from finitewidth.errata.evidence import (
    Evidence,
    exactly,
    generator,
    mean_overlaps,
    on_average,
)
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import overlap
from finitewidth.kernels.paths import path_output, path_values
from finitewidth.networks.random_gated import every_signed_network


def output_layer() -> Evidence:
    """The output as a sum over paths, and by Table 1 with either weight matrix."""
    rng = generator("npf-1")
    weights = [torch.from_numpy(rng.standard_normal(shape)) for shape in [(3, 4), (4, 4), (4, 1)]]
    gates = [torch.from_numpy((rng.random((1, 4)) < 0.6).astype(float)) for _ in range(2)]
    x = torch.from_numpy(rng.standard_normal((1, 3)))
    first = (x @ weights[0]) * gates[0]  # (1, 4)
    second = (first @ weights[1]) * gates[1]  # (1, 4)
    printed = second[0] @ weights[1][:, 0]
    corrected = second[0] @ weights[2][:, 0]
    return exactly(float(path_output(x, weights, gates)), float(printed), float(corrected))


def soft_gate() -> Evidence:
    """A soft gate of large slope at a negative pre-activation, where the hard gate is closed."""
    beta = 50.0
    q = -1.0
    hard = float(q > 0)
    printed = 1 / (1 + np.exp(-beta * hard))
    corrected = 1 / (1 + np.exp(-beta * q))
    return exactly(hard, printed, corrected)


def variance_constant() -> Evidence:
    """The sum over crossings in the proof of Theorem B.2, term by term."""
    d_in = 3
    w = 60
    d = 4
    scale = 1.3
    sigma4 = (scale / w**0.5) ** (4 * (d - 1))
    paths = d_in * w ** (d - 1)
    # k crossings
    terms = [d**2 * 6.0 ** (k + 1) * (d / w) ** k * paths**2 for k in range(1, 200)]
    rest = 6 * d_in**2 * (6 * d**3 / w) / (1 - 6 * d / w)
    printed = rest * scale**2
    corrected = rest * scale ** (4 * (d - 1))
    return exactly(sigma4 * sum(terms), printed, corrected)


def half_output_variance() -> Evidence:
    """E K(1, 2) over all networks of the variances of (2) with fixed gates, w = 2, d = 3.

    In (2) the last layer has half the variance of the others: weights ±σ/√2 beside ±σ.
    """
    rng = generator("npf-2")
    sigma = 0.6
    d = 3
    patterns = ([[1, 1], [1, 0]], [[0, 1], [1, 1]])
    gates = [torch.tensor(pattern, dtype=torch.float64) for pattern in patterns]
    x = torch.from_numpy(rng.standard_normal((2, 2)))
    *hidden, last = every_signed_network((2, 2, 2, 1), sigma)
    kernels = value_kernel(x, [*hidden, last / 2**0.5], None, gates, with_biases=False)
    mean = kernels.mean(dim=0)[0, 1]
    path_kernel = float((x @ x.T * overlap(gates))[0, 1])
    per_layer = sigma ** (2 * (d - 1)) * path_kernel
    return exactly(float(mean), d * per_layer, (d + 1) / 2 * per_layer)


MU = 0.5  # probability of an open gate
TARGETS = np.array([1.0, -0.5])  # of the memorisation network, one for each index


def change_of_memorising_kernel(networks: int) -> Evidence:
    """|K_T - K_0| / |K_0| of trained memorisation networks of two layers, w = 1600.

    The corrected value is the limit of infinite width.
    """
    draws = max(32, networks // 4000)
    changes = memorised_changes(1600, draws, generator("npf-9"))
    return on_average(changes, 0.0, limiting_change())


def memorised_changes(
    width: int, draws: int, rng: np.random.Generator, first_layer: float | None = None
) -> np.ndarray:
    """Relative changes of the kernel by gradient flow from the start to a perfect fit, (draws,).

    The networks have two layers, the input 1, fixed gates of probability 1/2 and weights of size
    1/sqrt(mu w) (npf Appendix D). ``first_layer`` is another size of the weights of layer 1.
    The flow takes steps by the classical method of Runge and Kutta.

    Raises:
        RuntimeError: an error is still above 1e-6.
    """
    size = (MU * width) ** -0.5
    sizes = np.array([size if first_layer is None else first_layer, size])
    signs = 2.0 * rng.integers(0, 2, (2, draws, width)) - 1
    weights = signs * sizes[:, None, None]  # (layer, draws, w)
    gates = (rng.random((draws, len(TARGETS), width)) < MU).astype(float)  # (draws, S, w)
    before = _kernels(weights, gates)
    step = 0.3 / np.linalg.eigvalsh(before)[:, -1].mean()
    for _ in range(250):
        k1 = _slopes(weights, gates)
        k2 = _slopes(weights + step / 2 * k1, gates)
        k3 = _slopes(weights + step / 2 * k2, gates)
        k4 = _slopes(weights + step * k3, gates)
        weights = weights + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if abs(_errors(weights, gates)).max() > 1e-6:
        raise RuntimeError("the memorisation networks have not fitted their targets")
    change = np.linalg.norm(_kernels(weights, gates) - before, axis=(1, 2))
    return change / np.linalg.norm(before, axis=(1, 2))


def _errors(weights: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Outputs minus targets, (draws, S)."""
    return np.einsum("rsw,rw->rs", gates, weights[0] * weights[1]) - TARGETS


def _slopes(weights: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Minus the gradient of half the squared error, (layer, draws, w)."""
    pull = np.einsum("rs,rsw->rw", _errors(weights, gates), gates)
    return -pull * weights[::-1]


def _kernels(weights: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Tangent kernels, (draws, S, S)."""
    return np.einsum("rsw,rw,rtw->rst", gates, (weights**2).sum(axis=0), gates)


def limiting_change(targets: np.ndarray = TARGETS) -> float:
    """|K_T - K_0| / |K_0| of the same networks at infinite width, for targets (S,).

    With theta_g = sum_s G_s int e_s dt for units of the gates g, u a = ±exp(∓2 theta_g) / (mu w).
    So y_s = -sum_g p(g) G_s sinh(2 theta_g) / mu, which determines theta, and
    K_T(s, t) = 2 sum_g p(g) G_s G_t cosh(2 theta_g) / mu.
    """
    patterns = np.array(list(itertools.product((0.0, 1.0), repeat=len(targets))))  # (2^S, S)
    chance = (MU**patterns * (1 - MU) ** (1 - patterns)).prod(axis=1)  # (2^S,)

    def misfit(integral: np.ndarray) -> np.ndarray:
        outputs = -(chance * np.sinh(2 * patterns @ integral)) @ patterns / MU
        return outputs - targets

    integral = root(misfit, np.zeros(len(targets)), tol=1e-14).x  # of the errors over time
    growth = np.cosh(2 * patterns @ integral)
    before = 2 / MU * (patterns.T * chance) @ patterns
    after = 2 / MU * (patterns.T * chance * growth) @ patterns
    return float(np.linalg.norm(after - before) / np.linalg.norm(before))


def both_weights_in_one_layer() -> Evidence:
    """E(tau) of one path, four times, and one weight of layer 2, over all 2^10 networks."""
    sigma = 0.6
    d = 3
    weights = every_signed_network((2, 2, 2, 1), sigma)
    weights[1].requires_grad_(True)
    path = torch.tensor([[0, 0, 0, 0]])
    value = path_values(weights, path)[:, 0]
    (slopes,) = torch.autograd.grad(value.sum(), weights[1])
    truth = (slopes[:, 0, 0] ** 4).mean()
    term_one = sigma ** (4 * (d - 1))
    term_two = sigma**2
    term_three = sigma**2
    return exactly(float(truth), term_one * term_two * term_three, term_one)


def crossings_in_the_first_layer() -> Evidence:
    """Variance of K(x, x) of linear networks of two layers, over all networks.

    The corrected value adds sigma^4 omega(tau) for all indices tau that are not base terms: at
    each node two ordered pairs of different inputs, theta_a and theta_b above it. These paths
    cross in layer 1.
    """
    sigma, width = 0.6, 3
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    weights = every_signed_network((2, width, 1), sigma)
    gates = [torch.ones(1, width, dtype=torch.float64)]
    kernels = value_kernel(x, weights, None, gates, with_biases=False)[:, 0, 0]
    pairs = 2 * 2  # (p_a, p'_a) and (p_b, p'_b), each from the inputs (1, 2) or (2, 1)
    by_crossings = width * pairs * sigma**4 * float((x[0, 0] * x[0, 1]) ** 2)
    return exactly(float(kernels.var(correction=0)), 0.0, by_crossings)


def layers_of_a_path() -> Evidence:
    """Number of layers with a weight on which the value of one path depends."""
    d = 3
    rng = generator("npf-12")
    shapes = [(2, 2), (2, 2), (2, 1)]
    weights = [torch.from_numpy(rng.standard_normal(shape)).requires_grad_() for shape in shapes]
    value = path_values(weights, torch.tensor([[0, 1, 0, 0]]))
    slopes = torch.autograd.grad(value.sum(), weights)
    layers = sum(bool(slope.any()) for slope in slopes)
    return exactly(layers, d - 1, d)


def overlap_with_itself() -> Evidence:
    """E Lambda(s, s) over all hard gates of probability mu, w = 2, d = 3."""
    mu = 0.3
    w = 2
    d = 3
    return exactly(mean_overlaps(mu)[0, 0], (mu**2 * w) ** (d - 1), (mu * w) ** (d - 1))
