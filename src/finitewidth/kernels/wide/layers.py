"""What operations without weights do to the law of tensors in the limit of infinite width.

A `Signal` is a tensor of the network for two inputs, which has the shape, with what is known of its
law: the tensor itself for all inputs, as long as it does not depend on weights, and then a `Field`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.wide.duals import Dual
from finitewidth.kernels.wide.fields import Field, of_inputs
from finitewidth.kernels.wide.hermite import by_series
from finitewidth.kernels.wide.law import is_trained


@dataclass(frozen=True)
class Signal:
    """A tensor of the network.

    Attributes:
        shape: of the tensor, (2, ...) for two inputs.
        inputs: the tensor for the inputs of rows and columns, if no weight acted on it.
        field: its law, after the first weights.
        channel: the axis of the channels; the axes of positions are the others, in their order.
        flat: whether channels and positions lie on one axis, to be read by a dense layer.
        gaussian: whether the channels are Gaussian, as the outputs of layers with weights are.
        layers: the layers whose outputs it is a sum of, if it is Gaussian.
        above: the layers that it depends on.
        alike: whether all channels have one law, and not those of several parts.
        root: the Gaussian tensor that it is an elementwise function of, and the function, if
            functions made it.
    """

    shape: tuple[int, ...]
    inputs: tuple[Tensor, Tensor] | None = None
    field: Field | None = None
    channel: int = 1
    flat: bool = False
    gaussian: bool = False
    layers: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()
    alike: bool = True
    root: "Root | None" = None


Root = tuple[Signal, Callable[[Tensor], Tensor]]


def refused(what: str, reason: str) -> ConfigError:
    """Return the error for a part of a network that has no such limit."""
    return ConfigError(f"network: {what} {reason}")


def field_of(signal: Signal, channel: int) -> Field:
    """Return the law of a signal; the channels of inputs must lie on an axis."""
    if signal.field is not None:
        return signal.field
    return of_inputs(*signal.inputs, channel)


def activated(what: str, dual: Dual | None, signal: Signal, root: Root | None) -> Signal:
    """Apply an elementwise activation.

    Args:
        what: the name of the operation, for messages.
        dual: its means, if they are known.
        signal: its argument.
        root: the result as a function of a Gaussian tensor.

    Raises:
        ConfigError: the result is no function of one Gaussian tensor.
    """
    if dual is not None and signal.gaussian:
        field = signal.field.activated(dual)
    elif root is not None:
        signal, function = root
        field = signal.field.activated(by_series(function))
    else:
        reason = "acts on a tensor that is not the output of a layer with weights, or a sum of such"
        raise refused(what, reason)
    return replace(signal, field=field, gaussian=False, layers=frozenset(), root=root)


def added(what: str, first: Signal, second: Signal) -> Signal:
    """Add two tensors, one of which must have weights of its own.

    Raises:
        ConfigError: they are not independent.
    """
    if first.field is None or second.field is None or not _same_axes(first, second):
        raise refused(what, "adds tensors of other shapes, or the inputs themselves")
    fresh = first.gaussian and not first.layers & second.above
    if not fresh and not (second.gaussian and not second.layers & first.above):
        reason = "adds tensors that are not independent: neither is the output of weights that "
        raise refused(what, reason + "the other does not depend on")
    gaussian = first.gaussian and second.gaussian
    return replace(
        first,
        field=first.field.plus(second.field),
        gaussian=gaussian,
        layers=first.layers | second.layers if gaussian else frozenset(),
        above=first.above | second.above,
        root=None,
        alike=first.alike and second.alike,
    )


def _same_axes(first: Signal, second: Signal) -> bool:
    """Tell whether channels and positions of two tensors lie on the same axes."""
    same_space = first.field.space == second.field.space
    same_channel = first.channel == second.channel and first.flat == second.flat
    return first.shape == second.shape and same_space and same_channel


def joined(what: str, parts: list[Signal], axis: int, shape: torch.Size) -> Signal:
    """Concatenate the channels of tensors: the mean of their laws, weighted by their numbers."""
    first = parts[0]
    axis %= len(shape)
    if any(part.field is None or part.channel != axis for part in parts):
        raise refused(what, "joins tensors, but not along their channels")
    laid_out = {(part.flat, part.field.space) for part in parts}
    if len(laid_out) > 1:
        raise refused(what, "joins tensors with different positions")
    total = sum(part.shape[axis] for part in parts)
    field = first.field.times(first.shape[axis] / total)
    for part in parts[1:]:
        field = field.plus(part.field.times(part.shape[axis] / total))
    above = first.above.union(*(part.above for part in parts))
    return Signal(
        tuple(shape), field=field, channel=axis, flat=first.flat, above=above, alike=False
    )


def normalised(what: str, module: nn.LayerNorm, signal: Signal) -> Signal:
    """Apply a layer norm over the channels.

    Raises:
        ConfigError: it has no limit.
    """
    last = signal.channel == len(signal.shape) - 1 and not signal.flat
    if not signal.gaussian or not last or len(module.normalized_shape) != 1:
        raise refused(what, "must normalise the channels, on the last axis, after a linear layer")
    scale, shift = is_trained(module.weight), is_trained(module.bias)
    return replace(signal, field=signal.field.normalised(module.eps, scale, shift), root=None)
