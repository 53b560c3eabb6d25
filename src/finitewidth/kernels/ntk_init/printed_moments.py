"""Theorem 3.2 of ``beyond`` as printed, and as its proof has it, beside the exact `log_moments`.

Printed products: X = prod (1 + 5 / n_k) and C = prod (1 + 1 / n_k), remainders O(M^(-3/2)) dropped.
C stands where (2 Q + P) / 3 is exact: docs/theory.md.
"""

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_choice
from finitewidth.kernels.ntk_init.log_sums import log_chained_pairs, log_pairs, sums_from
from finitewidth.kernels.ntk_init.moments import LogMoments, checked_without_biases


def printed_log_moments(
    init: Initialisation, *, input_norm2: float = 1.0, reading: str = "as_proved"
) -> LogMoments:
    """Equations 11 to 15 of ``beyond``, standard parametrisation.

    Args:
        init: ReLU network, one output, sigma_b2 = 0; ``parametrisation`` is not looked at.
        input_norm2: |x|^2 > 0.
        reading: "as_printed" takes equation 13 to the letter; "as_proved" counts each pair of
            layers twice and divides C by X, as the proof in the paper's appendix does.

    Cost: O(L).

    Raises:
        ConfigError: random biases, several outputs, an unknown reading.
    """
    checked_choice("reading", reading, ("as_printed", "as_proved"))
    log_norm2 = np.log(checked_without_biases(init, input_norm2))
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
        w=float(log_norm2 + top + np.logaddexp.reduce(size)),
        b=float(np.logaddexp.reduce(from_top)),
        w2=float(2 * (log_norm2 + top) + w2),
        b2=float(b2),
        wb=float(log_norm2 + top + wb),
    )
