"""Standard errors of dispersions that hold up with heavy tails.

The tangent kernel of a deep chaotic network is close to log-normal. Rare draws then carry its
moments. A sample that lacks them gives an estimate that is too small, with an error that is too
small. The errors here are therefore taken from the logarithms of the draws, which have light tails:
the tail of the fitted log-normal law says what the draws may have missed. This is the idea of the
parametric bootstrap (Efron and Tibshirani 1993, section 6.5), here in closed form. Derivation and
measured coverage: docs/theory.md, section 6.
"""

from math import comb
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri

from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moment_recursion import log_kernel_moments

MISSED = 0.025  # probability with which a sample lacks the tail that an error allows for
NORMAL = 1.959964  # its normal quantile: a 95 % interval is that many standard errors to each side
LARGEST = 0.5  # relative error from which on the draws do not suffice
UPPER = 2.0  # standard errors by which the variance of the logarithms is increased
CANCELS = 1e-6  # variance below which the terms of a relative variance cancel


class LogSums:
    """Sums of powers of log theta over blocks of draws; draws that are not positive are left out.

    A kernel of 0 belongs to a dead network. It has no part in the upper tail.
    """

    def __init__(self) -> None:
        self.count = 0
        self.centre = 0.0  # subtracted from logarithms, against cancellation
        self.sums = np.zeros(3)  # of the first three powers

    def add(self, theta: Any) -> None:
        """Add a block of draws, (n,)."""
        theta = np.asarray(theta, dtype=np.float64)
        logs = np.log(theta[theta > 0])
        if not self.count and len(logs):
            self.centre = float(logs.mean())  # near the mean of all draws
        logs -= self.centre
        square = logs * logs
        self.count += len(logs)
        self.sums += [logs.sum(), square.sum(), square @ logs]

    def variance(self) -> float:
        """Variance of the log-normal law whose upper tail is that of the draws, or a heavier one.

        With the second and third cumulants k_2 and k_3 of log theta, log(E theta^4 / E^2 theta^2)
        is 4 k_2 + 8 k_3 to third order, so that a positive skewness acts as the variance
        k_2 + 2 k_3. A negative one is left out. k_2 is increased by `UPPER` of its standard
        errors. The result is nan for fewer than two positive draws.
        """
        if self.count < 2:
            return float("nan")
        first, second, third = self.sums / self.count
        variance = max(second - first**2, 0.0)
        skewness = third - 3 * first * second + 2 * first**3
        unbiased = variance * self.count / (self.count - 1)
        upper = 1 + UPPER * (2 / self.count) ** 0.5
        return float(unbiased * upper + 2 * max(skewness, 0.0))


def log_variance(theta: Any) -> float:
    """Return `LogSums.variance` of draws, (n,)."""
    sums = LogSums()
    sums.add(theta)
    return sums.variance()


def log_normal_error(s2: float, count: int) -> float:
    """Relative standard error of the dispersion of log-normal draws, which may lack their tail.

    With the probability `MISSED` none of the n = ``count`` draws lies above the quantile c of order
    1 + log(MISSED) / n. The sample is then one of the law without the part above c. Let q be the
    value for this law over that for the whole law, and v / n its relative variance for n draws
    below c. The error is

        sqrt(((1/q - 1) / NORMAL)^2 + v / (n q^2)),

    so that an interval of `NORMAL` errors about the smaller estimate reaches up to the truth. Where
    tails are light, q is near 1 and v / n is the variance of the delta method,
    (e^(4 s^2) - 4 e^(2 s^2) + 4 e^(s^2) - 1) / n, with the variance s^2 = ``s2`` of log theta.
    """
    if s2 < CANCELS:
        return float(s2 * (2 / count) ** 0.5)
    quantile = -ndtri(min(-np.log(MISSED) / count, 0.5))  # of (log theta - mean) / s
    orders = np.arange(5)
    # logarithms of moments of the cut law: over those of the whole law, and with E theta = 1 there
    shares = log_ndtr(quantile - orders * s2**0.5) - log_ndtr(quantile)
    moments = shares + (orders * orders - orders) * s2 / 2
    _, first, second, third, fourth = moments
    # v = m_4 / m_2^2 - 1 - 4 m_3 / (m_2 m_1) + 4 m_2 / m_1^2
    fourth_part = np.expm1(fourth - 2 * second)
    third_part = np.exp(third - second - first)
    second_part = np.exp(second - 2 * first)
    spread = fourth_part - 4 * third_part + 4 * second_part
    scatter = (max(spread, 0.0) / count) ** 0.5
    log_inverse_q = 2 * shares[1] - shares[2]
    with np.errstate(over="ignore"):
        missed_part = np.expm1(log_inverse_q) / NORMAL
        return float(np.hypot(missed_part, np.exp(log_inverse_q) * scatter))


def robust_error(value: float, error: float, variance: float, draws: int) -> float:
    """Return the standard error of a dispersion that holds up with heavy tails.

    It is the larger of the error of the sample and `log_normal_error`. The former is the larger
    one if the sample has one of the rare draws, the latter if it has none. The result is nan if it
    is above `LARGEST` times the value, and where no error is known. The draws then do not suffice:
    the estimate is biased low, and no error repairs this.

    ``value`` is the estimate of E[theta^2] / E[theta]^2 from so many draws, ``error`` its standard
    error from the sample, and ``variance`` that of `LogSums` or `log_variance`.
    """
    if not np.isfinite([value, error, variance]).all():
        return float("nan")
    return sufficient(value, max(error, value * log_normal_error(variance, draws)))


def sufficient(value: float, error: float) -> float:
    """Return the error, or nan if it is above `LARGEST` times the value."""
    return error if error <= LARGEST * abs(value) else float("nan")


def exact_dispersion_error(init: Initialisation, draws: int, *, input_norm2: float = 1.0) -> float:
    """Standard error of the naive ratio of ``draws`` draws, from exact moments up to the fourth.

    With t = Theta / E[Theta] the ratio r has the influence function t^2 - r - 2 r (t - 1). Use it
    where there is a closed form, for one output and sigma_b2 = 0: it is right for all tails.
    """
    parts = log_kernel_moments(init, 4, input_norm2=input_norm2)
    logs = []  # log E[Theta^k], by the binomial theorem
    for k in range(5):
        terms = [np.log(comb(k, i)) + parts[i, k - i] for i in range(k + 1)]
        logs.append(np.logaddexp.reduce(terms))
    # moments of t
    second = np.exp(logs[2] - 2 * logs[1])
    third = np.exp(logs[3] - 3 * logs[1])
    fourth = np.exp(logs[4] - 4 * logs[1])
    variance = fourth - 4 * second * third + 4 * second**3 - second**2
    return float(np.sqrt(max(variance, 0.0) / draws))
