"""The ordered and the chaotic phase, and the border chi_1 = 1 between them."""

import numpy as np
from scipy.optimize import brentq

from finitewidth.kernels.ntk_init.activations import ActivationLike, activation_of, mean_squares
from finitewidth.kernels.ntk_init.initialisation import checked_number, refuse

LARGEST_VARIANCE = 1e9
# Where networks of the two phases are compared, they keep away from the border. Both numbers are
# ours, in units of the border's sigma_w2.
ORDERED_UP_TO = 0.75
CHAOTIC_FROM = 1.25


def chi_1(activation: ActivationLike, sigma_w2: float, q: float) -> float:
    """Return chi_1 = sigma_w2 E[phi'(sqrt(q) z)^2], the growth of squared errors per layer.

    Source: ``trust``, section 2.

    Args:
        activation: "relu", "erf", "tanh" or an elementwise torch callable.
        sigma_w2: variance of a weight times its fan-in, > 0.
        q: variance of the pre-activations, >= 0.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> import finitewidth as fw
        >>> fw.chi_1("relu", 2.0, q=1.0)
        1.0
    """
    sigma_w2 = checked_number("sigma_w2", sigma_w2, above=0)
    q = checked_number("q", q)
    _, mean_squared_slope = mean_squares(activation_of(activation), q)
    return sigma_w2 * mean_squared_slope


def fixed_variance(activation: ActivationLike, sigma_w2: float, sigma_b2: float = 0.0) -> float:
    """Return the largest q* with q* = sigma_w2 E[phi(sqrt(q*) z)^2] + sigma_b2.

    The result is inf if q diverges. For ReLU, q* = sigma_b2 / (1 - sigma_w2 / 2). At sigma_b2 = 0
    and sigma_w2 = 2 every q is a fixed point of ReLU, and inf is returned.

    Args:
        activation: as for `chi_1`.
        sigma_w2: variance of a weight times its fan-in, > 0.
        sigma_b2: variance of a bias, >= 0.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> import finitewidth as fw
        >>> fw.fixed_variance("relu", 1.0, 0.5)
        1.0
    """
    activation = activation_of(activation)
    sigma_w2 = checked_number("sigma_w2", sigma_w2, above=0)
    sigma_b2 = checked_number("sigma_b2", sigma_b2)
    if activation.name == "relu":
        return sigma_b2 / (1 - sigma_w2 / 2) if sigma_w2 < 2 else float("inf")

    def excess(q: float) -> float:
        return sigma_w2 * mean_squares(activation, q)[0] + sigma_b2 - q

    low = 1e-9
    high = 1.0
    while excess(high) > 0:
        high *= 2
        if high > LARGEST_VARIANCE:
            return float("inf")
    if excess(low) <= 0:
        return 0.0 if sigma_b2 == 0 else sigma_b2
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-13))


def phase(
    activation: ActivationLike,
    sigma_w2: float,
    sigma_b2: float = 0.0,
    tolerance: float = 1e-9,
) -> str:
    """Return the phase of an infinitely wide network.

    Args:
        activation: as for `chi_1`.
        sigma_w2: variance of a weight times its fan-in, > 0.
        sigma_b2: variance of a bias, >= 0.
        tolerance: largest distance of chi_1 from 1 in the critical phase.

    Returns:
        "ordered" (chi_1 < 1 at q*), "critical" or "chaotic" (chi_1 > 1).

    Raises:
        ConfigError: an argument is out of range, or q* is infinite for an activation other than
            ReLU.

    Examples:
        >>> import finitewidth as fw
        >>> fw.phase("relu", 2.0), fw.phase("tanh", 1.0, 0.1), fw.phase("tanh", 3.0, 0.1)
        ('critical', 'ordered', 'chaotic')
    """
    activation = activation_of(activation)
    q = fixed_variance(activation, sigma_w2, sigma_b2)
    if not np.isfinite(q) and activation.name != "relu":
        allowed = f"one whose variance converges at sigma_w2 = {sigma_w2} and sigma_b2 = {sigma_b2}"
        raise refuse("activation", activation.name, allowed)
    value = chi_1(activation, sigma_w2, q if np.isfinite(q) else 1.0) - 1
    if abs(value) <= tolerance:
        return "critical"
    return "chaotic" if value > 0 else "ordered"


def clear_phase(sigma_w2: float, border: float) -> str:
    """Return the phase of networks well away from the border, and "between" near it."""
    share = sigma_w2 / border
    if share <= ORDERED_UP_TO + 1e-9:
        return "ordered"
    return "chaotic" if share >= CHAOTIC_FROM - 1e-9 else "between"


def border(activation: ActivationLike, sigma_b2: float = 0.0) -> float:
    """Return the sigma_w2 at which chi_1 = 1 for a given bias variance.

    For ReLU it is 2 for every sigma_b2. For other activations, the border at variance q has
    sigma_w2 = 1 / E phi'^2 and sigma_b2 = q - sigma_w2 E phi^2. The q of the given sigma_b2 is
    found by root bracketing; sigma_b2 increases with q for tanh and erf.

    Args:
        activation: as for `chi_1`.
        sigma_b2: variance of a bias, >= 0.

    Raises:
        ConfigError: ``sigma_b2`` is negative, or no border is found for this activation.

    Examples:
        >>> import finitewidth as fw
        >>> fw.border("relu", 0.1), round(fw.border("tanh", 0.0), 6)
        (2.0, 1.0)
    """
    activation = activation_of(activation)
    sigma_b2 = checked_number("sigma_b2", sigma_b2)
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
