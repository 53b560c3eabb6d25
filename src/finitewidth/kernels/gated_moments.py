"""Exact mean and variance of a gated network's tangent kernel over its random value weights.

Gates come from outside, hard and independent of the weights; these are independent, symmetric and
of one variance, ±sigma above all (npf Theorem 5.1, dgn Assumptions 1 and 2). Neither paper has the
variance, only bounds on it. The derivation stands in docs/theory.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import checked_count, checked_number, refuse

SIGNED, GAUSSIAN = 1.0, 3.0  # E[w^4] / E[w^2]^2 of a weight


class KernelMoments(NamedTuple):
    """Mean and variance of every entry of K^v, (..., S, S)."""

    mean: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True, kw_only=True)
class GateCounts:
    """Open units of each hidden layer, as far as the kernel's first two moments depend on them.

    With a units open for both inputs, s for the first and s' for the second, hidden layers first:

    Attributes:
        both: (L-1, ...): a, or its mean over random gates.
        pairs: (L-1, ...): a (a - 1), ordered pairs of two units that are open for both.
        cross: (L-1, ...): s s' - a, pairs of two units, the first open for one, the second for the
            other input.
    """

    both: np.ndarray
    pairs: np.ndarray
    cross: np.ndarray

    @classmethod
    def of_numbers(cls, both: Any, first: Any, second: Any) -> "GateCounts":
        """From the numbers of open units, (L-1, ...) each: a, s and s'.

        Raises:
            ConfigError: more units are open for both inputs than for one.
        """
        a, s, t = (np.asarray(value, dtype=float) for value in (both, first, second))
        if (a > np.minimum(s, t)).any() or (a < 0).any():
            raise refuse("both", both, "at least 0 and at most first and second")
        return cls(both=a, pairs=a * (a - 1), cross=s * t - a)

    @classmethod
    def of_gates(cls, gates: Sequence[Any]) -> "GateCounts":
        """From hard gates, (..., S, width) for each hidden layer, for all pairs of the S inputs.

        Raises:
            ConfigError: a gate is neither 0 nor 1.
        """
        layers = [np.asarray(gate, dtype=float) for gate in gates]
        if any(not np.isin(layer, (0, 1)).all() for layer in layers):
            raise refuse("gates", "a soft gate", "0 or 1 each")
        both = np.array([layer @ layer.swapaxes(-1, -2) for layer in layers])
        own = np.array([layer.sum(axis=-1) for layer in layers])
        return cls.of_numbers(both, own[..., :, None], own[..., None, :])

    @classmethod
    def bernoulli(cls, depth: int, width: int, mu: float, same: bool) -> "GateCounts":
        """Means over gates that are open with probability ``mu``, independently of each other.

        Args:
            depth: weight layers; hidden ones are one fewer.
            width: of every hidden layer.
            mu: probability, above 0 and at most 1.
            same: whether both inputs are one and the same (dgn Lemma 2.4 i), or two (ii).

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
    """Mean and variance of K^v over weights of variance ``sigma2`` in every layer; one output.

    The mean is L sigma^{2(L-1)} H (npf Theorem B.1). Over random gates both moments are total ones.

    Args:
        x: inputs (S, n0).
        counts: of the gates, for all pairs of inputs: (L-1, ..., S, S), or 1 in place of S.
        sigma2: variance of a weight, the same in all L layers.
        kurtosis: E[w^4] / sigma2^2 of a weight: 1 for ±sigma, 3 for Gaussian weights.

    Cost: O(L) operations on arrays like those of ``counts``.

    Raises:
        ConfigError: sigma2 is not positive or the kurtosis below 1.
    """
    checked_number("sigma2", sigma2, above=0)
    if not kurtosis >= 1:
        raise refuse("kurtosis", kurtosis, "at least 1")
    x = np.asarray(x, dtype=float)
    layers = np.stack([counts.both, counts.pairs, counts.cross], axis=1)
    forward = _passed(_of_inputs(x), layers, sigma2, kurtosis)
    backward = _passed(np.ones((4, 1, 1)), layers[::-1], sigma2, kurtosis)[::-1]
    second = sum(below[0] * above[0] for below, above in zip(forward, backward, strict=True))
    # of the maps between two layers of weights, weighted by what is below and summed over the lower
    between = np.zeros((4, 1, 1))
    for layer, below, above in zip(layers, forward[:-1], backward[1:], strict=True):
        both, pairs, _ = layer
        identity = np.stack([both + pairs, both, both, both])
        between = _through(between, layer, sigma2, kurtosis) + sigma2**2 * below[0] * identity
        second = second + 2 * above[0] * between[0]
    mean = (len(layers) + 1) * (x @ x.T) * np.prod(sigma2 * counts.both, axis=0)
    return KernelMoments(mean, np.maximum(second - mean**2, 0.0))


def leading_variance(depth: int, open_units: float) -> float:
    """Var[K(x, x)] to first order in 1 / open_units, for |x| = 1, n0 = 1, ±sigma.

    With ``open_units`` open gates in each hidden layer and sigma2 = 1 / open_units, the scale at
    which E[K(x, x)] = depth, the variance is (2/3) (L-1) (L-2) (2L-3) / open_units: of order L^3.
    """
    return (depth - 1) * (depth - 2) * (2 * depth - 3) * 2 / (3 * open_units)


def limiting_dispersion(ratio: float) -> float:
    """Limit of E[K(x, x)^2] / E[K(x, x)]^2 as depth / (open units) tends to r, the ``ratio``.

    e^{2r} (1/3 + 4/(9r) - 4 (1 - e^{-3r}) / (27 r^2)), for any law of the weights.

    Raises:
        ConfigError: the ratio is negative.
    """
    r = checked_number("ratio", ratio)
    if r < 1e-4:
        return 1 + 4 * r / 3  # the formula cancels there
    bracket = 1 / 3 + 4 / (9 * r) + 4 * np.expm1(-3 * r) / (27 * r**2)
    return float(np.exp(2 * r) * bracket)


def _of_inputs(x: np.ndarray) -> np.ndarray:
    """Of M = x x'^T: (tr M)^2, tr M M^T, tr M^2 and sum_j M_jj^2, (4, S, S)."""
    squares, gram = x**2, x @ x.T
    norms = squares.sum(axis=1)
    return np.stack([gram**2, np.outer(norms, norms), gram**2, squares @ squares.T])


def _passed(
    start: np.ndarray, layers: np.ndarray, sigma2: float, kurtosis: float
) -> list[np.ndarray]:
    """The four invariants before and behind every layer."""
    found = [start]
    for layer in layers:
        found.append(_through(found[-1], layer, sigma2, kurtosis))
    return found


def _through(
    invariants: np.ndarray, layer: np.ndarray, sigma2: float, kurtosis: float
) -> np.ndarray:
    """Means of the invariants of G W M W^T G' from those of M, of (tr M)^2 first (`_of_inputs`)."""
    both, pairs, cross = layer
    trace, mixed, square, diagonal = (sigma2**2 * value for value in invariants)
    own = both * (trace + mixed + square + (kurtosis - 3) * diagonal)
    return np.stack(
        np.broadcast_arrays(own + pairs * trace, own + cross * mixed, own + pairs * square, own)
    )
