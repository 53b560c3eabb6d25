"""Errata of ``dgn`` (deep gated networks)."""

import itertools

import numpy as np
import torch

from finitewidth.common.texts import Quote
from finitewidth.errata.erratum import Erratum, Evidence, exactly, extrapolated
from finitewidth.errata.networks import generator
from finitewidth.kernels.gated_moments import (
    GateCounts,
    leading_variance,
    value_kernel_moments,
)
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import overlap
from finitewidth.kernels.paths import enumerate_paths, path_features
from finitewidth.networks.random_gated import every_signed_network


def path_sensitivities(weights: list[torch.Tensor], paths: torch.Tensor) -> torch.Tensor:
    """Inner products of the derivatives of path strengths (equation 3).

    Args:
        weights: one matrix per layer.
        paths: the units of each path, (P, d + 1).

    Returns:
        (P, P).
    """
    total = 0.0
    factors = [w[paths[:, k], paths[:, k + 1]] for k, w in enumerate(weights)]
    for k in range(len(weights)):
        own = torch.stack(factors[:k] + factors[k + 1 :]).prod(dim=0)
        edges = paths[:, k : k + 2]
        total = total + torch.outer(own, own) * (edges[:, None] == edges[None]).all(dim=-1)
    return total


def paths_from_two_inputs() -> Evidence:
    """K(x, x) of one random gated network, from its gradients and from sums over paths."""
    rng = generator("dgn-1")
    sizes = (2, 3, 3, 1)
    weights = [torch.from_numpy(rng.standard_normal(pair)) for pair in itertools.pairwise(sizes)]
    gates = [torch.from_numpy((rng.random((2, 3)) < 0.7).astype(float)) for _ in range(2)]
    x = torch.from_numpy(rng.standard_normal((2, 2)))
    paths = enumerate_paths(sizes)
    features = path_features(x, gates, paths)
    between = path_sensitivities(weights, paths)
    same_input = (paths[:, None, 0] == paths[None, :, 0]).double()
    printed, corrected = (
        float(features[0] @ (between * kept) @ features[0]) for kept in (same_input, 1.0)
    )
    truth = value_kernel(x, weights, None, gates, with_biases=False)[0, 0]
    return exactly("K(x, x) of one network, d_in = 2, w = 3, d = 3", truth, printed, corrected)


def linear_variance(depth: int, width: int) -> float:
    """Exact Var K of a deep linear network with weights ±1/√w at x = 1."""
    open_units = np.full((depth - 1, 1, 1), width)
    counts = GateCounts.of_numbers(open_units, open_units, open_units)
    return float(value_kernel_moments(np.ones((1, 1)), counts, 1 / width).variance[0, 0])


def variance_growth() -> Evidence:
    """Variance times w for large w of deep linear networks with d = 16.

    The printed value scales the variance at d = 4 by the printed bound.
    """
    widths = [2**power for power in range(8, 13)]
    at_four = extrapolated([w * linear_variance(4, w) for w in widths])[0]
    truth, error = extrapolated([w * linear_variance(16, w) for w in widths])
    return Evidence(
        "lim w·Var K₀, deep linear network, d_in = n = 1, σ² = 1/w, d = 16; "
        "printed: the most that O(d²/w) allows after d = 4",
        truth,
        error,
        at_four * (16 / 4) ** 2,
        leading_variance(16, 1),
    )


def soft_gates() -> tuple[list[torch.Tensor], torch.Tensor]:
    """Two layers of soft gates with two units each, and two inputs of two coordinates."""
    rng = generator("dgn-3")
    gates = [torch.from_numpy(rng.random((2, 2))) for _ in range(2)]
    return gates, torch.from_numpy(rng.standard_normal((2, 2)))


def kernel_of_weights() -> Evidence:
    """E K^w(1, 2) over all 2¹⁰ networks with weights ±σ and fixed soft gates, d = 3."""
    gates, x = soft_gates()
    sigma, d = 0.6, 3
    weights = every_signed_network((2, 2, 2, 1), sigma)
    kernels = value_kernel(x, weights, None, gates, with_biases=False)
    printed = sigma ** (2 * (d - 1)) * float((x @ x.T * overlap(gates))[0, 1])
    truth = kernels.mean(dim=0)[0, 1]
    return exactly("E K^w(x₁, x₂), w = 2, d = 3, σ = 0.6", truth, printed, d * printed)


