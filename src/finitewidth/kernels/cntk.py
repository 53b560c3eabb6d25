"""Exact tangent kernel of infinitely wide convolutional ReLU networks (CNTK).

Source: Arora et al. 2019 (NeurIPS), section 4 and appendix H. The network has 3×3 convolutions of
stride 1 with zero padding, then averages over positions (GCONV) or flattens (VCONV), then has dense
ReLU layers and a linear output. All layers are trained.

Let a pair of positions be p and q = p + o. A convolution shifts both positions by the same nine
shifts, so it does not change the offset o. The other steps act on each pair of positions
separately. Hence every offset has its own recursion. The code runs one recursion for each vertical
offset, over all pairs of columns. This needs few calls and stores HW² numbers per pair of images
instead of (HW)². Flattening needs only the offset 0.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import pi

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from finitewidth.common.arrays import as_tensor
from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float, Int, Num
from finitewidth.kernels.ntk_init.activations import relu_means
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_number, refuse
from finitewidth.networks.architecture import KERNEL_SIZE, Architecture, layers_of

PARAMETRISATIONS = ("ntk", "standard")
SHIFTS = KERNEL_SIZE**2
BLOCK_BYTES = 1 << 19  # size of one tensor of a block; about ten of them share the cache
GROUP = 16  # blocks computed by one call of the argument ``each``
FEWEST = 8  # least number of pairs in a block; shorter innermost loops are slower
TINY = 1e-18  # replaces a standard deviation of 0; float32 can represent its square


@dataclass(frozen=True)
class _Law:
    """The constants of a network that the recursions use.

    ``gains`` are the factors of each layer's own part of the kernel, times its fan-in, the output
    layer last, and ``bias_gain`` is that of the part of the biases.
    """

    sigma_w2: float
    sigma_b2: float
    gains: tuple[float, ...]
    bias_gain: float
    convolutions: int
    average: bool


def cntk(
    x: Tensor | ArrayLike,
    other: Tensor | ArrayLike | None = None,
    *,
    architecture: Architecture,
    sigma_w2: float = 2.0,
    sigma_b2: float = 0.0,
    parametrisation: str = "ntk",
    dtype: torch.dtype = torch.float64,
    each: Callable[..., Iterable[Tensor]] = map,
) -> Float[Tensor, "N M"]:
    """Compute the kernel of one output between all images of ``x`` and all images of ``other``.

    Weights are N(0, sigma_w2 / fan-in). The fan-in of a convolution is 9 times its input channels,
    also at the border of the image. Biases are N(0, sigma_b2); if ``sigma_b2`` is 0, there are no
    biases.

    Cost: (HW)² entries per pair of images and layer, or HW with flattening. float64 takes twice the
    time of float32. Memory: about twelve tensors of half a MiB, or of 8 pairs × HW² entries (HW
    with flattening) if that is more.

    Args:
        x: images (N, C, H, W), on the device on which to compute.
        other: images (N', C, H, W); None for those of ``x``.
        architecture: the network. ``bias`` and ``init`` are ignored. The widths are used only in
            the standard parametrisation, where each layer is weighted by its fan-in.
        sigma_w2: variance of a weight times its fan-in. Without biases it only scales the kernel.
        sigma_b2: variance of a bias.
        parametrisation: ``ntk``, as in Arora et al., or ``standard``.
        dtype: float64 or float32, for the recursions. The error of float32 is about 1e-6 of the
            largest entry. Sums over positions are computed in float64.
        each: used in place of ``map`` for groups of pairs of images, so that a long computation
            can store its results.

    Returns:
        (N, N') in float64.

    Raises:
        ConfigError: the architecture is not supported or an argument is out of range.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> vconv = fw.Architecture(channels=(8, 8), dense=(16,))
        >>> fw.cntk(torch.rand(3, 1, 6, 6), architecture=vconv).shape
        torch.Size([3, 3])
    """
    x = _checked(x, "x")
    if other is not None:
        other = _checked(other, "other")
        if other.shape[1:] != x.shape[1:]:
            raise refuse("other", tuple(other.shape), f"(N', *{tuple(x.shape[1:])}), as x")
    law = _law(architecture, x.shape[1:], sigma_w2, sigma_b2, parametrisation)
    rows = _Side.of(x, law, dtype)
    diagonals = [_diagonal(rows, law)]
    if other is None:
        covariance, tangent = _pairs(rows, rows, law, diagonals[0], each)
    else:
        columns = _Side.of(other, law, dtype)
        diagonals.append(_diagonal(columns, law))
        covariance, tangent = _pairs(rows, columns, law, None, each)
    return torch.from_numpy(_dense(covariance, tangent, diagonals, law))


def _checked(images: Tensor | ArrayLike, name: str) -> Num[Tensor, "N C H W"]:
    """Return images as a tensor; refuse other shapes, and numbers that are not finite."""
    images = as_tensor(images, name)
    if images.dim() != 4 or not images.numel():
        raise refuse(name, tuple(images.shape), "images (N, C, H, W)")
    if not bool(torch.isfinite(images).all()):
        raise refuse(name, "nan or inf", "finite")
    return images


def _law(
    architecture: Architecture, shape: torch.Size, sigma_w2: float, sigma_b2: float, kind: str
) -> _Law:
    """Return the constants of a network; refuse architectures that have no CNTK here."""
    sigma_w2 = checked_number("sigma_w2", sigma_w2, above=0)
    sigma_b2 = checked_number("sigma_b2", sigma_b2)
    checked_choice("parametrisation", kind, PARAMETRISATIONS)
    if not architecture.channels or (architecture.padding, architecture.stride) != ("same", 1):
        raise ConfigError(
            f"architecture: {len(architecture.channels)} convolutions, padding "
            f"{architecture.padding}, stride {architecture.stride}; the CNTK needs at least one "
            "convolution, padding: same and stride: 1"
        )
    channels, height, width = shape
    layers = layers_of(architecture, (height, width, channels), outputs=1)
    fans = [layer.fan_in * (SHIFTS if layer.kind == "conv" else 1) for layer in layers]
    if kind == "standard":
        gains = tuple(float(fan) for fan in fans)
        bias_gain = float(sigma_b2 > 0)
    else:
        gains = (sigma_w2,) * len(fans)
        bias_gain = sigma_b2
    return _Law(
        sigma_w2=sigma_w2,
        sigma_b2=sigma_b2,
        gains=gains,
        bias_gain=bias_gain,
        convolutions=len(architecture.channels),
        average=architecture.global_average_pooling,
    )


@dataclass(frozen=True)
class _Side:
    """A batch of images (C, H, W, N), and the deviations of pre-activations by layer, (H, W, N)."""

    images: Float[Tensor, "C *positions N"]
    deviations: list[Float[Tensor, "*positions N"]]

    @classmethod
    def of(cls, images: Num[Tensor, "N C H W"], law: _Law, dtype: torch.dtype) -> "_Side":
        """Compute the deviations of images (N, C, H, W)."""
        pixels = images.double().permute(1, 2, 3, 0).contiguous()  # (C, H, W, N)
        square = pixels.square().mean(dim=0)  # mean over channels, (H, W, N)
        deviations = []
        for _ in range(law.convolutions):
            variance = law.sigma_w2 / SHIFTS * box_sum(square[:, :, None])[:, :, 0]
            variance += law.sigma_b2
            deviations.append(variance.sqrt().clamp_min(TINY).to(dtype))
            square = variance / 2  # E relu(u)² of a centred Gaussian
        return cls(pixels.to(dtype), deviations)

    def take(self, index: Int[Tensor, "pairs"]) -> "_Side":
        """Select images by their indices, which may repeat."""
        index = index.to(self.images.device)
        images = self.images.index_select(-1, index)
        deviations = [deviation.index_select(-1, index) for deviation in self.deviations]
        return _Side(images, deviations)

    def cut(self, rows: slice, axis: int) -> "_Side":
        """Select rows and insert an axis of length 1 at ``axis`` of the deviations."""
        deviations = [deviation[rows].unsqueeze(axis) for deviation in self.deviations]
        return _Side(self.images[:, rows].unsqueeze(axis + 1), deviations)


def _pairs(
    first: _Side,
    second: _Side,
    law: _Law,
    diagonal: Float[np.ndarray, "2 N"] | None,
    each: Callable[..., Iterable[Tensor]],
) -> Float[np.ndarray, "2 N M"]:
    """Return the covariance of the inputs of the dense part and the tangent kernel below it.

    They are (2, N, N'), for all pairs of images. If both sides are the same images, ``diagonal`` is
    the result for each image with itself, (2, N), and only one half of the rest is computed.
    """
    sizes = first.images.shape[-1], second.images.shape[-1]
    if diagonal is None:
        rows, columns = torch.cartesian_prod(*map(torch.arange, sizes)).T
    else:
        rows, columns = torch.tril_indices(*sizes, offset=-1)
    kernels = torch.zeros(2, *sizes, dtype=torch.float64)
    size = _block(first, law)
    groups = list(zip(rows.split(GROUP * size), columns.split(GROUP * size), strict=True))
    parts = each(partial(_group, first, second, law, size), groups)
    for (i, j), part in zip(groups, parts, strict=True):
        kernels[:, i, j] = part
    kernel = kernels.numpy()
    if diagonal is not None:
        kernel += kernel.swapaxes(1, 2)
        np.einsum("kss->ks", kernel)[:] = diagonal
    return kernel


def _group(
    first: _Side,
    second: _Side,
    law: _Law,
    size: int,
    pairs: tuple[Int[Tensor, "pairs"], Int[Tensor, "pairs"]],
) -> Float[Tensor, "2 pairs"]:
    """Return the result of `_readout` for pairs of images (i, j), computed ``size`` at a time."""
    rows, columns = pairs
    parts = []
    for i, j in zip(rows.split(size), columns.split(size), strict=True):
        parts.append(_readout(first.take(i), second.take(j), law))
    return torch.cat(parts, dim=1)


def _diagonal(side: _Side, law: _Law) -> Float[np.ndarray, "2 N"]:
    """Return the result of `_pairs` for each image with itself, (2, N)."""
    blocks = torch.arange(side.images.shape[-1]).split(_block(side, law))
    parts = [_readout(side.take(i), side.take(i), law, same=True) for i in blocks]
    return torch.cat(parts, dim=1).numpy()


def _block(side: _Side, law: _Law) -> int:
    """Return the number of pairs of images in a block."""
    _, height, width, _ = side.images.shape
    numbers = height * width ** (2 if law.average else 1)
    return max(FEWEST, BLOCK_BYTES // (numbers * side.images.element_size()))


def _readout(
    first: _Side, second: _Side, law: _Law, same: bool = False
) -> Float[Tensor, "2 pairs"]:
    """Average E relu relu and Theta E relu' relu' over pairs of positions, for B pairs of images.

    The result is (2, B). With ``same``, both images of each pair are the same, and cosines at
    offset 0 are exactly 1.
    """
    _, height, width, count = first.images.shape
    total = torch.zeros(2, count, dtype=torch.float64, device=first.images.device)
    reach = height - 1 if law.average else 0
    # axes 1 and 2 are the columns of both images; with flattening, axis 1 is both columns
    second_axis = 1 if law.average else 2
    for offset in range(-reach, reach + 1):
        first_rows = slice(max(0, -offset), height - max(0, offset))
        second_rows = slice(max(0, offset), height - max(0, -offset))
        first_cut = first.cut(first_rows, 2)
        second_cut = second.cut(second_rows, second_axis)
        products, tangents = _recursion(first_cut, second_cut, law, same and offset == 0)
        total[0] += products.sum(dim=(0, 1, 2), dtype=torch.float64)
        total[1] += tangents.sum(dim=(0, 1, 2), dtype=torch.float64)
    positions = height * width
    return total.cpu() / (positions**2 if law.average else positions)


def _recursion(
    first: _Side, second: _Side, law: _Law, same: bool
) -> tuple[Float[Tensor, "rows columns others pairs"], Float[Tensor, "rows columns others pairs"]]:
    """Run the recursion over the convolutions for one vertical offset.

    Return E relu relu and Theta E relu' relu', both (rows, columns, columns or 1, B).
    """
    scale = law.sigma_w2 / SHIFTS
    products = (first.images * second.images).mean(dim=0)
    below: Tensor | None = None  # Theta E relu' relu' of the layer below
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
    assert below is not None  # there is at least one convolution
    return products, below


def _equal_positions(z: Float[Tensor, "rows columns others pairs"]) -> Tensor:
    """Return the entries of (rows, columns, columns or 1, B) at which both columns are equal."""
    return z if z.shape[2] == 1 else z.diagonal(dim1=1, dim2=2)


def _relu(
    q: Float[Tensor, "*shape"], deviations: Float[Tensor, "*shape"]
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """Compute `activations.relu_means` with few passes over memory; overwrites both arguments.

    The angle and the root are computed from the same rounded cosine, so its error cancels between
    them to first order.
    """
    c = q.div_(deviations).clamp_(-1, 1)
    angle = torch.acos(c).neg_().add_(pi)
    short = 1 - c
    root = short.addcmul_(short, c).sqrt_()
    products = root.addcmul_(angle, c).mul_(deviations).mul_(0.5 / pi)
    return products, angle.mul_(0.5 / pi)


def box_sum(
    z: Float[Tensor, "rows columns others pairs"],
) -> Float[Tensor, "rows columns others pairs"]:
    """Sum (rows, columns, columns or 1, B) over 3×3 neighbours, with zeros around the image.

    The sums over rows and over columns are taken one after the other. If there are two axes of
    columns, both are shifted together.
    """
    columns = (1,) if z.shape[2] == 1 else (1, 2)
    for axes in ((0,), columns):
        sums = z.clone()
        _shortened(sums, axes, 1).add_(_shortened(z, axes, 0))
        _shortened(sums, axes, 0).add_(_shortened(z, axes, 1))
        z = sums
    return z


def _shortened(z: Tensor, axes: tuple[int, ...], start: int) -> Tensor:
    """Remove the last entry (``start`` 0) or the first entry (1) along the given axes."""
    for axis in axes:
        z = z.narrow(axis, start, z.shape[axis] - 1)
    return z


def _dense(
    covariance: Float[np.ndarray, "N M"],
    tangent: Float[np.ndarray, "N M"],
    diagonals: list[Float[np.ndarray, "2 _"]],
    law: _Law,
) -> Float[np.ndarray, "N M"]:
    """Compute the kernel of the output, (N, N'), from the kernels of the convolutional part.

    ``diagonals`` holds both kernels of each image with itself, (2, N), of rows and columns. It has
    one member if these are the same images.
    """
    variances = [diagonal[0] for diagonal in diagonals]
    *hidden, last = law.gains[law.convolutions :]
    for gain in hidden:
        theta = gain * covariance + law.bias_gain + law.sigma_w2 * tangent
        variances = [law.sigma_w2 * variance + law.sigma_b2 for variance in variances]
        deviations = np.sqrt(np.outer(variances[0], variances[-1])).clip(TINY**2)
        if len(diagonals) == 1:
            np.fill_diagonal(deviations, variances[0].clip(TINY**2))
        q = law.sigma_w2 * covariance + law.sigma_b2
        covariance, slopes = relu_means(q, deviations)
        tangent = theta * slopes
        variances = [variance / 2 for variance in variances]  # E relu(u)²
    return last * covariance + law.bias_gain + law.sigma_w2 * tangent
