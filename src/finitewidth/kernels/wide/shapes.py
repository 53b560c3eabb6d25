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


def _marked(signal: Signal) -> Tensor:
    """Return a tensor whose numbers tell which channel and position each of them is."""
    numbers = torch.arange(1, prod(signal.shape[1:]) + 1)
    return numbers.view(1, *signal.shape[1:]).double().expand(signal.shape)


def shaped(what: str, signal: Signal, function: Callable[[Tensor], Tensor]) -> Signal:
    """Arrange the axes of a tensor anew: flatten it, or put its axes in another order."""
    new = function(like(signal))
    old = signal.shape
    if tuple(new.shape) == old and torch.equal(function(_marked(signal)), _marked(signal)):
        return signal
    if new.shape[0] == 2 and new.dim() == 2 and new.shape[1] == like(signal)[0].numel():
        return _flattened(signal, new.shape)
    marked = function(_marked(signal))
    for axis in range(1, new.dim()):
        # the channels lie on the axis along which their numbers differ, with the order of positions
        moved = _marked(signal).movedim(signal.channel, axis) if axis < len(old) else None
        if moved is not None and moved.shape == marked.shape and torch.equal(moved, marked):
            return replace(signal, shape=tuple(new.shape), channel=axis, root=None)
    raise refused(
        what, f"arranges a tensor {old} as {tuple(new.shape)}, for which there is no rule"
    )


def _flattened(signal: Signal, shape: torch.Size) -> Signal:
    """Lay channels and positions on one axis."""
    field = signal.field
    flat = prod(field.space) > 1
    if not flat:
        field = field.over_positions()
    return replace(signal, shape=tuple(shape), field=field, channel=1, flat=flat, root=None)


def averaged(what: str, signal: Signal, function: Callable[[Tensor], Tensor]) -> Signal:
    """Apply an average over positions.

    Raises:
        ConfigError: it is one over channels.
    """
    shape = function(like(signal)).shape
    more = list(signal.shape)
    more[signal.channel] += 1
    sizes = zip(shape, function(torch.zeros(more)).shape, strict=True)
    axes = [axis for axis, (size, with_more) in enumerate(sizes) if size != with_more]
    plain = not signal.flat and signal.field.space
    if (
        not plain
        or len(axes) != 1
        or axes == [0]
        or not _is_same_for_channels(function, signal, axes[0])
    ):
        raise refused(what, "averages over channels or inputs, and not over positions alone")
    (channel,) = axes

    def average(k: Tensor) -> Tensor:
        """Average (B, 1, *space), with the axes in the order of the network."""
        return function(k.movedim(1, signal.channel)).movedim(channel, 1)

    field = signal.field.averaged(average)
    return replace(signal, shape=tuple(shape), field=field, channel=channel, root=None)


def _is_same_for_channels(
    function: Callable[[Tensor], Tensor], signal: Signal, channel: int
) -> bool:
    """Tell whether a linear map does the same to each channel; they then lie on ``channel``."""
    numbers = torch.arange(1, signal.shape[signal.channel] + 1, dtype=torch.float64)
    given = torch.ones(signal.shape, dtype=torch.float64).movedim(signal.channel, -1) * numbers
    result = function(given.movedim(-1, signal.channel)).movedim(channel, -1)
    return torch.allclose(result, result[..., :1] * numbers)
