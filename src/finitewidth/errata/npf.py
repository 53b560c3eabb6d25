"""Errata of the final version of ``npf``."""

import numpy as np
import torch

from finitewidth.common.texts import Quote
from finitewidth.errata.erratum import Erratum, Evidence, exactly
from finitewidth.errata.networks import generator
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import overlap
from finitewidth.kernels.paths import path_output
from finitewidth.networks.random_gated import every_signed_network


def output_layer() -> Evidence:
    """The output as a sum over paths, and by Table 1 with either weight matrix."""
    rng = generator("npf-1")
    weights = [torch.from_numpy(rng.standard_normal(shape)) for shape in [(3, 4), (4, 4), (4, 1)]]
    gates = [torch.from_numpy((rng.random((1, 4)) < 0.6).astype(float)) for _ in range(2)]
    x = torch.from_numpy(rng.standard_normal((1, 3)))
    z = ((x @ weights[0]) * gates[0] @ weights[1]) * gates[1]
    by_table = [float(z[0] @ weights[layer][:, 0]) for layer in (1, 2)]
    return exactly(
        "ŷ(x) of one gated network, d = 3, w = 4", float(path_output(x, weights, gates)), *by_table
    )


def soft_gate() -> Evidence:
    """A soft gate of large slope at a negative pre-activation, where the hard gate is closed."""
    beta, q = 50.0, -1.0
    hard = float(q > 0)
    printed = 1 / (1 + np.exp(-beta * float(q > 0)))
    return exactly(
        "gate at β = 50, q = −1; the hard gate", hard, printed, 1 / (1 + np.exp(-beta * q))
    )


def variance_constant() -> Evidence:
    """The sum over crossings in the proof of Theorem B.2, term by term."""
    d_in, w, d, scale = 3, 60, 4, 1.3
    sigma4 = (scale / w**0.5) ** (4 * (d - 1))
    paths = d_in * w ** (d - 1)
    terms = [d**2 * 6.0 ** (k + 1) * (d / w) ** k * paths**2 for k in range(1, 200)]
    rest = 6 * d_in**2 * (6 * d**3 / w) / (1 - 6 * d / w)
    return exactly(
        "Σ_k d² 6^{k+1} (wd)^k P² w^{−2k} σ^{4(d−1)} at d_in = 3, w = 60, d = 4, σ′ = 1.3",
        sigma4 * sum(terms),
        rest * scale**2,
        rest * scale ** (4 * (d - 1)),
    )


def half_output_variance() -> Evidence:
    """E K(1, 2) over all networks of the variances of (2) with fixed gates, w = 2, d = 3.

    In (2) the last layer has half the variance of the others: weights ±σ/√2 beside ±σ.
    """
    rng, sigma, d = generator("npf-2"), 0.6, 3
    patterns = ([[1, 1], [1, 0]], [[0, 1], [1, 1]])
    gates = [torch.tensor(pattern, dtype=torch.float64) for pattern in patterns]
    x = torch.from_numpy(rng.standard_normal((2, 2)))
    *hidden, last = every_signed_network((2, 2, 2, 1), sigma)
    kernels = value_kernel(x, [*hidden, last / 2**0.5], None, gates, with_biases=False)
    per_path = sigma ** (2 * (d - 1)) * float((x @ x.T * overlap(gates))[0, 1])
    return exactly(
        "E K(x₁, x₂) with the variances of (2), fixed gates, w = 2, d = 3, σ = 0.6",
        float(kernels.mean(dim=0)[0, 1]),
        d * per_path,
        (d + 1) / 2 * per_path,
    )


