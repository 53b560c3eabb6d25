"""Limits of the dispersion for L, M -> infinity with L / M -> lambda (``beyond``, Theorem 3.1).

The network has constant width M, n_0 = alpha_0 M, ReLU, no biases and the standard
parametrisation, and |x| = 1. The printed limits (equations 8 and 9) use a lemma that fails if the
depth is of the order of the width. The corrected limits are derived in docs/theory.md, section 4.
In the limit, sums over pairs of layers become integrals over a simplex, which are second divided
differences of exp.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number, refuse
from finitewidth.kernels.ntk_init.phases import phase as phase_of

LARGEST_LAMBDA = 100.0


def _divided_difference(x: float, y: float, z: float) -> float:
    """The second divided difference exp[x, y, z], an integral of exp over a simplex.

    It is an entry of the exponential of a bidiagonal matrix (Opitz), which is stable also if the
    arguments are equal.
    """
    bidiagonal = np.array([[x, 1.0, 0.0], [0.0, y, 1.0], [0.0, 0.0, z]])
    return float(expm(bidiagonal)[0, 2])


class LimitParts(NamedTuple):
    """Limits of E[Theta_W^2] / E[Theta_W]^2 in every phase, and at the edge of chaos of
    E[Theta_b^2] / E[Theta_b]^2 and E[Theta_W Theta_b] / (E[Theta_W] E[Theta_b]).
    """

    w2: float
    b2: float
    wb: float


def limit_parts(lam: float, *, form: str = "corrected") -> LimitParts:
    """Return the three limits as functions of lambda = L / M.

    The corrected limits are
    w2 = e^(5 lam) (1/3 + 2 / (9 lam) - (1 - e^(-6 lam)) / (27 lam^2)),
    b2 = 2 (e^(5 lam) - 1) / (25 lam^2) - 2 / (5 lam),
    wb = (e^(5 lam) (11/225 + lam/15) + e^(-lam) / 9 - lam/5 - 4/25) / lam^2.
    With the ``form`` "printed", they are equations 32, 37 and 40 of ``beyond``.
    """
    b2 = 2 * _divided_difference(0, 0, 5 * lam)
    if form == "printed":
        w2 = 2 * _divided_difference(5 * lam, 5 * lam, lam)
        wb = _divided_difference(0, lam, 5 * lam) + b2 / 2
        return LimitParts(w2, b2, wb)
    w2 = np.exp(5 * lam) / 3 + 4 / 3 * _divided_difference(5 * lam, 5 * lam, -lam)
    # bias of the lower layer and weights of the higher one: the factor (2 Q + P) / 3 between them
    lower = 2 * _divided_difference(0, -lam, 5 * lam) + _divided_difference(0, 5 * lam, 5 * lam)
    return LimitParts(float(w2), b2, lower / 3 + b2 / 2)


def dispersion_limit(
    lam: float, phase: str, *, alpha_0: float = 1.0, form: str = "corrected"
) -> float:
    """Return the limit of E[Theta^2] / E[Theta]^2 as L, M -> infinity with L / M -> ``lam``.

    Args:
        lam: depth over width, between 0 and 100.0.
        phase: "ordered", "critical" or "chaotic".
        alpha_0: n_0 / M > 0. It is used only at the edge of chaos.
        form: "corrected", or "printed" for equations 8, 9 and 10 of ``beyond``.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> import finitewidth as fw
        >>> fw.dispersion_limit(0.2, "ordered")
        1.0
        >>> round(fw.dispersion_limit(0.2, "critical"), 3)
        1.652
    """
    checked_choice("phase", phase, ("ordered", "critical", "chaotic"))
    checked_choice("form", form, ("corrected", "printed"))
    alpha_0 = checked_number("alpha_0", alpha_0, above=0)
    lam = checked_number("lam", lam)
    if lam > LARGEST_LAMBDA:
        raise refuse("lam", lam, f"at most {LARGEST_LAMBDA}", "larger values can overflow float64")
    parts = limit_parts(lam, form=form)
    if phase == "ordered":
        return 1.0
    if phase == "chaotic":
        return parts.w2
    square = parts.w2 + 2 * alpha_0 * parts.wb + alpha_0**2 * parts.b2
    return square / (1 + alpha_0) ** 2


def dispersion_correction(lam: float, sigma_w2: float, *, alpha_0: float = 1.0) -> float:
    """Return c in E[Theta^2] / E[Theta]^2 = limit + c / M + O(1 / M^2), at L = lambda M.

    The closed forms and their proof are in docs/theory.md, section 4. alpha_0 is n_0 / M.
    """
    phase = phase_of("relu", sigma_w2)
    a = sigma_w2 / 2
    if phase == "ordered":
        return 5 * a**2 / (1 - a**2)
    w2 = limit_parts(lam).w2
    excess = alpha_0 - 1  # the share of the first layer is alpha_0 times that of the others
    weights = _weights_correction(lam, excess, w2)
    if phase == "chaotic":
        e5 = np.exp(5 * lam)
        e6 = np.exp(-6 * lam)
        product = e5 * (1 / 3 + (1 - e6) / (9 * lam))  # X in docs/theory.md
        biases = 2 * alpha_0 * a / ((a - 1) * lam) * (product - w2)
        return float(weights - 2 * excess / lam * w2 + biases)
    mixed = _mixed_correction(lam, excess)
    biases = _biases_correction(lam)
    square = weights + 2 * alpha_0 * mixed + alpha_0**2 * biases
    limit = dispersion_limit(lam, phase, alpha_0=alpha_0)
    of_mean = 2 * excess / (lam * (1 + alpha_0)) * limit  # the first order of the squared mean
    return float(square / (1 + alpha_0) ** 2 - of_mean)


def _weights_correction(lam: float, excess: float, w2: float) -> float:
    """Return w_1 / lambda^2 of docs/theory.md, section 4.

    It is the term of order 1 / M of E[Theta_W^2] over the squared mean at alpha_0 = 1. The
    ``excess`` is alpha_0 - 1, and ``w2`` the limit of E[Theta_W^2] / E[Theta_W]^2.
    """
    e5 = np.exp(5 * lam)
    e6 = np.exp(-6 * lam)
    growth = -(5 + 12.5 * lam) * lam**2 * w2
    pairs = e5 * (4 * lam / 9 * (1 + e6) - 4 / 27 * (1 - e6))
    first_layer = excess * e5 * 2 / 3 * (lam + (1 - e6) / 3)
    return (growth + pairs + first_layer) / lam**2


def _mixed_correction(lam: float, excess: float) -> float:
    """Return c_1 / lambda^2, the same for alpha_0 E[Theta_W Theta_b] at the edge of chaos."""
    e5 = np.exp(5 * lam)
    e1 = np.exp(-lam)
    rising = e5 * (1 / 9 - 11 * lam / 18 - 5 * lam**2 / 6)
    falling = e1 * (1 / 9 + lam / 18)
    first_layer = excess * (e5 - 1) / 5
    return (rising - falling + first_layer) / lam**2


def _biases_correction(lam: float) -> float:
    """Return b_1 / lambda^2, the same for E[Theta_b^2] at the edge of chaos."""
    e5 = np.exp(5 * lam)
    return ((1 / 5 - lam) * e5 - 1 / 5) / lam**2


def dispersion_lower_bound(lam: float, phase: str, *, alpha_0: float = 1.0) -> float:
    """Return e^(5 lambda) / 3 over (1 + alpha_0)^2 at the edge of chaos, a bound of the limit.

    It follows from E[Theta_W^2] >= E[Theta_W]^2 prod (1 + 5 / n_k) / 3, and has the order of the
    lower bound of Hanin and Nica (2019). In the ordered phase it is 1.
    """
    if phase == "ordered":
        return 1.0
    share = 1 / (1 + alpha_0) if phase == "critical" else 1.0
    return float(np.exp(5 * lam) / 3 * share**2)
