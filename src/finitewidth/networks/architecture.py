"""Descriptions of the layers of a network, without weights. This module does not import torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from numbers import Integral
from typing import Any

from finitewidth.common.errors import ConfigError

KERNEL_SIZE = 3
PADDINGS = ("same", "valid")
INITS = ("glorot_uniform", "he_uniform", "signed")


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A fully connected or convolutional network, without its input and output sizes.

    Attributes:
        channels: output channels of the 3×3 convolutions, which come first; empty for a fully
            connected network.
        padding: ``same`` or ``valid``, for all convolutions.
        stride: stride of all convolutions.
        global_average_pooling: True to average over positions after the convolutions (GCONV),
            False to flatten (VCONV).
        dense: widths of the hidden dense layers.
        bias: True if all layers, the output layer included, have a trained bias.
        init: distribution of the initial weights. ``glorot_uniform`` is the default of Keras.
            ``he_uniform`` has variance 2 / fan-in; narrow networks with pooling do not train with
            ``glorot_uniform``. ``signed`` takes ±sqrt(2/w) with probability 1/2 each in every
            layer, where w is the width of the first dense layer (NPF section 6.2 (5), DGN
            Assumption 1). Biases start at 0.

    Raises:
        ConfigError: a number of channels, a width or the stride is no integer of at least 1, or
            ``padding`` or ``init`` is unknown.

    Examples:
        >>> import finitewidth as fw
        >>> gconv = fw.Architecture(channels=(16, 16), dense=(32,), global_average_pooling=True)
        >>> gconv.channels, gconv.dense
        ((16, 16), (32,))
    """

    channels: tuple[int, ...] = ()
    padding: str = "same"
    stride: int = 1
    global_average_pooling: bool = False
    dense: tuple[int, ...] = ()
    bias: bool = True
    init: str = "glorot_uniform"

    def __post_init__(self) -> None:
        """Refuse values that no network has."""
        self._check_integers("channels", self.channels)
        self._check_integers("dense", self.dense)
        self._check_integers("stride", [self.stride])
        self._check_choice("padding", PADDINGS)
        self._check_choice("init", INITS)

    def _check_integers(self, name: str, numbers: Sequence[Any]) -> None:
        if not all(isinstance(number, Integral) and int(number) >= 1 for number in numbers):
            raise ConfigError(f"{name}: {getattr(self, name)!r} must be integers of at least 1")

    def _check_choice(self, name: str, allowed: Sequence[str]) -> None:
        value = getattr(self, name)
        if value not in allowed:
            raise ConfigError(f"{name}: {value!r} is unknown; allowed: {', '.join(allowed)}")

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> "Architecture":
        """Make an architecture from settings.

        They are ``{kind: fully_connected, …}`` with ``widths``, or with the number of ``hidden``
        layers and their common ``width``; or ``{kind: convolutional, …}`` with the attributes of
        this class. ``bias`` and ``init`` are optional.
        """
        if settings["kind"] == "fully_connected":
            common = {key: settings[key] for key in ("bias", "init") if key in settings}
            widths = settings.get("widths") or (settings["width"],) * settings["hidden"]
            return cls(dense=tuple(widths), **common)
        values = {key: value for key, value in settings.items() if key != "kind"}
        values["channels"] = tuple(values["channels"])
        values["dense"] = tuple(values["dense"])
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer, ``dense`` or ``conv``, of a network whose input size is known.

    ``fan_in`` and ``fan_out`` are numbers of inputs and outputs (dense) or of channels. ``pad`` are
    the numbers of zeros added before a convolution, (left, right, top, bottom). ``reduce`` is the
    operation on images before a dense layer: ``flatten``, ``average`` (over positions) or None.
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
    """Return the layers of an architecture on images (H, W, C); the output layer is the last.

    Raises:
        ConfigError: the input of a convolution is smaller than its 3×3 filter, because of ``valid``
            padding or a large stride.
    """
    height, width, channels = input_shape
    stride = architecture.stride
    bias = architecture.bias
    layers: list[Layer] = []
    for number, fan_out in enumerate(architecture.channels, start=1):
        pad = (0, 0, 0, 0)
        if architecture.padding == "same":
            pad = (*_same_padding(width, stride), *_same_padding(height, stride))
        left, right, top, bottom = pad
        height = _output_size(height + top + bottom, stride, number)
        width = _output_size(width + left + right, stride, number)
        layers.append(
            Layer(kind="conv", fan_in=channels, fan_out=fan_out, pad=pad, stride=stride, bias=bias)
        )
        channels = fan_out
    if architecture.channels and architecture.global_average_pooling:
        fan_in = channels
        reduce: str | None = "average"
    else:
        fan_in = height * width * channels
        reduce = "flatten"
    for fan_out in (*architecture.dense, outputs):
        layers.append(Layer(kind="dense", fan_in=fan_in, fan_out=fan_out, reduce=reduce, bias=bias))
        fan_in = fan_out
        reduce = None
    return tuple(layers)


def _same_padding(size: int, stride: int) -> tuple[int, int]:
    """Return the padding before and after, as in Keras: the output has ceil(size/stride) positions.

    If the total is odd, the additional zero is placed after.
    """
    positions = ceil(size / stride)
    total = max((positions - 1) * stride + KERNEL_SIZE - size, 0)
    before = total // 2
    return before, total - before


def _output_size(padded: int, stride: int, number: int) -> int:
    """Return the length of a side after convolution ``number``, from that of its padded input."""
    size = (padded - KERNEL_SIZE) // stride + 1
    if size < 1:
        raise ConfigError(
            f"channels: a side of the input of convolution {number} has length {padded}; it must "
            f"be at least {KERNEL_SIZE}; use padding: same, stride: 1 or fewer convolutions"
        )
    return size


def weight_shape(layer: Layer) -> tuple[int, ...]:
    """Return the shape of a layer's weights.

    It is (fan_in, fan_out) for a dense layer and (fan_out, fan_in, 3, 3) for a convolution.
    """
    if layer.kind == "dense":
        return layer.fan_in, layer.fan_out
    return layer.fan_out, layer.fan_in, KERNEL_SIZE, KERNEL_SIZE
