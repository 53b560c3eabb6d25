"""Networks, depths and theoretical curves that the experiments of ``beyond`` share.

All networks are ReLU networks in standard parametrisation with sigma_b = 0, |x| = 1, one output,
and hidden layers of equal width.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation, constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.moments import log_moments, printed_log_moments
from finitewidth.kernels.ntk_init.phases import phase as phase_of

SHALLOWEST = 2  # one hidden layer


def depths(width: int, max_lambda: float, points: int | None, power: float = 1.0) -> list[int]:
    """Depths from 2 to ``max_lambda`` times the width, at most ``points`` if it is given.

    They are spaced evenly in L^(1/power): a larger power gives a finer spacing at small depths.
    """
    deepest = max(SHALLOWEST, round(max_lambda * width))
    all_depths = np.arange(SHALLOWEST, deepest + 1)
    if points is None or points >= len(all_depths):
        return all_depths.tolist()
    shares = np.linspace(0, 1, points) ** power
    spaced = SHALLOWEST + (deepest - SHALLOWEST) * shares
    return np.unique(spaced.round().astype(int)).tolist()


def network(depth: int, width: int, alpha_0: float, sigma_w2: float = 2.0) -> Initialisation:
    """A network with ``width`` units per hidden layer and n_0 = alpha_0 · width, rounded."""
    input_width = max(1, round(alpha_0 * width))
    return constant_width(depth, width, sigma_w2=sigma_w2, input_width=input_width)


def dispersion_curves(
    width: int, alpha_0: float, variances: Sequence[float], grid: Sequence[int]
) -> list[dict[str, Any]]:
    """Dispersion of Theta(x, x) in closed form, on a grid of depths.

    The curves are ``printed_limit`` and ``corrected_limit`` (Theorem 3.1 of ``beyond``),
    ``printed_sums`` (Theorem 3.2 in the form of its proof, without remainders) and ``exact``
    (docs/theory.md); x = L / M.
    """
    rows = []
    for variance, depth in product(variances, grid):
        phase = phase_of("relu", variance)
        lam = depth / width
        init = network(depth, width, alpha_0, variance)
        values = {
            "printed_limit": dispersion_limit(lam, phase, alpha_0=alpha_0, form="printed"),
            "corrected_limit": dispersion_limit(lam, phase, alpha_0=alpha_0),
            "printed_sums": printed_log_moments(init).dispersion,
            "exact": log_moments(init).dispersion,
        }
        key = {"width": width, "alpha_0": alpha_0, "sigma_w2": variance, "depth": depth, "x": lam}
        for curve, value in values.items():
            rows.append(key | {"curve": curve, "y": value})
    return rows
