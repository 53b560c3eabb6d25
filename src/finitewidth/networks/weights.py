"""Weights of stacked networks: every tensor carries the replicas on its first axis."""

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
    """A CPU random stream of its own for a named purpose (see `provenance.seed_for`)."""
    return torch.Generator().manual_seed(seed_for(*purpose))


def initial_weights(layers: Sequence[Layer], init: str, stream: torch.Generator) -> Weights:
    """Weights of one network (no replica axis), drawn on the CPU in float32.

    ``init`` is ``glorot_uniform``, ``he_uniform`` or ``signed`` (see `Architecture.init`). Biases
    start at 0.
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
    """Uniform weights of ``variance`` shared out over the 9 positions of a 3×3 convolution."""
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
    """Join networks of equal shape along a new first axis."""
    return {name: torch.stack([weights[name] for weights in networks]) for name in networks[0]}


def as_lists(weights: Weights) -> tuple[list[Tensor], list[Tensor] | None]:
    """Weights and biases as lists by layer, as `finitewidth.kernels` takes them; or None."""
    count = sum(name.endswith(".weight") for name in weights)
    biases = [weights[f"{i}.bias"] for i in range(count) if f"{i}.bias" in weights]
    return [weights[f"{i}.weight"] for i in range(count)], biases or None
