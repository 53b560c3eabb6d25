"""The tangent kernel of infinitely wide convolutional ReLU networks, exactly (CNTK).

Arora et al. 2019 (NeurIPS, section 4 and appendix H) for 3×3 convolutions of stride 1 with zeros
around the image, then averaging over positions (GCONV) or flattening (VCONV), dense ReLU layers and
a linear output; all layers are trained.

Write q = p + o for a pair of positions. Convolution sums both positions over the same nine shifts
and leaves o alone, the other steps act on each pair of positions by itself: each offset o has a
recursion of its own. One for each vertical offset, over all pairs of columns, takes few calls and
holds pairs of images × HW² numbers, not × (HW)². Flattening needs the offset 0 only.
"""

from dataclasses import dataclass
from math import pi

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.gaussian_means import relu_means
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number, refuse
from finitewidth.networks.architecture import KERNEL_SIZE, Architecture, layers_of

PARAMETRISATIONS = ("ntk", "standard")
SHIFTS = KERNEL_SIZE**2
BLOCK_BYTES = 1 << 19  # of one tensor of a block: some ten of them share the cache
FEWEST = 8  # pairs of a block: shorter innermost loops cost more than they save
TINY = 1e-18  # in place of a deviation of 0; its square is a float32


@dataclass(frozen=True)
class _Law:
    """What the recursions need of a network.

    Attributes:
        sigma_w2, sigma_b2: variances.
        gains: of each layer's weights, times fan-in; output layer last.
        bias_gain: of the biases.
        convolutions: how many of the layers there are.
        average: over positions, instead of flattening.
    """

    sigma_w2: float
    sigma_b2: float
    gains: tuple[float, ...]
    bias_gain: float
    convolutions: int
    average: bool


