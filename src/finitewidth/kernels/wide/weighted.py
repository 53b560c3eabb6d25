"""Layers with weights: linear layers, convolutions and embeddings."""

import torch
from torch import nn

from finitewidth.kernels.wide.embeddings import field_of_tokens
from finitewidth.kernels.wide.fields import Field
from finitewidth.kernels.wide.law import TOKENS, LayerLaw, Weighted
from finitewidth.kernels.wide.layers import Signal, field_of, refused
from finitewidth.kernels.wide.positions import Window


def weighted(
    name: str, module: Weighted, law: LayerLaw, signal: Signal, shape: torch.Size
) -> Signal:
    """Apply a layer with weights, whose output has a shape.

    Raises:
        ConfigError: the layer has no limit.
    """
    channel = len(shape) - 1
    if isinstance(module, nn.Conv1d | nn.Conv2d):
        channel = 1
        mean = _convolved(name, module, signal)
    elif isinstance(module, TOKENS):
        mean = field_of_tokens(name, module, signal)
    else:
        mean = _dense(name, signal, channel)
    return Signal(
        tuple(shape),
        field=mean.weighted(law),
        channel=channel,
        gaussian=True,
        layers=frozenset({name}),
        above=signal.above | {name},
    )


def _dense(name: str, signal: Signal, channel: int) -> Field:
    """Return the mean over the fan-in of a linear layer."""
    field = field_of(signal, channel)
    if signal.flat:
        return field.over_positions()
    if signal.field is not None and signal.channel != channel:
        raise refused(f"module {name!r}", "acts on an axis of positions, and not on channels")
    return field


def _convolved(name: str, module: nn.Conv1d | nn.Conv2d, signal: Signal) -> Field:
    """Return the mean over the fan-in of a convolution."""
    operation = f"module {name!r}"
    if signal.flat or signal.channel != 1 or len(signal.shape) != len(module.kernel_size) + 2:
        reason = f"reads a tensor {signal.shape}, whose second axis is not that of the channels"
        raise refused(operation, reason)
    few_channels = signal.inputs is not None or module.groups == module.in_channels
    if module.groups > 1 and (few_channels or not signal.alike):
        reason = "has groups whose channels do not become many, or have different laws"
        raise refused(operation, reason)
    if module.padding_mode not in ("zeros", "circular"):
        reason = f"has padding_mode={module.padding_mode!r}; use zeros or circular"
        raise refused(operation, reason)
    windows = [_window(module, axis) for axis in range(len(module.kernel_size))]
    return field_of(signal, 1).windowed(windows, module.padding_mode == "circular")


def _window(module: nn.Conv1d | nn.Conv2d, axis: int) -> Window:
    """Return the window of a convolution along one axis of positions."""
    taps = module.kernel_size[axis]
    dilation = module.dilation[axis]
    padding = module.padding
    if padding == "same":
        total = dilation * (taps - 1)
        before = total // 2
        after = total - before
    elif isinstance(padding, str):  # "valid"
        before = 0
        after = 0
    else:
        before = padding[axis]
        after = before
    return taps, module.stride[axis], before, after, dilation
