"""Intervals of numbers that are estimated from independent networks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm, t

COVERED = 0.95  # probability with which an interval covers the number
FEWEST = 6  # of values: the median of 5 has no interval of 95 %


@dataclass(frozen=True)
class Interval:
    """A number with its 95 % interval.

    Attributes:
        value: the estimate.
        low: lower end.
        high: upper end.
    """

    value: float
    low: float
    high: float


def mean_interval(values: np.ndarray) -> Interval:
    """Return the mean of positive values (n,), n >= 2, with an interval of Student's t.

    The interval is symmetric in the logarithm, because sums of squares are skewed to the right.
    """
    count = len(values)
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / count**0.5
    quantile = float(t.ppf((1 + COVERED) / 2, count - 1))
    factor = float(np.exp(quantile * error / mean))
    return Interval(mean, mean / factor, mean * factor)


def median_interval(values: np.ndarray) -> Interval:
    """Return the median of values (n,), n >= `FEWEST`, with an interval for any continuous law.

    The ends are two of the sorted values. The median lies outside if more values than expected are
    on one side of it, whose number is binomial (Conover 1999, section 3.2).
    """
    ordered = np.sort(values)
    count = len(ordered)
    # values left out at each end, so many that at most 2.5 % is lost there
    left_out = int(binom.ppf((1 - COVERED) / 2, count, 0.5)) - 1
    low = float(ordered[left_out])
    high = float(ordered[count - 1 - left_out])
    return Interval(float(np.median(ordered)), low, high)


def slope_interval(positions: Sequence[float], groups: Sequence[np.ndarray]) -> Interval:
    """Return the slope of log value against log position by least squares.

    Args:
        positions: at least 2 different positive numbers.
        groups: positive values (n,), n >= 2, at each position, all independent.
    """
    x = np.log(positions)
    x = x - x.mean()
    weights = x / (x @ x)  # of the mean logarithm of each group
    means = []
    variances = []  # of these means
    for group in groups:
        logs = np.log(group)
        means.append(logs.mean())
        variances.append(logs.var(ddof=1) / len(group))
    slope = float(weights @ np.array(means))
    error = float(np.sqrt(weights**2 @ np.array(variances)))
    half = float(norm.ppf((1 + COVERED) / 2)) * error
    return Interval(slope, slope - half, slope + half)
