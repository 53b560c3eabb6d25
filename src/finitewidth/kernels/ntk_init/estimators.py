"""Estimators of the dispersion r = E[Theta^2] / E[Theta]^2 from a sample, with bootstrap errors.

None is unbiased, the paper's leave-one-out included: the mean of a ratio is not the ratio of means.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_count, refuse

LEAST = 3
BOOTSTRAP_NUMBERS = 2**21


def checked_sample(theta: Any, least: int = 2) -> np.ndarray:
    """``theta`` as a float64 vector, divided by its largest magnitude (ratios do not change).

    Raises:
        ConfigError: fewer than ``least`` numbers, not a vector, not finite, or all zero.
    """
    sample = np.asarray(theta, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < least:
        raise refuse("theta", f"an array of shape {sample.shape}", f"a vector of >= {least} draws")
    if not np.isfinite(sample).all() or not sample.any():
        raise refuse(
            "theta",
            "a sample with nan or inf, or all zero",
            "finite",
            "for chaotic networks take scaled_theta of the draws",
        )
    return sample / np.abs(sample).max()


def naive(theta: np.ndarray) -> np.ndarray:
    """Mean of squares over squared mean, along the last axis; biased low for heavy tails."""
    return (theta * theta).mean(axis=-1) / theta.mean(axis=-1) ** 2


def leave_one_out(theta: np.ndarray) -> np.ndarray:
    """The paper's estimator (``beyond`` C.3) with the prefactor 1/N, along the last axis.

    Each theta_i^2 is divided by an estimate of E[Theta]^2 from the other draws:
    ((sum_j theta_j)^2 - sum_j theta_j^2) / ((N-1)(N-2)), j != i. Printed with 1/(N-2), which adds
    a factor N/(N-2); biased high either way (Jensen), and unstable where a draw dominates.
    """
    count = theta.shape[-1]
    square = theta * theta
    total, squares = theta.sum(axis=-1, keepdims=True), square.sum(axis=-1, keepdims=True)
    others = ((total - theta) ** 2 - (squares - square)) / ((count - 1) * (count - 2))
    return (square / others).mean(axis=-1)


def printed_leave_one_out(theta: np.ndarray) -> np.ndarray:
    """`leave_one_out` with the printed prefactor 1/(N-2)."""
    count = theta.shape[-1]
    return leave_one_out(theta) * count / (count - 2)


def bias_corrected(theta: np.ndarray) -> np.ndarray:
    """The naive ratio with its bias of order 1/N taken out, along the last axis.

    With m_k = E[Theta^k] / E[Theta]^k a Taylor expansion gives E[naive] =
    m_2 + (3 m_2 (m_2 - 1) - 2 (m_3 - m_2)) / N + O(N^-2); the second part is estimated and
    subtracted. Less biased than `naive`, less scattered than `leave_one_out`.
    """
    count = theta.shape[-1]
    unit = theta / theta.mean(axis=-1, keepdims=True)
    square = unit * unit
    second = square.mean(axis=-1)
    third = (square * unit).mean(axis=-1)
    return second - (3 * second * (second - 1) - 2 * (third - second)) / count


ESTIMATORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "naive": naive,
    "leave_one_out": leave_one_out,
    "printed_leave_one_out": printed_leave_one_out,
    "bias_corrected": bias_corrected,
}


@dataclass(frozen=True)
class Estimate:
    """An estimate of the dispersion.

    Attributes:
        value: the estimator on the sample, >= 1 up to noise.
        standard_error: standard deviation over bootstrap samples.
        low, high: 16 % and 84 % quantiles of the bootstrap samples.
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
    """Estimate r = E[Theta^2] / E[Theta]^2 with a bootstrap error.

    Args:
        theta: (draws,), at least 3; `scaled_theta` of the draws is best (a common factor cancels).
        estimator: "naive", "leave_one_out" (prefactor 1/N), "printed_leave_one_out" or
            "bias_corrected".
        seed: of the bootstrap.
        resamples: bootstrap samples, >= 2.

    The bootstrap knows the sample only: where one draw in 10,000 carries the second moment (edge of
    chaos, L / M above about 1/2) value and error are both too small; use `log_moments`.

    Cost: draws x resamples; memory 16 MiB pieces.

    Raises:
        ConfigError: too few draws, an unknown estimator, numbers not finite.
    """
    function = ESTIMATORS[checked_choice("estimator", estimator, tuple(ESTIMATORS))]
    sample = checked_sample(theta, LEAST)
    values = bootstrapped(sample, function, seed=seed, resamples=resamples)
    low, high = np.quantile(values, [0.16, 0.84])
    return Estimate(
        float(function(sample)), float(values.std(ddof=1)), float(low), float(high), len(sample)
    )