def overlap_ratio() -> Evidence:
    """E λ(s, s') / E λ(s, s) over all hard gates of probability mu, w = 2, d = 3."""
    mu, d = 0.3, 3
    patterns = torch.tensor(list(itertools.product((0.0, 1.0), repeat=8)), dtype=torch.float64)
    chance = (mu**patterns * (1 - mu) ** (1 - patterns)).prod(dim=1)
    gates = list(patterns.reshape(-1, 2, 2, 2).unbind(dim=1))
    shared = torch.einsum("g,gst->st", chance, overlap(gates))
    return exactly(
        "E λ₀(s, s′) / E λ₀(s, s), gates on with μ = 0.3, w = 2, d = 3",
        shared[0, 1] / shared[0, 0],
        mu**d,
        mu ** (d - 1),
    )


def squared_loss() -> Evidence:
    """One step of gradient descent, α = 0.1, for the model y = θ x with x = 1, so that K = 1."""
    step, error = 0.1, 1.0
    by_law = (error - step * 1.0 * error) ** 2
    printed, halved = ((error - step * slope * error) ** 2 for slope in (2.0, 1.0))
    return exactly("e²_{t+1} / e²_t at αK = 0.1; what (1) says", by_law, printed, halved)


def one_crossing() -> Evidence:
    """Factor by which the left side of Case 2 grows when w doubles."""
    d = 5

    def left(w: int) -> float:
        return w**2 * (d - 2) * d**2 * float(w) ** (2 * (d - 3)) * 16

    return exactly(
        "growth of w²(d−2)·d²·w^{2(d−3)}·16 from w = 10 to 20, d = 5",
        left(20) / left(10),
        2.0 ** (2 * (d - 3)),
        2.0 ** (2 * (d - 2)),
    )


def paths_through_first_layer() -> Evidence:
    """Number of paths through one weight of the first layer, by enumeration."""
    d_in, w, d = 2, 3, 3
    paths = enumerate_paths((d_in, w, w, 1))
    through = int(((paths[:, 0] == 0) & (paths[:, 1] == 0)).sum())
    return exactly(
        "paths through a weight of layer 1, d_in = 2, w = d = 3",
        through,
        d_in * w ** (d - 2),
        w ** (d - 2),
    )


def lumped_cases() -> Evidence:
    """Factor by which the leading terms of Cases 3 and 7 grow with depth."""
    w = 100

    def over_scale(d: int) -> float:
        case_3 = 32 * d**2 * w * 4 / w
        return case_3 * (1 + 4 * d / w**2)

    correction = (1 + 4 * 40 / w**2) / (1 + 4 * 20 / w**2)
    return exactly(
        "growth of Case 3 + Case 7, over w^{2(d−2)}, from d = 20 to 40, w = 100",
        over_scale(40) / over_scale(20),
        2**3 * correction,
        2**2 * correction,
    )


def one_input() -> Evidence:
    """E K of deep linear networks with weights ±σ at the input x = 2, over all networks."""
    sigma, w, d, x = 0.6, 2, 3, 2.0
    weights = every_signed_network((1, w, w, 1), sigma)
    gates = [torch.ones(1, w, dtype=torch.float64)] * 2
    kernels = value_kernel(
        torch.full((1, 1), x, dtype=torch.float64), weights, None, gates, with_biases=False
    )
    printed = d * (w * sigma**2) ** (d - 1)
    return exactly("E K₀, w = 2, d = 3, σ = 0.6, x = 2", kernels.mean(), printed, x**2 * printed)


