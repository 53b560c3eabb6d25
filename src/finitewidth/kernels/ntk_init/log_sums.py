"""Sums over layers and pairs of layers of positive terms, in logarithms and O(L)."""

import numpy as np


def sums_from(terms: np.ndarray) -> np.ndarray:
    """Sums of terms[i:] for i = 0..len(terms): one number more than there are terms."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


def log_pairs(left: np.ndarray, right: np.ndarray) -> float:
    """Log of the sum over l1 < l2 of exp(left_l1 + right_l2); -inf for one layer."""
    if len(left) == 1:
        return -np.inf
    return float(np.logaddexp.reduce(np.logaddexp.accumulate(left)[:-1] + right[1:]))


def log_chained(start: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """For l2 = 2..L: log sum_{l1 < l2} exp(start_l1 + steps_l1 + ... + steps_(l2-1))."""
    carried, sums = -np.inf, []
    for own, step in zip(start[:-1], steps, strict=True):
        carried = np.logaddexp(carried, own) + step
        sums.append(carried)
    return np.array(sums)


def log_chained_pairs(start: np.ndarray, steps: np.ndarray, end: np.ndarray) -> float:
    """Log of the sum over l1 < l2 of exp(start_l1 + steps_l1 + ... + steps_(l2-1) + end_l2)."""
    if len(start) == 1:
        return -np.inf
    return float(np.logaddexp.reduce(log_chained(start, steps) + end[1:]))
