"""Errata of ``dgn`` (deep gated networks)."""

import itertools

import numpy as np
import torch

from finitewidth.errata.evidence import (
    Evidence,
    exactly,
    extrapolated,
    generator,
    mean_overlaps,
)
from finitewidth.kernels.gated_moments import (
    leading_variance,
    unit_counts,
    value_kernel_moments,
)
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import overlap
from finitewidth.kernels.paths import enumerate_paths, path_features
from finitewidth.networks.random_gated import every_signed_network


def path_sensitivities(weights: list[torch.Tensor], paths: torch.Tensor) -> torch.Tensor:
    """Inner products (P, P) of the derivatives of path strengths (3) of paths (P, d + 1)."""
    total = torch.zeros(len(paths), len(paths), dtype=weights[0].dtype)
    factors = [w[paths[:, k], paths[:, k + 1]] for k, w in enumerate(weights)]  # (P,) each
    for k in range(len(weights)):
        # the derivative by a weight of layer k is the product of the others
        derivatives = torch.stack(factors[:k] + factors[k + 1 :]).prod(dim=0)
        edges = paths[:, k : k + 2]
        same_edge = (edges[:, None] == edges[None]).all(dim=-1)  # (P, P)
        total = total + torch.outer(derivatives, derivatives) * same_edge
    return total


def paths_from_two_inputs() -> Evidence:
    """K(x, x) of one random gated network, from its gradients and from sums over paths."""
    rng = generator("dgn-1")
    sizes = (2, 3, 3, 1)
    weights = [torch.from_numpy(rng.standard_normal(pair)) for pair in itertools.pairwise(sizes)]
    gates = [torch.from_numpy((rng.random((2, 3)) < 0.7).astype(float)) for _ in range(2)]
    x = torch.from_numpy(rng.standard_normal((2, 2)))
    truth = value_kernel(x, weights, None, gates, with_biases=False)[0, 0]

    paths = enumerate_paths(sizes)
    features = path_features(x, gates, paths)[0]
    sensitivities = path_sensitivities(weights, paths)
    same_input = (paths[:, None, 0] == paths[None, :, 0]).double()
    printed = features @ (sensitivities * same_input) @ features
    corrected = features @ sensitivities @ features
    return exactly(float(truth), float(printed), float(corrected))


def linear_variance(depth: int, width: int) -> float:
    """Exact Var K of a deep linear network with weights ±1/√w at x = 1."""
    open_units = np.full((depth - 1, 1, 1), width)
    counts = unit_counts(open_units, open_units, open_units)
    return float(value_kernel_moments(np.ones((1, 1)), counts, 1 / width).variance[0, 0])


def variance_growth() -> Evidence:
    """Variance times w for large w of deep linear networks with d = 16.

    The printed value scales the variance at d = 4 by the printed bound.
    """
    widths = [2**power for power in range(8, 13)]
    at_four, _ = extrapolated([w * linear_variance(4, w) for w in widths])
    truth, error = extrapolated([w * linear_variance(16, w) for w in widths])
    printed = at_four * (16 / 4) ** 2
    return Evidence(truth, error, printed, leading_variance(16, 1))


def kernel_of_weights() -> Evidence:
    """E K^w(1, 2) over all 2¹⁰ networks with weights ±σ and fixed soft gates, d = 3."""
    rng = generator("dgn-3")
    gates = [torch.from_numpy(rng.random((2, 2))) for _ in range(2)]
    x = torch.from_numpy(rng.standard_normal((2, 2)))
    sigma = 0.6
    d = 3
    weights = every_signed_network((2, 2, 2, 1), sigma)
    kernels = value_kernel(x, weights, None, gates, with_biases=False)
    printed = sigma ** (2 * (d - 1)) * float((x @ x.T * overlap(gates))[0, 1])
    return exactly(float(kernels.mean(dim=0)[0, 1]), printed, d * printed)


def overlap_ratio() -> Evidence:
    """E λ(s, s') / E λ(s, s) over all hard gates of probability mu, w = 2, d = 3."""
    mu = 0.3
    d = 3
    shared = mean_overlaps(mu)
    return exactly(shared[0, 1] / shared[0, 0], mu**d, mu ** (d - 1))


def overlap_with_itself() -> Evidence:
    """E λ(s, s) over all hard gates of probability mu, w = 2, d = 3."""
    mu = 0.3
    w = 2
    d = 3
    return exactly(mean_overlaps(mu)[0, 0], (mu**2 * w) ** (d - 1), (mu * w) ** (d - 1))


def squared_loss() -> Evidence:
    """One step of gradient descent, α = 0.1, for the model y = θ x with x = 1, so that K = 1."""
    step = 0.1
    error = 1.0
    by_law = (error - step * 1.0 * error) ** 2
    printed = (error - step * 2.0 * error) ** 2  # the slope of (y - θ)^2
    halved = (error - step * 1.0 * error) ** 2
    return exactly(by_law, printed, halved)


def one_crossing() -> Evidence:
    """Factor by which the left side of Case 2 grows when w doubles."""
    d = 5

    def left_side(w: int) -> float:
        return w**2 * (d - 2) * d**2 * float(w) ** (2 * (d - 3)) * 16

    growth = left_side(20) / left_side(10)
    return exactly(growth, 2.0 ** (2 * (d - 3)), 2.0 ** (2 * (d - 2)))


def paths_through_first_layer() -> Evidence:
    """Number of paths through one weight of the first layer, by enumeration."""
    d_in = 2
    w = 3
    d = 3
    paths = enumerate_paths((d_in, w, w, 1))
    through = (paths[:, :2] == 0).all(dim=1).sum()
    return exactly(float(through), d_in * w ** (d - 2), w ** (d - 2))


def lumped_cases() -> Evidence:
    """Factor by which the leading terms of Cases 3 and 7 grow with depth."""
    w = 100

    def leading_terms(d: int) -> float:
        return 32 * d**2 * w * 4 / w * (1 + 4 * d / w**2)

    growth = leading_terms(40) / leading_terms(20)
    correction = (1 + 4 * 40 / w**2) / (1 + 4 * 20 / w**2)
    return exactly(growth, 2**3 * correction, 2**2 * correction)


def one_input() -> Evidence:
    """E K of deep linear networks with weights ±σ at the input x = 2, over all networks."""
    sigma = 0.6
    w = 2
    d = 3
    x = 2.0
    weights = every_signed_network((1, w, w, 1), sigma)
    gates = [torch.ones(1, w, dtype=torch.float64)] * 2
    inputs = torch.full((1, 1), x, dtype=torch.float64)
    kernels = value_kernel(inputs, weights, None, gates, with_biases=False)
    printed = d * (w * sigma**2) ** (d - 1)
    return exactly(float(kernels.mean()), printed, x**2 * printed)
