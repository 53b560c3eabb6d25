"""Sums of positive terms over layers and over pairs of layers, in logarithms, in O(L) time."""

import numpy as np


def sums_from(terms: np.ndarray) -> np.ndarray:
    """Return the sums of terms[i:] for i = 0..len(terms), (len(terms) + 1,)."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


def log_pairs(left: np.ndarray, right: np.ndarray) -> float:
    """Return the logarithm of the sum over l1 < l2 of exp(left_l1 + right_l2); -inf if L = 1."""
    if len(left) == 1:
        return -np.inf
    return float(np.logaddexp.reduce(np.logaddexp.accumulate(left)[:-1] + right[1:]))


def log_chained_pairs(start: np.ndarray, steps: np.ndarray, end: np.ndarray) -> float:
    """Return log sum_{l1 < l2} exp(start_l1 + steps_l1 + ... + steps_(l2-1) + end_l2)."""
    if len(start) == 1:
        return -np.inf
    carried, sums = -np.inf, []
    for own, step in zip(start[:-1], steps, strict=True):
        carried = np.logaddexp(carried, own) + step
        sums.append(carried)
    return float(np.logaddexp.reduce(np.array(sums) + end[1:]))
