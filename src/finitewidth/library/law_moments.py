"""Moments of Theta(x, x) over random networks of a law, exact or from draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_count
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.library.dispersion import Dispersion, estimated, exactly, log_interval
from finitewidth.library.initial import draw_ntk


@dataclass(frozen=True)
class Moments:
    """Moments of Theta = Theta(x, x) of one output over random networks."""

    mean: float  # E[Theta]
    mean_error: float  # its standard error
    ratio: Dispersion  # E[Theta^2] / E[Theta]^2
    square: float  # E[(Theta - infinite)^2], from the kernel of infinite width
    square_error: float  # its standard error


def exact_moments(init: Initialisation, input_norm2: float, infinite: float) -> Moments:
    """The moments for ReLU, without draws."""
    moments = log_moments(init, input_norm2=input_norm2)
    mean = float(np.exp(moments.mean))
    ratio = exactly(moments.dispersion)
    # E[(Theta - t)^2] = r E[Theta]^2 - 2 t E[Theta] + t^2
    square = ratio.value * mean**2 - 2 * mean * infinite + infinite**2
    return Moments(mean, 0.0, ratio, square, 0.0)


def estimated_moments(
    init: Initialisation,
    activation: Any,
    draws: int,
    seed: int,
    input_norm2: float,
    infinite: float,
) -> Moments:
    """The moments for any activation, from ``draws`` networks.

    Raises:
        ConfigError: there are fewer than 3 draws.
    """
    checked_count("draws", draws, 3)
    # (draws,)
    theta = draw_ntk(init, activation=activation, draws=draws, seed=seed, input_norm2=input_norm2)
    squares = (theta - infinite) ** 2
    return Moments(
        mean=float(theta.mean()),
        mean_error=float(theta.std(ddof=1) / np.sqrt(draws)),
        ratio=estimated(theta, seed=seed),
        square=squares.mean(),
        square_error=squares.std(ddof=1) / np.sqrt(draws),
    )


def distance_interval(
    distance: float, square: float, error: float, ratio: Dispersion
) -> tuple[float, float]:
    """Return the interval of the root of a mean square from its error by the sample.

    Above, the error is larger by the factor of the dispersion, whose tail it shares.
    """
    if not ratio.draws or not square:
        return distance, distance
    below = error / square / 2
    if np.isinf(ratio.high):
        return log_interval(distance, distance * below, 0.0)[0], np.inf
    tail = np.log(ratio.high / ratio.value) / max(np.log(ratio.value / ratio.low), 1e-300)
    return log_interval(distance, distance * below, distance * below * max(tail, 1.0))
