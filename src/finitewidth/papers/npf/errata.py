"""Errata of the final version of ``npf``."""

import numpy as np
import torch

from finitewidth.errata.erratum import Evidence, exactly
from finitewidth.errata.shared import generator
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
    by_paths = float(path_output(x, weights, gates))
    return exactly("ŷ(x) of one gated network, d = 3, w = 4", by_paths, *by_table)


def soft_gate() -> Evidence:
    """A soft gate of large slope at a negative pre-activation, where the hard gate is closed."""
    beta, q = 50.0, -1.0
    hard = float(q > 0)
    printed, corrected = (1 / (1 + np.exp(-beta * value)) for value in (hard, q))
    return exactly("gate at β = 50, q = −1; the hard gate", hard, printed, corrected)


def variance_constant() -> Evidence:
    """The sum over crossings in the proof of Theorem B.2, term by term."""
    d_in, w, d, scale = 3, 60, 4, 1.3
    sigma4 = (scale / w**0.5) ** (4 * (d - 1))
    paths = d_in * w ** (d - 1)
    terms = [d**2 * 6.0 ** (k + 1) * (d / w) ** k * paths**2 for k in range(1, 200)]
    rest = 6 * d_in**2 * (6 * d**3 / w) / (1 - 6 * d / w)
    name = "Σ_k d² 6^{k+1} (wd)^k P² w^{−2k} σ^{4(d−1)} at d_in = 3, w = 60, d = 4, σ′ = 1.3"
    return exactly(name, sigma4 * sum(terms), rest * scale**2, rest * scale ** (4 * (d - 1)))


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
    name = "E K(x₁, x₂) with the variances of (2), fixed gates, w = 2, d = 3, σ = 0.6"
    return exactly(name, kernels.mean(dim=0)[0, 1], d * per_path, (d + 1) / 2 * per_path)
