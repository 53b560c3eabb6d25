"""Initial weights of networks with batch normalisation."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.networks.weights import generator

CUT = 2.0  # standard deviations at which Flax cuts normal draws off
CUT_STD = 0.87962566103423978  # standard deviation of a normal of variance 1 after this cut


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

    Args:
        module: the network; it is not changed.
        init: ``lecun``, ``torch`` or ``he``.
        name: the name of the random streams. Each tensor has a stream of its own, named by this
            and by the name of the tensor.

    Returns:
        A state for ``module.load_state_dict``, on the CPU, in the precision of the module. It is
        drawn in float32.
    """
    state = {}
    for prefix, part in module.named_modules():
        own = {**part._parameters, **part._buffers}  # without those of its children
        for key, old in ((key, tensor) for key, tensor in own.items() if tensor is not None):
            full = f"{prefix}.{key}" if prefix else key
            state[full] = _first(part, key, init, generator(name, full)).to(old.dtype)
    return {key: state[key] for key in module.state_dict()}


def _first(part: nn.Module, key: str, init: str, stream: torch.Generator) -> Tensor:
    """Return the first value of one tensor, in float32 on the CPU."""
    shape = getattr(part, key).shape
    if isinstance(part, nn.Conv2d | nn.Linear):
        if key == "weight" or init == "torch":
            return DRAWS[init](part.weight.shape, shape, stream)
        return torch.zeros(shape)
    if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
        return torch.ones(shape) if key in ("weight", "running_var") else torch.zeros(shape)
    raise ConfigError(f"module: {type(part).__name__} has no initial distribution")


def _lecun(weight: torch.Size, shape: torch.Size, stream: torch.Generator) -> Tensor:
    std = 1 / (CUT_STD * math.sqrt(math.prod(weight[1:])))
    drawn = torch.empty(shape)
    return nn.init.trunc_normal_(drawn, std=std, a=-CUT * std, b=CUT * std, generator=stream)


def _torch(weight: torch.Size, shape: torch.Size, stream: torch.Generator) -> Tensor:
    limit = 1 / math.sqrt(math.prod(weight[1:]))
    return torch.empty(shape).uniform_(-limit, limit, generator=stream)


def _he(weight: torch.Size, shape: torch.Size, stream: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=stream) * math.sqrt(2 / (weight[0] * math.prod(weight[2:])))


# init -> (shape of the weights of the layer, shape of the tensor, stream) -> the tensor
Draw = Callable[[torch.Size, torch.Size, torch.Generator], Tensor]
DRAWS: dict[str, Draw] = {"lecun": _lecun, "torch": _torch, "he": _he}
