"""Operations that arrange or average the axes of positions of a tensor.

What a function does to axes is read from its result for tensors that carry the numbers of their
channels and positions.
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch import Tensor

from finitewidth.kernels.wide.layers import Signal, refused


def like(signal: Any) -> Any:
    """Return a tensor of the shape of a signal, in the type of its inputs."""
    return torch.zeros(signal.shape) if isinstance(signal, Signal) else signal


def _numbered(signal: Signal) -> Tensor:
    """Return a tensor of its shape that holds a different number at each channel and position."""
    numbers = torch.arange(1, prod(signal.shape[1:]) + 1)
    return numbers.view(1, *signal.shape[1:]).double().expand(signal.shape)


def shaped(operation: str, signal: Signal, function: Callable[[Tensor], Tensor]) -> Signal:
    """Arrange the axes of a tensor anew: flatten it, or put its axes in another order.

    Raises:
        ConfigError: there is no rule for it.
    """
    before = _numbered(signal)
    after = function(before)
    if after.shape == before.shape and torch.equal(after, before):
        return signal
    if after.dim() == 2 and len(after) == 2 and after.shape[1] == before[0].numel():
        return _flattened(signal, after.shape)
    for axis in range(1, min(before.dim(), after.dim())):
        # whether the channels have moved to this axis, and positions have kept their order
        moved = before.movedim(signal.channel, axis)
        if moved.shape == after.shape and torch.equal(moved, after):
            return replace(signal, shape=tuple(after.shape), channel=axis, root=None)
    shape = tuple(after.shape)
    raise refused(
        operation, f"arranges a tensor {signal.shape} as {shape}, for which there is no rule"
    )


def _flattened(signal: Signal, shape: torch.Size) -> Signal:
    """Lay channels and positions on one axis."""
    field = signal.law
    flat = prod(field.space) > 1
    if not flat:
        field = field.over_positions()
    return replace(signal, shape=tuple(shape), field=field, channel=1, flat=flat, root=None)


def averaged(operation: str, signal: Signal, function: Callable[[Tensor], Tensor]) -> Signal:
    """Apply an average over positions.

    Raises:
        ConfigError: it is one over channels.
    """
    shape = function(like(signal)).shape
    channel = _channel_after(function, signal, shape)
    has_positions = not signal.flat and signal.law.space
    if not has_positions or not channel or not _is_same_for_channels(function, signal, channel):
        raise refused(operation, "averages over channels or inputs, and not over positions alone")

    def average(k: Tensor) -> Tensor:
        """Average (B, 1, *space), with the axes in the order of the network."""
        return function(k.movedim(1, signal.channel)).movedim(channel, 1)

    field = signal.law.averaged(average)
    return replace(signal, shape=tuple(shape), field=field, channel=channel, root=None)


def _channel_after(
    function: Callable[[Tensor], Tensor], signal: Signal, shape: torch.Size
) -> int | None:
    """Return the axis of the result that gets longer with one more channel.

    It is None if no axis does, or several do.
    """
    more = list(signal.shape)
    more[signal.channel] += 1
    sizes = zip(shape, function(torch.zeros(more)).shape, strict=True)
    axes = [axis for axis, (size, with_more) in enumerate(sizes) if size != with_more]
    return axes[0] if len(axes) == 1 else None


def _is_same_for_channels(
    function: Callable[[Tensor], Tensor], signal: Signal, channel: int
) -> bool:
    """Tell whether a linear map does the same to each channel; they then lie on ``channel``."""
    numbers = torch.arange(1, signal.shape[signal.channel] + 1, dtype=torch.float64)
    given = torch.ones(signal.shape, dtype=torch.float64).movedim(signal.channel, -1) * numbers
    result = function(given.movedim(-1, signal.channel)).movedim(channel, -1)
    return torch.allclose(result, result[..., :1] * numbers)
