"""Estimators of the dispersion r = E[Theta^2] / E[Theta]^2 from a sample, with bootstrap errors.

No estimator that divides by an estimated mean is unbiased, because the mean of a ratio is not the
ratio of the means. This includes the leave-one-out estimator of the paper.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_count

Statistic = Callable[[np.ndarray], np.ndarray]
LEAST = 3
BOOTSTRAP_NUMBERS = 2**21


def checked_sample(theta: Any, least: int = 2) -> Float[np.ndarray, "draws"]:
    """Return draws as a float64 vector divided by its largest absolute value.

    The division does not change ratios of moments. Refuse what is no vector of at least ``least``
    finite numbers, or is zero throughout.
    """
    sample = np.asarray(theta, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < least:
        raise ConfigError(f"theta: shape {sample.shape} must be (draws,), >= {least} draws")
    if not np.isfinite(sample).all():
        kind = "NaN" if np.isnan(sample).any() else "infinite numbers"
        raise ConfigError(
            f"theta: holds {kind} and must be finite; where draws overflow, use exact moments, or "
            "scaled_theta of the sampler"
        )
    if not sample.any():
        raise ConfigError("theta: all draws are zero; their dispersion is not defined")
    return sample / np.abs(sample).max()


def naive(theta: Float[np.ndarray, "*samples draws"]) -> np.ndarray:
    """Return the mean of the squares over the squared mean, along the last axis.

    It is biased downwards if the law has heavy tails.
    """
    return (theta * theta).mean(axis=-1) / theta.mean(axis=-1) ** 2


def leave_one_out(theta: Float[np.ndarray, "*samples draws"]) -> np.ndarray:
    """Return the paper's estimator (``beyond`` C.3) with the prefactor 1/N, along the last axis.

    Each theta_i^2 is divided by an estimate of E[Theta]^2 from the other draws,
    ((sum_j theta_j)^2 - sum_j theta_j^2) / ((N-1)(N-2)) with j != i. The paper prints the prefactor
    1/(N-2), which is larger by N/(N-2). Both forms are biased upwards (Jensen's inequality) and
    unstable if one draw dominates.
    """
    count = theta.shape[-1]
    square = theta * theta
    total = theta.sum(axis=-1, keepdims=True)
    squares = square.sum(axis=-1, keepdims=True)
    others = ((total - theta) ** 2 - (squares - square)) / ((count - 1) * (count - 2))
    return (square / others).mean(axis=-1)


def printed_leave_one_out(theta: Float[np.ndarray, "*samples draws"]) -> np.ndarray:
    """Return `leave_one_out` with the printed prefactor 1/(N-2)."""
    count = theta.shape[-1]
    return leave_one_out(theta) * count / (count - 2)


def bias_corrected(theta: Float[np.ndarray, "*samples draws"]) -> np.ndarray:
    """Return the naive ratio minus its bias of order 1/N, along the last axis.

    With m_k = E[Theta^k] / E[Theta]^k, a Taylor expansion gives E[naive] =
    m_2 + (3 m_2 (m_2 - 1) - 2 (m_3 - m_2)) / N + O(N^-2). The second term is estimated from the
    sample and subtracted. The bias is smaller than that of `naive`, and the variance is smaller
    than that of `leave_one_out`.
    """
    count = theta.shape[-1]
    unit = theta / theta.mean(axis=-1, keepdims=True)
    square = unit * unit
    second = square.mean(axis=-1)
    third = (square * unit).mean(axis=-1)
    return second - (3 * second * (second - 1) - 2 * (third - second)) / count


ESTIMATORS: dict[str, Statistic] = {
    "naive": naive,
    "leave_one_out": leave_one_out,
    "printed_leave_one_out": printed_leave_one_out,
    "bias_corrected": bias_corrected,
}


@dataclass(frozen=True)
class Estimate:
    """An estimate of the dispersion.

    Attributes:
        value: the estimate. The dispersion itself is at least 1.
        standard_error: standard deviation over the bootstrap samples.
        low: 16 % quantile of the bootstrap samples.
        high: 84 % quantile of the bootstrap samples.
        draws: size of the sample.
    """

    value: float
    standard_error: float
    low: float
    high: float
    draws: int


def dispersion(
    theta: Any, *, estimator: str = "naive", seed: int = 0, resamples: int = 1000
) -> Estimate:
    """Estimate r = E[Theta^2] / E[Theta]^2 of draws, (draws,), with a bootstrap error."""
    function = ESTIMATORS[checked_choice("estimator", estimator, tuple(ESTIMATORS))]
    sample = checked_sample(theta, LEAST)
    return _estimate(sample, function, seed, resamples)


def linearised_dispersion(theta: Any) -> tuple[float, float]:
    """Return the naive estimate of draws, (draws,), and its standard error by linearisation.

    To first order, r = m_2 / m_1^2 changes by the mean of (theta^2 - m_2) / m_1^2 -
    2 r (theta - m_1) / m_1. Its standard deviation gives the error of every estimator to leading
    order. This is useful if a bootstrap would take longer than the draws.
    """
    sample = checked_sample(theta, LEAST)
    value = naive(sample)
    unit = sample / sample.mean()
    influence = unit * unit - 2 * value * unit  # up to a constant
    return float(value), float(influence.std(ddof=1) / len(sample) ** 0.5)


def mean_ratio(
    numerator: Any, denominator: Any, *, seed: int = 0, resamples: int = 1000
) -> Estimate:
    """Estimate mean(numerator) / mean(denominator) of paired draws with a bootstrap over pairs.

    It is used for E Theta(x, x~) / E Theta(x, x) from the same networks.

    Args:
        numerator: (draws,).
        denominator: (draws,), in the same order.
        seed: seed of the bootstrap.
        resamples: number of bootstrap samples, >= 2.

    Raises:
        ConfigError: the arguments are not vectors of equal length >= 2, or a number is not finite.

    Examples:
        >>> import finitewidth as fw
        >>> round(fw.mean_ratio([1.0, 3.0, 2.0], [2.0, 5.0, 5.0]).value, 6)
        0.5
    """
    top = np.asarray(numerator, float)
    bottom = np.asarray(denominator, float)
    if top.shape != bottom.shape:
        raise ConfigError(
            f"numerator: shape {top.shape} must be that of the denominator, {bottom.shape}"
        )
    scale = np.abs(bottom).max(initial=0.0)  # against overflow of sums; the ratio has none of it
    checked_sample(top)
    checked_sample(bottom)
    pairs = np.arange(len(top))

    def ratio(chosen: np.ndarray) -> np.ndarray:
        """Return the ratio of means over the chosen pairs, which are the last axis."""
        mean_of_top = (top[chosen] / scale).mean(axis=-1)
        mean_of_bottom = (bottom[chosen] / scale).mean(axis=-1)
        return mean_of_top / mean_of_bottom

    return _estimate(pairs, ratio, seed, resamples)


def _estimate(sample: np.ndarray, statistic: Statistic, seed: int, resamples: int) -> Estimate:
    """Apply a statistic, which reduces the last axis, to a sample and to bootstrap samples."""
    resamples = checked_count("resamples", resamples, least=2)
    rng = np.random.default_rng(seed)
    size = len(sample)
    rows = max(1, BOOTSTRAP_NUMBERS // size)  # bootstrap samples at a time
    parts = []
    for first in range(0, resamples, rows):
        count = min(rows, resamples - first)
        chosen = rng.integers(0, size, (count, size))
        parts.append(statistic(sample[chosen]))
    values = np.concatenate(parts)  # (resamples,)
    low, high = np.quantile(values, [0.16, 0.84])
    return Estimate(
        value=float(statistic(sample)),
        standard_error=float(values.std(ddof=1)),
        low=float(low),
        high=float(high),
        draws=size,
    )
