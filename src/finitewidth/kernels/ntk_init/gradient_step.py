"""The mean change of Theta(x, x) in one step of gradient descent on x, to first order in the step.

ReLU networks with sigma_b2 = 0, one output and the standard parametrisation; biases are 0 and are
trained. ``beyond`` (Theorem 4.1) states limits of this change. The closed form is exact for all
widths and is derived in docs/theory.md, section 5.
"""

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation, refuse
from finitewidth.kernels.ntk_init.moments import checked_without_biases


def log_mean_decrease(init: Initialisation, *, input_norm2: float = 1.0) -> float:
    """Return log of -d E[Theta(x, x)] / d eta at eta = 0, for a step of size eta on (x, y).

    The loss is (f(x) - y)^2 / 2. The mean does not depend on y, because f and -f have the same
    kernel and the same law. With a = sigma_w2 / 2 and E[|x^(l-1)|^2 (|x^(l-1)|^2 + 1)] = s_l it is

        4/3 sum_(1 <= l <= k < L) a^(2 (L - l)) n_k / n_(l-1) s_l
            prod_(j=l)^(L-1) (1 + 5 / n_j) [1 - prod_(j=l)^k (n_j - 1) / (n_j + 5)],

    of which every term is positive: the mean of the kernel falls, in every phase. A network of
    depth 1 has a constant kernel, and the result is -inf. The time grows as L^2.

    Raises:
        ConfigError: biases are random, there are several outputs, |x|^2 is not positive, or the
            parametrisation is not the standard one.
    """
    log_norm2 = np.log(checked_without_biases(init, input_norm2))
    if init.parametrisation != "standard":
        raise refuse("parametrisation", init.parametrisation, "standard", "use standard")
    depth = init.depth
    if depth == 1:
        return -np.inf
    n = np.array(init.widths, dtype=float)
    hidden = n[1:]
    log_a = np.log(init.sigma_w2 / 2)
    layer = np.arange(1, depth)  # l, and k
    spread = np.log1p(5 / hidden)
    below = np.concatenate([[0.0], np.cumsum(spread)])[:-1]  # log prod (1 + 5 / n_j), j = 1..l-1
    above = spread.sum() - below  # the same for j = l..L-1
    with np.errstate(divide="ignore"):  # a layer of one unit: the product is 0 from there on
        log_ratio = np.log((hidden - 1) / (hidden + 5))
    log_mean = log_norm2 + (layer - 1) * log_a + np.log(n[:-1] / n[0])  # of |x^(l-1)|^2
    log_second = 2 * log_mean + below  # of |x^(l-1)|^4
    log_s = np.logaddexp(log_second, log_mean)
    log_factor = 2 * (depth - layer) * log_a + above + log_s
    log_factor -= np.log(n[:-1])
    terms = []  # one for each l
    for start in range(depth - 1):
        product = np.cumsum(log_ratio[start:])
        bracket = np.log(-np.expm1(product))  # log [1 - prod] for k = l..L-1
        sum_over_k = np.logaddexp.reduce(np.log(hidden[start:]) + bracket)
        terms.append(log_factor[start] + sum_over_k)
    return float(np.log(4 / 3) + np.logaddexp.reduce(terms))
