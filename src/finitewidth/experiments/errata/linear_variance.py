"""Variance of the tangent kernel of a deep linear network with weights ±1/√w, exactly.

One input x = 1, d layers, d - 1 hidden layers of w units, K = Σ_l F_{l-1} B_l with
F_l = |W_l .. W_1|² and B_l = |W_d .. W_{l+1}|². Signs of rows and columns and permutations of units
leave the law as it is, so that moments of products over layers obey scalar recursions.
"""

import numpy as np


def fourth_moments(layers: int, w: int) -> np.ndarray:
    """E|A u|⁴ for A a product of 0, 1, .., ``layers`` matrices and u = (1, .., 1)/√w."""
    norm, quartic, found = 1.0, 1 / w, [1.0]
    for _ in range(layers):
        each = (3 * norm - 2 * quartic) / w
        norm, quartic = norm * (1 - 1 / w) + each, each
        found.append(norm)
    return np.array(found)


def crossed_moments(layers: int, w: int) -> np.ndarray:
    """E|A e|² |Aᵀ e|² for products of 0, .., ``layers`` matrices and a unit vector e of an axis.

    The same for any two vectors of unit norm, one on each side.
    """
    fourth, found = fourth_moments(layers, w), [1.0]
    for step in range(layers):
        found.append((1 - 1 / w) * found[-1] + fourth[step] / w)
    return np.array(found)


def kernel_variance(d: int, w: int) -> float:
    """Var K at initialisation; its mean is d.

    A pair of layers l < m shares both forward factors below l, both backward factors above m, and
    between them the forward factor of m with the backward factor of l. At each end of a product a
    row of the next matrix, all ±1/√w, is a flat unit vector.
    """
    fourth, crossed = fourth_moments(d, w), crossed_moments(d, w)
    # layers 2..d-1 are matrices; the first and the last are flat vectors of norm 1
    second = 0.0
    for low in range(1, d + 1):
        below = fourth[max(low - 2, 0)]
        for high in range(low, d + 1):
            above = fourth[max(d - 1 - high, 0)]
            # of layer low itself only the forward factor, of layer high only the backward one
            between = crossed[max(high - low - 1, 0)] if high > low else 1.0
            second += (2.0 if high > low else 1.0) * below * between * above
    return second - d**2
