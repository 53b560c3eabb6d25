"""The dispersion of the tangent kernel to first order in the reciprocal widths, layer by layer.

For ReLU networks with sigma_b2 = 0. docs/theory.md, section 5, derives the coefficients of the
layers from the exact moments.
"""

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import checked_without_biases


def layer_coefficients(init: Initialisation, *, input_norm2: float = 1.0) -> np.ndarray:
    """Coefficients c_k in E[Theta^2] / E[Theta]^2 = 1 + sum_k c_k / n_k + O(1/n^2).

    With the share w = E[Theta_W] / E[Theta], and with F_k and B_k for the shares of the layers
    l <= k in E[Theta_W] and in E[Theta_b],
    c_k = w^2 (5 - 8 F_k (1 - F_k)) + 2 w (1 - w) B_k (1 + 4 F_k) + 5 (1 - w)^2 B_k^2.

    Args:
        init: the law of a network with one output and sigma_b2 = 0.
        input_norm2: |x|^2 > 0.

    Returns:
        (L - 1,): c_1, ..., c_(L-1), between 0 and 5. Their limits are 5 w^2 at the input and 5 at
        the output.

    Raises:
        ConfigError: biases are random, there are several outputs, or the norm is not positive.
    """
    log_norm2 = np.log(checked_without_biases(init, input_norm2))
    depth, log_a = init.depth, np.log(init.sigma_w2 / 2)
    n = np.array(init.widths, dtype=float)
    sizes = np.log(n * init.weight_gains / n[0])
    of_weights = np.logaddexp.accumulate(sizes)
    of_biases = np.logaddexp.accumulate((depth - np.arange(1, depth + 1)) * log_a)
    f, b = np.exp(of_weights[:-1] - of_weights[-1]), np.exp(of_biases[:-1] - of_biases[-1])
    if init.bias_gain:
        log_w = log_norm2 + (depth - 1) * log_a + of_weights[-1]
        w = float(np.exp(log_w - np.logaddexp(log_w, of_biases[-1])))
    else:
        w = 1.0
    return w**2 * (5 - 8 * f * (1 - f)) + 2 * w * (1 - w) * b * (1 + 4 * f) + 5 * ((1 - w) * b) ** 2


def leading_excess(init: Initialisation, *, input_norm2: float = 1.0) -> float:
    """The first-order term of the dispersion minus 1, sum_k c_k / n_k; see `layer_coefficients`.

    Raises:
        ConfigError: biases are random, there are several outputs, or the norm is not positive.
    """
    widths = np.array(init.widths[1:], dtype=float)
    return float((layer_coefficients(init, input_norm2=input_norm2) / widths).sum())
