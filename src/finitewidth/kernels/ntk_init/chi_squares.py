"""Exact draws of what a ReLU layer needs: how many units are on, and chi-squares of so many."""

from functools import lru_cache

import numpy as np
from scipy.stats import binom

LARGEST_TABLE = 4096


@lru_cache(maxsize=256)
def _alias_table(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Walker's alias table of Bin(width, 1/2): where each cell ends, half of its alternative."""
    cells = width + 1
    weights = list(binom.pmf(np.arange(cells), width, 0.5) * cells)
    keep, other = np.ones(cells), np.arange(cells)
    small = [k for k in range(cells) if weights[k] < 1]
    large = [k for k in range(cells) if weights[k] >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        keep[low], other[low] = weights[low], high
        weights[high] -= 1 - weights[low]
        if weights[high] < 1:
            small.append(large.pop())
    # a draw needs K/2 only: the cell's number k + u becomes a threshold, and both ends are halved
    return np.arange(cells) + keep, other / 2


def half_units_on(rng: np.random.Generator, width: int, size: int) -> np.ndarray:
    """K / 2 with K ~ Bin(``width``, 1/2), float64 (``size``,): half the number of units on.

    Time does not depend on the width (alias table, exact to 2^-53) up to 4,096 units; beyond that
    numpy's rejection sampler is used.
    """
    if width > LARGEST_TABLE:
        return rng.binomial(width, 0.5, size) * 0.5
    threshold, other = _alias_table(width)
    place = rng.random(size)
    place *= width + 1
    cell = place.astype(np.int64)
    return np.where(place < threshold[cell], 0.5 * cell, other[cell])


def half_chi_square(rng: np.random.Generator, half_freedom: np.ndarray) -> np.ndarray:
    """Half a chi-square variable of 2 ``half_freedom`` degrees; 0 where these are 0 or negative."""
    return rng.standard_gamma(np.maximum(half_freedom, 0.0))
