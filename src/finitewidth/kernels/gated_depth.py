"""Effective rank of the tangent kernel of random gates, and the depth that maximises it.

The network is the one that memorises random targets (npf appendix D, dgn section 2): the input is
the constant 1, the gates are external, each open with probability mu, all independent, and the
weights have the variance 1 / (mu w). Its mean kernel has the effective rank
n / (1 + (n - 1) mu^(2 (d - 1))), which grows with the depth d. The variance of the kernel grows
with the depth too, and lowers the effective rank. The papers say so without numbers (dgn sections
2 and 3); the numbers follow from the exact second moments, see docs/theory.md, section 12.
"""

from collections.abc import Callable, Sequence

import numpy as np

from finitewidth.common.shapes import Float
from finitewidth.kernels.gated_moments import SIGNED, value_kernel_moments

Rank = Callable[[int, int, int, float], float]  # of samples, depth, width and mu


def random_gate_counts(depth: int, width: int, mu: float) -> Float[np.ndarray, "layers 3 2 1 1"]:
    """Return the means of `gated_moments.unit_counts` over random gates, (L-1, 3, 2, 1, 1).

    L is ``depth``. The third axis is an input with itself, and two different inputs. Units are
    independent, so that two different units are open with the product of their probabilities.
    """
    open_for_both = np.array([mu, mu**2])
    different_units = width * (width - 1)
    layer = np.stack(
        [
            width * open_for_both,
            different_units * open_for_both**2,
            # one unit is open for the first input, and the other for the second
            np.full(2, different_units * mu**2),
        ]
    )
    return np.broadcast_to(layer[:, :, None, None], (depth - 1, 3, 2, 1, 1))


def second_moments(
    depth: int, width: int, mu: float, *, kurtosis: float = SIGNED
) -> Float[np.ndarray, "2"]:
    """Return A = E[K_ss^2] / E[K_ss]^2 and B = E[K_st^2] / E[K_ss]^2 of two inputs s and t.

    The means are over gates and weights. ``kurtosis`` is that of a weight, see
    `value_kernel_moments`. At infinite width A is 1 and B is mu^(2 (L-1)), with L = ``depth``.
    """
    counts = random_gate_counts(depth, width, mu)
    moments = value_kernel_moments(np.ones((1, 1)), counts, 1 / (mu * width), kurtosis=kurtosis)
    squares = moments.variance + moments.mean**2  # (2, 1, 1)
    return squares[:, 0, 0] / depth**2  # E[K_ss] = L


def effective_rank(
    samples: int, depth: int, width: int, mu: float, *, kurtosis: float = SIGNED
) -> float:
    """Return E[tr K]^2 / E[tr K^2], which is n / (A + (n - 1) B) with n = ``samples``.

    It is at most n. Below it, the variance of the eigenvalues of K, of all networks together, is
    n / rank - 1 in units of their squared mean.
    """
    same, different = second_moments(depth, width, mu, kurtosis=kurtosis)
    return float(samples / (same + (samples - 1) * different))


def scale_free_rank(
    samples: int, depth: int, width: int, mu: float, *, kurtosis: float = SIGNED
) -> float:
    """Return E[(tr K)^2] / E[tr K^2], which is (A + (n - 1) C) / (A + (n - 1) B).

    If the kernels of networks differ by a factor only, it is the rank of each of them, and
    `effective_rank` is smaller. Both ranks have the same limit at infinite width.
    """
    same, different = second_moments(depth, width, mu, kurtosis=kurtosis)
    product = mean_product(depth, width, mu, kurtosis=kurtosis)
    others = samples - 1
    return float((same + others * product) / (same + others * different))


def mean_product(depth: int, width: int, mu: float, *, kurtosis: float = SIGNED) -> float:
    """Return C = E[K_ss K_tt] / E[K_ss]^2 of two inputs s and t.

    The recursion is that of `value_kernel_moments`, with tr M tr M' in place of (tr M)^2, where M
    and M' belong to the two inputs. See docs/theory.md, section 12.
    """
    counts = random_gate_counts(2, width, mu)[0, :, 1, 0, 0]
    both, pairs, cross = counts / (mu * width) ** 2
    # matrix of one layer for the means of (tr M tr M', tr M M', tr M M'^T, sum_j M_jj M'_jj)
    step = np.diag([cross, pairs, pairs, 0]) + both * np.array([1, 1, 1, kurtosis - 3])
    below = np.ones(4)  # the input
    inside = np.array([both + cross, both, both, both])  # the gates of one layer
    ends = np.zeros(depth)  # below or above a layer of weights, for 0 to L-1 hidden layers
    between = np.zeros(depth)  # between two layers of weights, for 1 to L hidden layers
    for layers in range(depth):
        ends[layers] = below[0]
        between[layers] = inside[0]
        below = step @ below
        inside = step @ inside
    # each layer with itself, and then each pair of different layers
    both_ends = np.convolve(ends, ends)[:depth]
    total = both_ends[-1] + 2 * both_ends[:-1] @ between[:-1][::-1]
    return float(total / depth**2)


def best_depth(
    samples: int, width: int, mu: float, depths: Sequence[int], rank: Rank = effective_rank
) -> int:
    """Return the depth of the largest ``rank``, the smallest one if several are equal.

    ``rank`` is `effective_rank` or `scale_free_rank`.
    """
    ranks = [rank(samples, depth, width, mu) for depth in depths]
    return depths[int(np.argmax(ranks))]


def best_depth_of_wide(samples: int, mu: float) -> float:
    """Return the best depth to first order in 1 / width, without mu^(2 (depth - 1)).

    It is the cube root of 4 n (1 + mu^2) / ((1 - mu^2)^3 (7 / (3 mu) - 1)), with n = ``samples``,
    and does not depend on the width. It holds if the width is large compared with the depth, and
    width n mu^(2 depth) small. Source: docs/theory.md, section 12.
    """
    growth = 7 / (3 * mu) - 1  # of A for each layer, times the width
    floor = 2 * (1 + mu**2) / (1 - mu**2) ** 3  # of B, times the width and the squared depth
    return float((2 * samples * floor / growth) ** (1 / 3))
