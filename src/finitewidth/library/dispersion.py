"""The dispersion of the tangent kernel with an interval that holds up with heavy tails."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from finitewidth.kernels.ntk_init.estimators import LEAST, checked_sample
from finitewidth.kernels.ntk_init.estimators import dispersion as bootstrapped
from finitewidth.kernels.ntk_init.tail_errors import (
    LARGEST,
    NORMAL,
    log_normal_error,
    log_variance,
    sufficient,
)

if TYPE_CHECKING:
    from finitewidth.common.arrays import Array

COVERED = "95 % interval"
Estimator = Literal["naive", "leave_one_out", "printed_leave_one_out", "bias_corrected"]
MOST_DRAWS = 10**12  # looked at, for the number of draws that would suffice


@dataclass(frozen=True)
class Dispersion:
    """The dispersion r = E[Theta^2] / E[Theta]^2, exact or estimated from draws.

    Attributes:
        value: r, or its estimate.
        standard_error: 0 if r is exact; nan if there are too few draws.
        low: lower end of the 95 % interval; a lower bound of r if there are too few draws.
        high: its upper end; infinite if there are too few draws.
        draws: number of draws; 0 if r is exact.
        enough: number of draws that would do if there are too few, about; otherwise ``draws``.
    """

    value: float
    standard_error: float
    low: float
    high: float
    draws: int
    enough: int

    def __str__(self) -> str:
        """The value with its interval, or what the draws say if there are too few of them."""
        if not self.draws:
            return f"{self.value:.4g} (exact)"
        if np.isinf(self.high):
            return (
                f"at least {self.low:.3g}: {self.draws:,} draws are too few, about "
                f"{self.enough:,} would do"
            )
        interval = interval_text(self.low, self.high)
        return f"{self.value:.4g}, {interval} ({self.draws:,} draws)"


def exactly(value: float) -> Dispersion:
    """Return a dispersion that is known."""
    return Dispersion(value, 0.0, value, value, 0, 0)


def estimated(
    theta: "Array", *, estimator: Estimator = "naive", seed: int = 0, resamples: int = 1000
) -> Dispersion:
    """Estimate the dispersion of draws, (draws,), with an interval.

    The interval is one of log r. Below, its error is that of a bootstrap; above, it is that of
    `tail_errors.robust_error`, which allows for the rare draws that a sample may lack. Draws of
    both signs have no tail of logarithms, and their error is that of the bootstrap. Measured
    coverage: docs/theory.md, section 6.

    Raises:
        ConfigError: there are fewer than 3 draws, or one is not finite.
    """
    bootstrap = bootstrapped(theta, estimator=estimator, seed=seed, resamples=resamples)
    sample = checked_sample(theta, LEAST)
    variance = log_variance(sample) if (sample >= 0).all() else 0.0
    draws = bootstrap.draws
    tail = log_normal_error(variance, draws)
    enough = enough_draws(variance, draws)
    return with_tail(bootstrap.value, bootstrap.standard_error, tail, draws, enough)


def with_tail(value: float, error: float, tail: float, draws: int, enough: int) -> Dispersion:
    """Return an estimate with its interval, for draws with heavy tails.

    There are too few draws if either error is too large.

    Args:
        value: the estimate of r.
        error: its standard error by the sample.
        tail: the relative standard error that the tails allow for.
        draws: number of draws.
        enough: number of draws with which the error of the tails would be small enough.
    """
    above = sufficient(value, max(error, value * tail))  # nan if it is too large
    low, high = log_interval(value, error, above)
    low = max(low, 1.0)  # as r is
    if np.isnan(above):
        enough_by_sample = int(draws * (error / (LARGEST * abs(value))) ** 2) + 1
        return Dispersion(value, above, low, np.inf, draws, max(enough, enough_by_sample))
    return Dispersion(value, above, low, max(high, low), draws, draws)


def log_interval(value: float, below: float, above: float) -> tuple[float, float]:
    """Return the 95 % interval of a positive number from standard errors to both sides.

    It is symmetric in the logarithm, because estimates from heavy tails are skewed to the right.
    """
    low = value * np.exp(-NORMAL * below / value)
    high = value * np.exp(NORMAL * above / value)
    return float(low), float(high)


def enough_draws(variance: float, draws: int) -> int:
    """Return about how many draws have an error, at least ``draws``.

    The error is that of log-normal draws whose logarithms have this variance. A larger number than
    ``draws`` is rounded up to one digit. The result is at most `MOST_DRAWS`.
    """
    if log_normal_error(variance, draws) <= LARGEST:
        return draws
    count = 10 ** int(np.log10(draws))
    while count < MOST_DRAWS:
        for first in range(1, 10):
            if first * count > draws and log_normal_error(variance, first * count) <= LARGEST:
                return first * count
        count *= 10
    return MOST_DRAWS


def interval_text(low: float, high: float) -> str:
    """Return an interval whose ends have the second digit of its length."""
    length = high - low
    if not 0 < length < high < 1e6:
        return f"{COVERED} [{low:.4g}, {high:.4g}]"
    decimals = max(1 - int(np.floor(np.log10(length))), 0)
    return f"{COVERED} [{low:.{decimals}f}, {high:.{decimals}f}]"
