"""Comparisons of samples whose rates of false alarms are known.

A p-value is an upper bound of the probability, under the hypothesis, of a deviation at least as
large as the observed one. The first three bounds hold for finite samples and for all tails, which
matters because the tangent kernel of a narrow network has heavy tails:

* `same_law`: two-sample inequality of Dvoretzky, Kiefer, Wolfowitz and Massart. It holds for equal
  sizes of at least 458 (Wei and Dudley 2012, Theorem 1), also for laws with atoms.
* `same_mean`: differences of two independent samples of the same law are symmetric. Given their
  absolute values, their sum is a sum of random signs, which Hoeffding's inequality bounds.
* `has_mean`: a product of factors, each at least 0 and of mean 1 if the stated moments are right.
  Markov's inequality bounds the probability that it is large.

`near_mean` uses the normal approximation instead.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm
from tests.helpers.standard_errors import settled

LEAST = 458  # smallest size for which the bound of `same_law` is proved
ROUNDING = 1e-9
BETS = 0.5 ** np.arange(1, 12)


@dataclass
class Ledger:
    """Divides a probability of a false alarm over a number of comparisons (Bonferroni).

    Attributes:
        false_alarm: probability of at least one false alarm in all comparisons together.
        comparisons: largest number of comparisons.
        made: number of comparisons made so far. `check` refuses to make more than ``comparisons``,
            so that ``false_alarm`` holds whichever tests are added.
    """

    false_alarm: float
    comparisons: int
    made: int = 0

    @property
    def level(self) -> float:
        """The p-value at or below which a comparison raises an alarm."""
        return self.false_alarm / self.comparisons

    def check(self, p_values):
        """Fail if one of {name of a comparison: p-value} is an alarm."""
        self.made += len(p_values)
        if self.made > self.comparisons:
            raise RuntimeError(f"more than {self.comparisons} comparisons: increase the number")
        alarms = {name: float(f"{p:.2g}") for name, p in p_values.items() if not p > self.level}
        assert not alarms, f"p-values of at most {self.level:.2g}: {alarms}"


def same_law(left, right):
    """Return the p-value of "the samples have the same law", from the distance of Kolmogorov."""
    left = settled(left)
    right = settled(right)
    assert len(left) == len(right) >= LEAST
    if np.ptp(right) <= ROUNDING * np.abs(right).max():  # a constant, up to rounding
        right = np.full_like(right, right[0])
        left = np.where(np.isclose(left, right[0], rtol=ROUNDING, atol=0), right[0], left)
    left = np.sort(left)
    right = np.sort(right)
    distance = 0
    for points in (left, right):
        below = [np.searchsorted(part, points, side="right") for part in (left, right)]
        distance = max(distance, np.abs(below[0] - below[1]).max())
    return min(1.0, 2 * float(np.exp(-(distance**2) / len(left))))


def same_mean(left, right):
    """Return the p-value of "the samples have the same law", from the means in standard errors."""
    left = np.asarray(left, dtype=float)
    right = np.asarray(right, dtype=float)
    assert left.shape == right.shape
    difference = left - right
    # equal constants may differ by rounding
    total = max(0.0, abs(difference.sum()) - ROUNDING * np.abs(right).sum())
    if total == 0:
        return 1.0
    return min(1.0, 2 * float(np.exp(-(total**2) / (2 * (difference**2).sum()))))


def has_mean(sample, mean, mean_of_squares):
    """Return the p-value of "a variable >= 0 has this mean and this mean of its squares".

    With y = sample / mean and r = E[y^2], a bet on a larger mean multiplies the capital by
    1 + a (y - 1), and a bet on a smaller mean by 1 - a (y - 1) + b (y^2 / r - 1). The mean of both
    is 1. The first is not negative for a < 1, the second for b = a^2 r / 2 and a^2 r <= 1. The
    capital is divided equally over both signs and over several a. The p-value is 1 / capital.
    """
    sample = np.asarray(sample, dtype=float)
    if mean == 0:
        return float(not sample.any())
    assert (sample >= 0).all()
    y = sample / mean
    r = mean_of_squares / mean**2
    logs = [np.log1p(a * (y - 1)).sum() for a in BETS]
    bets = BETS / np.sqrt(r)
    logs += [np.log1p(-a * (y - 1) + a * a * r / 2 * (y * y / r - 1)).sum() for a in bets]
    return float(np.exp(min(0.0, np.log(len(logs)) - logsumexp(logs))))


def near_mean(sample, wanted, allowance=0.0):
    """Return the p-value of "the mean is ``wanted``, up to ``allowance``", by normal approximation.

    If the mean of the sample has skewness g, a p-value at z standard errors is wrong by a factor of
    about exp(g z^3 / 6).
    """
    sample = np.asarray(sample, dtype=float)
    error = sample.std(ddof=1) / len(sample) ** 0.5
    distance = max(0.0, abs(sample.mean() - wanted) - allowance)
    return 1.0 if distance == 0 else 2 * float(norm.sf(distance / error))
