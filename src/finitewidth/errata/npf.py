"""Misprints of the final version of ``npf``."""

import numpy as np
import torch

from finitewidth.errata.erratum import Erratum, Evidence, exactly, on_average
from finitewidth.errata.networks import generator
from finitewidth.kernels.paths import path_output


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


def equal_variances(networks: int) -> Evidence:
    """Tangent kernel of ReLU networks with weights ±√(2/w) in all layers, at one unit input."""
    rng, w, d = generator("npf-2"), 32, 4
    draws = max(2, networks // 100)
    x = rng.standard_normal(w)
    weights, signals = [], [np.tile(x / np.linalg.norm(x), (draws, 1))]
    for width in [w] * (d - 1) + [1]:
        signs = rng.integers(0, 2, (draws, width, w)) * 2.0 - 1.0
        weights.append(signs * (2 / w) ** 0.5)
        signals.append(np.maximum(np.einsum("dij,dj->di", weights[-1], signals[-1]), 0.0))
    kernel, delta = (signals[d - 1] ** 2).sum(axis=1), np.ones((draws, 1))
    for layer in range(d - 1, 0, -1):
        delta = np.einsum("dij,di->dj", weights[layer], delta) * (signals[layer] > 0)
        kernel = kernel + (delta**2).sum(axis=1) * (signals[layer - 1] ** 2).sum(axis=1)
    # Sigma^(l)(s, s) = 1 for all l, so K~^(d) = d and K^(d) = (d + 1) / 2
    return on_average(
        "E K(x, x), |x| = 1, d = 4, all weights ±√(2/w), w = 32", kernel, (d + 1) / 2, d
    )


ERRATA = (
    Erratum(
        id="npf-1",
        paper="npf",
        place="Table 1, output",
        printed="ŷ(x) = Σ_j Θ(1, j, d−1) z(j, d−1)",
        corrected="ŷ(x) = Σ_j Θ(1, j, d) z(j, d−1), as in (7)",
        kind="index",
        evidence="The output of a random gated network as the sum over all its paths.",
        check=output_layer,
    ),
    Erratum(
        id="npf-2",
        paper="npf",
        place="sections 1.2 and 5 with (2)",
        printed="with fixed gates K^(d) = (K̃^(d) + Σ^(d)) / 2 becomes d σ^{2(d−1)} H",
        corrected="K̃^(d) does: K^(d) has an output layer of half the variance of the others, "
        "Theorem 5.1 has equal variances in all layers",
        kind="formula",
        evidence="Mean tangent kernel of ReLU networks drawn with the variances of Theorem 5.1.",
        check=equal_variances,
        drawn=True,
    ),
    Erratum(
        id="npf-3",
        paper="npf",
        place="Theorem B.2, proof",
        printed="6 d_in² σ′² (6d³/w) / (1 − 6d/w)",
        corrected="6 d_in² σ′^{4(d−1)} (6d³/w) / (1 − 6d/w)",
        kind="formula",
        evidence="The sum that the line above it bounds, term by term.",
        check=variance_constant,
    ),
    Erratum(
        id="npf-4",
        paper="npf",
        place="Table 4, soft gate",
        printed="1 / (1 + exp(−β·q > 0))",
        corrected="1 / (1 + exp(−β·q))",
        kind="formula",
        evidence="A steep soft gate must be shut where the hard gate is; "
        "the printed one, with the truth value of q > 0 for q, is half open.",
        check=soft_gate,
    ),
    Erratum(
        id="npf-5",
        paper="npf",
        place="Table 4, output of the value network",
        printed="Σ_j Θ^v(1, j, l) z^v(j, d−1)",
        corrected="Σ_j Θ^v(1, j, d) z^v(j, d−1)",
        kind="index",
        evidence="l has no value there; with d it is the output of Table 1.",
    ),
    Erratum(
        id="npf-6",
        paper="npf",
        place="Table 4, feature network",
        printed="q^f(i, l) = Σ_j Θ^f(i, j, l) z(j, l−1)",
        corrected="q^f(i, l) = Σ_j Θ^f(i, j, l) z^f(j, l−1)",
        kind="index",
        evidence="There is no z beside z^f and z^v.",
    ),
    Erratum(
        id="npf-7",
        paper="npf",
        place="Appendix A, (2)",
        printed="M^(l) ∈ ℝ²",
        corrected="M^(l) ∈ ℝ^{2×2}",
        kind="index",
        evidence="The matrix printed beside it has four entries.",
    ),
    Erratum(
        id="npf-8",
        paper="npf",
        place="Appendix D.1",
        printed="step size stated for w = 100",
        corrected="for the widths of Figure 7, w = 25 and 500",
        kind="wording",
        evidence="No figure of the appendix has w = 100.",
    ),
)
