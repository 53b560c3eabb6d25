"""Theorem 3.2 of ``beyond`` as it is printed and as it is proved. `log_moments` is exact.

The printed products are X = prod (1 + 5 / n_k) and C = prod (1 + 1 / n_k), without the remainders
O(M^(-3/2)). The exact expression in place of C is (2 Q + P) / 3, see docs/theory.md, section 3.
"""

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_choice
from finitewidth.kernels.ntk_init.moments import (
    LogMoments,
    checked_without_biases,
    log_chained_pairs,
    log_pairs,
    sums_from,
)


def printed_log_moments(init: Initialisation, *, reading: str = "as_proved") -> LogMoments:
    """Compute equations 11 to 15 of ``beyond``, for the standard parametrisation and |x| = 1.

    Args:
        init: the law of a ReLU network with one output and sigma_b2 = 0. ``parametrisation`` is
            ignored.
        reading: "as_printed" for equation 13 as printed. "as_proved" counts each pair of layers
            twice and divides C by X, as the proof in the appendix of the paper does.

    Cost: O(L).

    Raises:
        ConfigError: biases are random, there are several outputs, or the reading is unknown.
    """
    checked_choice("reading", reading, ("as_printed", "as_proved"))
    checked_without_biases(init, 1.0)
    depth, log_a = init.depth, np.log(init.sigma_w2 / 2)
    n = np.array(init.widths, dtype=float)
    size, log_x, log_c = np.log(n / n[0]), np.log1p(5 / n[1:]), np.log1p(1 / n[1:])
    from_top, spread = (depth - np.arange(1, depth + 1)) * log_a, sums_from(log_x)
    if reading == "as_printed":
        pairs = log_chained_pairs(size, log_c, size)
    else:
        pairs = np.log(2) + log_chained_pairs(size, log_c - log_x, size)
    w2 = spread[0] + np.logaddexp(np.logaddexp.reduce(2 * size), pairs)
    b2 = np.logaddexp(
        np.logaddexp.reduce(2 * from_top + spread),
        np.log(2) + log_pairs(from_top, from_top + spread),
    )
    wb = np.logaddexp.reduce(
        [
            np.logaddexp.reduce(size + from_top + spread),
            log_chained_pairs(from_top, log_c, size + spread),
            log_pairs(size, from_top + spread),
        ]
    )
    top = (depth - 1) * log_a
    return LogMoments(
        w=float(top + np.logaddexp.reduce(size)),
        b=float(np.logaddexp.reduce(from_top)),
        w2=float(2 * top + w2),
        b2=float(b2),
        wb=float(top + wb),
    )
