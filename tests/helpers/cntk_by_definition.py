"""The CNTK by its definition, computed for one pair of positions after the other.

This code is slow. Tests and benchmarks compare `finitewidth.kernels.cntk` with it.
"""

import math
from itertools import product

import numpy as np

from finitewidth.networks.architecture import Architecture

# maps two positions (image, y, x) to a covariance or to an entry of the tangent kernel
Kernel = dict[tuple[tuple[int, int, int], tuple[int, int, int]], float]


def cntk_by_definition(
    x: np.ndarray,
    other: np.ndarray,
    *,
    architecture: Architecture,
    sigma_w2: float = 2.0,
    sigma_b2: float = 0.0,
    parametrisation: str = "ntk",
) -> float:
    """Compute the kernel of two images (C, H, W).

    The other arguments are those of `finitewidth.kernels.cntk.cntk`.
    """
    standard = parametrisation == "standard"
    images = (x, other)
    positions = list(product((0, 1), range(x.shape[1]), range(x.shape[2])))
    channels = len(x)
    k = {}
    for p, q in product(positions, positions):
        pixel = _pixel(images, p)
        other_pixel = _pixel(images, q)
        k[p, q] = float(pixel @ other_pixel) / channels
    t = dict.fromkeys(k, 0.0)
    bias = float(sigma_b2 > 0) if standard else sigma_b2

    def layer(k: Kernel, t: Kernel, fan_in: int) -> tuple[Kernel, Kernel]:
        gain = fan_in if standard else sigma_w2
        covariances = {}
        tangents = {}
        for pair in k:
            covariances[pair] = sigma_w2 * k[pair] + sigma_b2
            tangents[pair] = gain * k[pair] + bias + sigma_w2 * t[pair]
        return covariances, tangents

    for width in architecture.channels:
        k = {pair: _patch_mean(k, *pair) for pair in k}
        t = {pair: _patch_mean(t, *pair) for pair in t}
        k, t = _through_relu(*layer(k, t, 9 * channels))
        channels = width
    k = _read_out(k, x.shape[1:], architecture)
    t = _read_out(t, x.shape[1:], architecture)
    fan_in = channels if architecture.global_average_pooling else channels * x[0].size
    for width in architecture.dense:
        k, t = _through_relu(*layer(k, t, fan_in))
        fan_in = width
    return layer(k, t, fan_in)[1][(0, 0, 0), (1, 0, 0)]


def _pixel(images: tuple[np.ndarray, np.ndarray], position: tuple[int, int, int]) -> np.ndarray:
    """The channels of an image at a position."""
    image, row, column = position
    return images[image][:, row, column]


def _patch_mean(kernel: Kernel, p: tuple[int, int, int], q: tuple[int, int, int]) -> float:
    """Average over the nine common shifts of both positions, with zeros outside the images."""
    total = 0.0
    for dy, dx in product((-1, 0, 1), (-1, 0, 1)):
        shifted_p = (p[0], p[1] + dy, p[2] + dx)
        shifted_q = (q[0], q[1] + dy, q[2] + dx)
        total += kernel.get((shifted_p, shifted_q), 0.0)
    return total / 9


def _through_relu(k: Kernel, t: Kernel) -> tuple[Kernel, Kernel]:
    products = {}
    tangents = {}
    for p, q in k:
        scale = math.sqrt(k[p, p] * k[q, q])
        angle = math.acos(max(-1.0, min(1.0, k[p, q] / scale))) if p != q else 0.0
        rest = math.pi - angle
        products[p, q] = scale * (math.sin(angle) + rest * math.cos(angle)) / (2 * math.pi)
        tangents[p, q] = t[p, q] * rest / (2 * math.pi)
    return products, tangents


def _read_out(kernel: Kernel, shape: tuple[int, ...], architecture: Architecture) -> Kernel:
    """Average over all pairs of positions (pooling) or over equal positions (flattening).

    The result has one position per image, (image, 0, 0).
    """
    pixels = list(product(*map(range, shape)))
    if architecture.global_average_pooling:
        pairs = list(product(pixels, pixels))
    else:
        pairs = list(zip(pixels, pixels, strict=True))
    means = {}
    for a, b in product((0, 1), (0, 1)):
        total = sum(kernel[(a, *p), (b, *q)] for p, q in pairs)
        means[(a, 0, 0), (b, 0, 0)] = total / len(pairs)
    return means
