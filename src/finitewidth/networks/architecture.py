"""Descriptions of networks: what layers there are, not what weights they hold. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

from finitewidth.common.errors import ConfigError

KERNEL_SIZE = 3


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A fully connected or convolutional network, without its input and output sizes.

    Attributes:
        channels: output channels of the 3×3 convolutions that come first; empty for a fully
            connected network.
        padding: ``same`` or ``valid``, of every convolution.
        stride: of every convolution.
        global_average_pooling: average over positions (GCONV) instead of flattening (VCONV).
        dense: widths of the hidden dense layers.
        bias: whether every layer, the output layer too, has a trained bias.
        init: ``glorot_uniform`` (Keras' default; zero biases), ``he_uniform`` (variance 2 over
            fan-in: narrow pooled networks stall at Glorot's) or ``signed``: ±sqrt(2/w) with
            probability 1/2, w the width of the first dense layer, in every layer (NPF section
            6.2 (5), Assumption 1 of DGN).
    """

    channels: tuple[int, ...] = ()
    padding: str = "same"
    stride: int = 1
    global_average_pooling: bool = False
    dense: tuple[int, ...] = ()
    bias: bool = True
    init: str = "glorot_uniform"

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> "Architecture":
        """Read ``{kind: fully_connected, …}`` or ``{kind: convolutional, …}``.

        A fully connected network has ``widths``, or ``hidden`` layers of one ``width``.
        """
        common = {key: settings[key] for key in ("bias", "init") if key in settings}
        if settings["kind"] == "fully_connected":
            widths = settings.get("widths") or (settings["width"],) * settings["hidden"]
            return cls(dense=tuple(widths), **common)
        return cls(
            channels=tuple(settings["channels"]),
            padding=settings["padding"],
            stride=settings["stride"],
            global_average_pooling=settings["global_average_pooling"],
            dense=tuple(settings["dense"]),
            **common,
        )


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer of a network whose input size is known.

    Attributes:
        kind: ``dense`` or ``conv``.
        fan_in: inputs (dense) or input channels (conv).
        fan_out: outputs or output channels.
        pad: (left, right, top, bottom) zeros added before a convolution.
        stride: of a convolution.
        reduce: what happens before the layer: ``flatten``, ``average`` (over positions) or nothing.
        bias: whether there is one.
    """

    kind: str
    fan_in: int
    fan_out: int
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    stride: int = 1
    reduce: str | None = None
    bias: bool = True


def layers_of(
    architecture: Architecture, input_shape: tuple[int, int, int], outputs: int
) -> tuple[Layer, ...]:
    """The layers of an architecture on images of ``input_shape`` (H, W, C); the output layer last.

    Raises:
        ConfigError: a convolution has no room left (``valid`` padding or a large stride).
    """
    height, width, channels = input_shape
    layers: list[Layer] = []
    for number, fan_out in enumerate(architecture.channels, start=1):
        if architecture.padding == "same":
            pad = (*_same(width, architecture.stride), *_same(height, architecture.stride))
        else:
            pad = (0, 0, 0, 0)
        height = _size(height + pad[2] + pad[3], architecture.stride, number)
        width = _size(width + pad[0] + pad[1], architecture.stride, number)
        layers.append(
            Layer(kind="conv", fan_in=channels, fan_out=fan_out, pad=pad,
                  stride=architecture.stride, bias=architecture.bias)
        )  # fmt: skip
        channels = fan_out
    average = bool(architecture.channels) and architecture.global_average_pooling
    fan_in = channels if average else height * width * channels
    reduce = "average" if average else "flatten"
    for fan_out in (*architecture.dense, outputs):
        layers.append(
            Layer(
                kind="dense", fan_in=fan_in, fan_out=fan_out, reduce=reduce, bias=architecture.bias
            )
        )
        fan_in, reduce = fan_out, None
    return tuple(layers)


def _same(size: int, stride: int) -> tuple[int, int]:
    """Zeros on both sides so that the output has ceil(size/stride) positions, as Keras pads."""
    total = max((ceil(size / stride) - 1) * stride + KERNEL_SIZE - size, 0)
    return total // 2, total - total // 2


def _size(padded: int, stride: int, number: int) -> int:
    size = (padded - KERNEL_SIZE) // stride + 1
    if size < 1:
        raise ConfigError(
            f"convolution {number} has no input left ({padded} of {KERNEL_SIZE} positions); "
            "use padding: same, stride: 1 or fewer channels entries"
        )
    return size


def weight_shape(layer: Layer) -> tuple[int, ...]:
    """(fan_in, fan_out) of a dense layer, (fan_out, fan_in, 3, 3) of a convolution."""
    if layer.kind == "dense":
        return layer.fan_in, layer.fan_out
    return layer.fan_out, layer.fan_in, KERNEL_SIZE, KERNEL_SIZE


def parameter_count(layers: tuple[Layer, ...]) -> int:
    """Number of weights and biases."""
    return sum(prod(weight_shape(layer)) + layer.fan_out * layer.bias for layer in layers)
