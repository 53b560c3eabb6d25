"""What is computed for each erratum of ``beyond``."""

from collections.abc import Callable
from itertools import pairwise, product

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
    n, s = 8, 2
    signals, errors, _ = evidence.relu_pass(generator("beyond-1"), (n,) * (s + 1), networks)
    corrected = 2 / 3 * (1 - 1 / n) ** s + (1 + 5 / n) ** s / 3
    return on_average(errors[0] * signals[s], (1 + 1 / n) ** s, corrected)


def _small_moment(powers: tuple[int, int], name: str) -> Evidence:
    forms = printed_log_moments(SMALL, reading="as_printed"), log_moments(SMALL)
    truth = np.exp(log_kernel_moments(SMALL, 2)[powers])
    return exactly(truth, *(np.exp(getattr(moments, name)) for moments in forms))


def weights_squared() -> Evidence:
    """E Θ_W² by a recursion over layers that uses neither formula."""
    return _small_moment((2, 0), "w2")


def weights_and_biases() -> Evidence:
    """E Θ_W Θ_b by the same recursion."""
    return _small_moment((1, 1), "wb")


def _log_dispersion(init: Initialisation) -> float:
    """Log of E Θ² / (E Θ)² by the moment recursion."""
    return log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1)


def _limit(lam: float, sigma_w2: float, log_ratio: Callable[[Initialisation], float]) -> tuple:
    """Limit of a ratio at L = lam M, from doubled widths, and its numerical error."""
    inits = (constant_width(round(lam * width), width, sigma_w2=sigma_w2) for width in DOUBLING)
    return extrapolated([float(np.exp(log_ratio(init))) for init in inits])


def chaotic_limit() -> Evidence:
    """Dispersion in the chaotic phase at L = M/2, by the moment recursion, extrapolated."""
    truth, error = _limit(0.5, 4.0, _log_dispersion)
    forms = (dispersion_limit(0.5, "chaotic", form=form) for form in ("printed", "corrected"))
    return Evidence(truth, error, *forms)


def critical_limit() -> Evidence:
    """The same at the edge of chaos, with L = M and alpha_0 = 1."""
    truth, error = _limit(1.0, 2.0, _log_dispersion)
    grown, alpha = np.exp(5.0), 1.0
    printed = grown * (1 / 2 + (2 * alpha**2 - 8 * alpha) / 25)
    printed += (np.e - grown) * (1 - 4 * alpha) / 8
    printed += 2 * alpha / 5 * ((4 - alpha) / 5 - 1 - alpha)
    return Evidence(truth, error, printed / (1 + alpha) ** 2, dispersion_limit(1.0, "critical"))


def crossed_limit() -> Evidence:
    """Limit of E Θ_W Θ_b / L² at the edge of chaos, with L = M and alpha_0 = 1."""
    truth, error = _limit(
        1.0, 2.0, lambda init: log_kernel_moments(init, 2)[1, 1] - 2 * np.log(init.depth)
    )
    forms = (limit_parts(1.0, form=form).wb for form in ("printed", "corrected"))
    return Evidence(truth, error, *forms)


def lemma_integral() -> Evidence:
    """The mean over two units i ≠ j, by quadrature over their pre-activations."""
    a, bi, bj = 0.7, 0.5, 0.6
    rest = 1 - a**2 * (bi**2 + bj**2)

    def density(u: float, v: float) -> float:
        square = (a * bi * u + a * bj * v) ** 2 + rest
        return square * v**2 * np.exp(-(u * u + v * v) / 2) / (2 * np.pi)

    truth = dblquad(density, 0, 12, 0, 12, epsabs=1e-12, epsrel=1e-12)[0]
    common = 0.25 + bj**2 * a**2 / 2
    printed = common + 8 * bi * bj * a**2 * (1 + 2 * a**2 - a**4)
    return exactly(truth, printed, common + 2 / np.pi * bi * bj * a**2)


def gradient_step(networks: int) -> Evidence:
    """Mean of f² |δ²|² |x⁰|² over random networks with four layers of 6 units, σ_w² = 2."""
    n, depth = 6, 4
    signals, errors, f = evidence.relu_pass(generator("beyond-8"), (n,) * depth, networks)
    kept = depth - 2  # layers 2..L-1
    sample = n / 2 * f**2 * errors[1] * signals[0]
    return on_average(sample, (1 + 1 / n) ** kept, (1 + 5 / n) ** kept)


def square_of_a_sum() -> Evidence:
    """E Θ² by the moment recursion, compared with the sum of its parts."""
    parts = log_moments(SMALL)
    w2, b2, wb = (float(np.exp(part)) for part in (parts.w2, parts.b2, parts.wb))
    return exactly(np.exp(log_theta_moment(SMALL, 2)), w2 + b2 + wb, w2 + b2 + 2 * wb)


