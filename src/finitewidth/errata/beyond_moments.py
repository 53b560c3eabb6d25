"""Errata of ``beyond`` in moments of the kernel: Lemma A.4, Theorems 3.1 and 3.2, A.10."""

from collections.abc import Callable

import numpy as np
from scipy.integrate import dblquad, quad

from finitewidth.common.texts import quoted
from finitewidth.errata.erratum import (
    Erratum,
    Evidence,
    exactly,
    extrapolated,
    on_average,
)
from finitewidth.errata.networks import generator, relu_pass
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


ERRATA = (
    Erratum(
        id="beyond-1",
        paper="beyond",
        place="Lemma A.4 (2), (29)",
        printed="E[Π N_δ N_x] = Π E[N_δ] E[N_x] (1 + 1/n + O(M^{−3/2}))",
        corrected="E[Π N_δ N_x] = Π E[N_δ] E[N_x] · [(2/3) Π(1 − 1/n) + (1/3) Π(1 + 5/n)], exactly",
        kind="wrong result",
        evidence="Networks drawn in full; each pair of layers adds 8/n² more than the printed "
        "remainder allows, however far apart.",
        check=two_layers,
        drawn=True,
        quotes=quoted(
            "thesis",
            (1740, r"\left(1 + \frac{1}{n_{\ell+p}} + O\left(\frac{1}{M^{3/2}}\right)\right)"),
        ),
        claims=("B18",),
        numbers=("beyond_text/lemma_constant/forward_times_backward",),
    ),
    Erratum(
        id="beyond-2",
        paper="beyond",
        place="Theorem 3.2, (13)",
        printed="X_(1,L) [Σ n²_{l−1} + Σ_{l₁<l₂} n_{l₁−1} n_{l₂−1} C_(l₁,l₂)] / n₀²",
        corrected="X_(1,L) [Σ n²_{l−1} + 2 Σ_{l₁<l₂} n_{l₁−1} n_{l₂−1} "
        "(1/3 + (2/3) Π_p (n_p − 1)/(n_p + 5))] / n₀²",
        kind="misprint",
        evidence="Moment recursion over layers, exact. The proof of Lemma A.5 has the factor 2 and "
        "C / X for C; that a transcription loses both is unlikely.",
        check=weights_squared,
        quotes=quoted(
            "thesis",
            (
                1486,
                r"+ \sum_{\ell_1 < \ell_2} \frac{n_{\ell_2-1} n_{\ell_1-1}}{n_0^2}"
                r" \mathcal{C}_{(\ell_1, \ell_2)}",
            ),
        ),
    ),
    Erratum(
        id="beyond-3",
        paper="beyond",
        place="Theorem 3.2, (15); Lemma A.7",
        printed="C_(l₁,l₂) = Π(1 + 1/n)",
        corrected="C_(l₁,l₂) = (2/3) Π(1 − 1/n) + (1/3) Π(1 + 5/n)",
        kind="wrong result",
        evidence="Moment recursion over layers, exact.",
        check=weights_and_biases,
        quotes=quoted(
            "thesis",
            (
                1492,
                r"\mathcal{C}_{(i,j)} := \prod_{k=i}^{j-1} \left(1 + \frac{1}{n_k}",
            ),
            (2046, r"\left(1 + \frac{1}{n_p} + \left(\frac{1}{M^{3/2}} \right) \right)"),
        ),
    ),
    Erratum(
        id="beyond-4",
        paper="beyond",
        place="Theorem 3.1, (8); (32), (40), appendix B.1",
        printed="e^{5λ} / (2λ) · (1 − (1 − e^{−4λ}) / (4λ))",
        corrected="W₂ = e^{5λ} (1/3 + 2/(9λ)) − (e^{5λ} − e^{−λ}) / (27λ²)",
        kind="wrong result",
        evidence="Exact dispersion at L = M/2 for M = 64 to 2048, extrapolated.",
        check=chaotic_limit,
        quotes=quoted(
            "thesis",
            (1451, r"e^{5\lambda} \left(1 - \frac{1}{4\lambda} (1 - e^{-4\lambda}) \right)"),
            (1886, r"e^{5\lambda} \left(1 - \frac{1}{4\lambda} (1 - e^{-4\lambda})\right)"),
            (2094, r"e^{5\lambda} \left(1 - \frac{1}{4\lambda} (1 - e^{-4\lambda}) \right)"),
            (2320, r"e^{5\lambda} \left(1 - \frac{1}{4\lambda} (1 - e^{-4\lambda}) \right)"),
        ),
        claims=("B01",),
    ),
    Erratum(
        id="beyond-5",
        paper="beyond",
        place="Theorem 3.1, (9); (41), appendix B.1",
        printed="[e^{5λ} (1/(2λ) + (2α₀² − 8α₀)/(25λ²)) + (e^λ − e^{5λ}) (1 − 4α₀)/(8λ²) "
        "+ (2α₀/(5λ)) ((4 − α₀)/(5λ) − 1 − α₀)] / (1 + α₀)²",
        corrected="(W₂ + 2α₀ WB + α₀² B₂) / (1 + α₀)² with W₂ of beyond-4, WB of beyond-6, "
        "B₂ = 2(e^{5λ} − 1)/(25λ²) − 2/(5λ)",
        kind="wrong result",
        evidence="Exact dispersion at L = M for M = 64 to 2048, extrapolated.",
        check=critical_limit,
        quotes=quoted(
            "thesis",
            (
                1455,
                r"\left(\frac{1}{2\lambda} + \frac{2\alpha_0^2 - 8\alpha_0}{25\lambda^2} \right)",
            ),
            (
                2098,
                r"\left(\frac{1}{2} + \frac{16\alpha_0^2 + 36\alpha_0 - 25}{200\lambda} \right)",
            ),
            (
                2316,
                r"\left(\frac{1}{2\lambda} + \frac{2\alpha_0^2 - 8\alpha_0}{25\lambda^2} \right)",
            ),
        ),
        claims=("B02",),
    ),
    Erratum(
        id="beyond-6",
        paper="beyond",
        place="Lemma A.7, (37)",
        printed="(9e^{5λ}/(25λ²) − e^λ/λ² − 4/(5λ) + 16/(25λ²)) / (4α₀)",
        corrected="WB/α₀, WB = [e^{5λ} (11/225 + λ/15) + e^{−λ}/9 − λ/5 − 4/25] / λ²",
        kind="wrong result",
        evidence="Exact mixed moment at L = M for M = 64 to 2048, extrapolated.",
        check=crossed_limit,
        quotes=quoted(
            "thesis",
            (
                2038,
                r"\frac{1}{4\alpha_0} \left(e^{5\lambda} \frac{9}{25\lambda^2}"
                r" - e^\lambda \frac{1}{\lambda^2} - \frac{4}{5\lambda} + \frac{16}{25\lambda^2}",
            ),
        ),
    ),
    Erratum(
        id="beyond-7",
        paper="beyond",
        place="Lemma A.4, proof, part 2, i ≠ j",
        printed="1/4 + b_j² a²/2 + 8 b_i b_j a² (1 + 2a² − a⁴)",
        corrected="1/4 + b_j² a²/2 + (2/π) b_i b_j a²",
        kind="wrong result",
        evidence="Quadrature; φ′(U) and U² of one unit are not independent given a weight, "
        "and 4A²/(A² + 1) should be A²/(2π(A² + 1)).",
        check=lemma_integral,
        quotes=quoted(
            "thesis", (1812, r"8b_{i_p} b_{j_p} a_{i_{p-1}}^2 (1 + 2a_{i_{p-1}}^2 - a_{i_{p-1}}^4)")
        ),
    ),
    Erratum(
        id="beyond-8",
        paper="beyond",
        place="Theorem A.10, proof, chaotic phase",
        printed="E[f² |δ^{l+1}|² |x^{l−1}|²] ∝ Π_{j>l}(1 + 1/n_j) Π_{j<l}(1 + 5/n_j)",
        corrected="Π_{j>l}(1 + 5/n_j) Π_{j<l}(1 + 5/n_j)",
        kind="wrong result",
        evidence="Networks drawn in full: f² is correlated with every error. The factor and its "
        "remainder come from Lemma A.4 (2).",
        check=gradient_step,
        drawn=True,
        quotes=quoted(
            "thesis",
            (
                2288,
                r"\prod_{j=\ell+1}^{L-1} \left(1 + \frac{1}{n_j} + O\left(",
            ),
        ),
    ),
    Erratum(
        id="beyond-9",
        paper="beyond",
        place="Theorem A.8, proof, chaotic phase",
        printed="E[Θ²] = E[Θ_W²] + E[Θ_b²] + E[Θ_W Θ_b]",
        corrected="E[Θ²] = E[Θ_W²] + E[Θ_b²] + 2 E[Θ_W Θ_b]",
        kind="misprint",
        evidence="Moment recursion for Θ itself; without effect on the limit. Case 3 has the 2.",
        check=square_of_a_sum,
        quotes=quoted(
            "thesis",
            (
                2118,
                r"+ \frac{\mathbb{E}[\Theta_W(x, x)\Theta_b(x, x)]}{\mathbb{E}^2[\Theta_W(x, x)]}",
            ),
        ),
    ),
    Erratum(
        id="beyond-23",
        paper="beyond",
        place="Lemma A.4, proof, part 3, i = j",
        printed="given w_i and w_j: E[V⁴] = 1 − b_i² (1 − w_i²) − b_j² (1 − w_j²) "
        "+ 2 b_i b_j w_i w_j",
        corrected="m⁴ + 6 m² v + 3 v² with m = b_i w_i + b_j w_j and v = 1 − b_i² − b_j²; "
        "m² + v, which is printed, is E[V²]",
        kind="misprint",
        evidence="Quadrature. The means 3/2 and 3/4 + … that follow are right.",
        check=fourth_power,
        quotes=quoted(
            "thesis",
            (1870, r"\mathbb{E}[(\mathcal{V}_{i_{p-1}}^{\ell+p})^4 | w_{i_p i_{p-1}}, w_{j_p"),
        ),
    ),
    Erratum(
        id="beyond-24",
        paper="beyond",
        place="Lemma A.7, proof, second sum",
        printed="Π_{p=l₁}^{l₂−1} E[N_δ N_x] E[Π_{j=l₂}^{L−1} N_δ²] Π_{k=1}^{l₂−1} E[N_x]",
        corrected="the last product ends at l₁ − 1: the layers from l₁ to l₂ − 1 are in the first",
        kind="misprint",
        evidence="Networks drawn in full, l₂ = l₁ + 1. The next line has the power of a that "
        "belongs to l₁ − 1.",
        check=crossed_product,
        drawn=True,
        quotes=quoted(
            "thesis",
            (
                2046,
                r"\sum_{1 \leq \ell_1 < \ell_2 \leq L} \prod_{p=\ell_1}^{\ell_2-1} "
                r"\mathbb{E}[\mathcal{N}_\delta^p \mathcal{N}_x^p] \mathbb{E} \left["
                r"\prod_{j=\ell_2}^{L-1} (\mathcal{N}_\delta^j)^2 \right] "
                r"\prod_{k=1}^{\ell_2-1} \mathbb{E}[\mathcal{N}_x^k]",
            ),
        ),
    ),
)
