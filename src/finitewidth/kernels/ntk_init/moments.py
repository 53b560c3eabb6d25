"""First two moments of a ReLU network's tangent kernel without biases, in closed form.

Exact at any widths, dead layers included, where ``beyond`` (Theorem 3.2) gives approximations;
docs/theory.md derives them. All sums are of positive terms and run in logarithms, so depth 2,000 in
the chaotic phase gives numbers. Notation: a = sigma_w2 / 2, P = prod (1 + 5 / n_k) and
Q = prod (1 - 1 / n_k) over layers l1 <= k < l2.
"""

from dataclasses import dataclass

import numpy as np

from finitewidth.kernels.ntk_init.draws import LOG_MAX
from finitewidth.kernels.ntk_init.initialisation import (
    Initialisation,
    checked_number,
    refuse,
)
from finitewidth.kernels.ntk_init.log_sums import log_chained_pairs, log_pairs, sums_from
from finitewidth.kernels.ntk_init.scalar_chain import checked_scalar


@dataclass(frozen=True)
class LogMoments:
    """Natural logarithms of the moments of Theta = Theta_W + Theta_b; -inf stands for 0.

    Attributes:
        w, b: log E[Theta_W], log E[Theta_b].
        w2, b2, wb: log E[Theta_W^2], log E[Theta_b^2], log E[Theta_W Theta_b].
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
        """E[Theta^2] / E[Theta]^2, >= 1.

        Raises:
            ConfigError: it exceeds float64; second - 2 mean is its logarithm.
        """
        log = self.second - 2 * self.mean
        if log > LOG_MAX:
            raise refuse("dispersion", f"exp({log:.6g})", "within float64", "use second - 2 * mean")
        return float(np.exp(log))


def checked_without_biases(init: Initialisation, input_norm2: float) -> float:
    """The squared input norm, after checking for one output and sigma_b2 = 0.

    Raises:
        ConfigError: biases are random, several outputs or a norm that is not positive.
    """
    if init.sigma_b2 != 0:
        raise refuse(
            "sigma_b2",
            init.sigma_b2,
            "0 here",
            "with random biases there is no closed form: use sample_scalar_chain",
        )
    checked_scalar(init, input_norm2)
    return checked_number("input_norm2", input_norm2, above=0)


def log_moments(init: Initialisation, *, input_norm2: float = 1.0) -> LogMoments:
    """Moments of Theta(x, x) of a ReLU network with sigma_b2 = 0, exact at finite width.

    Args:
        init: any widths, either parametrisation, one output, sigma_b2 = 0.
        input_norm2: |x|^2 > 0.

    Cost: O(L) time and memory.

    Raises:
        ConfigError: random biases, several outputs or a norm that is not positive.
    """
    log_norm2 = np.log(checked_without_biases(init, input_norm2))
    depth, a = init.depth, init.sigma_w2 / 2
    n = np.array(init.widths, dtype=float)
    size = np.log(n * init.weight_gains / n[0])  # of layer l's part of E[Theta_W], l = 1..L
    log_a = np.log(a)
    # l = 1..L in places 0..L-1; layer k = l..L-1 stands in n[k]
    from_top = (depth - np.arange(1, depth + 1)) * log_a  # log a^(L-l)
    spread = sums_from(np.log1p(5 / n[1:]))  # log P_[l,L)
    alive = np.concatenate([[0.0], np.cumsum(np.log1p(-(0.5 ** n[1:])))])  # layers below l are
    own_alive = np.append(alive[:-1], 0.0)  # delta^L = 1 whatever happens below
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
    """Times the bias gain to a power (0 in the "ntk" parametrisation, as sigma_b2 = 0)."""
    return float(log_value) if init.bias_gain else -np.inf * power


def _weight_bias(size: np.ndarray, from_top: np.ndarray, n: np.ndarray) -> float:
    """Log E[Theta_W Theta_b] / (|x|^2 a^(L-1)) for the standard bias gain."""
    log_p = np.log1p(5 / n[1:])
    spread = sums_from(log_p)
    same = np.logaddexp.reduce(size + from_top + spread)
    # the bias of the lower layer l1 with the weights of l2: (2 Q + P) / 3 between them
    lower = np.logaddexp(
        log_chained_pairs(from_top, log_p, size + spread),
        np.log(2) + log_chained_pairs(from_top, _log_q(n[1:]), size + spread),
    )
    # the weights of the lower layer with the bias of l2
    higher = log_pairs(size, from_top + spread)
    return float(np.logaddexp.reduce([same, lower - np.log(3), higher]))


def _log_q(n: np.ndarray) -> np.ndarray:
    return np.where(n > 1, np.log1p(-1 / np.maximum(n, 1.5)), -np.inf)
