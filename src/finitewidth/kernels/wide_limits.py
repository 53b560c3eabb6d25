"""Infinite-width limits of the ReLU tangent kernel and of the path kernel, which npf compares.

The scaling is that of the paper: weights have the variance 2 / w in every layer, the input layer
included, there are no biases, and gradients are taken with respect to the weights (standard
parametrisation).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from finitewidth.common.shapes import Float, Num
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.networks.random_gated import every_signed_network


@dataclass(frozen=True, kw_only=True)
class WideLimits:
    """The limits for one depth d and S inputs, each (S, S).

    Attributes:
        tangent: K~^(d) of npf appendix A, the kernel of the ReLU network.
        halved: K^(d) = (K~^(d) + Sigma^(d)) / 2 of npf appendix A, the kernel if the weights of the
            output layer have the variance 1 / w instead of 2 / w.
        path: the limit of d sigma^{2(d-1)} H with the gates of a ReLU network. It is the kernel of
            a value network that is independent of its gates (npf Theorem 5.1).
    """

    tangent: Float[np.ndarray, "S S"]
    halved: Float[np.ndarray, "S S"]
    path: Float[np.ndarray, "S S"]


def wide_limits(
    x: Num[np.ndarray, "S n0"], depth: int, weights: Literal["gaussian", "signed"] = "gaussian"
) -> WideLimits:
    """Compute the limits for one depth.

    K~^(d) = sum_l Sigma^(l) ⊙ p^l, where p^l is the product of hat Sigma^(k) over k > l. The matrix
    hat Sigma^(l+1) is also the limit of sigma^2 tau_l, the scaled number of units that two inputs
    share. Hence p^1 is the limit of sigma^{2(d-1)} Lambda.

    The recursion of the paper holds for Gaussian weights. With weights ±sigma, the first
    pre-activations are sums of n0 signs, which are not Gaussian at any width. In this case
    Sigma^(2) and hat Sigma^(2) are means over all 2^n0 rows of signs. Higher layers are Gaussian in
    the limit.

    The inputs are (S, n0).

    Raises:
        ConfigError: an input is zero, or n0 is too large to list all rows of signs.
    """
    gram = x @ x.T
    if weights == "gaussian" or depth == 1:
        signals, errors = _layers(gram, depth)
    else:
        signal, slope = _first_of_signs(x)
        above, errors_above = _layers(signal, depth - 1)
        signals = np.concatenate([gram[None], above])
        errors = np.concatenate([slope[None] * errors_above[:1], errors_above])
    tangent = (signals * errors).sum(axis=0)
    return WideLimits(
        tangent=tangent,
        halved=(tangent + signals[-1]) / 2,
        path=depth * gram * errors[0],
    )


def _layers(
    gram: Num[np.ndarray, "S S"], depth: int
) -> tuple[Float[np.ndarray, "layers S S"], Float[np.ndarray, "layers S S"]]:
    """Return Sigma^(l) and p^l for l = 1..depth and Gaussian weights, each (depth, S, S)."""
    # the recursion divides <x, x'> by n_0; with n_0 = 1 layer 1 has the scale of the paper
    init = Initialisation(widths=(1,) * depth, sigma_w2=2.0)
    field = infinite_width_of_gram(init, gram, activation="relu")
    growth = np.exp(field.log_signal)[:, None, None]
    return field.scaled_qhat * growth, field.sign_p * np.exp(field.log_p)


def _first_of_signs(
    x: Num[np.ndarray, "S n0"],
) -> tuple[Float[np.ndarray, "S S"], Float[np.ndarray, "S S"]]:
    """Return Sigma^(2) and hat Sigma^(2) for weights ±sigma, each (S, S).

    With q = <signs, x> they are 2 E[chi(q) chi(q')] and 2 E[1{q > 0} 1{q' > 0}].
    """
    networks = every_signed_network((x.shape[1], 1), 1.0)
    rows = networks[0][:, :, 0].numpy()  # all rows of signs, (2^n0, n0)
    q = x @ rows.T  # (S, 2^n0)
    signal = np.maximum(q, 0.0)
    gate = (q > 0).astype(float)
    return 2 * signal @ signal.T / len(rows), 2 * gate @ gate.T / len(rows)
