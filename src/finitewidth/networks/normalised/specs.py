"""Descriptions of networks with batch normalisation, and of one without. No torch here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from finitewidth.common.errors import ConfigError

POOL = "M"  # a max-pool in the list of convolutions of a VGG
NAMES = {"vgg": "VGG", "resnet": "ResNet", "densenet": "DenseNet", "fully_connected": "FC"}
LISTS = ("convolutions", "dense", "channels", "blocks")


@dataclass(frozen=True, kw_only=True)
class Network:
    """A VGG, ResNet, DenseNet or fully connected network, without its input and output sizes.

    The fully connected network has no normalisation, and no biases before its features.

    Attributes:
        kind: ``vgg``, ``resnet``, ``densenet`` or ``fully_connected``.
        convolutions: for a VGG, output channels of its 3×3 convolutions, and ``"M"`` for each 2×2
            max-pool. VGG11 has (64, M, 128, M, 256, 256, M, 512, 512, M, 512, 512, M).
        dense: widths of the hidden dense layers of a VGG, (512, 256) in the paper `collapse`, or
            of a fully connected network.
        channels: for a ResNet, channels of its stages; (16, 32, 64) in ResNet20. The first
            convolution has as many channels as the first stage.
        blocks: for a ResNet, blocks of each stage; (3, 3, 3) in ResNet20. For a DenseNet, layers of
            each dense block; (6, 6, 6) in DenseNet40-BC.
        growth: for a DenseNet, channels that a layer adds; 12 in DenseNet40-BC.
        bottleneck: for a DenseNet, channels between the two convolutions of a layer, in multiples
            of ``growth``; 2 in the authors' code.
        stem: for a DenseNet, channels of its first convolution; 24 in the authors' code.
        compression: for a DenseNet, the share of the channels that a transition keeps, rounded
            down.
        pooled_stem: for a DenseNet, True to average 2×2 positions after the first convolution.
        batch_momentum: weight of the newest batch in running means and variances, as in torch.
            Flax's momentum .9 is 0.1 here.
    """

    kind: str
    convolutions: tuple[int | str, ...] = ()
    dense: tuple[int, ...] = ()
    channels: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    growth: int = 0
    bottleneck: int = 2
    stem: int = 0
    compression: float = 0.5
    pooled_stem: bool = False
    batch_momentum: float = 0.1

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        if self.kind == "vgg" and self.convolutions[0] == POOL:
            raise self._refused("convolutions", "the first must be a convolution")
        if self.kind == "resnet" and len(self.blocks) != len(self.channels):
            reason = f"it needs as many entries as channels, {self.channels}"
            raise self._refused("blocks", reason)
        if self.kind == "densenet" and min(inputs for inputs, _ in block_channels(self)) < 1:
            raise self._refused("compression", "a transition would keep no channel")

    def _refused(self, attribute: str, reason: str) -> ConfigError:
        return ConfigError(f"{attribute}: {getattr(self, attribute)!r} is refused; {reason}")

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> "Network":
        """Make a network from settings of a paper: ``kind``, and the attributes of this kind."""
        values = dict(settings)
        for name in LISTS:
            if name in values:
                values[name] = tuple(values[name])
        return cls(**values)


def feature_count(network: Network) -> int:
    """Return the number of features, that is, of inputs of the output layer."""
    if network.kind in ("vgg", "fully_connected"):
        return network.dense[-1]
    if network.kind == "resnet":
        return network.channels[-1]
    return block_channels(network)[-1][1]


def title(network: Network) -> str:
    """Return the name of the network with the number of its layers with weights, as ``VGG11``.

    Layers on shortcuts do not count, as in ResNet20.
    """
    if network.kind == "vgg":
        convolutions = sum(entry != POOL for entry in network.convolutions)
        count = convolutions + len(network.dense) + 1
    elif network.kind == "resnet":
        count = 2 * sum(network.blocks) + 2
    elif network.kind == "fully_connected":
        count = len(network.dense) + 1
    else:  # two layers in each, the transitions, the stem and the output layer
        count = 2 * sum(network.blocks) + len(network.blocks) + 1
    return f"{NAMES[network.kind]}{count}"


def block_channels(network: Network) -> list[tuple[int, int]]:
    """Return the input and output channels of the blocks of a DenseNet.

    A transition between two blocks keeps the share ``compression`` of the channels.
    """
    channels = network.stem
    sizes = []
    for layers in network.blocks:
        outputs = channels + layers * network.growth
        sizes.append((channels, outputs))
        channels = int(network.compression * outputs)
    return sizes
