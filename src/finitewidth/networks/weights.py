"""Weights of stacked networks. The first axis of every tensor is the replica."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from finitewidth.common.provenance import seed_for
from finitewidth.networks.architecture import Layer, weight_shape

# "0.weight" -> (replicas, fan_in, fan_out) or (replicas, fan_out, fan_in, 3, 3); "0.bias" ->
# (replicas, fan_out)
Weights = dict[str, Tensor]


def generator(*purpose: str | int) -> torch.Generator:
    """Return a random generator on the CPU whose seed is derived from a name.

    See `provenance.seed_for`.
    """
    return torch.Generator().manual_seed(seed_for(*purpose))


def initial_weights(layers: Sequence[Layer], init: str, stream: torch.Generator) -> Weights:
    """Draw the weights of one network, on the CPU in float32. Biases are 0.

    Args:
        layers: the layers of the network.
        init: ``glorot_uniform``, ``he_uniform`` or ``signed``, see `Architecture`.
        stream: source of random numbers.

    Returns:
        Weights without the replica axis.
    """
    draw = {"glorot_uniform": _glorot, "he_uniform": _he, "signed": _signed(layers)}[init]
    weights: Weights = {}
    for number, layer in enumerate(layers):
        weights[f"{number}.weight"] = draw(layer, stream)
        if layer.bias:
            weights[f"{number}.bias"] = torch.zeros(layer.fan_out)
    return weights


def _glorot(layer: Layer, stream: torch.Generator) -> Tensor:
    return _uniform(layer, 2 / (layer.fan_in + layer.fan_out), stream)


def _he(layer: Layer, stream: torch.Generator) -> Tensor:
    return _uniform(layer, 2 / layer.fan_in, stream)


def _uniform(layer: Layer, variance: float, stream: torch.Generator) -> Tensor:
    """Draw uniform weights; for a 3×3 convolution each has a ninth of ``variance``."""
    shape = weight_shape(layer)
    limit = math.sqrt(3 * variance / math.prod(shape[2:]))
    return torch.empty(shape).uniform_(-limit, limit, generator=stream)


def _signed(layers: Sequence[Layer]) -> Callable[[Layer, torch.Generator], Tensor]:
    width = next(layer.fan_out for layer in layers if layer.kind == "dense")
    sigma = math.sqrt(2 / width)

    def draw(layer: Layer, stream: torch.Generator) -> Tensor:
        return sigma * (2.0 * torch.randint(0, 2, weight_shape(layer), generator=stream) - 1)

    return draw


def stacked(networks: Sequence[Weights]) -> Weights:
    """Stack networks of equal shape along a new first axis."""
    return {name: torch.stack([weights[name] for weights in networks]) for name in networks[0]}


def as_lists(weights: Weights) -> tuple[list[Tensor], list[Tensor] | None]:
    """Return weights and biases as lists of one tensor per layer, as `finitewidth.kernels` needs.

    The second result is None if the network has no biases.
    """
    count = sum(name.endswith(".weight") for name in weights)
    biases = [weights[f"{i}.bias"] for i in range(count) if f"{i}.bias" in weights]
    return [weights[f"{i}.weight"] for i in range(count)], biases or None
