"""Operations without weights, and their effect on the laws of tensors of infinite width.

A `Signal` stands for a tensor of the network, and has its shape for two inputs. Before the first
weights it holds the tensor itself, for all inputs; after them its law, a `Field`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.wide.duals import Dual
from finitewidth.kernels.wide.fields import Field, input_field
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
        alike: whether all channels have the same law. Those of concatenated tensors have not.
        root: a Gaussian tensor and an elementwise function of it that gives this tensor, if the
            network wrote it so.
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

    @property
    def law(self) -> Field:
        """Return the law of a tensor that weights acted on."""
        assert self.field is not None
        return self.field

    @property
    def given(self) -> tuple[Tensor, Tensor]:
        """Return the tensor itself, for rows and for columns, if no weight acted on it."""
        assert self.inputs is not None
        return self.inputs


Root = tuple[Signal, Callable[[Tensor], Tensor]]


def refused(operation: str, reason: str) -> ConfigError:
    """Return the error for a part of a network that has no such limit."""
    return ConfigError(f"network: {operation} {reason}")


def field_of(signal: Signal, channel: int) -> Field:
    """Return the law of a signal; the channels of inputs must lie on an axis."""
    if signal.field is not None:
        return signal.field
    rows, columns = signal.given
    return input_field(rows, columns, channel)


def activated(operation: str, dual: Dual | None, signal: Signal, root: Root | None) -> Signal:
    """Apply an elementwise activation.

    Args:
        operation: its name, for messages.
        dual: its means; None if no closed form is known.
        signal: its argument.
        root: the result as a function of a Gaussian tensor.

    Raises:
        ConfigError: the result is no function of one Gaussian tensor.
    """
    if dual is not None and signal.gaussian:
        field = signal.law.activated(dual)
    elif root is not None:
        signal, function = root
        field = signal.law.activated(by_series(function))
    else:
        reason = "acts on a tensor that is not the output of a layer with weights, or a sum of such"
        raise refused(operation, reason)
    return replace(signal, field=field, gaussian=False, layers=frozenset(), root=root)


def added(operation: str, first: Signal, second: Signal) -> Signal:
    """Add two tensors, one of which must be the output of weights that the other does not use.

    Raises:
        ConfigError: they are not independent.
    """
    if first.field is None or second.field is None or not _same_axes(first, second):
        raise refused(operation, "adds tensors of other shapes, or the inputs themselves")
    if not _is_independent(first, second) and not _is_independent(second, first):
        reason = "adds tensors that are not independent: neither is the output of weights that "
        raise refused(operation, reason + "the other does not depend on")
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


def _is_independent(signal: Signal, other: Signal) -> bool:
    """Tell whether a tensor is the output of weights that another does not depend on."""
    return signal.gaussian and not signal.layers & other.above


def _same_axes(first: Signal, second: Signal) -> bool:
    """Tell whether channels and positions of two tensors lie on the same axes."""
    same_space = first.law.space == second.law.space
    same_channel = first.channel == second.channel and first.flat == second.flat
    return first.shape == second.shape and same_space and same_channel


def concatenated(operation: str, parts: list[Signal], axis: int, shape: torch.Size) -> Signal:
    """Concatenate the channels of tensors: the mean of their laws, weighted by their numbers.

    Raises:
        ConfigError: the axis is not that of the channels, or positions differ.
    """
    first = parts[0]
    axis %= len(shape)
    if any(part.field is None or part.channel != axis for part in parts):
        raise refused(operation, "joins tensors, but not along their channels")
    layouts = {(part.flat, part.law.space) for part in parts}
    if len(layouts) > 1:
        raise refused(operation, "joins tensors with different positions")
    total = sum(part.shape[axis] for part in parts)
    field = first.law.times(first.shape[axis] / total)
    for part in parts[1:]:
        field = field.plus(part.law.times(part.shape[axis] / total))
    return Signal(
        tuple(shape),
        field=field,
        channel=axis,
        flat=first.flat,
        above=frozenset().union(*(part.above for part in parts)),
        alike=False,
    )


def normalised(operation: str, module: nn.LayerNorm, signal: Signal) -> Signal:
    """Apply a layer norm over the channels.

    Raises:
        ConfigError: it has no limit.
    """
    last = signal.channel == len(signal.shape) - 1 and not signal.flat
    if not signal.gaussian or not last or len(module.normalized_shape) != 1:
        reason = "must normalise the channels, on the last axis, after a linear layer"
        raise refused(operation, reason)
    field = signal.law.normalised(
        module.eps, scale=is_trained(module.weight), shift=is_trained(module.bias)
    )
    return replace(signal, field=field, root=None)
