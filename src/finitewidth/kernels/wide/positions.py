"""Linear maps of covariances that act on positions.

A covariance is (..., *space) for equal positions, or (..., *space, *space) for all pairs of them.
"""

from collections.abc import Callable, Sequence
from math import prod

import torch
from torch import Tensor

from finitewidth.common.shapes import Float

Average = Callable[[Tensor], Tensor]
# a window of a convolution along each axis: size, stride, padding before, padding after, dilation
Window = tuple[int, int, int, int, int]


def equal_positions(
    k: Float[Tensor, "..."], space: tuple[int, ...], pairs: bool
) -> Float[Tensor, "... P"]:
    """Return a covariance at equal positions, (..., P)."""
    if pairs:
        leading = k.shape[: k.dim() - 2 * len(space)]
        square = k.reshape(*leading, prod(space), prod(space))
        return square.diagonal(dim1=-2, dim2=-1)
    if not space:
        return k[..., None]
    return k.flatten(k.dim() - len(space))


def averaged(k: Tensor, average: Average, space: tuple[int, ...]) -> Tensor:
    """Average over the second and then the first position of all pairs.

    The average maps (B, 1, *space) to (B, 1, *new space).
    """
    leading = k.shape[: k.dim() - 2 * len(space)]
    by_second = average(k.reshape(-1, 1, *space))[:, 0]  # (B P, *new)
    new = by_second.shape[1:]
    swapped = by_second.reshape(-1, prod(space), prod(new)).mT  # (B, P new, P)
    by_first = average(swapped.reshape(-1, 1, *space))[:, 0]  # (B P new, *new)
    averages = by_first.reshape(-1, prod(new), prod(new)).mT  # (B, P new, P new)
    return averages.reshape(*leading, *new, *new)


def window_lengths(space: Sequence[int], windows: Sequence[Window]) -> tuple[int, ...]:
    """Return the sizes of the axes of positions after a convolution."""
    lengths = []
    for size, (taps, stride, before, after, dilation) in zip(space, windows, strict=True):
        lengths.append((size + before + after - dilation * (taps - 1) - 1) // stride + 1)
    return tuple(lengths)


def windowed(
    k: Tensor, windows: Sequence[Window], lengths: Sequence[int], circular: bool, pairs: bool
) -> Tensor:
    """Average over the taps of a convolution, one axis after another.

    The taps shift both positions of a pair alike.
    """
    count = len(windows)
    first = k.dim() - count * (2 if pairs else 1)  # the first axis of positions
    for number, (window, length) in enumerate(zip(windows, lengths, strict=True)):
        axes = [first + number]
        if pairs:
            axes.append(first + count + number)
        k = _along(k, axes, window, length, circular)
    return k


def _along(k: Tensor, axes: Sequence[int], window: Window, length: int, circular: bool) -> Tensor:
    """Average over the taps of a window along one axis of positions, of one or both positions."""
    taps, stride, before, after, dilation = window
    if circular and (before or after):
        for axis in axes:
            index = torch.arange(-before, k.shape[axis] + after, device=k.device) % k.shape[axis]
            k = k.index_select(axis, index)
        before = 0
    shape = list(k.shape)
    for axis in axes:
        shape[axis] = length
    total = k.new_zeros(shape)
    for tap in range(taps):
        # output o sees input o stride + shift, or a zero beyond the ends
        shift = tap * dilation - before
        low = max(0, -(shift // stride))
        high = min(length, (k.shape[axes[0]] - 1 - shift) // stride + 1)
        if low >= high:
            continue
        target = [slice(None)] * k.dim()
        source = [slice(None)] * k.dim()
        for axis in axes:
            target[axis] = slice(low, high)
            source[axis] = slice(low * stride + shift, (high - 1) * stride + shift + 1, stride)
        total[tuple(target)] += k[tuple(source)]
    return total.div_(taps)
