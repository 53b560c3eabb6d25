"""Errata of ``beyond`` about moments at initialisation, and about their estimator."""

from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.integrate import dblquad, quad

from finitewidth.errata import evidence
from finitewidth.errata.evidence import Evidence, exactly, extrapolated, generator, on_average
from finitewidth.kernels.ntk_init import off_diagonal
from finitewidth.kernels.ntk_init.estimators import leave_one_out, printed_leave_one_out
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit, limit_parts
from finitewidth.kernels.ntk_init.moment_recursion import log_kernel_moments, log_theta_moment
from finitewidth.kernels.ntk_init.moments import log_moments, printed_log_moments
from finitewidth.papers.beyond.experiments.theory import ARCHITECTURES, widths_of

SMALL = Initialisation(widths=(5, 4, 8, 6, 5), sigma_w2=2.1)
DOUBLING = (64, 128, 256, 512, 1024, 2048)


def two_layers(networks: int) -> Evidence:
    """Mean of |δ¹|² |x²|² over random networks with two layers of 8 units, σ_w² = 2."""
    n = 8
    s = 2  # layers
    signals, errors, _ = evidence.relu_pass(generator("beyond-1"), (n,) * (s + 1), networks)
    printed = (1 + 1 / n) ** s
    corrected = 2 / 3 * (1 - 1 / n) ** s + (1 + 5 / n) ** s / 3
    return on_average(errors[0] * signals[s], printed, corrected)


def _small_moment(powers: tuple[int, int], name: str) -> Evidence:
    """A second moment of a small network: ``powers`` of Theta_W and Theta_b, and its ``name``."""
    truth = np.exp(log_kernel_moments(SMALL, 2)[powers])
    printed = getattr(printed_log_moments(SMALL, reading="as_printed"), name)
    corrected = getattr(log_moments(SMALL), name)
    return exactly(truth, np.exp(printed), np.exp(corrected))


def weights_squared() -> Evidence:
    """E Θ_W² by a recursion over layers that uses neither formula."""
    return _small_moment((2, 0), "w2")


def weights_and_biases() -> Evidence:
    """E Θ_W Θ_b by the same recursion."""
    return _small_moment((1, 1), "wb")


def _log_dispersion(init: Initialisation) -> float:
    """Log of E Θ² / (E Θ)² by the moment recursion."""
    return log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1)


def _limit(
    lam: float, sigma_w2: float, log_ratio: Callable[[Initialisation], float]
) -> tuple[float, float]:
    """Limit of a ratio at L = lam M, from doubled widths, and its numerical error."""
    ratios = []
    for width in DOUBLING:
        init = constant_width(round(lam * width), width, sigma_w2=sigma_w2)
        ratios.append(float(np.exp(log_ratio(init))))
    return extrapolated(ratios)


def chaotic_limit() -> Evidence:
    """Dispersion in the chaotic phase at L = M/2, by the moment recursion, extrapolated."""
    truth, error = _limit(0.5, 4.0, _log_dispersion)
    printed = dispersion_limit(0.5, "chaotic", form="printed")
    corrected = dispersion_limit(0.5, "chaotic", form="corrected")
    return Evidence(truth, error, printed, corrected)


def critical_limit() -> Evidence:
    """The same at the edge of chaos, with L = M and alpha_0 = 1."""
    truth, error = _limit(1.0, 2.0, _log_dispersion)
    alpha = 1.0
    grown = np.exp(5.0)
    printed = grown * (1 / 2 + (2 * alpha**2 - 8 * alpha) / 25)
    printed += (np.e - grown) * (1 - 4 * alpha) / 8
    printed += 2 * alpha / 5 * ((4 - alpha) / 5 - 1 - alpha)
    corrected = dispersion_limit(1.0, "critical")
    return Evidence(truth, error, printed / (1 + alpha) ** 2, corrected)


def crossed_limit() -> Evidence:
    """Limit of E Θ_W Θ_b / L² at the edge of chaos, with L = M and alpha_0 = 1."""

    def log_ratio(init: Initialisation) -> float:
        return log_kernel_moments(init, 2)[1, 1] - 2 * np.log(init.depth)

    truth, error = _limit(1.0, 2.0, log_ratio)
    printed = limit_parts(1.0, form="printed").wb
    corrected = limit_parts(1.0, form="corrected").wb
    return Evidence(truth, error, printed, corrected)


def lemma_integral() -> Evidence:
    """The mean over two units i ≠ j, by quadrature over their pre-activations."""
    a = 0.7
    bi = 0.5
    bj = 0.6
    rest = 1 - a**2 * (bi**2 + bj**2)

    def integrand(u: float, v: float) -> float:
        density = np.exp(-(u * u + v * v) / 2)
        square = (a * bi * u + a * bj * v) ** 2 + rest
        return square * v**2 * density / (2 * np.pi)

    truth, _ = dblquad(integrand, 0, 12, 0, 12, epsabs=1e-12, epsrel=1e-12)
    common = 0.25 + bj**2 * a**2 / 2
    printed = common + 8 * bi * bj * a**2 * (1 + 2 * a**2 - a**4)
    corrected = common + 2 / np.pi * bi * bj * a**2
    return exactly(truth, printed, corrected)


