"""The first two moments of the tangent kernel of a ReLU network with sigma_b2 = 0, in closed form.

The moments are exact for all widths and include dead layers. Theorem 3.2 of ``beyond`` gives
approximations. The derivation is in docs/theory.md, section 3. All terms are positive and all sums
are computed in logarithms, so the results are finite at depth 2,000 in the chaotic phase. Notation:
a = sigma_w2 / 2, P = prod (1 + 5 / n_k) and Q = prod (1 - 1 / n_k) over layers l1 <= k < l2.
"""

from dataclasses import dataclass

import numpy as np

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
        raise refuse(
            "sigma_b2",
            init.sigma_b2,
            "0 here",
            "with random biases there is no closed form: use sample_scalar_chain",
        )
    return checked_scalar(init, input_norm2)


def log_moments(init: Initialisation, *, input_norm2: float = 1.0) -> LogMoments:
    """Compute the exact moments of Theta(x, x) of a ReLU network with sigma_b2 = 0.

    Args:
        init: the law of a network with one output and sigma_b2 = 0.
        input_norm2: |x|^2 > 0.

    Cost: O(L) time and memory.

    Raises:
        ConfigError: biases are random, there are several outputs, or the norm is not positive.
    """
    log_norm2 = np.log(checked_without_biases(init, input_norm2))
    depth, a = init.depth, init.sigma_w2 / 2
    n = np.array(init.widths, dtype=float)
    size = np.log(n * init.weight_gains / n[0])  # part of layer l = 1..L in E[Theta_W]
    log_a = np.log(a)
    # entry l - 1 belongs to layer l = 1..L; n[k] is the width of layer k
    from_top = (depth - np.arange(1, depth + 1)) * log_a  # log a^(L-l)
    spread = sums_from(np.log1p(5 / n[1:]))  # log P_[l,L)
    # logarithm of the probability that no layer below l is dead
    alive = np.concatenate([[0.0], np.cumsum(np.log1p(-(0.5 ** n[1:])))])
    own_alive = np.append(alive[:-1], 0.0)  # delta^L = 1 also if a layer below is dead
    mixed = log_chained_pairs(size, _log_q(n[1:]) - np.log1p(5 / n[1:]), size)
    w2 = np.logaddexp(
        2 * np.logaddexp.reduce(size) - np.log(3),
        np.log(2 / 3) + np.logaddexp(np.logaddexp.reduce(2 * size), np.log(2) + mixed),
    )
    b2 = np.logaddexp(
        np.logaddexp.reduce(2 * from_top + spread + own_alive),
        np.log(2) + log_pairs(from_top + alive, from_top + spread),
    )
    return LogMoments(
        w=float(log_norm2 + (depth - 1) * log_a + np.logaddexp.reduce(size)),
        b=_scaled(init, np.logaddexp.reduce(from_top + own_alive), 1),
        w2=float(2 * log_norm2 + 2 * (depth - 1) * log_a + spread[0] + w2),
        b2=_scaled(init, b2, 2),
        wb=_scaled(init, log_norm2 + (depth - 1) * log_a + _weight_bias(size, from_top, n), 1),
    )


def _scaled(init: Initialisation, log_value: float, power: int) -> float:
    """Add the logarithm of the bias gain to a power; the gain is 0 for "ntk", as sigma_b2 = 0."""
    return float(log_value) if init.bias_gain else -np.inf * power


def _weight_bias(size: np.ndarray, from_top: np.ndarray, n: np.ndarray) -> float:
    """Return log E[Theta_W Theta_b] / (|x|^2 a^(L-1)) for the standard bias gain."""
    log_p = np.log1p(5 / n[1:])
    spread = sums_from(log_p)
    same = np.logaddexp.reduce(size + from_top + spread)
    # bias of the lower layer l1 and weights of l2: factor (2 Q + P) / 3 between them
    lower = np.logaddexp(
        log_chained_pairs(from_top, log_p, size + spread),
        np.log(2) + log_chained_pairs(from_top, _log_q(n[1:]), size + spread),
    )
    # weights of the lower layer and bias of l2
    higher = log_pairs(size, from_top + spread)
    return float(np.logaddexp.reduce([same, lower - np.log(3), higher]))


def _log_q(n: np.ndarray) -> np.ndarray:
    return np.where(n > 1, np.log1p(-1 / np.maximum(n, 1.5)), -np.inf)


def sums_from(terms: np.ndarray) -> np.ndarray:
    """Return the sums of terms[i:] for i = 0..len(terms), (len(terms) + 1,)."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


def log_pairs(left: np.ndarray, right: np.ndarray) -> float:
    """Return the logarithm of the sum over l1 < l2 of exp(left_l1 + right_l2); -inf if L = 1."""
    if len(left) == 1:
        return -np.inf
    return float(np.logaddexp.reduce(np.logaddexp.accumulate(left)[:-1] + right[1:]))


def log_chained_pairs(start: np.ndarray, steps: np.ndarray, end: np.ndarray) -> float:
    """Return log sum_{l1 < l2} exp(start_l1 + steps_l1 + ... + steps_(l2-1) + end_l2)."""
    if len(start) == 1:
        return -np.inf
    carried, sums = -np.inf, []
    for own, step in zip(start[:-1], steps, strict=True):
        carried = np.logaddexp(carried, own) + step
        sums.append(carried)
    return float(np.logaddexp.reduce(np.array(sums) + end[1:]))