def cntk(
    x: Tensor,
    other: Tensor | None = None,
    *,
    architecture: Architecture,
    sigma_w2: float = 2.0,
    sigma_b2: float = 0.0,
    parametrisation: str = "ntk",
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Kernel of one output between all images of ``x`` and all of ``other`` (or of ``x``).

    Weights are N(0, sigma_w2 / fan-in), the fan-in of a convolution being 9 times its channels,
    also at the rim; biases are N(0, sigma_b2), and there are none if that is 0.

    Cost: (HW)² entries per pair of images and layer, HW if flattened; float64 takes twice the time.
    Memory: twelve tensors of half a MiB or of 8 pairs × HW² (HW), the larger.

    Args:
        x: (N, C, H, W), on the device that computes.
        other: (N', C, H, W), or None.
        architecture: its ``bias`` and ``init`` are not looked at, its widths in the standard
            parametrisation only, where the limit weighs each layer by its fan-in.
        sigma_w2: weight variance times fan-in. Without biases it only scales the kernel.
        sigma_b2: bias variance.
        parametrisation: ``ntk``, as Arora et al., or ``standard``.
        dtype: of the recursions, float64 or float32, whose error is some 1e-6 of the largest
            entry (benchmarks/cntk.py); sums over positions are float64.

    Returns:
        (N, N') float64.

    Raises:
        ConfigError: another architecture, or an argument out of range.
    """
    images = [_checked(x, "x"), x if other is None else _checked(other, "other")]
    if images[0].shape[1:] != images[1].shape[1:]:
        raise refuse("other", tuple(images[1].shape), f"(N', *{tuple(x.shape[1:])}), as x")
    law = _law(architecture, x.shape[1:], sigma_w2, sigma_b2, parametrisation)
    sides = [_Side.of(batch, law, dtype) for batch in images]
    own = [_diagonal(side, law) for side in (sides[:1] if other is None else sides)]
    below = _pairs(*sides, law, own[0] if other is None else None)
    return torch.from_numpy(_dense(*below, own, law))


def _checked(images: Tensor, name: str) -> Tensor:
    if images.dim() != 4 or not images.numel():
        raise refuse(name, tuple(images.shape), "images (N, C, H, W)")
    if not bool(torch.isfinite(images).all()):
        raise refuse(name, "nan or inf", "finite")
    return images


def _law(
    architecture: Architecture, shape: torch.Size, sigma_w2: float, sigma_b2: float, kind: str
) -> _Law:
    sigma_w2 = checked_number("sigma_w2", sigma_w2, above=0)
    sigma_b2 = checked_number("sigma_b2", sigma_b2)
    checked_choice("parametrisation", kind, PARAMETRISATIONS)
    if not architecture.channels or (architecture.padding, architecture.stride) != ("same", 1):
        raise ConfigError(
            f"architecture: {len(architecture.channels)} convolutions, padding "
            f"{architecture.padding}, stride {architecture.stride}; the CNTK is for at least one "
            "convolution, padding same and stride 1"
        )
    channels, height, width = shape
    layers = layers_of(architecture, (height, width, channels), outputs=1)
    fans = [layer.fan_in * (SHIFTS if layer.kind == "conv" else 1) for layer in layers]
    standard = kind == "standard"
    return _Law(
        sigma_w2,
        sigma_b2,
        tuple(float(fan) if standard else sigma_w2 for fan in fans),
        float(sigma_b2 > 0) if standard else sigma_b2,
        len(architecture.channels),
        architecture.global_average_pooling,
    )


@dataclass(frozen=True)
class _Side:
    """Images as (C, H, W, N), and deviations (H, W, N) of every convolution's pre-activations."""

    images: Tensor
    deviations: list[Tensor]

    @classmethod
    def of(cls, images: Tensor, law: _Law, dtype: torch.dtype) -> "_Side":
        pixels = images.double().permute(1, 2, 3, 0).contiguous()
        square, deviations = pixels.square().mean(dim=0), []
        for _ in range(law.convolutions):
            variance = law.sigma_w2 / SHIFTS * box_sum(square[:, :, None])[:, :, 0]
            variance += law.sigma_b2
            deviations.append(variance.sqrt().clamp_min(TINY).to(dtype))
            square = variance / 2  # E relu(u)² of a centred Gaussian
        return cls(pixels.to(dtype), deviations)

    def take(self, index: Tensor) -> "_Side":
        """The images of ``index``, repeated as it says."""
        index = index.to(self.images.device)
        chosen = (tensor.index_select(-1, index) for tensor in (self.images, *self.deviations))
        return _Side(next(chosen), list(chosen))

    def cut(self, rows: slice, axis: int) -> "_Side":
        """Some rows, and a new axis of length 1 before or after that of the columns."""
        deviations = [deviation[rows].unsqueeze(axis) for deviation in self.deviations]
        return _Side(self.images[:, rows].unsqueeze(axis + 1), deviations)


def _pairs(first: _Side, second: _Side, law: _Law, diagonal: np.ndarray | None) -> np.ndarray:
    """(2, N, N'): covariance of what enters the dense part, and the tangent kernel below it.

    Given its ``diagonal``, (2, N), the kernel is symmetric.
    """
    sizes = first.images.shape[-1], second.images.shape[-1]
    if diagonal is None:
        index = torch.cartesian_prod(*map(torch.arange, sizes)).T
    else:
        index = torch.tril_indices(*sizes, offset=-1)
    found = torch.zeros(2, *sizes, dtype=torch.float64)
    for i, j in zip(*(part.split(_block(first, law)) for part in index), strict=True):
        found[:, i, j] = _readout(first.take(i), second.take(j), law)
    kernel = found.numpy()
    if diagonal is not None:
        kernel += kernel.swapaxes(1, 2)
        np.einsum("kss->ks", kernel)[:] = diagonal
    return kernel


def _diagonal(side: _Side, law: _Law) -> np.ndarray:
    """(2, N): as `_pairs`, each image with itself."""
    every = torch.arange(side.images.shape[-1]).split(_block(side, law))
    parts = [_readout(side.take(i), side.take(i), law, same=True) for i in every]
    return torch.cat(parts, dim=1).numpy()


def _block(side: _Side, law: _Law) -> int:
    """Pairs of images that are worked on together."""
    _, height, width, _ = side.images.shape
    numbers = height * width ** (2 if law.average else 1)
    return max(FEWEST, BLOCK_BYTES // (numbers * side.images.element_size()))


def _readout(first: _Side, second: _Side, law: _Law, same: bool = False) -> Tensor:
    """Means (2, B) over pairs of positions of E relu relu and of Theta times E relu' relu'.

    ``same``: each image meets itself, so that cosines at offset 0 are 1, without rounding.
    """
    _, height, width, count = first.images.shape
    total = torch.zeros(2, count, dtype=torch.float64, device=first.images.device)
    reach = height - 1 if law.average else 0
    for offset in range(-reach, reach + 1):
        here = slice(max(0, -offset), height - max(0, offset))
        there = slice(max(0, offset), height - max(0, -offset))
        # columns of both images on axes 1 and 2, or the same column of both on axis 1
        sides = first.cut(here, 2), second.cut(there, 1 if law.average else 2)
        maps = _recursion(*sides, law, same and offset == 0)
        total += torch.stack([part.sum(dim=(0, 1, 2), dtype=torch.float64) for part in maps])
    return total.cpu() / (height * width) ** (2 if law.average else 1)


def _recursion(first: _Side, second: _Side, law: _Law, same: bool) -> tuple[Tensor, Tensor]:
    """At one vertical offset: E relu relu above the last convolution, and Theta E relu' relu'.

    Both (rows, columns, columns or 1, B).
    """
    scale = law.sigma_w2 / SHIFTS
    products, below = (first.images * second.images).mean(dim=0), None
    for layer in range(law.convolutions):
        sums = box_sum(products)
        theta = (law.gains[layer] / SHIFTS * sums).add_(law.bias_gain)
        if below is not None:
            theta.add_(box_sum(below), alpha=scale)
        q = sums.mul_(scale).add_(law.sigma_b2)
        deviations = first.deviations[layer] * second.deviations[layer]
        if same:
            _equal_positions(deviations).copy_(_equal_positions(q).clamp_min(TINY**2))
        products, slopes = _relu(q, deviations)
        below = theta.mul_(slopes)
    return products, below


def _equal_positions(z: Tensor) -> Tensor:
    """The part of (rows, columns, columns or 1, B) where both columns are the same."""
    return z if z.shape[2] == 1 else z.diagonal(dim1=1, dim2=2)


def _relu(q: Tensor, deviations: Tensor) -> tuple[Tensor, Tensor]:
    """`gaussian_means.relu_means` with few passes over memory; destroys both arguments.

    Angle and root come from one rounded cosine, whose error cancels between them to first order.
    """
    c = q.div_(deviations).clamp_(-1, 1)
    angle = torch.acos(c).neg_().add_(pi)
    short = 1 - c
    root = short.addcmul_(short, c).sqrt_()
    products = root.addcmul_(angle, c).mul_(deviations).mul_(0.5 / pi)
    return products, angle.mul_(0.5 / pi)


def box_sum(z: Tensor) -> Tensor:
    """Sums over 3×3 neighbours of (rows, columns, columns or 1, B), zeros around.

    One direction after the other; both columns, where there are two, shift together.
    """
    for axes in ((0,), (1,) if z.shape[2] == 1 else (1, 2)):
        sums = z.clone()
        _shortened(sums, axes, 1).add_(_shortened(z, axes, 0))
        _shortened(sums, axes, 0).add_(_shortened(z, axes, 1))
        z = sums
    return z


def _shortened(z: Tensor, axes: tuple[int, ...], start: int) -> Tensor:
    """All but the last (``start`` 0) or the first (1) along some axes."""
    for axis in axes:
        z = z.narrow(axis, start, z.shape[axis] - 1)
    return z


def _dense(
    covariance: np.ndarray, tangent: np.ndarray, own: list[np.ndarray], law: _Law
) -> np.ndarray:
    """The kernel (N, N') of the output, from what enters the dense layers.

    ``own``: the same of each image with itself, of both sides or, for a symmetric kernel, of one.
    """
    variances = [diagonal[0] for diagonal in own]
    *hidden, last = law.gains[law.convolutions :]
    for gain in hidden:
        theta = gain * covariance + law.bias_gain + law.sigma_w2 * tangent
        variances = [law.sigma_w2 * v + law.sigma_b2 for v in variances]
        deviations = np.sqrt(np.outer(variances[0], variances[-1])).clip(TINY**2)
        if len(own) == 1:
            np.fill_diagonal(deviations, variances[0].clip(TINY**2))
        q = law.sigma_w2 * covariance + law.sigma_b2
        covariance, slopes = relu_means(q, deviations)
        tangent, variances = theta * slopes, [v / 2 for v in variances]
    return last * covariance + law.bias_gain + law.sigma_w2 * tangent
