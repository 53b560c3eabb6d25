"""The first two moments of the tangent kernel of a ReLU network with random biases, exactly.

Let a be the activations below layer l, y = sigma_w^2 |a|^2 / n_(l-1), u the gradient of the output
by a, and Theta the part of the layers l..L. Given a,

    E[u u^T] = alpha I,                     E[Theta] = t_0 + t_1 y,
    E[u u^T Theta] = (p_0 + p_1 y) I + c a a^T,
    E[u_i u_j u_k u_m] = kappa (d_ij d_km + d_ik d_jm + d_im d_jk),
    E[Theta^2] = z_0 + z_1 y + z_2 y^2.

These forms hold at the output and are kept from layer to layer, because a change of the signs of
all weights and the bias of a unit turns its gate around and leaves every even function of them:
the mean of such a function over open gates is half of its mean. The coefficients are sums of
positive terms, which are added in logarithms. Derivation: docs/theory.md, section 3.
"""

from dataclasses import dataclass

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation

NONE = -np.inf  # the logarithm of 0


@dataclass(frozen=True)
class _Coefficients:
    """Logarithms of the coefficients above one layer; Theta_W stands first, then Theta_b.

    Vectors of both parts are (2,), and z of all pairs of them (2, 2).
    """

    alpha: float
    kappa: float
    t0: np.ndarray
    t1: np.ndarray
    p0: np.ndarray
    p1: np.ndarray
    c: np.ndarray
    z0: np.ndarray
    z1: np.ndarray
    z2: np.ndarray


def biased_log_moments(
    init: Initialisation, norm2: float
) -> tuple[float, float, float, float, float]:
    """Return the logarithms of E of Theta_W, Theta_b, Theta_W^2, Theta_b^2 and Theta_W Theta_b.

    The network has one output and sigma_b2 > 0, and the input |x|^2 = ``norm2``. The cost is O(L).
    """
    coefficients = _at_output(init)
    for layer in range(init.depth - 1, 0, -1):
        coefficients = _below(coefficients, init, layer)
    log_y = np.log(init.sigma_w2 / init.widths[0]) + np.log(norm2)
    means = _added(coefficients.t0, coefficients.t1 + log_y)  # (2,)
    squares = (coefficients.z0, coefficients.z1 + log_y, coefficients.z2 + 2 * log_y)
    products = _added(*squares)  # (2, 2)
    return (
        float(means[0]),
        float(means[1]),
        float(products[0, 0]),
        float(products[1, 1]),
        float(products[0, 1]),
    )


def _at_output(init: Initialisation) -> _Coefficients:
    """Return the coefficients for the output layer, where Theta is no random number given a."""
    rate = np.log(init.sigma_w2 / init.widths[-1])
    s0, s1 = _gains(init, init.depth)
    return _Coefficients(
        alpha=rate,
        kappa=2 * rate,
        t0=s0,
        t1=s1,
        p0=rate + s0,
        p1=rate + s1,
        c=np.full(2, NONE),
        z0=_pairs(s0, s0),
        z1=_both(s0, s1),
        z2=_pairs(s1, s1),
    )


def _gains(init: Initialisation, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """Return log s_0 and log s_1: layer l adds |delta^l|^2 (s_0 + s_1 y) to Theta_W and Theta_b."""
    rate = init.sigma_w2 / init.widths[layer - 1]
    weight_gain = np.log(init.weight_gains[layer - 1] / rate)
    s0 = np.array([NONE, np.log(init.bias_gain)])
    s1 = np.array([weight_gain, NONE])
    return s0, s1


def _below(above: _Coefficients, init: Initialisation, layer: int) -> _Coefficients:
    """Return the coefficients with a hidden layer l, from those of the layers above it.

    With N = n_l units, the rates s = sigma_w^2 / n_(l-1) and s' = sigma_w^2 / N, and b = sigma_b^2.
    The coefficients are means over the number of open gates. All names stand for logarithms, and a
    prime marks the coefficients above the layer. Source: docs/theory.md, section 3, random biases.
    """
    N = init.widths[layer]
    s = np.log(init.sigma_w2 / init.widths[layer - 1])
    s_above = np.log(init.sigma_w2 / N)
    b = np.log(init.sigma_b2)
    half = np.log(N / 2)
    same = np.log(N * (N + 1) / 4)  # sum of E |h_i|^2 over two units, one of them seen by u
    along = np.log(N * (N + 3) / 4)  # the same along a
    fourth = np.log(N * (N + 5) / 4)  # E (sum of g^2)^2 over open gates, for normal numbers g
    # the layer adds |delta|^2 (s_0 + s_1 y)
    s0, s1 = _gains(init, layer)
    delta2 = above.alpha + half  # E |delta|^2
    delta4 = above.kappa + fourth  # E |delta|^4, k in docs/theory.md
    # E[|delta|^2 Theta of the layers above] = u_0 + u_1 y
    u1 = _added(above.p1 + s_above + same, above.c + half)
    u0 = _added(above.p0 + half, u1 + b)
    # E[Theta of the layers above] = t_0' + t_1 (y + b)
    t1 = above.t1 + s_above + half
    # E[Theta^2 of the layers above] = z_0' + z_1 (y + b) + z_2 (y + b)^2
    z1 = above.z1 + s_above + half
    z2 = above.z2 + 2 * s_above + fourth
    cross_term = np.log(2) + z2 + b  # 2 z_2 b y, of the square (y + b)^2
    # E[Theta^2] = that + 2 E[|delta|^2 Theta] (s_0 + s_1 y) + E|delta|^4 (s_0 + s_1 y)^2
    return _Coefficients(
        alpha=above.alpha + s + half,
        kappa=above.kappa + 2 * s + fourth,
        t0=_added(above.t0, t1 + b, delta2 + s0),
        t1=_added(t1, delta2 + s1),
        p0=s + _added(u0, delta4 + s0),
        p1=s + _added(u1, delta4 + s1),
        c=2 * s + _added(above.p1 + s_above + np.log(N), above.c + along),
        z0=_added(above.z0, z1 + b, z2 + 2 * b, _both(s0, u0), delta4 + _pairs(s0, s0)),
        z1=_added(z1, cross_term, _both(s0, u1), _both(s1, u0), delta4 + _both(s0, s1)),
        z2=_added(z2, _both(s1, u1), delta4 + _pairs(s1, s1)),
    )


def _added(*logs: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum."""
    return np.logaddexp.reduce(np.broadcast_arrays(*logs))


def _pairs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the logarithms of left_i right_j, (2, 2)."""
    return left[:, None] + right


def _both(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the logarithms of left_i right_j + right_i left_j, (2, 2)."""
    return np.logaddexp(_pairs(left, right), _pairs(right, left))
