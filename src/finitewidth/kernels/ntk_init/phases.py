"""Ordered and chaotic phase, and the border between them: chi_1 = 1."""

import numpy as np
from scipy.optimize import brentq

from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.gaussian_means import mean_squares
from finitewidth.kernels.ntk_init.initialisation import checked_number, refuse

LARGEST_VARIANCE = 1e9


def chi_1(activation: "str | Activation | TensorMap", sigma_w2: float, q: float) -> float:
    """sigma_w2 E[phi'(sqrt(q) z)^2]: growth per layer of squared errors.

    ``trust``, section 2; q is the variance of preactivations, >= 0. Raises ConfigError for an
    argument out of range.
    """
    sigma_w2, q = checked_number("sigma_w2", sigma_w2, above=0), checked_number("q", q)
    return sigma_w2 * mean_squares(activation_of(activation), q)[1]


def fixed_variance(
    activation: "str | Activation | TensorMap", sigma_w2: float, sigma_b2: float
) -> float:
    """q* = sigma_w2 E[phi(sqrt(q*) z)^2] + sigma_b2, the largest such q; inf where q diverges.

    For ReLU sigma_b2 / (1 - sigma_w2 / 2); at sigma_b2 = 0 and sigma_w2 = 2 every q is fixed, and
    inf is returned.

    Raises:
        ConfigError: an argument out of range.
    """
    activation = activation_of(activation)
    sigma_w2 = checked_number("sigma_w2", sigma_w2, above=0)
    sigma_b2 = checked_number("sigma_b2", sigma_b2)
    if activation.name == "relu":
        return sigma_b2 / (1 - sigma_w2 / 2) if sigma_w2 < 2 else float("inf")

    def excess(q: float) -> float:
        return sigma_w2 * mean_squares(activation, q)[0] + sigma_b2 - q

    low, high = 1e-9, 1.0
    while excess(high) > 0:
        high *= 2
        if high > LARGEST_VARIANCE:
            return float("inf")
    if excess(low) <= 0:
        return 0.0 if sigma_b2 == 0 else sigma_b2
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-13))


def phase(
    activation: "str | Activation | TensorMap",
    sigma_w2: float,
    sigma_b2: float,
    tolerance: float = 1e-9,
) -> str:
    """Say "ordered" (chi_1 < 1 at q*), "critical" (within ``tolerance`` of 1) or "chaotic".

    Raises:
        ConfigError: an argument out of range; q* infinite for an activation other than ReLU.
    """
    activation = activation_of(activation)
    q = fixed_variance(activation, sigma_w2, sigma_b2)
    if not np.isfinite(q) and activation.name != "relu":
        raise refuse("activation", activation.name, "one whose variance settles at these sigmas")
    value = chi_1(activation, sigma_w2, q if np.isfinite(q) else 1.0) - 1
    if abs(value) <= tolerance:
        return "critical"
    return "chaotic" if value > 0 else "ordered"


def border(activation: "str | Activation | TensorMap", sigma_b2: float) -> float:
    """The sigma_w2 at which chi_1 = 1 for a bias variance: 2 for ReLU, whatever sigma_b2.

    At variance q the border has sigma_w2 = 1 / E phi'^2 and sigma_b2 = q - sigma_w2 E phi^2; the q
    that gives the wanted sigma_b2 is found by bisection (sigma_b2 grows with q for tanh and erf).

    Raises:
        ConfigError: sigma_b2 negative, or no border found for this activation.
    """
    activation, sigma_b2 = activation_of(activation), checked_number("sigma_b2", sigma_b2)
    if activation.name == "relu":
        return 2.0

    def bias_variance(q: float) -> float:
        square, slope = mean_squares(activation, q)
        return q - square / slope

    if sigma_b2 == 0:
        return 1 / mean_squares(activation, 0.0)[1]
    high = 1e-3
    while bias_variance(high) < sigma_b2:
        high *= 2
        if high > 1e3:
            raise refuse("sigma_b2", sigma_b2, f"reached on the border of {activation.name}")
    q = brentq(lambda q: bias_variance(q) - sigma_b2, 0.0, high, xtol=1e-15, rtol=1e-13)
    return 1 / mean_squares(activation, q)[1]
