"""Dispersion of the kernel for L, M -> infinity, L / M -> lambda: Theorem 3.1 of ``beyond``.

Constant width M, n_0 = alpha_0 M, ReLU, no biases, |x| = 1, standard parametrisation. The printed
limits (equations 8 and 9) rest on a lemma that fails when depth is of the order of width; the
corrected ones are derived in docs/theory.md. Sums over pairs of layers become integrals over a
simplex, that is second divided differences of exp.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number, refuse

PHASES = ("ordered", "critical", "chaotic")
LARGEST_LAMBDA = 100.0


def relu_phase(sigma_w2: float) -> str:
    """Say "ordered" below sigma_w2 = 2, "critical" at 2 (the edge of chaos), "chaotic" above."""
    value = checked_number("sigma_w2", sigma_w2, above=0)
    return PHASES[int(np.sign(value - 2)) + 1]


def divided_difference(x: float, y: float, z: float) -> float:
    """exp[x, y, z]: the integral of exp over the simplex of mixtures of x, y, z; stable everywhere.

    It is an entry of the exponential of a bidiagonal matrix (Opitz).
    """
    return float(expm(np.array([[x, 1.0, 0.0], [0.0, y, 1.0], [0.0, 0.0, z]]))[0, 2])


@dataclass(frozen=True)
class LimitParts:
    """Limits of E[Theta_W^2] / E[Theta_W]^2 and its like.

    Attributes:
        w2: of E[Theta_W^2] / E[Theta_W]^2, any phase.
        b2: of E[Theta_b^2] / E[Theta_b]^2 at the edge of chaos.
        wb: of E[Theta_W Theta_b] / (E[Theta_W] E[Theta_b]) at the edge of chaos.
    """

    w2: float
    b2: float
    wb: float


def limit_parts(lam: float, *, form: str = "corrected") -> LimitParts:
    """The three limits as functions of lambda = L / M >= 0.

    Corrected, in elementary terms:
    w2 = e^(5 lam) (1/3 + 2 / (9 lam) - (1 - e^(-6 lam)) / (27 lam^2)),
    b2 = 2 (e^(5 lam) - 1) / (25 lam^2) - 2 / (5 lam),
    wb = (e^(5 lam) (11/225 + lam/15) + e^(-lam) / 9 - lam/5 - 4/25) / lam^2.

    Args:
        lam: >= 0.
        form: "corrected" or "printed" (``beyond``, equations 32, 37, 40).

    Raises:
        ConfigError: lambda negative, form unknown.
    """
    lam = checked_number("lam", lam)
    if lam > LARGEST_LAMBDA:
        raise refuse("lam", lam, f"at most {LARGEST_LAMBDA}", "e^(5 lam) leaves float64 beyond it")
    checked_choice("form", form, ("corrected", "printed"))
    b2 = 2 * divided_difference(0, 0, 5 * lam)
    if form == "printed":
        w2 = 2 * divided_difference(5 * lam, 5 * lam, lam)
        return LimitParts(w2, b2, divided_difference(0, lam, 5 * lam) + b2 / 2)
    w2 = np.exp(5 * lam) / 3 + 4 / 3 * divided_difference(5 * lam, 5 * lam, -lam)
    between = 2 * divided_difference(0, -lam, 5 * lam) + divided_difference(0, 5 * lam, 5 * lam)
    return LimitParts(float(w2), b2, between / 3 + b2 / 2)


def dispersion_limit(
    lam: float, phase: str, *, alpha_0: float = 1.0, form: str = "corrected"
) -> float:
    """Limit of E[Theta^2] / E[Theta]^2 as L, M -> infinity, L / M -> ``lam``.

    Args:
        lam: depth over width, >= 0.
        phase: "ordered", "critical" or "chaotic"; see `relu_phase`.
        alpha_0: n_0 / M > 0; matters at the edge of chaos only.
        form: "corrected", or "printed" (``beyond``, equations 8, 9, 10).

    Raises:
        ConfigError: an argument out of range.
    """
    checked_choice("phase", phase, PHASES)
    alpha_0 = checked_number("alpha_0", alpha_0, above=0)
    parts = limit_parts(lam, form=form)
    if phase == "ordered":
        return 1.0
    if phase == "chaotic":
        return parts.w2
    both = parts.w2 + 2 * alpha_0 * parts.wb + alpha_0**2 * parts.b2
    return both / (1 + alpha_0) ** 2