ERRATA = (
    Erratum(
        id="npf-1",
        paper="npf",
        place="Table 1, output",
        printed="ŷ(x) = Σ_{j∈[w]} Θ(1, j, d−1) · z(j, d−1)",
        corrected="ŷ(x) = Σ_{j∈[w]} Θ(1, j, d) · z(j, d−1), as in (7)",
        kind="misprint",
        evidence="The output of a random gated network is the sum over all its paths.",
        check=output_layer,
        quotes=(Quote(text="npf", line=74, words=r"\sum_{j \in [w]} \Theta(1, j, d - 1) \cdot"),),
    ),
    Erratum(
        id="npf-2",
        paper="npf",
        place="sections 1.2 and 5, with (2)",
        printed="K^(d) in prior works … essentially becomes K_FNPF^(d)",
        corrected="it becomes (d + 1)/(2d) K_FNPF^(d): in (2), where "
        "K^(d) = (K̃^(d) + Σ^(d))/2, the last layer has half the variance of the others, "
        "in Theorem 5.1 it has the same",
        kind="imprecise remark",
        evidence="Mean kernel over all networks with the variances of (2) and fixed gates. "
        "The two agree up to a factor that depends on the depth alone.",
        check=half_output_variance,
        quotes=(
            Quote(text="npf", line=54, words=r"becomes the $K_{\text{FNPF}}^{(d)}$ matrix in the"),
            Quote(
                text="npf",
                line=179,
                words=r"$K^{(d)}$ in prior works [8, 1, 3] essentially becomes $K_{FNPF}^{(d)}$",
            ),
            Quote(
                text="npf0",
                line=171,
                words=r"$K^{(d)}$ in prior works [9, 1, 4] essentially becomes "
                r"$K_{\text{FNPF}}^{(d)}$",
            ),
        ),
    ),
    Erratum(
        id="npf-3",
        paper="npf",
        place="Theorem B.2, proof",
        printed="6 d_in² σ′² (6d³/w) (1/(1 − 6d/w))",
        corrected="6 d_in² σ′^{4(d−1)} (6d³/w) (1/(1 − 6d/w))",
        kind="misprint",
        evidence="The line above it bounds the variance by a series, which is summed term by term.",
        check=variance_constant,
        quotes=(
            Quote(
                text="npf",
                line=520,
                words=r"6d_{\text{in}}^2 \sigma'^2 \left(\frac{6d^3}{w}\right)",
            ),
        ),
    ),
    Erratum(
        id="npf-4",
        paper="npf",
        place="Table 4, soft gate",
        printed="G(i, l) = 1 / (1 + exp(−β · q^f(i, l) > 0))",
        corrected="G(i, l) = 1 / (1 + exp(−β · q^f(i, l)))",
        kind="misprint",
        evidence="A steep soft gate must be shut where the hard gate is; "
        "the printed one, with the truth value of q > 0 for q, is half open.",
        check=soft_gate,
        quotes=(
            Quote(
                text="npf",
                line=539,
                words=r"$G_x(i, l) = 1 / (1 + \exp(-\beta \cdot q_x^f(i, l) > 0))$",
            ),
        ),
    ),
    Erratum(
        id="npf-5",
        paper="npf",
        place="Table 4, output of the value network",
        printed="Σ_j Θ^v(1, j, l) · z^v(j, d−1)",
        corrected="Σ_j Θ^v(1, j, d) · z^v(j, d−1)",
        kind="misprint",
        evidence="The layer l has no value in this row; with d it is the output of (7).",
        quotes=(
            Quote(
                text="npf",
                line=538,
                words=r"\sum_j \Theta^v(1, j, l) \cdot z_x^v(j, d-1)",
            ),
        ),
    ),
    Erratum(
        id="npf-6",
        paper="npf",
        place="Table 4, feature network",
        printed="q^f(i, l) = Σ_j Θ^f(i, j, l) · z(j, l−1)",
        corrected="q^f(i, l) = Σ_j Θ^f(i, j, l) · z^f(j, l−1)",
        kind="misprint",
        evidence="The table defines z^f and z^v, and no other z.",
        quotes=(Quote(text="npf", line=536, words=r"\sum_j \Theta^f(i, j, l) \cdot z_x(j, l-1)"),),
    ),
    Erratum(
        id="npf-7",
        paper="npf",
        place="Appendix A, (2)",
        printed="M^(l) ∈ ℝ²",
        corrected="M^(l) ∈ ℝ^{2×2}",
        kind="misprint",
        evidence="The matrix printed beside it has four entries.",
        quotes=(
            Quote(text="npf", line=274, words=r"\end{bmatrix} \in \mathbb{R}^2"),
            Quote(text="npf0", line=243, words=r"\end{bmatrix} \in \mathbb{R}^2"),
        ),
    ),
    Erratum(
        id="npf-8",
        paper="npf",
        place="Appendix D.1",
        printed="we set the step-size α = 0.1/ρ_max, w = 100",
        corrected="w = 25 and 500",
        kind="misprint",
        evidence="The sentence is about Figure 7, where w is 25 and 500. "
        "Section 2 of dgn has the same words about its Figure 3, which has the same widths.",
        quotes=(
            Quote(
                text="npf",
                line=620,
                words=r"we set the step-size $\alpha = \frac{0.1}{\rho_{\max}}$, $w = 100$",
            ),
        ),
    ),
)
