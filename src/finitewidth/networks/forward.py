"""The forward pass of stacked networks with separated gates."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name in torch code)
from torch import Tensor

from finitewidth.networks.architecture import Layer
from finitewidth.networks.regimes import Gating
from finitewidth.networks.weights import Weights

# on a CPU, numbers in the output of the widest convolution of all replicas that are computed
# together (4 MB)
NUMBERS_AT_ONCE = 2**20


def forward(
    layers: Sequence[Layer],
    gating: Gating,
    value: Weights,
    feature: Weights | None,
    x: Tensor,
    gates: Sequence[Tensor] | None = None,
) -> Tensor:
    """Compute the outputs of R stacked networks, each on its own inputs.

    The value network computes q(l) = W(l) z(l-1) + b(l), z(l) = q(l)·G(l) and a linear output
    (NPF Table 1 for a network with its own gates, section 3 for separate gates).

    Args:
        layers: the layers of both networks; a feature network does not use the last one.
        gating: the source of the gates G and their softness.
        value: weights of the value network.
        feature: weights of the feature network; None unless ``gating.source`` is ``feature``.
        x: (R, batch, inputs) or (R, batch, channels, height, width).
        gates: what `hard_gates` returned for these inputs, so that the feature network need not be
            computed; None to compute it.

    Returns:
        (R, batch, outputs).
    """
    size = _replicas_at_once(layers, x)
    if size >= len(x):
        return _forward(layers, gating, value, feature, x, gates)
    parts = _split([gating, value, feature, x, gates], size, ceil(len(x) / size))
    outputs = [_forward(layers, *part) for part in parts]
    return torch.cat(outputs)


def hard_gates(layers: Sequence[Layer], feature: Weights, x: Tensor) -> list[Tensor]:
    """Compute the hard gates that R stacked feature networks give, each on its own inputs.

    Arguments are as for `forward`. Each hidden layer gives a tensor of type bool, (R, batch, units)
    or (R, batch, height, width, channels).
    """
    size = _replicas_at_once(layers, x)
    parts = _split([feature, x], size, ceil(len(x) / size))
    gates = [_hard_gates(layers, *part) for part in parts]
    return [torch.cat(layer) for layer in zip(*gates, strict=True)]


def _replicas_at_once(layers: Sequence[Layer], x: Tensor) -> int:
    """Return how many replicas to compute together; such parts of a stack follow one another.

    On a CPU, convolutional networks are fastest if the images of a part stay in the cache. With
    large images or many channels, each replica is therefore computed alone.
    """
    if x.dim() < 5 or x.is_cuda:
        return len(x)
    channels = max((layer.fan_out for layer in layers if layer.kind == "conv"), default=1)
    at_most = max(1, NUMBERS_AT_ONCE // (x[0, :, 0].numel() * channels))
    return ceil(len(x) / ceil(len(x) / at_most))  # parts of similar sizes


def _split(value: Any, size: int, count: int) -> list[Any]:
    """Return weights, gates, inputs or the gating of ``count`` parts with ``size`` replicas each.

    What is the same for all replicas is the same for all parts.
    """
    if isinstance(value, Tensor):
        return list(value.split(size))
    if isinstance(value, dict):
        parts = _split(list(value.values()), size, count)
        return [dict(zip(value, part, strict=True)) for part in parts]
    if isinstance(value, Gating):
        numbers = _split([value.beta, value.eps], size, count)
        return [replace(value, beta=beta, eps=eps) for beta, eps in numbers]
    if isinstance(value, list):
        split_members = [_split(member, size, count) for member in value]
        return list(zip(*split_members, strict=True))
    return [value] * count


def _hard_gates(layers: Sequence[Layer], feature: Weights, x: Tensor) -> list[Tensor]:
    """Compute `hard_gates` of all replicas at once."""
    z = _grouped(x)
    gates = []
    for number, layer in enumerate(layers[:-1]):
        z = torch.relu(preactivation(layer, number, feature, z))
        is_open = z > 0
        if is_open.dim() == 4:
            is_open = _by_replica(is_open, len(x)).contiguous()
        gates.append(is_open)
    return gates


def _by_replica(images: Tensor, replicas: int) -> Tensor:
    """View (batch, R·channels, height, width) as (R, batch, height, width, channels)."""
    return images.unflatten(1, (replicas, -1)).permute(1, 0, 3, 4, 2)


def _as_factors(gates: Tensor, q: Tensor) -> Tensor:
    """Return given gates, which are bool, in the shape, the type and the order in memory of q."""
    # bytes are moved first: they are smaller, and become floats six times as fast as truth values
    factors = torch.empty_like(q, dtype=torch.uint8)
    target = _by_replica(factors, len(gates)) if q.dim() == 4 else factors  # a view
    target.copy_(gates.view(torch.uint8))
    return factors.to(q.dtype)


def _forward(
    layers: Sequence[Layer],
    gating: Gating,
    value: Weights,
    feature: Weights | None,
    x: Tensor,
    given: Sequence[Tensor] | None = None,
) -> Tensor:
    """Compute `forward` of all replicas at once, with ``given`` gates if they are not None."""
    z_value = _grouped(x)
    z_feature = z_value
    for number, layer in enumerate(layers[:-1]):
        q = preactivation(layer, number, value, z_value)
        if given is not None:
            z_value = q * _as_factors(given[number], q.detach())
        elif gating.source == "feature":
            assert feature is not None
            q_feature = preactivation(layer, number, feature, z_feature)
            gates = gate(q_feature, gating)
            # hidden units of a feature network: ReLU (NPF), or q times gates (DGN Table 2)
            hard = gating.feature_hidden == "hard"
            z_feature = torch.relu(q_feature) if hard else q_feature * gates
            z_value = q * gates
        elif gating.source == "own":
            z_value = torch.relu(q) if gating.beta is None else q * gate(q, gating)
        else:
            z_value = q
    return preactivation(layers[-1], len(layers) - 1, value, z_value)


def _grouped(x: Tensor) -> Tensor:
    """Return images (R, batch, channels, height, width) as (batch, R·channels, height, width).

    Inputs (R, batch, inputs) are returned as they are. On a CPU, convolutions of groups of channels
    are faster with the channels last in memory. Those of one replica are not.
    """
    if x.dim() < 5:
        return x
    if x.is_cuda or len(x) == 1:
        return x.transpose(0, 1).flatten(1, 2)
    return x.permute(1, 3, 4, 0, 2).flatten(3).permute(0, 3, 1, 2)


def gate(q: Tensor, gating: Gating) -> Tensor:
    """Return the gates of pre-activations q, in the shape of q.

    Hard gates are 1{q > 0} and pass no gradient. Soft gates are (1+eps)·sigmoid(beta q).
    """
    if gating.beta is None:
        # four times as fast as a comparison and a conversion
        return torch.sign(torch.relu(q.detach()))
    gates = torch.sigmoid(_broadcast(gating.beta, q) * q)
    if not isinstance(gating.eps, Tensor) and gating.eps == 0:
        return gates  # the same numbers with one pass over memory less
    return _broadcast(1 + gating.eps, q) * gates


def _broadcast(number: float | Tensor, q: Tensor) -> float | Tensor:
    """Reshape one number per replica, (R,), to multiply q; a float is returned as is."""
    if not isinstance(number, Tensor):
        return number
    number = number.to(q.dtype)
    if q.dim() == 4:
        return number.repeat_interleave(q.shape[1] // len(number)).view(-1, 1, 1)
    return number.view(-1, 1, 1)


def preactivation(layer: Layer, number: int, weights: Weights, z: Tensor) -> Tensor:
    """Compute the pre-activations of one layer for R stacked networks.

    Outputs of a layer are (R, batch, units), or (batch, R·channels, height, width) of a
    convolution. Before a dense layer, images are flattened or averaged as ``layer.reduce`` says.
    """
    weight = weights[f"{number}.weight"]
    bias = weights.get(f"{number}.bias")
    if layer.kind == "conv":
        return _convolution(layer, weight, bias, z)
    if z.dim() == 4:
        z = z.unflatten(1, (len(weight), -1)).transpose(0, 1)  # (R, batch, channels, height, width)
        z = z.flatten(2) if layer.reduce == "flatten" else z.mean(dim=(3, 4))
    if bias is None:
        return torch.bmm(z, weight)
    return torch.baddbmm(bias[:, None], z, weight)


def _convolution(layer: Layer, weight: Tensor, bias: Tensor | None, z: Tensor) -> Tensor:
    """Compute all replicas in one convolution, in which each is a group of channels."""
    left, right, top, bottom = layer.pad
    padding = (top, left)
    if (left, top) != (right, bottom):
        z = F.pad(z, layer.pad)
        padding = (0, 0)
    bias = None if bias is None else bias.flatten()
    return F.conv2d(z, weight.flatten(0, 1), bias, layer.stride, padding, groups=len(weight))