def square_of_a_sum() -> Evidence:
    """E Θ² by the moment recursion, compared with the sum of its parts."""
    moments = log_moments(SMALL)
    w2 = float(np.exp(moments.w2))
    b2 = float(np.exp(moments.b2))
    wb = float(np.exp(moments.wb))
    truth = np.exp(log_theta_moment(SMALL, 2))
    return exactly(truth, w2 + b2 + wb, w2 + b2 + 2 * wb)


def fourth_power() -> Evidence:
    """E[V⁴ | w_i, w_j] by quadrature over the rest of V = Σ_k b_k w_k, which is Gaussian."""
    bi, bj = 0.5, 0.4
    wi, wj = 0.8, -0.3
    known = bi * wi + bj * wj
    rest = 1 - bi**2 - bj**2  # variance

    def integrand(z: float) -> float:
        return (known + rest**0.5 * z) ** 4 * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5

    truth, _ = quad(integrand, -14, 14, epsabs=1e-13)
    printed = 1 - bi**2 * (1 - wi**2) - bj**2 * (1 - wj**2) + 2 * bi * bj * wi * wj
    corrected = known**4 + 6 * known**2 * rest + 3 * rest**2
    return exactly(truth, printed, corrected)


def crossed_product(networks: int) -> Evidence:
    """Mean of |δ^{l₁}|² |δ^{l₂}|² |x^{l₂−1}|² for l₁ = 2, l₂ = 3, drawn."""
    n = 8
    depth = 4
    a = 1.5  # σ_w² / 2
    signals, errors, _ = evidence.relu_pass(generator("beyond-24"), (n,) * depth, networks, 2 * a)
    sample = errors[1] * errors[2] * signals[2]
    # E[N_δ N_x] of layer 2 and E[N_δ²] of layer 3; both are exact for a single layer
    above = a**2 * (1 + 1 / n) * a**2 * (1 + 5 / n)
    # E[N_x] of the layers from 1 to l₂ - 1 as printed, and to l₁ - 1
    printed = above * a**2
    corrected = above * a**1
    return on_average(sample, printed, corrected)


def quadrant(cosine: float) -> tuple[float, float]:
    """2 E φ(u) φ(v) and 2 E φ′(u) φ′(v), ReLU, unit variances, by quadrature over an angle."""
    angle = np.arccos(cosine)
    low = angle - np.pi / 2
    high = np.pi / 2
    product, _ = quad(lambda t: np.cos(t) * np.cos(t - angle), low, high, epsabs=1e-14)
    return 2 * product / np.pi, (high - low) / np.pi


