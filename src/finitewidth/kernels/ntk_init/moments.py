"""The first two moments of the tangent kernel of a ReLU network, without biases in closed form.

The moments are exact for all widths and include dead layers. Theorem 3.2 of ``beyond`` gives
approximations. The derivation is in docs/theory.md, section 3. All terms are positive and all sums
are computed in logarithms, so the results are finite at depth 2,000 in the chaotic phase. Notation:
a = sigma_w2 / 2, P = prod (1 + 5 / n_k) and Q = prod (1 - 1 / n_k) over layers l1 <= k < l2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.biased_moments import biased_log_moments
from finitewidth.kernels.ntk_init.draws import LOG_MAX
from finitewidth.kernels.ntk_init.initialisation import Initialisation, refuse
from finitewidth.kernels.ntk_init.scalar_chain import checked_scalar


@dataclass(frozen=True)
class LogMoments:
    """Natural logarithms of the moments of Theta = Theta_W + Theta_b; -inf for a moment of 0.

    Attributes:
        w: log E[Theta_W].
        b: log E[Theta_b].
        w2: log E[Theta_W^2].
        b2: log E[Theta_b^2].
        wb: log E[Theta_W Theta_b].
    """

    w: float
    b: float
    w2: float
    b2: float
    wb: float

    @property
    def mean(self) -> float:
        """Log E[Theta]."""
        return float(np.logaddexp(self.w, self.b))

    @property
    def second(self) -> float:
        """Log E[Theta^2]."""
        return float(np.logaddexp.reduce([self.w2, self.b2, np.log(2) + self.wb]))

    @property
    def dispersion(self) -> float:
        """E[Theta^2] / E[Theta]^2, which is at least 1.

        Raises:
            ConfigError: it overflows float64. Its logarithm is second - 2 * mean.
        """
        log = self.second - 2 * self.mean
        if log > LOG_MAX:
            raise refuse("dispersion", f"exp({log:.6g})", "within float64", "use second - 2 * mean")
        return float(np.exp(log))


def checked_without_biases(init: Initialisation, input_norm2: float) -> float:
    """Return the squared input norm, > 0; refuse random biases and several outputs."""
    if init.sigma_b2 != 0:
        remedy = "with random biases there are two moments only: use log_moments"
        raise refuse("sigma_b2", init.sigma_b2, "0 here", remedy)
    return checked_scalar(init, input_norm2)


def log_moments(init: Initialisation, *, input_norm2: float = 1.0) -> LogMoments:
    """Compute the exact moments of Theta(x, x) of a ReLU network, in O(L).

    Without random biases they are closed forms, equations 4 to 6 of docs/theory.md, section 3; with
    them, see `biased_moments`.

    Raises:
        ConfigError: there are several outputs, or |x|^2 is not positive.
    """
    norm2 = checked_scalar(init, input_norm2)
    if init.sigma_b2 > 0:
        return LogMoments(*biased_log_moments(init, norm2))
    # vectors of layers: entry l - 1 belongs to layer l = 1..L; n[k] is the width of layer k
    n = np.array(init.widths, dtype=float)
    size = np.log(n * init.weight_gains / n[0])  # log nu_l, the part of a layer in E[Theta_W]
    from_top = _from_top(init)  # log a^(L-l)
    spread = sums_from(np.log1p(5 / n[1:]))  # log P_[l,L)
    alive = _alive(n)  # log Z_l
    scale = np.log(norm2) + (init.depth - 1) * np.log(init.sigma_w2 / 2)  # log |x|^2 a^(L-1)
    return LogMoments(
        w=float(scale + np.logaddexp.reduce(size)),
        b=_scaled(init, np.logaddexp.reduce(from_top + alive)),
        w2=float(2 * scale + spread[0] + _weights_squared(size, n)),
        b2=_scaled(init, _biases_squared(from_top, spread, alive)),
        wb=_scaled(init, scale + _weight_bias(size, from_top, n)),
    )


def _from_top(init: Initialisation) -> Float[np.ndarray, "L"]:
    """Return log a^(L-l) for the layers l = 1..L, (L,)."""
    layers_above = init.depth - np.arange(1, init.depth + 1)
    return layers_above * np.log(init.sigma_w2 / 2)


def _alive(n: np.ndarray) -> np.ndarray:
    """Return log Z_l, where Z_l is the probability that no layer below l is dead, (L,).

    Z_L is 1, because the error of the output is 1 also if a layer below it is dead.
    """
    log_alive = np.log1p(-(0.5 ** n[1:]))  # one hidden layer is not dead
    alive = np.concatenate([[0.0], np.cumsum(log_alive)])
    alive[-1] = 0.0
    return alive


def _weights_squared(size: np.ndarray, n: np.ndarray) -> float:
    """Return log E[Theta_W^2] / (|x|^4 a^(2 (L-1)) P_[1,L)), equation 4 of docs/theory.md.

    The factor of a pair of layers is 1/3 + 2/3 Q / P: a third of the squared sum of nu_l, and two
    thirds of the sum of nu_l1 nu_l2 Q / P over all ordered pairs.
    """
    log_ratio = _log_q(n[1:]) - np.log1p(5 / n[1:])  # of Q and P of one layer
    squared_sum = 2 * np.logaddexp.reduce(size)
    squares = np.logaddexp.reduce(2 * size)
    pairs = log_chained_pairs(size, log_ratio, size)
    chained = np.logaddexp(squares, np.log(2) + pairs)
    return np.logaddexp(squared_sum - np.log(3), np.log(2 / 3) + chained)


def _biases_squared(from_top: np.ndarray, spread: np.ndarray, alive: np.ndarray) -> float:
    """Return log E[Theta_b^2] for the standard bias gain, equation 5 of docs/theory.md."""
    same = np.logaddexp.reduce(2 * from_top + spread + alive)
    pairs = log_pairs(from_top + alive, from_top + spread)
    return np.logaddexp(same, np.log(2) + pairs)


def _scaled(init: Initialisation, log_value: float) -> float:
    """Add the logarithm of the bias gain; the gain is 0 for "ntk", as sigma_b2 = 0."""
    return float(log_value) if init.bias_gain else -np.inf


def _weight_bias(size: np.ndarray, from_top: np.ndarray, n: np.ndarray) -> float:
    """Return log E[Theta_W Theta_b] / (|x|^2 a^(L-1)) for the standard bias gain.

    Equation 6 of docs/theory.md.
    """
    log_p = np.log1p(5 / n[1:])
    spread = sums_from(log_p)
    same = np.logaddexp.reduce(size + from_top + spread)
    # bias of the lower layer l1 and weights of l2: factor (2 Q + P) / 3 between them
    with_p = log_chained_pairs(from_top, log_p, size + spread)
    with_q = log_chained_pairs(from_top, _log_q(n[1:]), size + spread)
    lower = np.logaddexp(with_p, np.log(2) + with_q) - np.log(3)
    # weights of the lower layer and bias of l2
    higher = log_pairs(size, from_top + spread)
    return float(np.logaddexp.reduce([same, lower, higher]))


def _log_q(n: np.ndarray) -> np.ndarray:
    """Return log(1 - 1 / n), the factors of Q; -inf for n = 1."""
    return np.where(n > 1, np.log1p(-1 / np.maximum(n, 1.5)), -np.inf)


def printed_log_moments(init: Initialisation, *, reading: str = "as_proved") -> LogMoments:
    """Compute equations 11 to 15 of ``beyond``, for the standard parametrisation and |x| = 1.

    The printed products are X = prod (1 + 5 / n_k) and C = prod (1 + 1 / n_k), without the
    remainders O(M^(-3/2)). The exact expression in place of C is (2 Q + P) / 3, see
    docs/theory.md, section 3. The ``reading`` "as_printed" is equation 13 as printed. "as_proved"
    counts each pair of layers twice and divides C by X, as the proof in the appendix of the paper
    does. The network has one output and sigma_b2 = 0. The cost is O(L).
    """
    n = np.array(init.widths, dtype=float)
    size = np.log(n / n[0])  # part of layer l = 1..L in E[Theta_W]
    from_top = _from_top(init)  # log a^(L-l)
    log_x = np.log1p(5 / n[1:])  # factors of X
    log_c = np.log1p(1 / n[1:])  # factors of C
    spread = sums_from(log_x)
    scale = (init.depth - 1) * np.log(init.sigma_w2 / 2)  # log a^(L-1)
    w2 = spread[0] + _printed_weights_squared(size, log_x, log_c, reading)
    wb = [
        np.logaddexp.reduce(size + from_top + spread),  # both of one layer
        log_chained_pairs(from_top, log_c, size + spread),  # bias of the lower layer
        log_pairs(size, from_top + spread),  # weights of the lower layer
    ]
    return LogMoments(
        w=float(scale + np.logaddexp.reduce(size)),
        b=float(np.logaddexp.reduce(from_top)),
        w2=float(2 * scale + w2),
        b2=float(_biases_squared(from_top, spread, np.zeros(init.depth))),
        wb=float(scale + np.logaddexp.reduce(wb)),
    )


def _printed_weights_squared(
    size: np.ndarray, log_x: np.ndarray, log_c: np.ndarray, reading: str
) -> float:
    """Return log E[Theta_W^2] / (a^(2 (L-1)) X) in equation 13 of ``beyond``."""
    squares = np.logaddexp.reduce(2 * size)
    if reading == "as_printed":
        pairs = log_chained_pairs(size, log_c, size)
    else:
        pairs = np.log(2) + log_chained_pairs(size, log_c - log_x, size)
    return np.logaddexp(squares, pairs)


def layer_coefficients(init: Initialisation) -> Float[np.ndarray, "layers"]:
    """Coefficients c_k in E[Theta^2] / E[Theta]^2 = 1 + sum_k c_k / n_k + O(1/n^2), at |x| = 1.

    docs/theory.md, section 5, derives them from the exact moments.
    With the share w = E[Theta_W] / E[Theta], and with F_k and B_k for the shares of the layers
    l <= k in E[Theta_W] and in E[Theta_b],
    c_k = w^2 (5 - 8 F_k (1 - F_k)) + 2 w (1 - w) B_k (1 + 4 F_k) + 5 (1 - w)^2 B_k^2.

    The network has one output and sigma_b2 = 0. The result, (L - 1,), is between 0 and 5. Its
    limits are 5 w^2 at the input and 5 at the output.
    """
    n = np.array(init.widths, dtype=float)
    # logarithms of the sums of the layers' parts in both means, up to each layer
    weight_sums = np.logaddexp.accumulate(np.log(n * init.weight_gains / n[0]))
    bias_sums = np.logaddexp.accumulate(_from_top(init))
    f = np.exp(weight_sums[:-1] - weight_sums[-1])  # F_k
    b = np.exp(bias_sums[:-1] - bias_sums[-1])  # B_k
    w = 1.0
    if init.bias_gain:
        log_w = (init.depth - 1) * np.log(init.sigma_w2 / 2) + weight_sums[-1]
        w = float(np.exp(log_w - np.logaddexp(log_w, bias_sums[-1])))
    weights = w**2 * (5 - 8 * f * (1 - f))
    mixed = 2 * w * (1 - w) * b * (1 + 4 * f)
    biases = 5 * ((1 - w) * b) ** 2
    return weights + mixed + biases


def leading_excess(init: Initialisation) -> float:
    """The first-order term of the dispersion minus 1, sum_k c_k / n_k; see `layer_coefficients`."""
    widths = np.array(init.widths[1:], dtype=float)
    return float((layer_coefficients(init) / widths).sum())


def reversal_input(hidden: Sequence[int], sigma_w2: float) -> float:
    """Input dimension n_0* at which widths and their reverse have one dispersion, to first order.

    The hidden widths do not decrease with depth. Below n_0* they have the larger dispersion,
    above it the reversed widths have. docs/theory.md, section 5, derives n_0* from the coefficients
    c_k of `layer_coefficients` and shows that it is at most half the mean of the hidden widths.

    Args:
        hidden: (n_1, ..., n_(L-1)), not all equal.
        sigma_w2: variance of a weight times its fan-in.

    Returns:
        The only positive root of the first-order difference, a quadratic polynomial in n_0. It
        tends to 0 with growing depth in the ordered phase and at the edge of chaos.

    Raises:
        ConfigError: the widths decrease somewhere, or are all equal.
    """
    widths = np.array(hidden, dtype=float)
    if len(widths) < 2 or (np.diff(widths) < 0).any() or widths[0] == widths[-1]:
        raise refuse("hidden", tuple(hidden), "widths that grow with depth; reverse the sequence")
    reverse = widths[::-1]
    total = widths.sum()
    below = np.cumsum(widths) - widths  # sum of the hidden widths before a layer
    below_reverse = np.cumsum(reverse) - reverse
    balance = total - 2 * below - widths  # widths of the layers after it less those before it
    # biases: layer l has the part a^(L-l), here over that of the layer n_0 before the first
    log_parts = -np.arange(len(widths) + 1) * np.log(sigma_w2 / 2)
    log_sums = np.logaddexp.accumulate(log_parts)
    shares = np.exp(log_sums[:-1] - log_sums[-1])  # B_k
    weight_per_bias = np.exp(-log_sums[-1])  # 1 / beta
    # differences between the network and its reverse, of sums over layers
    inverse_widths = 1 / widths - 1 / reverse
    relative_sums = below / widths - below_reverse / reverse
    share_part = (shares * inverse_widths).sum()
    sum_part = (shares * relative_sums).sum()
    square_part = (shares**2 * inverse_widths).sum()
    # the polynomial in beta n_0; its last two coefficients are negative
    constant = 8 * balance.sum()
    linear = -8 * weight_per_bias * (balance / widths).sum() + 2 * (
        total * share_part + 4 * sum_part
    )
    square = 10 * weight_per_bias * share_part + 5 * square_part
    root = 2 * constant / (np.sqrt(linear**2 - 4 * constant * square) - linear)
    return float(root * weight_per_bias)


def sums_from(terms: np.ndarray) -> np.ndarray:
    """Return the sums of terms[i:] for i = 0..len(terms), (len(terms) + 1,)."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


def log_pairs(left: np.ndarray, right: np.ndarray) -> float:
    """Return the logarithm of the sum over l1 < l2 of exp(left_l1 + right_l2); -inf if L = 1."""
    sums_before = np.logaddexp.accumulate(left)[:-1]
    return float(np.logaddexp.reduce(sums_before + right[1:]))


def log_chained_pairs(start: np.ndarray, steps: np.ndarray, end: np.ndarray) -> float:
    """Return log sum_{l1 < l2} exp(start_l1 + steps_l1 + ... + steps_(l2-1) + end_l2)."""
    carried = -np.inf  # log of the sum over l1 <= l, with the steps up to layer l
    sums = []
    for term, step in zip(start[:-1], steps, strict=True):
        carried = np.logaddexp(carried, term) + step
        sums.append(carried)
    return float(np.logaddexp.reduce(np.array(sums) + end[1:]))
