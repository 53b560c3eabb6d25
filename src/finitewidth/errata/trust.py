"""Errata of ``trust`` in the mean-field recursions and their consequences.

The text ``trust`` decides what is printed; the thesis reprints an edited version.
The number 13 is not used any more: only the thesis has the power of alpha that it was about.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import dblquad, quad
from scipy.special import erf

from finitewidth.common.texts import quoted
from finitewidth.errata.beyond import edge_of_chaos
from finitewidth.errata.erratum import Erratum, Evidence, exactly, on_average
from finitewidth.errata.networks import generator, relu_pass

Function = Callable[[float], float]


def relu(h: float) -> float:
    """ReLU of a number."""
    return max(h, 0.0)


def erf_slope(h: float) -> float:
    """Derivative of erf."""
    return 2 / np.pi**0.5 * np.exp(-h * h)


def gaussian_mean(phi: Function, q: float, covariance: float) -> float:
    """E φ(u) φ(v) for Gaussian u, v of variance ``q``, by quadrature over two normals."""
    a, b = q**0.5, covariance / q**0.5
    rest = (q - b * b) ** 0.5

    def density(z2: float, z1: float) -> float:
        return phi(a * z1) * phi(b * z1 + rest * z2) * np.exp(-(z1**2 + z2**2) / 2) / (2 * np.pi)

    return dblquad(density, -8, 8, -8, 8, epsabs=1e-11, epsrel=1e-11)[0]


def relu_mean(a: float, b: float) -> float:
    """E φ(a z₁) φ(b z₁ + √(a² − b²) z₂) for ReLU, as an integral over the angle of (z₁, z₂)."""
    angle = np.arccos(b / a)
    low, high = angle - np.pi / 2, np.pi / 2
    share = quad(lambda t: np.cos(t) * np.cos(t - angle), low, high, epsabs=1e-14)[0]
    return a * a * share / np.pi


def variance_of_weights() -> Evidence:
    """q² of (5) for tanh, compared with the variance that follows from the weights of (1)."""
    q1, widths, sigma_w2, sigma_b2 = 1.2, (60, 20), 2.0, 0.3
    density = lambda z: np.tanh(q1**0.5 * z) ** 2 * np.exp(-z * z / 2) / (2 * np.pi) ** 0.5  # noqa: E731
    square = quad(density, -12, 12, epsabs=1e-13)[0]
    values = (sigma_w2 / m * widths[0] * square + sigma_b2 for m in (widths[1], widths[0]))
    quantity = "q² after (5), tanh, M₁ = 60, M₂ = 20, q¹ = 1.2, σ_w² = 2, σ_b² = 0.3"
    return exactly(quantity, sigma_w2 * square + sigma_b2, *values)


def error_recursion(networks: int) -> Evidence:
    """E|δ¹|² / E|δ²|² of random ReLU networks with unequal widths."""
    widths, sigma_w2 = (6, 30, 10, 25, 20), 1.6
    _, errors, _ = relu_pass(generator("trust-2"), widths, max(2, networks // 10), sigma_w2)
    ratio = errors[0].mean() / errors[1].mean()
    # a sample with the variance of the ratio to leading order
    sample = ratio + (errors[0] - ratio * errors[1]) / errors[1].mean()
    factor = widths[2] / widths[3]
    return on_average(
        "p¹/p², ReLU, σ_w² = 1.6, widths 6-30-10-25-20-1",
        sample,
        sigma_w2 / 2 * factor,
        sigma_w2 / 2,
    )


def relu_product() -> Evidence:
    """The first integral of E.1."""
    a, b = 0.7, 0.3
    c = b / a
    bracket = np.sqrt(1 - c * c) + c * np.pi / 2 + c * np.arcsin(c)
    truth = relu_mean(a, b)
    quantity = "∫ φ(az₁) φ(bz₁ + √(a²−b²) z₂), ReLU, a = 0.7, b = 0.3"
    return exactly(quantity, truth, a / (2 * np.pi) * bracket, a * a / (2 * np.pi) * bracket)


def relu_errors() -> Evidence:
    """Covariance of errors two layers below the output, from (9).

    The integral is evaluated from the angle between the inputs of a layer.
    """
    sigma_w2, cosines = 1.6, (0.2, 0.5)
    shares = [(np.pi - np.arccos(c)) / (2 * np.pi) for c in cosines]
    one = sigma_w2 / (2 * np.pi) * (np.pi / 2 + np.arcsin(cosines[1]))
    last = sigma_w2 / (2 * np.pi) * (np.pi / 2 + np.arcsin(cosines[0]))
    return exactly(
        "p_sr^{L−2}, ReLU, σ_w² = 1.6, correlations 0.2 and 0.5 in layers L−2, L−1",
        sigma_w2**2 * shares[0] * shares[1],
        last * sigma_w2 / 2,
        last * one,
    )


def erf_product() -> Evidence:
    """The integral of E.2 over erf erf, as a function of standard deviations."""
    a, b = 0.7, 0.3
    printed = 2 / np.pi * np.arctan(2 * b / np.sqrt((1 + 2 * a) ** 2 - 4 * b * b))
    q, cov = a * a, a * b
    corrected = 2 / np.pi * np.arctan(2 * cov / np.sqrt((1 + 2 * q) ** 2 - 4 * cov * cov))
    truth = gaussian_mean(erf, q, cov)
    return exactly(
        "∫ φ(az₁) φ(bz₁ + √(a²−b²) z₂), erf, a = 0.7, b = 0.3", truth, printed, corrected
    )


def erf_slopes() -> Evidence:
    """The integral of E.2 over erf′ erf′, as a function of standard deviations."""
    a, b = 0.7, 0.3
    q, cov = a * a, a * b
    forms = (4 / np.pi / np.sqrt((1 + 2 * u) ** 2 - 4 * v * v) for u, v in ((a, b), (q, cov)))
    truth = gaussian_mean(erf_slope, q, cov)
    return exactly("∫ φ′(az₁) φ′(bz₁ + √(a²−b²) z₂), erf, a = 0.7, b = 0.3", truth, *forms)


def erf_covariance() -> Evidence:
    """The recursion of E.2 for q_sr, σ_w² = 1 and σ_b = 0."""
    q, cov = 1.3, 0.4
    bracket = np.sqrt((1 + 2 * q**0.5) ** 2 - 4 * cov)
    printed = 2 / np.pi * np.arctan(2 * cov**0.5 / bracket)
    corrected = 2 / np.pi * np.arctan(2 * cov / np.sqrt((1 + 2 * q) ** 2 - 4 * cov**2))
    truth = gaussian_mean(erf, q, cov)
    return exactly("q_sr^l, erf, q = 1.3, q_sr = 0.4, σ_w² = 1, σ_b = 0", truth, printed, corrected)


def erf_errors() -> Evidence:
    """The recursion of E.2 for p_sr, σ_w² = 1, equal widths."""
    q, cov = 1.3, 0.4
    printed = 4 / np.pi / np.sqrt((1 + 2 * q**0.5) ** 2 - 4 * cov)
    corrected = 4 / np.pi / np.sqrt((1 + 2 * q) ** 2 - 4 * cov**2)
    truth = gaussian_mean(erf_slope, q, cov)
    return exactly(
        "p_sr^{l−1}/p_sr^l, erf, q = 1.3, q_sr = 0.4, σ_w² = 1", truth, printed, corrected
    )


def first_layer(networks: int) -> Evidence:
    """Variance of the first pre-activation at |x|² = M₀; no ReLU precedes the first layer."""
    rng, fan_in, sigma_w2, sigma_b2 = generator("trust-9"), 10, 1.6, 0.1
    weights = rng.standard_normal((networks, fan_in)) * (sigma_w2 / fan_in) ** 0.5
    h = weights.sum(axis=1) + rng.standard_normal(networks) * sigma_b2**0.5
    return on_average(
        "q¹ at |x|² = M₀, σ_w² = 1.6, σ_b² = 0.1",
        h * h,
        sigma_w2 / 2 + sigma_b2,
        sigma_w2 + sigma_b2,
    )


def kernel_of_pair() -> Evidence:
    """Weights' part of the last layer, compared with its value if q replaces q̂."""
    q, cov, width = 1.0, 0.5, 200
    truth = width * relu_mean(q**0.5, cov / q**0.5)
    angle = np.pi / 2 + np.arcsin(cov / q)
    corrected = width * q / (2 * np.pi) * (np.sqrt(1 - (cov / q) ** 2) + cov / q * angle)
    return exactly(
        "E⟨x^{L−1}, x̃^{L−1}⟩, ReLU, M = 200, q = 1, q_sr = 0.5", truth, width * cov, corrected
    )


