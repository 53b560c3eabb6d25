"""Exact mean and variance of a gated network's tangent kernel over its random value weights.

The gates are hard, external and independent of the weights. The weights are independent and
symmetric and have the same variance, for example ±sigma (npf Theorem 5.1, dgn Assumptions 1 and 2).
The papers give bounds on the variance, but not its value. It is derived in docs/theory.md,
section 9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import checked_count, checked_number, refuse

SIGNED, GAUSSIAN = 1.0, 3.0  # kurtosis E[w^4] / E[w^2]^2 of a weight


class KernelMoments(NamedTuple):
    """Mean and variance of every entry of K^v, (..., S, S)."""

    mean: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True, kw_only=True)
class GateCounts:
    """Numbers of open units per hidden layer on which the first two moments of the kernel depend.

    In a layer, a units are open for both inputs, s for the first input and s' for the second. The
    first axis of each array is the hidden layer. For random gates each array contains means.

    Attributes:
        both: (L-1, ...), a.
        pairs: (L-1, ...), a (a - 1): the ordered pairs of different units that are open for both
            inputs.
        cross: (L-1, ...), s s' - a: the pairs of different units, one open for the first input and
            the other open for the second.
    """

    both: np.ndarray
    pairs: np.ndarray
    cross: np.ndarray

    @classmethod
    def of_numbers(cls, both: Any, first: Any, second: Any) -> "GateCounts":
        """Make the counts from the numbers of open units.

        Args:
            both: a, (L-1, ...).
            first: s, (L-1, ...).
            second: s', (L-1, ...).

        Raises:
            ConfigError: a is negative, or larger than s or s'.
        """
        a, s, t = (np.asarray(value, dtype=float) for value in (both, first, second))
        if (a > np.minimum(s, t)).any() or (a < 0).any():
            raise refuse("both", both, "at least 0 and at most first and second")
        return cls(both=a, pairs=a * (a - 1), cross=s * t - a)

    @classmethod
    def of_gates(cls, gates: Sequence[Any]) -> "GateCounts":
        """Make the counts of all pairs of S inputs from hard gates.

        Args:
            gates: one array (..., S, width) per hidden layer.

        Returns:
            Counts of shape (L-1, ..., S, S).

        Raises:
            ConfigError: a gate is neither 0 nor 1.
        """
        layers = [np.asarray(gate, dtype=float) for gate in gates]
        if any(not np.isin(layer, (0, 1)).all() for layer in layers):
            raise refuse("gates", "a gate other than 0 or 1", "hard gates, each 0 or 1")
        both = np.array([layer @ layer.swapaxes(-1, -2) for layer in layers])
        own = np.array([layer.sum(axis=-1) for layer in layers])
        return cls.of_numbers(both, own[..., :, None], own[..., None, :])

    @classmethod
    def bernoulli(cls, depth: int, width: int, mu: float, same: bool) -> "GateCounts":
        """Return the mean counts of independent gates that are open with probability ``mu``.

        Args:
            depth: number of weight layers L; there are L-1 hidden layers.
            width: width of every hidden layer.
            mu: probability, above 0 and at most 1.
            same: True if both inputs are the same (dgn Lemma 2.4 i), False if they differ
                (dgn Lemma 2.4 ii).

        Returns:
            Counts of shape (L-1, 1, 1).

        Raises:
            ConfigError: a number is out of range.
        """
        depth, width = checked_count("depth", depth), checked_count("width", width)
        if not checked_number("mu", mu, above=0) <= 1:
            raise refuse("mu", mu, "at most 1")
        share = mu if same else mu * mu
        counts = (width * share, width * (width - 1) * share**2, width * (width - 1) * mu * mu)
        both, pairs, cross = (np.full((depth - 1, 1, 1), count) for count in counts)
        return cls(both=both, pairs=pairs, cross=cross)


def value_kernel_moments(
    x: Any, counts: GateCounts, sigma2: float, *, kurtosis: float = SIGNED
) -> KernelMoments:
    """Compute the mean and the variance of K^v of a network with one output.

    The mean is L sigma^{2(L-1)} H (npf Theorem B.1). The variance is derived in docs/theory.md,
    section 9. If ``counts`` are means over random gates, both moments are taken over gates and
    weights.

    Args:
        x: inputs (S, n0).
        counts: counts of open units for all pairs of inputs, (L-1, ..., S, S). An axis of length 1
            may replace S.
        sigma2: variance of a weight, the same in all L layers.
        kurtosis: E[w^4] / sigma2^2 of a weight: 1 for ±sigma, 3 for Gaussian weights.

    Cost: O(L) operations on arrays of the shape of ``counts``.

    Raises:
        ConfigError: ``sigma2`` is not positive, or ``kurtosis`` is less than 1.
    """
    checked_number("sigma2", sigma2, above=0)
    if not kurtosis >= 1:
        raise refuse("kurtosis", kurtosis, "at least 1")
    x = np.asarray(x, dtype=float)
    layers = np.stack([counts.both, counts.pairs, counts.cross], axis=1)
    forward = _passed(_of_inputs(x), layers, sigma2, kurtosis)
    backward = _passed(np.ones((4, 1, 1)), layers[::-1], sigma2, kurtosis)[::-1]
    second = sum(below[0] * above[0] for below, above in zip(forward, backward, strict=True))
    # invariants of the maps between two layers of weights, times the part below the lower layer,
    # summed over the lower layer
    between = np.zeros((4, 1, 1))
    for layer, below, above in zip(layers, forward[:-1], backward[1:], strict=True):
        both, pairs, _ = layer
        identity = np.stack([both + pairs, both, both, both])
        between = _through(between, layer, sigma2, kurtosis) + sigma2**2 * below[0] * identity
        second = second + 2 * above[0] * between[0]
    mean = (len(layers) + 1) * (x @ x.T) * np.prod(sigma2 * counts.both, axis=0)
    return KernelMoments(mean, np.maximum(second - mean**2, 0.0))


def leading_variance(depth: int, open_units: float) -> float:
    """Return Var[K(x, x)] to first order in 1 / open_units, for |x| = 1, n0 = 1 and ±sigma.

    It is (2/3) (L-1) (L-2) (2L-3) / open_units, which is of order L^3. The variance of a weight is
    1 / open_units, so that E[K(x, x)] = L.

    Args:
        depth: number of weight layers L.
        open_units: number of open gates in each hidden layer.
    """
    return (depth - 1) * (depth - 2) * (2 * depth - 3) * 2 / (3 * open_units)


def _of_inputs(x: np.ndarray) -> np.ndarray:
    """Return the invariants of M = x x'^T for all pairs of inputs, (4, S, S).

    They are (tr M)^2, tr M M^T, tr M^2 and sum_j M_jj^2.
    """
    squares, gram = x**2, x @ x.T
    norms = squares.sum(axis=1)
    return np.stack([gram**2, np.outer(norms, norms), gram**2, squares @ squares.T])


def _passed(
    start: np.ndarray, layers: np.ndarray, sigma2: float, kurtosis: float
) -> list[np.ndarray]:
    """Return the four invariants before the first layer and after every layer."""
    found = [start]
    for layer in layers:
        found.append(_through(found[-1], layer, sigma2, kurtosis))
    return found


def _through(
    invariants: np.ndarray, layer: np.ndarray, sigma2: float, kurtosis: float
) -> np.ndarray:
    """Return the mean invariants of G W M W^T G' from those of M, ordered as in `_of_inputs`."""
    both, pairs, cross = layer
    trace, mixed, square, diagonal = (sigma2**2 * value for value in invariants)
    own = both * (trace + mixed + square + (kurtosis - 3) * diagonal)
    return np.stack(
        np.broadcast_arrays(own + pairs * trace, own + cross * mixed, own + pairs * square, own)
    )
