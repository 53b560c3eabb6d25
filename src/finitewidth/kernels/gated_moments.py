"""Exact mean and variance of a gated network's tangent kernel over its random value weights.

The gates are hard, external and independent of the weights. The weights are independent and
symmetric and have the same variance, for example ±sigma (npf Theorem 5.1, dgn Assumptions 1 and 2).
The papers give bounds on the variance, but not its value. It is derived in docs/theory.md,
section 9. The mean of the memorisation network (npf appendix D, dgn section 2) is over gates too.
"""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from finitewidth.common.shapes import Float

# kurtosis E[w^4] / E[w^2]^2 of a weight
SIGNED = 1.0
GAUSSIAN = 3.0


class KernelMoments(NamedTuple):
    """Mean and variance of every entry of K^v, (..., S, S)."""

    mean: Float[np.ndarray, "*R S S"]
    variance: Float[np.ndarray, "*R S S"]


def unit_counts(both: Any, first: Any, second: Any) -> Float[np.ndarray, "layers 3 *pairs"]:
    """Return numbers of open units on which the first two moments of the kernel depend.

    In a hidden layer, a = ``both`` units are open for both inputs, s = ``first`` for the first
    input and s' = ``second`` for the second, (L-1, ...) each. The result, (L-1, 3, ...), is a; the
    ordered pairs a (a - 1) of different units that are open for both inputs; and the pairs s s' - a
    of different units, one open for the first input and the other open for the second.
    """
    a = np.asarray(both, dtype=float)
    s = np.asarray(first, dtype=float)
    s_prime = np.asarray(second, dtype=float)
    return np.stack([a, a * (a - 1), s * s_prime - a], axis=1)


def gate_counts(gates: Sequence[Any]) -> Float[np.ndarray, "layers 3 *R S S"]:
    """Return `unit_counts` of all pairs of S inputs, (L-1, 3, ..., S, S), from hard gates.

    There is one array (..., S, width) of zeros and ones per hidden layer.
    """
    layers = [np.asarray(gate, dtype=float) for gate in gates]
    both = np.array([layer @ layer.swapaxes(-1, -2) for layer in layers])  # (L-1, ..., S, S)
    single = np.array([layer.sum(axis=-1) for layer in layers])  # (L-1, ..., S)
    return unit_counts(both, single[..., :, None], single[..., None, :])


def value_kernel_moments(
    x: Any, counts: Float[np.ndarray, "layers 3 *pairs"], sigma2: float, *, kurtosis: float = SIGNED
) -> KernelMoments:
    """Compute the mean and the variance of K^v of a network with one output.

    The mean is L sigma^{2(L-1)} H (npf Theorem B.1). The variance is derived in docs/theory.md,
    section 9. The cost is O(L) operations on arrays of the shape of ``counts``.

    Args:
        x: inputs (S, n0).
        counts: from `gate_counts` or `unit_counts`, for all pairs of inputs, (L-1, 3, ..., S, S).
            An axis of length 1 may replace S. Means over random gates that are independent between
            layers give the moments over gates and weights.
        sigma2: variance of a weight, the same in all L layers.
        kurtosis: E[w^4] / sigma2^2 of a weight: 1 for ±sigma, 3 for Gaussian weights.
    """
    x = np.asarray(x, dtype=float)
    layers = len(counts) + 1  # L
    through = partial(_through, sigma2=sigma2, kurtosis=kurtosis)
    # invariants of the part of the network below and above each layer of weights, L arrays each
    forward = list(accumulate(counts, through, initial=_input_invariants(x)))
    backward = list(accumulate(counts[::-1], through, initial=np.ones((4, 1, 1))))
    backward.reverse()
    # E[K^2]: a layer with itself, and then each pair of different layers
    second = sum(below[0] * above[0] for below, above in zip(forward, backward, strict=True))
    # invariants of the maps between two layers of weights, times the part below the lower layer,
    # summed over the lower layer
    between = np.zeros((4, 1, 1))
    for layer, below, above in zip(counts, forward[:-1], backward[1:], strict=True):
        both, pairs, _ = layer
        identity = np.stack([both + pairs, both, both, both])
        between = through(between, layer) + sigma2**2 * below[0] * identity
        second = second + 2 * above[0] * between[0]
    gram = x @ x.T
    open_paths = np.prod(sigma2 * counts[:, 0], axis=0)  # sigma^{2(L-1)} Lambda
    mean = layers * gram * open_paths
    return KernelMoments(mean, np.maximum(second - mean**2, 0.0))


def leading_variance(depth: int, open_units: float) -> float:
    """Return Var[K(x, x)] to first order in 1 / open_units, for |x| = 1, n0 = 1 and ±sigma.

    It is (2/3) (L-1) (L-2) (2L-3) / open_units, which is of order L^3, with L = ``depth``. Each
    hidden layer has so many open gates, and the variance of a weight is 1 / open_units, so that
    E[K(x, x)] = L.
    """
    return (depth - 1) * (depth - 2) * (2 * depth - 3) * 2 / (3 * open_units)


def ideal_overlap(depth: int, mu: float) -> float:
    """Return the off-diagonal entry of E[K_0]/d of the memorisation network (npf equation 23).

    It is mu^(d-1), and the diagonal entries are 1. The input is the constant 1, the gates are
    external, each open with probability mu, and sigma = 1/sqrt(mu w).
    """
    return mu ** (depth - 1)


def ideal_eigenvalues(samples: int, depth: int, mu: float) -> Float[np.ndarray, "samples"]:
    """Return the n eigenvalues of E[K_0]/d in ascending order.

    The first n - 1 are 1 - mu^(d-1). The last is 1 + (n-1) mu^(d-1).
    """
    overlap = ideal_overlap(depth, mu)
    values = np.full(samples, 1 - overlap)
    values[-1] = 1 + (samples - 1) * overlap
    return values


def _input_invariants(x: Float[np.ndarray, "S n0"]) -> Float[np.ndarray, "4 S S"]:
    """Return the invariants of M = x x'^T for all pairs of inputs, (4, S, S).

    They are (tr M)^2, tr M M^T, tr M^2 and sum_j M_jj^2.
    """
    gram = x @ x.T
    squares = x**2
    norms = squares.sum(axis=1)
    return np.stack([gram**2, np.outer(norms, norms), gram**2, squares @ squares.T])


def _through(
    invariants: Float[np.ndarray, "4 *below"],
    layer: Float[np.ndarray, "3 *pairs"],
    sigma2: float,
    kurtosis: float,
) -> Float[np.ndarray, "4 *above"]:
    """Return the mean invariants of G W M W^T G' from those of M.

    They are ordered as in `_input_invariants`, and ``layer`` as in `unit_counts`.
    """
    both, pairs, cross = layer
    trace, mixed, square, diagonal = (sigma2**2 * value for value in invariants)
    same_unit = both * (trace + mixed + square + (kurtosis - 3) * diagonal)
    new = np.broadcast_arrays(
        same_unit + pairs * trace,
        same_unit + cross * mixed,
        same_unit + pairs * square,
        same_unit,
    )
    return np.stack(new)