def fourth_power() -> Evidence:
    """E[V⁴ | w_i, w_j] by quadrature over the rest of V = Σ_k b_k w_k, which is Gaussian."""
    bi, bj, wi, wj = 0.5, 0.4, 0.8, -0.3
    known, rest = bi * wi + bj * wj, 1 - bi**2 - bj**2

    def density(z: float) -> float:
        return (known + rest**0.5 * z) ** 4 * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5

    truth = quad(density, -14, 14, epsabs=1e-13)[0]
    printed = 1 - bi**2 * (1 - wi**2) - bj**2 * (1 - wj**2) + 2 * bi * bj * wi * wj
    corrected = known**4 + 6 * known**2 * rest + 3 * rest**2
    return exactly(truth, printed, corrected)


def crossed_product(networks: int) -> Evidence:
    """Mean of |δ^{l₁}|² |δ^{l₂}|² |x^{l₂−1}|² for l₁ = 2, l₂ = 3, drawn."""
    n, depth, a = 8, 4, 1.5
    signals, errors, _ = evidence.relu_pass(generator("beyond-24"), (n,) * depth, networks, 2 * a)
    # E[N_δ N_x] of layer 2 and E[N_δ²] of layer 3; both are exact for a single layer
    above = a**2 * (1 + 1 / n) * a**2 * (1 + 5 / n)
    # E[N_x] of the layers from 1 to l₂ - 1 and to l₁ - 1
    forms = (above * a**layers for layers in (2, 1))
    return on_average(errors[1] * errors[2] * signals[2], *forms)


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
    printed = off_diagonal.printed_mean_ratio(depth, 2 * a, cosine)
    return exactly(truth, printed, off_diagonal.infinite_width_mean_ratio(init, cosine))


def two_layer_sum() -> Evidence:
    """The sum in the proof for L = 2 and orthogonal inputs."""
    cosines, errors = layers_by_quadrature(2, 0.0)
    corrected = 0.0 * off_diagonal.slope_map(0.0) + off_diagonal.correlation_map(0.0)
    return exactly((cosines * errors).sum(), 2 / 4, corrected)


def equal_draws() -> Evidence:
    """The estimator for a kernel that does not vary."""
    sample = np.ones(5)
    return exactly(1.0, printed_leave_one_out(sample), leave_one_out(sample))


def mean_of_estimator() -> Evidence:
    """E r̂ with prefactor 1/N, over all samples of four draws from {1, 3}."""
    samples = np.array(list(product((1.0, 3.0), repeat=4)))
    counts = np.arange(4)  # number of 3s among the three other draws
    chance = np.array([1, 3, 3, 1]) / 8
    total, squares = 3 + 2 * counts, 3 + 8 * counts
    inverse = (chance / ((total**2 - squares) / 6)).sum()
    return exactly(leave_one_out(samples).mean(), 5 / 4, 5 * inverse)


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
        ratios = [_log_dispersion(init) for init in inits]
        ranks.append(sum(ratio <= ratios[0] for ratio in ratios))
    return exactly(sum(ranks), len(ranks), sum(corrected.values()))


def activation_with_bias() -> Evidence:
    """E φ²(h) for h the sum of two independent parts of variance 1, by quadrature."""
    density = lambda h: h * h * np.exp(-h * h / 4) / np.sqrt(4 * np.pi)  # noqa: E731
    truth = quad(density, 0, 40, epsabs=1e-13)[0]
    return exactly(truth, (1 + 1) ** 2 / 2, (1 + 1) / 2)


edge_of_chaos = evidence.edge_of_chaos_of_relu


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


def relative_change(start: np.ndarray, alpha: float) -> tuple[float, float]:
    """Change of the kernel of αf in a step on L(αf)/α², over the kernel and the step size.

    L is half the squared error on one input, and the step size tends to 0.
    """

    def loss(parameters: np.ndarray) -> complex:
        return (alpha * output(parameters, INPUT) - 1.0) ** 2 / (2 * alpha**2)

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
    changes = [[relative_change(start, alpha) for start in (plain, mirrored)]
               for alpha in (10.0, 1.0)]  # fmt: skip
    means, errors = np.mean(changes, axis=1).T
    ratio = means[0] / means[1]
    error = abs(ratio) * sum(e / abs(m) for m, e in zip(means, errors, strict=True))
    return Evidence(float(ratio), float(error), 1 / 10**2, 1.0)


def scaled_parameters() -> Evidence:
    """Gradient by the trained parameters w of a layer of fan-in 64, over that by its weights W."""
    width, sigma_w = 64, 1.3
    rng = generator("beyond-22")
    signal, start = rng.standard_normal(width), rng.standard_normal(width)
    trained = slopes(lambda w: (sigma_w / width**0.5 * w) @ signal, start)
    weights = slopes(lambda w: w @ signal, sigma_w / width**0.5 * start)
    truth = np.linalg.norm(trained) / np.linalg.norm(weights)
    return exactly(truth, sigma_w / width, sigma_w / width**0.5)
