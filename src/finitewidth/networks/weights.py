"""Weights of stacked networks. The first axis of every tensor is the replica."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.networks.architecture import Layer, weight_shape
from finitewidth.records.provenance import seed_for

# "0.weight" -> (replicas, fan_in, fan_out) or (replicas, fan_out, fan_in, 3, 3); "0.bias" ->
# (replicas, fan_out)
Weights = dict[str, Tensor]


def generator(*purpose: str | int) -> torch.Generator:
    """Return a generator on the CPU with a seed derived from a name, see `provenance.seed_for`."""
    return torch.Generator().manual_seed(seed_for(*purpose))


def initial_weights(layers: Sequence[Layer], init: str, stream: torch.Generator) -> Weights:
    """Draw the weights of one network, without the replica axis, on the CPU in float32.

    For ``init`` see `Architecture`. Biases are 0.
    """
    dense_widths = [layer.fan_out for layer in layers if layer.kind == "dense"]
    weights: Weights = {}
    for number, layer in enumerate(layers):
        if init == "signed":
            weight = _signed(layer, dense_widths[0], stream)
        else:
            weight = _uniform(layer, init, stream)
        weights[f"{number}.weight"] = weight
        if layer.bias:
            weights[f"{number}.bias"] = torch.zeros(layer.fan_out)
    return weights


def _signed(layer: Layer, width: int, stream: torch.Generator) -> Tensor:
    """Draw ±sqrt(2 / width) with probability 1/2 each."""
    signs = 2.0 * torch.randint(0, 2, weight_shape(layer), generator=stream) - 1
    return math.sqrt(2 / width) * signs


def _uniform(layer: Layer, init: str, stream: torch.Generator) -> Tensor:
    """Draw uniform weights of the variance 2 / (fan-in + fan-out) (Glorot) or 2 / fan-in (He)."""
    shape = weight_shape(layer)
    fans = layer.fan_in + layer.fan_out if init == "glorot_uniform" else layer.fan_in
    # for a 3×3 convolution each weight has a ninth of the variance
    limit = math.sqrt(3 * (2 / fans) / math.prod(shape[2:]))
    return torch.empty(shape).uniform_(-limit, limit, generator=stream)


def stacked(networks: Sequence[Weights]) -> Weights:
    """Stack networks of equal shape along a new first axis."""
    stack = {}
    for name in networks[0]:
        stack[name] = torch.stack([weights[name] for weights in networks])
    return stack


def as_lists(weights: Weights) -> tuple[list[Tensor], list[Tensor] | None]:
    """Return weights and biases as lists of one tensor per layer, as `finitewidth.kernels` needs.

    The second result is None if the network has no biases.
    """
    count = sum(name.endswith(".weight") for name in weights)
    bias_names = [f"{layer}.bias" for layer in range(count)]
    biases = [weights[name] for name in bias_names if name in weights]
    return [weights[f"{layer}.weight"] for layer in range(count)], biases or None
