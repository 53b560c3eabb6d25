"""Errata of ``beyond`` in off-diagonal elements, estimators and the appendix."""

import itertools

import numpy as np
from scipy.integrate import quad

from finitewidth.errata.erratum import Evidence, exactly
from finitewidth.errata.shared import edge_of_chaos_of_relu
from finitewidth.kernels.ntk_init.estimators import leave_one_out, printed_leave_one_out
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.moment_recursion import log_theta_moment
from finitewidth.kernels.ntk_init.off_diagonal import (
    correlation_map,
    infinite_width_mean_ratio,
    printed_mean_ratio,
    slope_map,
)


def quadrant(cosine: float) -> tuple[float, float]:
    """2 E φ(u) φ(v) and 2 E φ′(u) φ′(v), ReLU, unit variances, by quadrature over an angle."""
    angle = np.arccos(cosine)
    low, high = angle - np.pi / 2, np.pi / 2
    product = quad(lambda t: np.cos(t) * np.cos(t - angle), low, high, epsabs=1e-14)[0]
    return 2 * product / np.pi, (high - low) / np.pi


def layers_by_quadrature(depth: int, cosine: float) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of x⁰..x^(L-1) and of δ¹..δ^L in wide ReLU networks."""
    cosines, slopes = [cosine], []
    for _ in range(depth - 1):
        product, slope = quadrant(cosines[-1])
        cosines.append(min(1.0, product))
        slopes.append(slope)
    errors = np.concatenate([np.cumprod(slopes[::-1])[::-1], [1.0]])
    return np.array(cosines), errors


def ordered_ratio() -> Evidence:
    """Mean kernel ratio of infinitely wide networks in the ordered phase, a = 0.95, L = 50."""
    depth, a, cosine = 50, 0.95, 0.1
    cosines, errors = layers_by_quadrature(depth, cosine)
    below = a ** (depth - np.arange(1, depth + 1))
    truth = (a ** (depth - 1) * (cosines * errors).sum() + (below * errors).sum()) / (
        a ** (depth - 1) * depth + below.sum()
    )
    init = constant_width(depth, 100, sigma_w2=2 * a)
    corrected = infinite_width_mean_ratio(init, cosine)
    return exactly(
        "lim_{M→∞} E Θ(x, x̃)/E Θ(x, x), σ_w² = 1.9, L = 50, cosine 0.1; printed: not below",
        truth,
        printed_mean_ratio(depth, 2 * a, cosine),
        corrected,
    )


def two_layer_sum() -> Evidence:
    """The sum in the proof for L = 2 and orthogonal inputs."""
    cosines, errors = layers_by_quadrature(2, 0.0)
    corrected = 0.0 * slope_map(0.0) + correlation_map(0.0)
    quantity = "Σ_l g^{∘(l−1)}(ρ) Π f at L = 2, ρ = 0; printed: not below"
    return exactly(quantity, (cosines * errors).sum(), 2 / 4, corrected)


def equal_draws() -> Evidence:
    """The estimator for a kernel that does not vary."""
    sample = np.ones(5)
    forms = (float(form(sample)) for form in (printed_leave_one_out, leave_one_out))
    return exactly("r̂ of five equal draws; r = 1", 1.0, *forms)


def mean_of_estimator() -> Evidence:
    """E r̂ with prefactor 1/N, over all samples of four draws from {1, 3}."""
    samples = np.array(list(itertools.product((1.0, 3.0), repeat=4)))
    counts = np.arange(4)  # number of 3s among the three other draws
    chance = np.array([1, 3, 3, 1]) / 8
    total, squares = 3 + 2 * counts, 3 + 8 * counts
    inverse = (chance / ((total**2 - squares) / 6)).sum()
    return exactly(
        "E r̂, prefactor 1/N, N = 4, θ = 1 or 3 with chance 1/2",
        leave_one_out(samples).mean(),
        5 / 4,
        5 * inverse,
    )


def widening() -> Evidence:
    """Rank of widening networks among widening, constant and narrowing ones, by dispersion.

    Ranks, 1 for the lowest dispersion, are summed over seven weight variances. The corrected ones
    are 1 at 1, 1.5 and 1.9, 3 at 1.98 and 2, and 2 at 2.2 and 3.
    """
    depth, narrow, wide = 150, 100, 500
    up = [narrow + int(np.ceil(k * (wide - narrow) / depth)) for k in range(depth)]
    down = [wide + int(np.ceil(k * (narrow - wide) / depth)) for k in range(depth)]
    shapes = (up, [(narrow + wide) // 2] * depth, down)
    corrected = {1.0: 1, 1.5: 1, 1.9: 1, 1.98: 3, 2.0: 3, 2.2: 2, 3.0: 2}
    ranks = []
    for variance in corrected:
        inits = [Initialisation(widths=tuple(shape), sigma_w2=variance) for shape in shapes]
        ratios = [log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1) for init in inits]
        ranks.append(sum(ratio <= ratios[0] for ratio in ratios))
    return exactly(
        "sum of ranks of the widening network, σ_w² = 1, 1.5, 1.9, 1.98, 2, 2.2, 3, L = 150",
        sum(ranks),
        len(ranks),
        sum(corrected.values()),
    )


def activation_with_bias() -> Evidence:
    """E φ²(h) for h the sum of two independent parts of variance 1, by quadrature."""
    density = lambda h: h * h * np.exp(-h * h / 4) / np.sqrt(4 * np.pi)  # noqa: E731
    truth = quad(density, 0, 40, epsabs=1e-13)[0]
    return exactly("E φ²(W x + b), both of variance 1", truth, (1 + 1) ** 2 / 2, (1 + 1) / 2)


def edge_of_chaos() -> Evidence:
    """Weight variance at which errors neither grow nor shrink for ReLU, found as a root."""
    return edge_of_chaos_of_relu()