def layers_by_quadrature(depth: int, cosine: float) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of x⁰..x^(L-1) and of δ¹..δ^L in wide ReLU networks."""
    cosines = [cosine]
    slopes = []
    for _ in range(depth - 1):
        product, slope = quadrant(cosines[-1])
        cosines.append(min(1.0, product))
        slopes.append(slope)
    # δ^l has the product of the slopes of the layers from l on
    errors = np.concatenate([np.cumprod(slopes[::-1])[::-1], [1.0]])
    return np.array(cosines), errors


def ordered_ratio() -> Evidence:
    """Mean kernel ratio of infinitely wide networks in the ordered phase, a = 0.95, L = 50."""
    depth = 50
    a = 0.95
    cosine = 0.1
    cosines, errors = layers_by_quadrature(depth, cosine)
    layers = np.arange(1, depth + 1)
    of_weights = a ** (depth - 1)  # of each layer, on the diagonal
    of_biases = a ** (depth - layers)
    off_diagonal_mean = of_weights * (cosines * errors).sum() + (of_biases * errors).sum()
    diagonal_mean = of_weights * depth + of_biases.sum()
    init = constant_width(depth, 100, sigma_w2=2 * a)
    printed = off_diagonal.printed_mean_ratio(depth, 2 * a, cosine)
    corrected = off_diagonal.infinite_width_mean_ratio(init, cosine)
    return exactly(off_diagonal_mean / diagonal_mean, printed, corrected)


def two_layer_sum() -> Evidence:
    """The sum in the proof for L = 2 and orthogonal inputs."""
    cosines, errors = layers_by_quadrature(2, 0.0)
    corrected = 0.0 * off_diagonal.slope_map(0.0) + off_diagonal.correlation_map(0.0)
    return exactly((cosines * errors).sum(), 2 / 4, corrected)


def phases_near_the_bound() -> Evidence:
    """In how many of three phases the mean kernel ratio of wide networks is near 1/4 at L = 400."""
    depth = 400
    cosine = 0.1
    near = 0.3
    variances = (1.5, 2.0, 2.5)  # ordered phase, edge of chaos, chaotic phase
    cosines, errors = layers_by_quadrature(depth, cosine)
    layers = np.arange(1, depth + 1)
    by_quadrature = 0
    by_formula = 0
    for variance in variances:
        a = variance / 2
        of_biases = a ** (1.0 - layers)  # over a^(L-1), which is the weight of each layer
        off_diagonal_mean = (cosines * errors).sum() + (of_biases * errors).sum()
        diagonal_mean = depth + of_biases.sum()
        by_quadrature += off_diagonal_mean / diagonal_mean < near
        init = constant_width(depth, 100, sigma_w2=variance)
        by_formula += off_diagonal.infinite_width_mean_ratio(init, cosine) < near
    chaotic = sum(variance > 2 for variance in variances)
    return exactly(by_quadrature, chaotic, by_formula)


def mixed_terms() -> Evidence:
    """Coefficient of 1/M in the sum over pairs of layers of Lemma A.5, over x^L / (4 lambda).

    The sum itself is added up, with x = 1 + 5/M and y = 1 + 1/M; lambda = 1/2, n_0 = M.
    """
    lam = 0.5
    alpha_0 = 1.0
    coefficients = []
    for width in DOUBLING:
        depth = round(lam * width)
        x = 1 + 5 / width
        y = 1 + 1 / width
        share = 4 * lam * _sum_over_pairs(depth, x, y) / depth**2 / x**depth
        # the other terms of the paper's expression, divided in the same way
        others = (1 - (y / x) ** depth) * (1 + (5 - 4 * alpha_0) / width) / (4 * lam)
        coefficients.append(float(width * (share + others - 1)))
    truth, error = extrapolated(coefficients)
    return Evidence(truth, error, -5.0, -4.0)


def _sum_over_pairs(depth: int, x: float, y: float) -> float:
    """Sum of x^(L - l_2 + l_1 - 1) y^(l_2 - l_1) over all pairs of layers l_1 < l_2."""
    # pairs with l_1 > 1, by l_2 - l_1
    apart = np.arange(1, depth - 1)
    number = depth - 1 - apart
    inner = (number * x**number * y**apart).sum()
    # pairs with l_1 = 1, by l_2
    upper = np.arange(2, depth + 1)
    first = (x ** (depth - upper) * y ** (upper - 1)).sum()
    return inner + first


def crossed_sums() -> Evidence:
    """The sum over pairs l_1 < l_2 with C in Lemma A.7, at a = 1.3, x = 1.8, y = 1.1, L = 5."""
    a, x, y = 1.3, 1.8, 1.1
    depth = 5
    truth = 0.0
    for high in range(1, depth + 1):
        for low in range(1, high):
            powers = a ** (2 * depth - low - 1) * y ** (high - low)
            truth += powers * x ** (depth - high)
    common = -(a ** (2 * depth - 2)) * y**depth * a * y / (a * y - 1)
    common += a**depth * (-x * y / (a * x - 1) + y**2 / (a * y - 1))
    leading = a ** (2 * depth - 2) * a * y / (a * x - 1)
    printed = (leading * x ** (depth - 1) + common) / (x - y)
    corrected = (leading * x**depth + common) / (x - y)
    return exactly(truth, printed, corrected)


def equal_draws() -> Evidence:
    """The estimator for a kernel that does not vary."""
    sample = np.ones(5)
    printed = float(printed_leave_one_out(sample))
    corrected = float(leave_one_out(sample))
    return exactly(1.0, printed, corrected)


def mean_of_estimator() -> Evidence:
    """E r̂ with prefactor 1/N, over all samples of four draws from {1, 3}."""
    samples = np.array(list(product((1.0, 3.0), repeat=4)))
    counts = np.arange(4)  # number of 3s among the three other draws
    chance = np.array([1, 3, 3, 1]) / 8
    total = 3 + 2 * counts
    squares = 3 + 8 * counts
    mean_of_products = (total**2 - squares) / 6
    inverse = (chance / mean_of_products).sum()
    return exactly(float(leave_one_out(samples).mean()), 5 / 4, 5 * inverse)


def widening() -> Evidence:
    """Rank of widening networks among widening, constant and narrowing ones, by dispersion.

    Ranks, 1 for the lowest dispersion, are summed over seven weight variances. The corrected ones
    are 1 at 1, 1.5 and 1.9, 3 at 1.98 and 2, and 2 at 2.2 and 3.
    """
    shapes = [widths_of(name, 150, 100, 500) for name in ARCHITECTURES]
    corrected = {1.0: 1, 1.5: 1, 1.9: 1, 1.98: 3, 2.0: 3, 2.2: 2, 3.0: 2}
    ranks = []
    for variance in corrected:
        inits = [Initialisation(widths=shape, sigma_w2=variance) for shape in shapes]
        dispersions = [_log_dispersion(init) for init in inits]
        ranks.append(sum(value <= dispersions[0] for value in dispersions))
    return exactly(sum(ranks), len(ranks), sum(corrected.values()))


def activation_with_bias() -> Evidence:
    """E φ²(h) for h the sum of two independent parts of variance 1, by quadrature."""

    def integrand(h: float) -> float:
        return h * h * np.exp(-h * h / 4) / np.sqrt(4 * np.pi)

    truth, _ = quad(integrand, 0, 40, epsabs=1e-13)
    return exactly(truth, (1 + 1) ** 2 / 2, (1 + 1) / 2)


edge_of_chaos = evidence.edge_of_chaos_of_relu
