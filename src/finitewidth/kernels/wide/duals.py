"""Means of products of an activation over two Gaussian variables, elementwise over covariances.

For centred Gaussian u and v with variances a and b and covariance q, a `Dual` gives

    value(q, a, b) = E phi(u) phi(v)        slope(q, a, b) = E phi'(u) phi'(v)

Variances may have fewer elements than covariances, if they can be broadcast to them.

Sources of the closed forms: Cho and Saul 2009 (arc-cosine kernels of ReLU), Williams 1997 (erf),
Tsuchida et al. 2018 (leaky ReLU), Tsuchida et al. 2021 (GELU); those of sin and cos are the
characteristic function of a Gaussian.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import torch
from torch import Tensor

from finitewidth.common.shapes import Float

Mean = Callable[[Tensor, Tensor, Tensor], Tensor]
Means = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
TINY = 1e-300  # replaces a product of standard deviations that is 0


@dataclass(frozen=True)
class Dual:
    """Both means of an activation, functions of covariances and variances.

    Attributes:
        means: returns value and slope, which have most of their work in common.
        value: returns the value alone.
    """

    means: Means
    value: Mean

    def slope(
        self, q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
    ) -> Float[Tensor, "*#shape"]:
        """Return E phi'(u) phi'(v)."""
        return self.means(q, a, b)[1]


def correlation(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> tuple[Float[Tensor, "*#shape"], Float[Tensor, "*#shape"]]:
    """Return the correlation, in [-1, 1], and the product of standard deviations.

    The root is taken of the product: for equal variances it is exactly the variance.
    """
    scale = (a * b).sqrt_()
    return (q / scale.clamp_min(TINY)).clamp_(-1, 1), scale


def _dual_of(means: Means) -> Dual:
    """Return the dual of an activation whose value alone costs as much as both means."""

    def value(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return means(q, a, b)[0]

    return Dual(means, value)


def piecewise_linear(below: float, above: float) -> Dual:
    """Return the means of phi(u) = below min(u, 0) + above max(u, 0).

    ReLU is (0, 1), leaky ReLU (slope, 1), and the absolute value (-1, 1). With the correlation c,
    P(u > 0, v > 0) = P(u < 0, v < 0) = 1/4 + arcsin(c) / (2 pi), and 2 E relu(u) relu(v) / sqrt(ab)
    = (sqrt(1 - c^2) + c (pi/2 + arcsin c)) / pi. The four products of positive and negative parts
    follow from c and -c:

        slope = (below + above)^2 / 4 + (above - below)^2 / (2 pi) arcsin(c)
        value = sqrt(ab) ((above - below)^2 / (2 pi) sqrt(1 - c^2) + c slope)
    """
    middle = (below + above) ** 2 / 4  # the slope at c = 0
    spread = (above - below) ** 2 / (2 * pi)

    def means(q: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        c, scale = correlation(q, a, b)
        slope = torch.asin(c).mul_(spread).add_(middle)
        root = (1 - c.square()).sqrt_()
        value = c.mul_(slope).add_(root, alpha=spread).mul_(scale)
        return value, slope

    return _dual_of(means)


def _erf_value(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> Float[Tensor, "*#shape"]:
    """Return 2/pi arcsin(2 q / sqrt((1 + 2 a) (1 + 2 b)))."""
    product = (1 + 2 * a) * (1 + 2 * b)
    return (2 * q).div_(product.sqrt_()).asin_().mul_(2 / pi)


def _erf_means(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> tuple[Float[Tensor, "*#shape"], Float[Tensor, "*#shape"]]:
    """Return also the slope, 4/pi / sqrt((1 + 2 a) (1 + 2 b) - 4 q^2)."""
    product = (1 + 2 * a) * (1 + 2 * b)
    slope = (product - (2 * q).square_()).rsqrt_().mul_(4 / pi)
    value = (2 * q).div_(product.sqrt_()).asin_().mul_(2 / pi)
    return value, slope


def _waves(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> tuple[Float[Tensor, "*#shape"], Float[Tensor, "*#shape"]]:
    """Return E cos(u - v) / 2 and E cos(u + v) / 2."""
    half = (a + b) / 2
    difference = torch.exp(q - half).div_(2)
    total = torch.exp(-q - half).div_(2)
    return difference, total


def _sin_means(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> tuple[Float[Tensor, "*#shape"], Float[Tensor, "*#shape"]]:
    # sin u sin v = (cos(u - v) - cos(u + v)) / 2, and the slope of sin is cos
    difference, total = _waves(q, a, b)
    return difference - total, difference + total


def _cos_means(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> tuple[Float[Tensor, "*#shape"], Float[Tensor, "*#shape"]]:
    difference, total = _waves(q, a, b)
    return difference + total, difference - total


def _gelu_means(
    q: Float[Tensor, "*#shape"], a: Float[Tensor, "*#shape"], b: Float[Tensor, "*#shape"]
) -> tuple[Float[Tensor, "*#shape"], Float[Tensor, "*#shape"]]:
    # phi(u) = u Phi(u) with the normal density n. By Stein's lemma for u and for v, with
    # T = E n(u) n(v) = 1 / (2 pi sqrt(det(I + C))) and C the covariance matrix of u and v,
    #   value = q E Phi Phi + T (ab + q^2 (1 - ab) / ((1 + a) (1 + b)))
    # phi'(u) = Phi(u) + u n(u); the four products are E Phi Phi, q T / (1 + a), q T / (1 + b), and
    # q T / det(I + C)
    shifted = (1 + a) * (1 + b)
    q_squared = q.square()
    determinant = shifted - q_squared
    T = determinant.rsqrt().div_(2 * pi)
    normal_products = (q / shifted.sqrt()).asin_().div_(2 * pi).add_(0.25)  # E Phi(u) Phi(v)
    ab = a * b
    bracket = q_squared.mul_(1 - ab).div_(shifted).add_(ab)
    value = (q * normal_products).addcmul_(T, bracket)
    factors = determinant.reciprocal_().add_(1 / (1 + a)).add_(1 / (1 + b))
    slope = normal_products.addcmul_(T.mul_(q), factors)
    return value, slope


RELU = piecewise_linear(0.0, 1.0)
ABSOLUTE = piecewise_linear(-1.0, 1.0)
IDENTITY = piecewise_linear(1.0, 1.0)
ERF = Dual(_erf_means, _erf_value)
SIN = _dual_of(_sin_means)
COS = _dual_of(_cos_means)
GELU = _dual_of(_gelu_means)
