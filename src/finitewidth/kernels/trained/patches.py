"""Patches of convolutions: what their weights see at each position."""

from math import prod

from torch import Tensor
from torch.nn import functional

from finitewidth.common.shapes import Float


def unfolded(
    x: Float[Tensor, "N channels ..."], taps: tuple[tuple[int, int, int, int], ...], groups: int
) -> Float[Tensor, "N G D P"]:
    """Return what the weights of a convolution see at each position, (N, G, D, P).

    ``taps`` are size, stride, padding and dilation along each axis of space of (N, channels, ...).
    """
    sides: list[int] = []  # padding before and after each axis, the last axis first
    for _, _, padding, _ in reversed(taps):
        sides += [padding, padding]
    if any(sides):
        x = functional.pad(x, sides)
    sizes: list[int] = []  # of the kernel
    positions: list[int] = []
    tap_steps: list[int] = []  # in memory, from one tap of the kernel to the next
    position_steps: list[int] = []  # in memory, from one position to the next
    for tap, length, step in zip(taps, x.shape[2:], x.stride()[2:], strict=True):
        size, stride, _, dilation = tap
        reach = dilation * (size - 1)
        sizes.append(size)
        positions.append((length - reach - 1) // stride + 1)
        tap_steps.append(dilation * step)
        position_steps.append(stride * step)
    views = x.as_strided(  # (N, channels, *sizes, *positions)
        (*x.shape[:2], *sizes, *positions),
        (*x.stride()[:2], *tap_steps, *position_steps),
    )
    return views.reshape(len(x), groups, -1, prod(positions))
