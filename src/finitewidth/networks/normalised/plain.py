"""One network with batch normalisation, or without, as a module of torch, and its first weights.

The layers are those of the authors' code of the paper `collapse`. Its section 6 names VGG11, VGG16,
ResNet20 and DenseNet40 with few details. Biases before a normalisation have no effect
on the outputs, but VGGs and shortcuts have them there.
"""

import math
from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name in torch code)
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.networks.normalised.specs import Network, block_channels, feature_count
from finitewidth.networks.weights import generator

Parts = Iterator[tuple[str, nn.Module]]
CUT = 2.0  # standard deviations at which Flax cuts normal draws off
CUT_STD = 0.87962566103423978  # standard deviation of a normal of variance 1 after this cut


class NormalisedNetwork(nn.Module):
    """Features (N, n) of images (N, C, H, W), and a linear output layer with bias, the head."""

    def __init__(self, features: nn.Sequential, head: nn.Linear) -> None:
        super().__init__()
        self.features = features
        self.head = head

    def forward(self, x: Tensor) -> Tensor:
        """Compute the outputs (N, classes) for images (N, C, H, W)."""
        return self.head(self.features(x))


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions with normalisation after each, plus the input, then a ReLU.

    If the block halves the resolution or changes the channels, the input goes through a 1×1
    convolution with bias and without normalisation.
    """

    def __init__(self, inputs: int, outputs: int, stride: int, momentum: float) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs, momentum=momentum)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs, momentum=momentum)
        changes = stride != 1 or inputs != outputs
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride) if changes else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Compute (N, outputs, H', W') from (N, inputs, H, W)."""
        inner = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(inner)) + self.shortcut(x))


