"""Errata of ``beyond`` in off-diagonal elements, estimators and the appendix.

Those in moments are in `finitewidth.errata.beyond_moments`, those in lazy training and in
parametrisations in `finitewidth.errata.beyond_lazy`.
"""

import itertools

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from finitewidth.common.texts import quoted
from finitewidth.errata import beyond_lazy, beyond_moments
from finitewidth.errata.erratum import Erratum, Evidence, exactly
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
    share = quad(lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi), 0, 40)[0]
    root = brentq(lambda variance: variance * share - 1, 0.1, 10, xtol=1e-14)
    return exactly("σ_w² at which σ_w² E[φ′²] = 1, ReLU", root, 2.0**2, 2.0)


ERRATA = (
    *beyond_moments.ERRATA,
    Erratum(
        id="beyond-10",
        paper="beyond",
        place="(18)",
        printed="E Θ(x, x̃)/E Θ(x, x) ≳ Σ_l a^{L−l} Π g(ρ_{k−1}) / Σ_l a^{L−l}",
        corrected="with the weights' part: [a^{L−1} Σ_l (n_{l−1}/n₀) ρ_{l−1} Π g "
        "+ Σ_l a^{L−l} Π g] / [a^{L−1} Σ_l n_{l−1}/n₀ + Σ_l a^{L−l}], which is smaller",
        kind="imprecise remark",
        evidence="Infinitely wide networks, Gaussian means by quadrature: at finite depth it is no "
        "bound. As L → ∞ the weights' part vanishes.",
        check=ordered_ratio,
        quotes=quoted(
            "thesis",
            (
                1514,
                r"\gtrsim \frac{\sum_{\ell=1}^L a^{L-\ell} \prod_{k=\ell}^{L-1} g(\rho_{k-1})}"
                r"{\sum_{\ell=1}^L a^{L-\ell}}",
            ),
        ),
        claims=("B14",),
    ),
    Erratum(
        id="beyond-11",
        paper="beyond",
        place="Theorem A.9, proof",
        printed="Σ_l g^{∘(l−1)}(ρ) Π f(g^{∘(k−1)}(ρ)) ≥ L/4 for L ≥ 2",
        corrected="for L → ∞ only; at L = 2 it is ρ f(ρ) + g(ρ), which is 1/π at ρ = 0",
        kind="wrong result",
        evidence="The sum at L = 2 with Gaussian means by quadrature.",
        check=two_layer_sum,
        quotes=quoted("thesis", (2224, r"\geq L/4$ for $L \geq 2$")),
    ),
    Erratum(
        id="beyond-12",
        paper="beyond",
        place="C.3, estimator",
        printed="r̂ = 1/(N−2) Σ_i θ_i² / (..)",
        corrected="r̂ = 1/N Σ_i θ_i² / (..)",
        kind="wrong result",
        evidence="A kernel that does not vary has r = 1. The N − 1 in the expectation that follows "
        "belongs to the same prefactor.",
        check=equal_draws,
        quotes=quoted("thesis", (2439, r"\hat{r} := \frac{1}{N-2} \sum_{i=1}^N")),
    ),
    Erratum(
        id="beyond-13",
        paper="beyond",
        place="C.3, expectation",
        printed="E r̂ = μ₂/μ₁²: unbiased",
        corrected="E r̂ = μ₂ E[1/μ̂₁²] > μ₂/μ₁², the mean of 1/μ̂₁² is not 1/μ₁²",
        kind="wrong result",
        evidence="All samples of four draws from a law of two values.",
        check=mean_of_estimator,
        quotes=quoted(
            "thesis",
            (2443, r"\mathbb{E}[\hat{r}] = (N-1)"),
            (2445, r"\hat{r} is an unbiased estimator of the ratio"),
        ),
        claims=("B22",),
    ),
    Erratum(
        id="beyond-14",
        paper="beyond",
        place="appendix B.2",
        printed="the dispersion is lower for networks that widen",
        corrected="for L = 150 it is the lowest at σ_w² = 1, 1.5 and 1.9, the highest at 1.98 and "
        "2, and between those of constant and of narrowing widths at 2.2 and 3",
        kind="imprecise remark",
        evidence="Exact moments of the widths of Figure 6. The order depends on L, too: at σ_w² = "
        "1.9 and L = 50 constant widths have the lowest dispersion.",
        check=widening,
        quotes=quoted(
            "thesis",
            (2342, r"the NTK dispersion is lower for the DNNs that increase the dimensionality"),
        ),
        claims=("B10",),
    ),
    Erratum(
        id="beyond-15",
        paper="beyond",
        place="Lemma A.1, proof",
        printed="φ²(W_i x + b_i) = (√(σ_w²/n) |x| + σ_b)² φ²(U)",
        corrected="(σ_w² |x|²/n + σ_b²) φ²(U): variances add; without effect at σ_b = 0",
        kind="wrong result",
        evidence="Quadrature at two variances of 1.",
        check=activation_with_bias,
        quotes=quoted(
            "thesis",
            (
                1668,
                r"\frac{\sigma_w^2}{n_{\ell-1}}} \|\mathbf{x}^{\ell-1}\| + \sigma_b\right)^2",
            ),
            (
                1672,
                r"\frac{\sigma_w^2}{n_{\ell-1}}} \|\mathbf{x}^{\ell-1}\| + \sigma_b\right)^2",
            ),
        ),
    ),
    Erratum(
        id="beyond-16",
        paper="beyond",
        place="section 3.1",
        printed="edge of chaos, σ_w = 2",
        corrected="σ_w² = 2",
        kind="misprint",
        evidence="Root of χ₁ = 1. Section 2.2 has σ_w² = 2; trust has the same slip (trust-12).",
        check=edge_of_chaos,
        quotes=quoted("thesis", (1445, r"EOC ($\sigma_w = 2$)")),
        numbers=("beyond_text/edge_of_chaos/relu",),
    ),
    Erratum(
        id="beyond-17",
        paper="beyond",
        place="Figure 7, caption",
        printed="M = 200 with α₀ ∈ {2.0, 0.5, 0.1}",
        corrected="the caption of Figure 8; C.1 says that Figure 7 is like Figure 1",
        kind="misprint",
        evidence="Two captions are the same.",
        quotes=quoted("thesis", (2409, r"$M = 200$ with $\alpha_0 \in \{2.0, 0.5, 0.1\}$")),
    ),
    Erratum(
        id="beyond-18",
        paper="beyond",
        place="Figure 11, caption",
        printed="dispersion E[Θ²]/E[Θ]² around the edge of chaos, as in Figure 2",
        corrected="C.2 says that it shows lines of Figure 3, E Θ(x, x̃)/E Θ(x, x)",
        kind="misprint",
        evidence="It repeats the caption of Figure 10.",
        quotes=quoted(
            "thesis",
            (2433, r"Figure 11. Ratio $\mathbb{E}[\Theta^2(x, x)]/\mathbb{E}^2[\Theta(x, x)]$"),
        ),
    ),
    Erratum(
        id="beyond-19",
        paper="beyond",
        place="Theorem 4.1 (2), (22)",
        printed="one step of gradient descent: E ΔΘ(x, x)/E Θ(x, x) → 0 in the ordered phase",
        corrected="to first order in the step size, as proved, or for a step of the weights alone",
        kind="imprecise remark",
        evidence="After a step of a fixed size the biases exceed the pre-activations of deep "
        "layers, which changes gates. Claim B16 measures such steps.",
        quotes=quoted("thesis", (1561, "the NTK stays constant in the limit")),
        claims=("B16",),
        numbers=("beyond_text/relative_ntk_change/ordered",),
    ),
    *beyond_lazy.ERRATA,
)
