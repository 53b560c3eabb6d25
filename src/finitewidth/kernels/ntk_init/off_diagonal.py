"""Ratio of off-diagonal to diagonal mean kernel elements for ReLU (``beyond``, Theorem 3.3).

``cosine`` is that of the two inputs, and a = sigma_w2 / 2. The cost is O(L).
"""

import numpy as np

from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import Initialisation


def correlation_map(cosine: float) -> float:
    """Return the cosine of the activations of a wide ReLU layer, given that of its inputs."""
    c = cosine
    return float((np.sqrt(1 - c * c) + c * (np.pi / 2 + np.arcsin(c))) / np.pi)


def slope_map(cosine: float) -> float:
    """Return 2 E[phi' phi'], the factor by which a wide ReLU layer reduces <delta, delta~>.

    It lies in [0, 1].
    """
    return float((np.pi / 2 + np.arcsin(cosine)) / np.pi)


def printed_mean_ratio(depth: int, sigma_w2: float, cosine: float) -> float:
    """Return equation 18, sum_l a^(L-l) prod_{k=l}^{L-1} g(rho_(k-1)) / sum_l a^(L-l).

    It contains only the part of the biases at infinite width. It is a lower bound of the mean ratio
    only if Theta_W is negligible. It lies in [0, 1].
    """
    rho = cosine
    slopes = []
    for _ in range(depth - 1):
        slopes.append(slope_map(rho))
        rho = min(1.0, correlation_map(rho))
    weights = np.arange(depth) * np.log(sigma_w2 / 2)  # for layers L, L-1, ..., 1
    products = np.concatenate([[1.0], np.cumprod(slopes[::-1])])
    sizes = np.exp(weights - weights.max())
    return float((sizes * products).sum() / sizes.sum())


def infinite_width_mean_ratio(init: Initialisation, cosine: float) -> float:
    """Return E Theta(x, x~) / E Theta(x, x) to leading order in the widths, for |x| = |x~| = 1.

    This is equation 18 with Theta_W included.
    """
    gram = np.array([[1.0, cosine], [cosine, 1.0]]) / init.widths[0]
    theta_w, theta_b, _ = infinite_width_of_gram(init, gram, activation="relu").kernel_parts()
    theta = theta_w + theta_b
    return float(theta[0, 1] / theta[0, 0])