def linearised_dispersion(theta: Any, *, estimator: str = "naive") -> tuple[float, float]:
    """An estimate as of `dispersion` and its standard error by linearisation, without a bootstrap.

    Near the sample r = m_2 / m_1^2 changes by the mean of (theta^2 - m_2) / m_1^2 -
    2 r (theta - m_1) / m_1, whose scatter gives the error of any of the estimators at leading
    order. For many cells of many draws, where a bootstrap would cost more than the draws.

    Raises:
        ConfigError: too few draws, an unknown estimator, numbers not finite.
    """
    function = ESTIMATORS[checked_choice("estimator", estimator, tuple(ESTIMATORS))]
    sample = checked_sample(theta, LEAST)
    unit = sample / sample.mean()
    influence = unit * unit - 2 * naive(sample) * unit
    return float(function(sample)), float(influence.std(ddof=1) / len(sample) ** 0.5)


def bootstrapped(
    sample: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    seed: int,
    resamples: int = 1000,
) -> np.ndarray:
    """(resamples,): ``statistic`` along the last axis of draws with replacement from ``sample``.

    Raises:
        ConfigError: fewer than 2 resamples.
    """
    resamples = checked_count("resamples", resamples, least=2)
    rng = np.random.default_rng(seed)
    rows = max(1, BOOTSTRAP_NUMBERS // len(sample))
    parts = []
    for first in range(0, resamples, rows):
        chosen = rng.integers(0, len(sample), (min(rows, resamples - first), len(sample)))
        parts.append(statistic(sample[chosen]))
    return np.concatenate(parts)


def mean_ratio(
    numerator: Any, denominator: Any, *, seed: int = 0, resamples: int = 1000
) -> Estimate:
    """mean(numerator) / mean(denominator) of paired draws, bootstrap over the pairs.

    For E Theta(x, x~) / E Theta(x, x) from the same networks. Errors as for `dispersion`.

    Raises:
        ConfigError: not two vectors of equal length >= 2, or not finite.
    """
    top, bottom = np.asarray(numerator, float), np.asarray(denominator, float)
    if top.shape != bottom.shape:
        raise refuse(
            "numerator", f"shape {top.shape}", f"of the denominator's shape {bottom.shape}"
        )
    scale = np.abs(bottom).max(initial=0.0)
    checked_sample(top), checked_sample(bottom)
    pairs = np.arange(len(top), dtype=float)

    def ratio(chosen: np.ndarray) -> np.ndarray:
        places = chosen.astype(np.int64)
        return (top[places] / scale).mean(axis=-1) / (bottom[places] / scale).mean(axis=-1)

    values = bootstrapped(pairs, ratio, seed=seed, resamples=resamples)
    low, high = np.quantile(values, [0.16, 0.84])
    return Estimate(
        float(ratio(pairs)), float(values.std(ddof=1)), float(low), float(high), len(top)
    )


def second_moment_with_known_mean(theta: Any, mean: float) -> tuple[float, float]:
    """Estimate r by mean(theta^2) / mean^2 with the exact mean; and its standard error.

    For ReLU without biases exp(log_moments(...).mean), divided as ``theta`` is. Unbiased but not
    always less scattered than the ratio, whose numerator and denominator err together.

    Raises:
        ConfigError: fewer than 2 draws, or a mean that is 0.
    """
    sample = np.asarray(theta, dtype=np.float64)
    checked_sample(sample)
    if not mean:
        raise refuse("mean", mean, "the exact mean, not 0")
    squares = (sample / mean) ** 2
    return float(squares.mean()), float(squares.std(ddof=1) / len(squares) ** 0.5)