ERRATA = (
    Erratum(
        id="dgn-1",
        paper="dgn",
        place="Lemma 2.1, (4), (9)",
        printed="K_t(s, s′) = Σ_i x(i, s) x(i, s′) κ_t(s, s′, i)",
        corrected="K_t(s, s′) = Σ_{i,j} x(i, s) x(j, s′) κ_t(s, s′, i, j), p₁ from i and p₂ from j",
        kind="wrong result",
        evidence="Kernel of one random network from its gradients. Paths from different input "
        "nodes share weights above the first layer; only the mean over Assumption 1 drops them.",
        check=paths_from_two_inputs,
        quotes=(
            Quote(text="dgn", line=484, words="x(i, s)x(i, s′)κt(s, s ′, i) (4)"),
            Quote(text="dgn", line=1722, words="x(i, s)x(i, s′)κt(s, s ′, i) (9)"),
        ),
    ),
    Erratum(
        id="dgn-2",
        paper="dgn",
        place="Theorem 2.3, variance; introduction",
        printed="Var K₀ ≤ O(d_in² σ^{4(d−1)} max{d² w^{2(d−2)+1}, d³ w^{2(d−2)}}); "
        "O(max{d²/w, d³/w²}) for σ² = O(1/w)",
        corrected="O(d³/w), as in npf: paths cross at nodes; for a deep linear network "
        "w·Var K₀ → (2/3)(d−1)(d−2)(2d−3)",
        kind="wrong result",
        evidence="Exact variance of deep linear networks, extrapolated to infinite width. "
        "The proof counts crossings of paths at weights and leaves out those at nodes.",
        check=variance_growth,
        quotes=(
            Quote(
                text="dgn",
                line=547,
                words="V ar [K0] ≤ O ( d2 inσ 4(d−1) max{d2w2(d−2)+1, d3w2(d−2)} )",
            ),
            Quote(
                text="dgn",
                line=1960,
                words="V ar [K0] ≤ O ( d2 inσ 4(d−1) max{d2w2(d−2)+1, d3w2(d−2)} )",
            ),
            Quote(text="dgn", line=291, words="V ar [K0(x, x′)] ≤ O(max{d 2 w , d3 w2 })"),
        ),
        claims=("D02",),
    ),
    Erratum(
        id="dgn-3",
        paper="dgn",
        place="Lemma 3.1 (ii), Lemma 7.5",
        printed="E K₀^w = σ^{2(d−1)} (xᵀx) ⊙ λ",
        corrected="E K₀^w = d σ^{2(d−1)} (xᵀx) ⊙ λ",
        kind="misprint",
        evidence="Mean over all networks with weights ±σ under fixed soft gates. "
        "Lemma 2.2 and Theorem 2.3 have the factor d.",
        check=kernel_of_weights,
        quotes=(
            Quote(text="dgn", line=1144, words="E [Kw 0 ] = σ2(d−1)(x>x)"),
            Quote(text="dgn", line=2505, words="E [Kw 0 ] = σ2(d−1)(x>x)"),
        ),
    ),
    Erratum(
        id="dgn-4",
        paper="dgn",
        place="section 1, Depth Phenomena I",
        printed="λ₀(s, s′) / λ₀(s, s) ≤ μ^d",
        corrected="μ^{d−1}, as in section 2: there are d − 1 layers of gates, "
        "and on average it is equal",
        kind="misprint",
        evidence="Means over all hard gates.",
        check=overlap_ratio,
        quotes=(Quote(text="dgn", line=283, words="λ0(s,s′) λ0(s,s) ≤ µ d, leading to whitening"),),
    ),
    Erratum(
        id="dgn-5",
        paper="dgn",
        place="section 1, loss and (1)",
        printed="L = Σ_s (ŷ(x_s) − y_s)²; e_{t+1} = e_t − α_t K_t e_t (1)",
        corrected="L = ½ Σ_s (ŷ(x_s) − y_s)², as in npf, gives (1)",
        kind="convention",
        evidence="One step of gradient descent on a linear model; "
        "the ideal rate 0.81 of experiment 8 has the ½.",
        check=squared_loss,
        quotes=(
            Quote(text="dgn", line=41, words="LΘ = ∑n s=1 (y\u0302Θ(xs)− ys)2"),
            Quote(text="dgn", line=64, words="et+1 = et − αtKtet, (1)"),
        ),
    ),
    Erratum(
        id="dgn-6",
        paper="dgn",
        place="Theorem 2.3, proof, Case 2",
        printed="w²(d − 2) × d² × (w^{d−3} × w^{d−3}) × 4² ≤ 16 d³ w^{2(d−3)}, "
        "both sides times d_in² σ^{4(d−1)}",
        corrected="≤ 16 d³ w^{2(d−2)}",
        kind="misprint",
        evidence="The left side is computed at two widths. Cases 5 and 8 repeat the exponent, "
        "the sum of the three has the right one.",
        check=one_crossing,
        quotes=(
            Quote(
                text="dgn",
                line=2357,
                words="w2(d− 2)× d2 × (wd−3 × wd−3)× 42 ≤ 16d2 inσ 4(d−1)d3w2(d−3)",
            ),
        ),
    ),
    Erratum(
        id="dgn-7",
        paper="dgn",
        place="Theorem 2.3, proof, Fact 2",
        printed="the number of paths through a particular weight in either the first or the last "
        "layer is d_in w^{d−2}",
        corrected="so it is in the last layer; in the first it is w^{d−2}, the same only if "
        "d_in = 1",
        kind="imprecise remark",
        evidence="All paths through one weight of the first layer are listed. "
        "The printed number is an upper bound.",
        check=paths_through_first_layer,
        quotes=(
            Quote(text="dgn", line=2228, words="in either the first or the last layer is dinwd−2"),
        ),
    ),
    Erratum(
        id="dgn-8",
        paper="dgn",
        place="Theorem 2.3, proof, last bounds",
        printed="Case 3, Case 7 and other cases: d³ w^{2(d−2)}; "
        "Case 2, Case 5, Case 8 and other cases: d² w^{2(d−2)}",
        corrected="exchanged: Cases 3, 7, … d² w^{2(d−2)}; Cases 2, 5, 8, … d³ w^{2(d−2)}",
        kind="misprint",
        evidence="Growth with depth of the expressions given for Cases 3 and 7. "
        "The bound of the theorem has both terms, so that nothing changes there.",
        check=lumped_cases,
        quotes=(
            Quote(
                text="dgn",
                line=2451,
                words="Case 3, Case 7 and other cases obtained by adding more crossings (one at a "
                "time) in the middle layer to Case 6. This gives rise to a term which is upper "
                "bounded by d2 inσ 4(d−1)d3w2(d−2)",
            ),
            Quote(
                text="dgn",
                line=2466,
                words="Case 2, Case 5, Case 8 and other cases obtained by adding more crossings "
                "(one at a time) in the middle layer to Case 6. This gives rise to a term which "
                "is upper bounded by d2 inσ 4(d−1)d2w2(d−2)",
            ),
        ),
    ),
    Erratum(
        id="dgn-9",
        paper="dgn",
        place="Corollary 8.1, (16)",
        printed="Under Assumption 2, for a DLN with d_in = 1, and dataset with n = 1 we have, "
        "E K₀ = d (wσ²)^{d−1}",
        corrected="under Assumption 1 (gates of a linear network are all 1) and for |x| = 1; "
        "otherwise |x|² d (wσ²)^{d−1}",
        kind="imprecise remark",
        evidence="Mean over all networks with weights ±σ at x = 2. "
        "Experiment 8, for which it is stated, has x = 1 and Assumption 1.",
        check=one_input,
        quotes=(
            Quote(
                text="dgn",
                line=2539,
                words="Under Assumption 2, for a DLN with din = 1, and dataset with n = 1 we have, "
                "EΘ [K0] = d(wσ2)(d−1) (16)",
            ),
        ),
    ),
    Erratum(
        id="dgn-10",
        paper="dgn",
        place="Definition 7.3",
        printed="A(s, p) = Π_{l=1}^d G(s, p(l), l)",
        corrected="A(s, p) = Π_{l=1}^{d−1} G(s, p(l), l), as in section 1",
        kind="misprint",
        evidence="Layer d is the output and has no gates, "
        "and the paths of Definition 7.1 end at p(d − 1).",
        quotes=(Quote(text="dgn", line=1685, words="A(s, p) = Πd l=1G(s, p(l), l)"),),
    ),
    Erratum(
        id="dgn-11",
        paper="dgn",
        place="Theorem 2.3, proof, Case 2",
        printed="There are w²(d − 2) weights in the first and the last layer",
        corrected="There are w²(d − 2) weights in the middle layers",
        kind="misprint",
        evidence="The first and the last layer have (d_in + 1) w weights.",
        quotes=(
            Quote(
                text="dgn",
                line=2350,
                words="There are w2(d − 2) weights in the first and the last layer",
            ),
        ),
    ),
)
