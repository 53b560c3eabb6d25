"""Errata of ``beyond`` in moments of the kernel: Lemma A.4, Theorems 3.1 and 3.2, A.10."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import dblquad, quad

from finitewidth.errata.erratum import (
    Evidence,
    exactly,
    extrapolated,
    on_average,
)
from finitewidth.errata.shared import generator, relu_pass
from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit, limit_parts
from finitewidth.kernels.ntk_init.moment_recursion import log_kernel_moments, log_theta_moment
from finitewidth.kernels.ntk_init.moments import LogMoments, log_moments
from finitewidth.kernels.ntk_init.printed_moments import printed_log_moments

SMALL = Initialisation(widths=(5, 4, 8, 6, 5), sigma_w2=2.1)
DOUBLING = (64, 128, 256, 512, 1024, 2048)


def two_layers(networks: int) -> Evidence:
    """Mean of |δ¹|² |x²|² over random networks with two layers of 8 units, σ_w² = 2."""
    n, s = 8, 2
    signals, errors, _ = relu_pass(generator("beyond-1"), (n,) * (s + 1), networks)
    corrected = 2 / 3 * (1 - 1 / n) ** s + (1 + 5 / n) ** s / 3
    return on_average(
        "E[Π N_δ N_x] / Π E[N_δ] E[N_x], two layers of n = 8",
        errors[0] * signals[s],
        (1 + 1 / n) ** s,
        corrected,
    )


def _small_moment(powers: tuple[int, int], name: str, reading: str, quantity: str) -> Evidence:
    truth = np.exp(log_kernel_moments(SMALL, 2)[powers])
    printed: LogMoments = printed_log_moments(SMALL, reading=reading)
    quantity = f"{quantity}, widths 5-4-8-6-5, σ_w² = 2.1, |x| = 1"
    values = (np.exp(getattr(moments, name)) for moments in (printed, log_moments(SMALL)))
    return exactly(quantity, truth, *values)


def weights_squared() -> Evidence:
    """E Θ_W² by a recursion over layers that uses neither formula."""
    return _small_moment((2, 0), "w2", "as_printed", "E[Θ_W²]")


def weights_and_biases() -> Evidence:
    """E Θ_W Θ_b by the same recursion."""
    return _small_moment((1, 1), "wb", "as_printed", "E[Θ_W Θ_b]")


def _limit(lam: float, sigma_w2: float, log_ratio: Callable[[Initialisation], float]) -> tuple:
    """Limit of a ratio of moments at L = lam M, extrapolated in 1/M from doubled widths.

    Args:
        lam: L / M.
        sigma_w2: weight variance times fan-in.
        log_ratio: logarithm of the ratio.

    Returns:
        The limit and its numerical error.
    """
    values = []
    for width in DOUBLING:
        init = constant_width(round(lam * width), width, sigma_w2=sigma_w2)
        values.append(float(np.exp(log_ratio(init))))
    return extrapolated(values)


def chaotic_limit() -> Evidence:
    """Dispersion in the chaotic phase at L = M/2, by the moment recursion, extrapolated."""
    truth, error = _limit(
        0.5, 4.0, lambda init: log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1)
    )
    forms = (dispersion_limit(0.5, "chaotic", form=form) for form in ("printed", "corrected"))
    return Evidence("lim E[Θ²]/E[Θ]², chaotic phase, λ = 1/2", truth, error, *forms)


def critical_limit() -> Evidence:
    """The same at the edge of chaos, with L = M and alpha_0 = 1."""
    truth, error = _limit(
        1.0, 2.0, lambda init: log_theta_moment(init, 2) - 2 * log_theta_moment(init, 1)
    )
    grown, alpha = np.exp(5.0), 1.0
    printed = grown * (1 / 2 + (2 * alpha**2 - 8 * alpha) / 25)
    printed += (np.e - grown) * (1 - 4 * alpha) / 8
    printed += 2 * alpha / 5 * ((4 - alpha) / 5 - 1 - alpha)
    forms = (printed / (1 + alpha) ** 2, dispersion_limit(1.0, "critical"))
    return Evidence("lim E[Θ²]/E[Θ]², edge of chaos, α₀ = 1, λ = 1", truth, error, *forms)


def crossed_limit() -> Evidence:
    """Limit of E Θ_W Θ_b / L² at the edge of chaos, with L = M and alpha_0 = 1."""
    truth, error = _limit(
        1.0, 2.0, lambda init: log_kernel_moments(init, 2)[1, 1] - 2 * np.log(init.depth)
    )
    forms = (limit_parts(1.0, form=form).wb for form in ("printed", "corrected"))
    return Evidence("lim E[Θ_W Θ_b]/L², edge of chaos, α₀ = 1, λ = 1", truth, error, *forms)


def lemma_integral() -> Evidence:
    """The mean over two units i ≠ j, by quadrature over their pre-activations."""
    a, bi, bj = 0.7, 0.5, 0.6
    rest = 1 - a**2 * (bi**2 + bj**2)

    def density(u: float, v: float) -> float:
        square = (a * bi * u + a * bj * v) ** 2 + rest
        return square * v**2 * np.exp(-(u * u + v * v) / 2) / (2 * np.pi)

    truth = dblquad(density, 0, 12, 0, 12, epsabs=1e-12, epsrel=1e-12)[0]
    common = 0.25 + bj**2 * a**2 / 2
    return exactly(
        "E[V² φ′(U_i) φ′(U_j) U_j²] at a = 0.7, b_i = 0.5, b_j = 0.6",
        truth,
        common + 8 * bi * bj * a**2 * (1 + 2 * a**2 - a**4),
        common + 2 / np.pi * bi * bj * a**2,
    )


def gradient_step(networks: int) -> Evidence:
    """Mean of f² |δ²|² |x⁰|² over random networks with four layers of 6 units, σ_w² = 2."""
    n, depth = 6, 4
    signals, errors, f = relu_pass(generator("beyond-8"), (n,) * depth, networks)
    kept = depth - 2  # layers 2..L-1
    return on_average(
        "(n₀/2) E[f² |δ²|²], L = 4, n = 6, |x| = 1, σ_w² = 2",
        n / 2 * f**2 * errors[1] * signals[0],
        (1 + 1 / n) ** kept,
        (1 + 5 / n) ** kept,
    )


def square_of_a_sum() -> Evidence:
    """E Θ² by the moment recursion, compared with the sum of its parts."""
    parts = log_moments(SMALL)
    w2, b2, wb = (float(np.exp(part)) for part in (parts.w2, parts.b2, parts.wb))
    truth = np.exp(log_theta_moment(SMALL, 2))
    quantity = "E[Θ²], widths 5-4-8-6-5, σ_w² = 2.1, |x| = 1"
    return exactly(quantity, truth, w2 + b2 + wb, w2 + b2 + 2 * wb)


def fourth_power() -> Evidence:
    """E[V⁴ | w_i, w_j] by quadrature over the rest of V = Σ_k b_k w_k, which is Gaussian."""
    bi, bj, wi, wj = 0.5, 0.4, 0.8, -0.3
    known, rest = bi * wi + bj * wj, 1 - bi**2 - bj**2

    def density(z: float) -> float:
        return (known + rest**0.5 * z) ** 4 * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5

    truth = quad(density, -14, 14, epsabs=1e-13)[0]
    printed = 1 - bi**2 * (1 - wi**2) - bj**2 * (1 - wj**2) + 2 * bi * bj * wi * wj
    corrected = known**4 + 6 * known**2 * rest + 3 * rest**2
    quantity = "E[V⁴ | w_i, w_j] at b = (0.5, 0.4), w = (0.8, −0.3), |b| = 1 in all"
    return exactly(quantity, truth, printed, corrected)


def crossed_product(networks: int) -> Evidence:
    """Mean of |δ^{l₁}|² |δ^{l₂}|² |x^{l₂−1}|² for l₁ = 2, l₂ = 3, drawn."""
    n, depth, a = 8, 4, 1.5
    rng = generator("beyond-24")
    signals, errors, _ = relu_pass(rng, (n,) * depth, networks, 2 * a)
    # E[N_δ N_x] of layer 2 and E[N_δ²] of layer 3; both are exact for a single layer
    above = a**2 * (1 + 1 / n) * a**2 * (1 + 5 / n)
    # E[N_x] of the layers from 1 to l₂ - 1 and to l₁ - 1
    forms = (above * a**layers for layers in (2, 1))
    quantity = "E|δ²|²|δ³|²|x²|², L = 4, n = 8, σ_w² = 3, |x| = 1"
    return on_average(quantity, errors[1] * errors[2] * signals[2], *forms)
