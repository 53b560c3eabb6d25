"""Exact draws of the number of active units of a ReLU layer, and of chi-square variables."""

from functools import lru_cache

import numpy as np

LARGEST_TABLE = 4096


@lru_cache(maxsize=256)
def _alias_table(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Walker's alias table of Bin(width, 1/2): thresholds, and halves of alternatives."""
    cells, count = width + 1, 1
    weights = []  # from whole numbers, each rounded once
    for k in range(cells):
        weights.append(count * cells / 2**width)
        count = count * (width - k) // (k + 1)
    keep, other = np.ones(cells), np.arange(cells)
    small = [k for k in range(cells) if weights[k] < 1]
    large = [k for k in range(cells) if weights[k] >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        keep[low], other[low] = weights[low], high
        weights[high] -= 1 - weights[low]
        if weights[high] < 1:
            small.append(large.pop())
    # the threshold of cell k is k + keep[k]; alternatives are halved, as a draw returns K / 2
    return np.arange(cells) + keep, other / 2


def half_units_on(rng: np.random.Generator, width: int, size: int) -> np.ndarray:
    """Draw ``size`` numbers K / 2, half the number of active units, with K ~ Bin(``width``, 1/2).

    Up to a width of 4,096 an alias table is used, which is exact to 2^-53 and whose time does not
    depend on the width. Above, numpy's rejection sampler is used.
    """
    if width > LARGEST_TABLE:
        return rng.binomial(width, 0.5, size) * 0.5
    threshold, other = _alias_table(width)
    place = rng.random(size)
    place *= width + 1
    cell = place.astype(np.int64)
    return np.where(place < threshold[cell], 0.5 * cell, other[cell])


def half_chi_square(rng: np.random.Generator, half_freedom: np.ndarray) -> np.ndarray:
    """Draw half a chi-square variable of 2 ``half_freedom`` degrees of freedom.

    The result is 0 if ``half_freedom`` is 0 or negative.
    """
    return rng.standard_gamma(np.maximum(half_freedom, 0.0))