def output_variance(networks: int) -> Evidence:
    """Variance of fully trained outputs.

    The initial outputs f⁰ on S inputs and one test point are Gaussian, and the labels are ±1.
    """
    rng, size, ratio, q, cov = generator("trust-11"), 10, 2.5, 1.0, 0.4
    a = size / (ratio + size - 1)
    shared = rng.standard_normal((networks, 1)) * cov**0.5
    f = shared + rng.standard_normal((networks, size + 1)) * (q - cov) ** 0.5
    labels = rng.integers(0, 2, (networks, size)) * 2.0 - 1.0
    trained = f[:, 0] + a * (labels - f[:, 1:]).mean(axis=1)
    printed = (1 + a**2 / size) * (q - cov) + (a - 1) ** 2 * cov
    return on_average(
        "Var f^∞ over weights and data, S = 10, κ₁/κ₂ = 2.5, q = 1, q_sr = 0.4, y = ±1",
        trained**2,
        printed,
        printed + a**2 / size,
    )


ERRATA = (
    Erratum(
        id="trust-1",
        paper="trust",
        place="(1), with (5)",
        printed="W^l_ij ~ N(0, σ_w²/M_l)",
        corrected="W^l_ij ~ N(0, σ_w²/M_{l−1}), the fan-in",
        kind="misprint",
        evidence="The variance of (5) by quadrature; with (1) it gains a factor M_{l−1}/M_l.",
        check=variance_of_weights,
        quotes=(
            *quoted("trust", (23, r"\mathbf{W}^{l}_{ij}\sim\mathcal{N}(0,\sigma_{w}^{2}/M_{l})")),
            *quoted("thesis", (825, r"\mathbf{W}_{ij}^l \sim \mathcal{N}(0, \sigma_w^2/M_l)")),
        ),
    ),
    Erratum(
        id="trust-2",
        paper="trust",
        place="(8), (9); recursions of E.1 and E.2",
        printed="p^l = σ_w² p^{l+1} (M_{l+1}/M_{l+2}) ∫ φ′²",
        corrected="p^l = σ_w² p^{l+1} ∫ φ′²; p^l is a sum over units, variances have the fan-in",
        kind="wrong result",
        evidence="Networks of unequal widths drawn in full.",
        check=error_recursion,
        drawn=True,
        quotes=(
            *quoted(
                "trust",
                (93, r"\sigma_{w}^{2}p^{l+1}(x_{s})\dfrac{M_{l+1}}{M_{l+2}}"),
                (97, r"\sigma_{w}^{2}p^{l+1}_{sr}(x_{s},x_{r})\dfrac{M_{l+1}}{M_{l+2}}"),
                (389, r"\frac{\sigma_{w}^{2}}{2}p^{l}\frac{M_{l}}{M_{l+1}}"),
                (415, r"\frac{1}{\sqrt{q^{l-1}+1/4}}\frac{M_{l}}{M_{l+1}}"),
            ),
            *quoted(
                "thesis",
                (900, r"\sigma_w^2 p^{l+1}(x_s) \frac{M_{l+1}}{M_{l+2}}"),
                (904, r"\sigma_w^2 p_{sr}^{l+1}(x_s, x_r) \frac{M_{l+1}}{M_{l+2}}"),
                (1279, r"\frac{\sigma_w^2}{2} p^l \frac{M_l}{M_{l+1}}"),
                (1311, r"\frac{1}{\sqrt{q^{l-1} + 1/4}} \frac{M_l}{M_{l+1}}"),
            ),
        ),
    ),
    Erratum(
        id="trust-3",
        paper="trust",
        place="E.1, first integral",
        printed="(a/2π) (√(1−c²) + cπ/2 + c arcsin c)",
        corrected="(a²/2π) (√(1−c²) + cπ/2 + c arcsin c)",
        kind="misprint",
        evidence="Quadrature.",
        check=relu_product,
        quotes=(
            *quoted("trust", (393, r"\frac{a}{2\pi}(\sqrt{1-c^{2}}+c\pi/2+c\arcsin(c))")),
            *quoted("thesis", (1283, r"\frac{a}{2\pi} (\sqrt{1 - c^2} + c\pi/2 + c \arcsin(c))")),
        ),
    ),
    Erratum(
        id="trust-4",
        paper="trust",
        place="E.1 and E.2, p_sr",
        printed="p_sr^{l−1} = (σ_w²/2π) p^l (M_l/M_{l+1}) (π/2 + arcsin c), and p^l in E.2, too",
        corrected="p_sr^{l−1} = (σ_w²/2π) p_sr^l (π/2 + arcsin c), and p_sr^l in E.2; "
        "for the widths see trust-2",
        kind="misprint",
        evidence="(9) applied twice, the probability that both units are on from their angle. The "
        "reprint in the thesis has p_sr^l in E.2.",
        check=relu_errors,
        quotes=(
            *quoted(
                "trust",
                (397, r"\frac{\sigma_{w}^{2}}{2\pi}p^{l}\frac{M_{l}}{M_{l+1}}(\pi/2+\arcsin c)"),
                (423, r"p_{sr}^{l-1}&=\frac{4\sigma_{w}^{2}}{\pi}p^{l}\frac{M_{l}}{M_{l+1}}"),
            ),
            *quoted(
                "thesis",
                (1287, r"\frac{\sigma_w^2}{2\pi} p^l \frac{M_l}{M_{l+1}} (\pi/2 + \arcsin c)"),
            ),
        ),
    ),
    Erratum(
        id="trust-5",
        paper="trust",
        place="E.2, integral of φ φ",
        printed="(2/π) arctan(2b / √((1+2a)² − 4b²))",
        corrected="(2/π) arctan(2ab / √((1+2a²)² − 4a²b²))",
        kind="wrong result",
        evidence="Quadrature; as printed it holds for a variance a and a covariance b.",
        check=erf_product,
        quotes=(
            *quoted("trust", (419, r"\frac{2}{\pi}\arctan\frac{2b}{\sqrt{(1+2a)^{2}-4b^{2}}}")),
            *quoted("thesis", (1315, r"\frac{2}{\pi} \arctan \frac{2b}{\sqrt{(1+2a)^2 - 4b^2}}")),
        ),
    ),
    Erratum(
        id="trust-6",
        paper="trust",
        place="E.2, integral of φ′ φ′",
        printed="(4/π) / √((1+2a)² − 4b²)",
        corrected="(4/π) / √((1+2a²)² − 4a²b²)",
        kind="wrong result",
        evidence="Quadrature.",
        check=erf_slopes,
        quotes=(
            *quoted("trust", (419, r"\frac{4}{\pi}\frac{1}{\sqrt{(1+2a)^{2}-4b^{2}}}")),
            *quoted("thesis", (1317, r"\frac{4}{\pi} \frac{1}{\sqrt{(1+2a)^2 - 4b^2}}")),
        ),
    ),
    Erratum(
        id="trust-7",
        paper="trust",
        place="E.2, q_sr",
        printed="arctan(2√q_sr / √((1+2√q)² − 4q_sr)), q and q_sr of layer l−1",
        corrected="arctan(2q_sr / √((1+2q)² − 4q_sr²))",
        kind="wrong result",
        evidence="Quadrature. The reprint in the thesis has √q_sr for √q.",
        check=erf_covariance,
        quotes=quoted(
            "trust",
            (
                423,
                r"\arctan\frac{2\sqrt{q_{sr}^{l-1}}}"
                r"{\sqrt{(1+2\sqrt{q^{l-1}})^{2}-4q_{sr}^{l-1}}}",
            ),
        ),
    ),
    Erratum(
        id="trust-8",
        paper="trust",
        place="E.2, p_sr",
        printed="1 / √((1+2√q)² − 4q_sr), q and q_sr of layer l−1",
        corrected="1 / √((1+2q)² − 4q_sr²)",
        kind="wrong result",
        evidence="Quadrature. The reprint in the thesis has √q_sr for √q.",
        check=erf_errors,
        quotes=quoted("trust", (423, r"\frac{1}{\sqrt{(1+2\sqrt{q^{l-1}})^{2}-4q_{sr}^{l-1}}}")),
    ),
    Erratum(
        id="trust-9",
        paper="trust",
        place="E.1, initial condition",
        printed="q⁰ = 1 in q^l = (σ_w²/2) q^{l−1} + σ_b²",
        corrected="q¹ = σ_w² |x|²/M₀ + σ_b²: the input passes no activation",
        kind="misprint",
        evidence="First pre-activations drawn. The forward pass before (5) has no activation "
        "before the first layer.",
        check=first_layer,
        drawn=True,
        quotes=(
            *quoted("trust", (401, r"q^{0}=1 when data is normalized")),
            *quoted("thesis", (1291, r"$q^0 = 1$ when data is normalized")),
        ),
    ),
    Erratum(
        id="trust-10",
        paper="trust",
        place="appendix A, proof of Lemma 2 (5.2)",
        printed="Σ_l α_{l−1} M p_sr^l q_sr^{l−1}",
        corrected="Σ_l α_{l−1} M p_sr^l q̂_sr^{l−1}, as in the lemma",
        kind="misprint",
        evidence="Inner product of activations of a wide layer, by quadrature.",
        check=kernel_of_pair,
        quotes=(
            *quoted(
                "trust", (281, r"\alpha_{l-1}Mp_{sr}^{l}(x_{s},x_{r})q^{l-1}_{sr}(x_{s},x_{r})")
            ),
            *quoted("thesis", (1134, r"\alpha_{l-1} M p_{sr}^l(x_s, x_r) q_{sr}^{l-1}(x_s, x_r)")),
        ),
    ),
    Erratum(
        id="trust-11",
        paper="trust",
        place="Theorem 3 (5.3), variance over weights and data",
        printed="Var f^∞ = (1 + A²/S)(q − q_sr) + (A−1)² q_sr",
        corrected="that is the variance over weights at fixed labels; over data add A² Var(y)/S",
        kind="wrong result",
        evidence="Trained outputs of a kernel of two values, drawn with random labels.",
        check=output_variance,
        drawn=True,
        quotes=(
            *quoted(
                "trust",
                (
                    217,
                    r"\approx(1+\frac{A^{2}}{S})(\bar{q}^{L}-\bar{q}^{L}_{sr})+(A-1)^{2}\bar{q}_{sr}^{L}",
                ),
            ),
            *quoted(
                "thesis", (1052, r"\left(1 + \frac{A^2}{S}\right)(\bar{q}^L - \bar{q}_{sr}^L)")
            ),
        ),
    ),
    Erratum(
        id="trust-12",
        paper="trust",
        place="section 1.2",
        printed="σ_w = 2, σ_b = 0",
        corrected="σ_w² = 2, σ_b = 0",
        kind="misprint",
        evidence="Root of χ₁ = 1.",
        check=edge_of_chaos,
        quotes=(
            *quoted(
                "trust", (57, r"\sigma_{w}=2,\sigma_{b}=0"), (59, r"\sigma_{w}=2,\sigma_{b}=0")
            ),
            *quoted(
                "thesis", (862, r"\sigma_w = 2, \sigma_b = 0"), (864, r"\sigma_w = 2, \sigma_b = 0")
            ),
        ),
        numbers=("trust_text/edge_of_chaos/relu",),
    ),
    Erratum(
        id="trust-13",
        paper="trust",
        place="section 5, before Lemma 2",
        printed="Θ⁰(x_s, x_r) = ∇f⁰(x_s)ᵀ ∇f⁰(x_s)",
        corrected="Θ⁰(x_s, x_r) = ∇f⁰(x_s)ᵀ ∇f⁰(x_r), as in appendix A",
        kind="misprint",
        evidence="The printed form does not depend on x_r. The reprint in the thesis is right.",
        quotes=quoted(
            "trust",
            (
                181,
                r"\Theta^{0}(x_{s},x_{r})=\nabla_{w}f^{0}(x_{s})^{T}\nabla_{w}f^{0}(x_{s})",
            ),
        ),
    ),
    Erratum(
        id="trust-14",
        paper="trust",
        place="section 3, last paragraph",
        printed="In Appendix D, we provide figures showing the NTK variance with different σ_b²",
        corrected="Appendix C, with Figure 7",
        kind="misprint",
        evidence="Appendix D is about the change of the kernel during training.",
        quotes=(
            *quoted("trust", (127, "In Appendix D, we provide figures showing the NTK variance")),
            *quoted(
                "thesis", (946, "In [Appendix D](#), we provide figures showing the NTK variance")
            ),
        ),
    ),
)
