"""Means of products of an activation over two Gaussian variables, elementwise over covariances.

For centred Gaussian u and v with variances a and b and covariance q, `Dual` gives

    value(q, a, b) = E phi(u) phi(v)        slope(q, a, b) = E phi'(u) phi'(v)

Sources of the closed forms: Cho and Saul 2009 (arc-cosine kernels of ReLU), Williams 1997 (erf),
Tsuchida et al. 2018 (leaky ReLU), Tsuchida et al. 2021 (GELU); those of sin and cos are the
characteristic function of a Gaussian.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import torch
from torch import Tensor

from finitewidth.kernels.ntk_init.activations import ActivationLike, TensorMap, activation_of, nodes

Mean = Callable[[Tensor, Tensor, Tensor], Tensor]
TINY = 1e-300  # replaces a product of standard deviations that is 0
BLOCK = 2**22  # numbers that quadrature makes at once


@dataclass(frozen=True)
class Dual:
    """Both means of an activation, functions of covariances and variances of one shape."""

    value: Mean
    slope: Mean


def _cosine(q: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the correlation, in [-1, 1], and the product of standard deviations."""
    scale = (a * b).sqrt()
    return (q / scale.clamp_min(TINY)).clamp(-1, 1), scale


def _angle(c: Tensor) -> Tensor:
    """Return pi - arccos(c), accurate also near c = -1 and 1."""
    return pi / 2 + torch.asin(c)


def piecewise_linear(below: float, above: float) -> Dual:
    """Return the means of phi(u) = below min(u, 0) + above max(u, 0).

    ReLU is (0, 1), leaky ReLU (slope, 1), and the absolute value (-1, 1). With the correlation c,
    E relu(u) relu(v) = sqrt(ab) (sqrt(1 - c^2) + c (pi - arccos c)) / (2 pi), and the four products
    of positive and negative parts follow from c and -c.
    """
    same, crossed = (below**2 + above**2) / 2, below * above

    def value(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        c, scale = _cosine(q, a, b)
        root = (1 - c.square()).sqrt()
        alike = (root + c * _angle(c)) / pi  # 2 E relu(u) relu(v) / scale
        opposite = (root - c * _angle(-c)) / pi  # 2 E relu(u) relu(-v) / scale
        return scale * (same * alike - crossed * opposite)

    def slope(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        c, _ = _cosine(q, a, b)
        share = _angle(c) / pi  # probability of equal signs
        return same * share + crossed * (1 - share)

    return Dual(value, slope)


def _erf_value(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return 2 / pi * torch.asin(2 * q / ((1 + 2 * a) * (1 + 2 * b)).sqrt())


def _erf_slope(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return 4 / pi / ((1 + 2 * a) * (1 + 2 * b) - 4 * q.square()).sqrt()


def _sin_value(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    # E sin u sin v = (E cos(u - v) - E cos(u + v)) / 2
    return (torch.exp(q - (a + b) / 2) - torch.exp(-q - (a + b) / 2)) / 2


def _cos_value(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return (torch.exp(q - (a + b) / 2) + torch.exp(-q - (a + b) / 2)) / 2


def _gelu_parts(q: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return E Phi(u) Phi(v), E n(u) n(v) with the normal density n, and the determinant of I + C.

    C is the covariance matrix of u and v.
    """
    both = (1 + a) * (1 + b)
    determinant = both - q.square()
    densities = 1 / (2 * pi * determinant.sqrt())
    return 0.25 + torch.asin(q / both.sqrt()) / (2 * pi), densities, determinant


def _gelu_value(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    # phi(u) = u Phi(u). By Stein's lemma for u and for v, with T = E n(u) n(v),
    # E phi(u) phi(v) = q E Phi Phi + T (ab + q^2 (1 - ab) / ((1 + a) (1 + b)))
    shares, densities, _ = _gelu_parts(q, a, b)
    mixed = q.square() * (1 - a * b) / ((1 + a) * (1 + b))
    return q * shares + densities * (a * b + mixed)


def _gelu_slope(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    # phi'(u) = Phi(u) + u n(u); the four products are E Phi Phi, q T / (1 + a), q T / (1 + b), and
    # q T / det(I + C)
    shares, densities, determinant = _gelu_parts(q, a, b)
    return shares + q * densities * (1 / (1 + a) + 1 / (1 + b) + 1 / determinant)


def by_quadrature(activation: ActivationLike) -> Dual:
    """Return the means of any elementwise activation, by the trapezoidal rule for two variables.

    The step follows the largest variance. For smooth functions the error is about 1e-12; it is
    larger where the function or its slope jumps.
    """
    function = activation_of(activation)

    def mean(of: TensorMap) -> Mean:
        def over_pairs(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
            q, a, b = (each.double() for each in torch.broadcast_tensors(q, a, b))
            largest = float(torch.maximum(a.max(), b.max()))
            z, weights = (torch.from_numpy(each).to(q.device) for each in nodes(largest))
            flat = torch.stack([q.reshape(-1), a.reshape(-1), b.reshape(-1)], dim=1)
            size = max(1, BLOCK // len(z) ** 2)
            parts = [_mean_of_pairs(of, *part.unbind(1), z, weights) for part in flat.split(size)]
            return torch.cat(parts).view(q.shape)

        return over_pairs

    return Dual(mean(function.value), mean(function.slope))


def _mean_of_pairs(
    of: TensorMap, q: Tensor, a: Tensor, b: Tensor, z: Tensor, weights: Tensor
) -> Tensor:
    """Return E f(u) f(v) for pairs (n,), with nodes z and weights (m,)."""
    first = a.sqrt()[:, None] * z  # u, (n, m)
    share = (q / a.clamp_min(TINY))[:, None] * first  # the part of v that u tells
    rest = (b - q.square() / a.clamp_min(TINY)).clamp_min(0).sqrt()
    second = share[:, :, None] + rest[:, None, None] * z  # v, (n, m, m)
    inner = of(second.contiguous()) @ weights  # (n, m)
    return (of(first.contiguous()) * inner) @ weights


RELU = piecewise_linear(0.0, 1.0)
ABSOLUTE = piecewise_linear(-1.0, 1.0)
IDENTITY = piecewise_linear(1.0, 1.0)
ERF = Dual(_erf_value, _erf_slope)
SIN = Dual(_sin_value, _cos_value)  # the slope of sin is cos, and that of cos is -sin
COS = Dual(_cos_value, _sin_value)
GELU = Dual(_gelu_value, _gelu_slope)
