"""Infinite-width limits that npf compares: of the ReLU tangent kernel and of the path kernel.

All for the scaling of the paper: weights of variance 2 / w in every layer, the input layer
included, no biases, gradients with respect to the weights themselves.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import (
    Initialisation,
    checked_choice,
    checked_count,
)
from finitewidth.networks.random_gated import every_signed_network


@dataclass(frozen=True, kw_only=True)
class WideLimits:
    """Limits of one depth on S inputs, each (S, S).

    Attributes:
        tangent: K~^(d) of npf appendix A: the ReLU network's kernel.
        halved: K^(d) = (K~^(d) + Sigma^(d)) / 2 there: the kernel if the output layer's weights
            have variance 1 / w and not 2 / w.
        path: limit of d sigma^{2(d-1)} H with the gates of a ReLU network: the kernel of a value
            network that is independent of its gates (npf Theorem 5.1).
    """

    tangent: np.ndarray
    halved: np.ndarray
    path: np.ndarray


def wide_limits(
    x: np.ndarray, depth: int, weights: Literal["gaussian", "signed"] = "gaussian"
) -> WideLimits:
    """The limits for inputs (S, n0) and ``depth`` weight layers.

    K~^(d) = sum_l Sigma^(l) ⊙ p^l, where p^l is the product of hat Sigma^(k) over k > l. As
    hat Sigma^(l+1) is also the limit of sigma^2 tau_l, the scaled number of units that two inputs
    share, p^1 is the limit of sigma^{2(d-1)} Lambda.

    The paper's recursion is that of Gaussian weights. With weights of ±sigma the first
    pre-activations are sums of n0 signs, which no width makes Gaussian: there Sigma^(2) and
    hat Sigma^(2) are means over all 2^n0 rows of signs. Higher layers are Gaussian in the limit.

    Raises:
        ConfigError: the depth is below 1, an input zero, or n0 too large for all rows of signs.
    """
    depth = checked_count("depth", depth)
    checked_choice("weights", weights, ("gaussian", "signed"))
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
        tangent=tangent, halved=(tangent + signals[-1]) / 2, path=depth * gram * errors[0]
    )


def _layers(gram: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Sigma^(l) and p^l, l = 1..depth, (depth, S, S) each, of Gaussian pre-activations."""
    # that recursion reads <x, x'> / n_0; with n_0 = 1 layer 1 has the paper's scale
    init = Initialisation(widths=(1,) * depth, sigma_w2=2.0)
    field = infinite_width_of_gram(init, gram, activation="relu")
    growth = np.exp(field.log_signal)[:, None, None]
    return field.scaled_qhat * growth, field.sign_p * np.exp(field.log_p)


def _first_of_signs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sigma^(2) = 2 E[chi(q) chi(q')], hat Sigma^(2) = 2 E[1{q > 0} 1{q' > 0}], q = <signs, x>."""
    rows = every_signed_network((x.shape[1], 1), 1.0)[0][:, :, 0].numpy()
    q = x @ rows.T
    signal, gate = np.maximum(q, 0.0), (q > 0).astype(float)
    return 2 * signal @ signal.T / len(rows), 2 * gate @ gate.T / len(rows)
