"""Risk of the least-squares solution of the smallest norm: finite N, limit, and as printed.

The model is ``thesis`` (2.40) with unit covariance: y = <w*, x> + noise, |w*|^2 = r^2, noise of
variance sigma^2. Risks are those beyond the noise of a new sample, E|w - w*|^2, as in (2.46); the
risk (2.45) is larger by sigma^2.
"""

import math
from typing import Literal

Form = Literal["printed", "corrected"]


def exact_mean(parameters: int, samples: int, signal: float, noise: float) -> float:
    """Mean risk for Gaussian inputs, from the means of inverse Wishart matrices.

    Args:
        parameters: P.
        samples: N.
        signal: r^2.
        noise: sigma^2.

    Returns:
        sigma^2 P / (N - P - 1) for P < N - 1, and r^2 (1 - N/P) + sigma^2 N / (P - N - 1) for
        P > N + 1. In between there is no mean, and the result is nan.
    """
    distance = abs(parameters - samples)
    if distance < 2:
        return math.nan
    variance = noise * min(parameters, samples) / (distance - 1)
    return variance + signal * max(0.0, 1 - samples / parameters)


def variance_exists(parameters: int, samples: int) -> bool:
    """Whether the risk has a variance for Gaussian inputs, that is |P - N| > 3."""
    return abs(parameters - samples) > 3


def lowest_ratio(signal: float, noise: float) -> float:
    """The ratio above 1 where the limit of the risk is lowest, r / (r - sigma).

    Args:
        signal: r^2.
        noise: sigma^2.

    Returns:
        The ratio; nan if the limit falls for all ratios above 1, which is so for sigma >= r.
    """
    r, sigma = math.sqrt(signal), math.sqrt(noise)
    return r / (r - sigma) if sigma < r else math.nan


def printed_root(signal: float, noise: float) -> float:
    """The ratio above 1 up to which the limit as printed is negative.

    It is the larger root of r^2 (gamma - 1)^2 = sigma^2 gamma.

    Args:
        signal: r^2.
        noise: sigma^2.
    """
    half = noise / signal / 2
    return 1 + half + math.sqrt(half * (half + 2))


def limit(ratio: float, signal: float, noise: float, form: Form = "corrected") -> float:
    """Limit of the risk for P, N to infinity with P/N = ``ratio``, ``thesis`` (2.46).

    Args:
        ratio: gamma, above 0.
        signal: r^2.
        noise: sigma^2.
        form: ``printed`` has 1 - gamma in place of gamma - 1 in the last denominator.

    Returns:
        The limit; nan at ratio 1.
    """
    if ratio == 1:
        return math.nan
    if ratio < 1:
        return noise * ratio / (1 - ratio)
    sign = -1 if form == "printed" else 1
    return signal * (1 - 1 / ratio) + sign * noise / (ratio - 1)