class DenseLayer(nn.Module):
    """Normalisation, ReLU, 1×1 and 3×3 convolution; the result is appended to the input."""

    def __init__(self, inputs: int, inner: int, growth: int, momentum: float) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs, momentum=momentum)
        self.conv1 = nn.Conv2d(inputs, inner, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(inner, momentum=momentum)
        self.conv2 = nn.Conv2d(inner, growth, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Compute (N, inputs + growth, H, W) from (N, inputs, H, W)."""
        inner = self.conv1(F.relu(self.norm1(x)))
        return torch.cat([x, self.conv2(F.relu(self.norm2(inner)))], dim=1)


class FlatImages(nn.Flatten):
    """The pixels of each image: (N, C, H, W) -> (N, C·H·W). In a stack all networks share them."""


class GlobalMean(nn.Module):
    """The mean over all positions: (N, C, H, W) -> (N, C)."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute the means."""
        return x.mean((2, 3))


def build(network: Network, shape: tuple[int, int, int], classes: int) -> NormalisedNetwork:
    """Build one network for images of the shape (C, H, W), with torch's default weights.

    Raises:
        ConfigError: the images are too small for the pools.
    """
    parts_of_kind = {
        "vgg": _vgg,
        "resnet": _resnet,
        "densenet": _densenet,
        "fully_connected": _fully_connected,
    }
    features = nn.Sequential()
    for name, module in parts_of_kind[network.kind](network, shape):
        features.add_module(name, module)
    return NormalisedNetwork(features, nn.Linear(feature_count(network), classes))


def _vgg(network: Network, shape: tuple[int, int, int]) -> Parts:
    """Convolutions with bias, normalisation, ReLU; max-pools; dense layers with the same."""
    channels, height, width = shape
    convolutions = 0
    pools = 0
    for entry in network.convolutions:
        if isinstance(entry, str):  # POOL
            pools += 1
            yield f"pool{pools}", nn.MaxPool2d(2)
            height, width = _halved(height, width, network, shape)
        else:
            convolutions += 1
            yield f"conv{convolutions}", nn.Conv2d(channels, entry, 3, padding=1)
            yield f"norm{convolutions}", nn.BatchNorm2d(entry, momentum=network.batch_momentum)
            yield f"relu{convolutions}", nn.ReLU()
            channels = entry
    yield "flatten", nn.Flatten()
    inputs = channels * height * width
    for number, units in enumerate(network.dense, start=1):
        yield f"dense{number}", nn.Linear(inputs, units)
        yield f"dense_norm{number}", nn.BatchNorm1d(units, momentum=network.batch_momentum)
        yield f"dense_relu{number}", nn.ReLU()
        inputs = units


def _fully_connected(network: Network, shape: tuple[int, int, int]) -> Parts:
    """Dense layers without biases, each with a ReLU."""
    yield "flatten", FlatImages()
    inputs = math.prod(shape)
    for number, units in enumerate(network.dense, start=1):
        yield f"dense{number}", nn.Linear(inputs, units, bias=False)
        yield f"dense_relu{number}", nn.ReLU()
        inputs = units


def _resnet(network: Network, shape: tuple[int, int, int]) -> Parts:
    """First convolution; stages of blocks, each but the first at half resolution; mean."""
    inputs = network.channels[0]
    yield "conv", nn.Conv2d(shape[0], inputs, 3, padding=1, bias=False)
    yield "norm", nn.BatchNorm2d(inputs, momentum=network.batch_momentum)
    yield "relu", nn.ReLU()
    stages = zip(network.channels, network.blocks, strict=True)
    for stage, (channels, blocks) in enumerate(stages, start=1):
        for block in range(1, blocks + 1):
            stride = 2 if stage > 1 and block == 1 else 1
            module = ResidualBlock(inputs, channels, stride, network.batch_momentum)
            yield f"stage{stage}_block{block}", module
            inputs = channels
    yield "mean", GlobalMean()


def _densenet(network: Network, shape: tuple[int, int, int]) -> Parts:
    """First convolution; dense blocks with transitions between them; norm, ReLU and mean."""
    channels, height, width = shape
    momentum = network.batch_momentum
    growth = network.growth
    inner = network.bottleneck * growth
    yield "conv", nn.Conv2d(channels, network.stem, 3, padding=1, bias=False)
    if network.pooled_stem:
        yield "pool", nn.AvgPool2d(2)
        height, width = _halved(height, width, network, shape)
    sizes = block_channels(network)
    for block, layers in enumerate(network.blocks, start=1):
        inputs, outputs = sizes[block - 1]
        for layer in range(layers):
            module = DenseLayer(inputs + layer * growth, inner, growth, momentum)
            yield f"block{block}_layer{layer + 1}", module
        is_last = block == len(sizes)
        prefix = "" if is_last else f"transition{block}_"
        yield f"{prefix}norm", nn.BatchNorm2d(outputs, momentum=momentum)
        yield f"{prefix}relu", nn.ReLU()
        if not is_last:
            next_inputs, _ = sizes[block]
            yield f"{prefix}conv", nn.Conv2d(outputs, next_inputs, 1, bias=False)
            yield f"{prefix}pool", nn.AvgPool2d(2)
            height, width = _halved(height, width, network, shape)
    yield "mean", GlobalMean()


def _halved(
    height: int, width: int, network: Network, shape: tuple[int, int, int]
) -> tuple[int, int]:
    """Return the sides of images after a pool.

    Raises:
        ConfigError: they are too small for one.
    """
    if min(height, width) < 2:
        raise ConfigError(
            f"shape: images of {shape[1]}×{shape[2]} are too small for the 2×2 pools of this "
            f"{network.kind}; use larger images or fewer pools"
        )
    return height // 2, width // 2


def initial_state(module: nn.Module, init: str, name: str) -> dict[str, Tensor]:
    """Draw the initial state of a network (paper `collapse`, section 6).

    Weights of convolutions and dense layers are independent with mean 0. Let P be the number of
    positions of a filter, 1 for a dense layer.

    ``lecun``: normal, cut off at ±2 standard deviations as Flax does, variance 1 / (inputs · P)
    after the cut.
    ``torch``: uniform in ±1 / sqrt(inputs · P), the default of PyTorch.
    ``he``: normal, variance 2 / (outputs · P), called "fan out".

    With ``torch`` biases are uniform in the same interval as the weights of their layer. Otherwise
    they are 0. Normalisations have scale 1, shift 0, running mean 0 and running variance 1.

    Each tensor has a random stream of its own, named by ``name`` and the name of the tensor. The
    state, for ``module.load_state_dict``, is on the CPU, in the precision of the module. It is
    drawn in float32.
    """
    state = {}
    for key, old in module.state_dict().items():
        prefix, _, attribute = key.rpartition(".")
        layer = module.get_submodule(prefix)
        first = _first(layer, attribute, init, generator(name, key))
        state[key] = first.to(old.dtype)
    return state


def _first(layer: nn.Module, attribute: str, init: str, stream: torch.Generator) -> Tensor:
    """Return the first value of a parameter or buffer of a layer, in float32 on the CPU."""
    shape = getattr(layer, attribute).shape
    if isinstance(layer, nn.Conv2d | nn.Linear):
        if attribute == "weight" or init == "torch":
            return draw_tensor(init, layer.weight.shape, shape, stream)
        return torch.zeros(shape)
    return torch.ones(shape) if attribute in ("weight", "running_var") else torch.zeros(shape)


def draw_tensor(
    init: str, weight: torch.Size, shape: torch.Size, stream: torch.Generator
) -> Tensor:
    """Draw a tensor of a layer whose weights have the shape ``weight``, see `initial_state`."""
    outputs, inputs, *filters = weight
    positions = math.prod(filters)
    if init == "lecun":
        std = 1 / (CUT_STD * math.sqrt(inputs * positions))
        empty = torch.empty(shape)
        return nn.init.trunc_normal_(empty, std=std, a=-CUT * std, b=CUT * std, generator=stream)
    if init == "torch":
        limit = 1 / math.sqrt(inputs * positions)
        return torch.empty(shape).uniform_(-limit, limit, generator=stream)
    std = math.sqrt(2 / (outputs * positions))
    return torch.randn(shape, generator=stream) * std
