"""The forward pass of stacked networks with separated gates."""

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name in torch code)
from torch import Tensor

from finitewidth.networks.architecture import Layer
from finitewidth.networks.regimes import Gating
from finitewidth.networks.weights import Weights


def forward(
    layers: Sequence[Layer], gating: Gating, value: Weights, feature: Weights | None, x: Tensor
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

    Returns:
        (R, batch, outputs).
    """
    if x.dim() == 5 and not x.is_cuda:
        # one replica after the other: its images stay in the cache, and the result is bit for bit
        # that of the replica alone
        alone = zip(
            _gatings(gating, len(x)), _one_by_one(value, len(x)), _one_by_one(feature, len(x)),
            x.split(1), strict=True,
        )  # fmt: skip
        return torch.cat([_forward(layers, *one) for one in alone])
    return _forward(layers, gating, value, feature, x)


def _one_by_one(weights: Weights | None, replicas: int) -> list[Weights | None]:
    """Return the weights of each replica; the first axis keeps the length 1."""
    if weights is None:
        return [None] * replicas
    parts = {name: tensor.split(1) for name, tensor in weights.items()}
    return [{name: part[r] for name, part in parts.items()} for r in range(replicas)]


def _gatings(gating: Gating, replicas: int) -> list[Gating]:
    """Return the gating of each replica, with ``beta`` and ``eps`` as tensors (1,)."""
    if not isinstance(gating.beta, Tensor):
        return [gating] * replicas
    soft = zip(gating.beta.split(1), gating.eps.split(1), strict=True)
    return [replace(gating, beta=beta, eps=eps) for beta, eps in soft]


def _forward(
    layers: Sequence[Layer], gating: Gating, value: Weights, feature: Weights | None, x: Tensor
) -> Tensor:
    z_value = z_feature = x
    for number, layer in enumerate(layers[:-1]):
        q = preactivation(layer, number, value, z_value)
        if gating.source == "feature":
            q_feature = preactivation(layer, number, feature, z_feature)
            gates = gate(q_feature, gating)
            z_feature = hidden_feature(q_feature, gates, gating)
            z_value = q * gates
        elif gating.source == "own":
            z_value = torch.relu(q) if gating.beta is None else q * gate(q, gating)
        else:
            z_value = q
    return preactivation(layers[-1], len(layers) - 1, value, z_value)


def gate(q: Tensor, gating: Gating) -> Tensor:
    """Return the gates of pre-activations q, in the shape of q.

    Hard gates are 1{q > 0} and pass no gradient. Soft gates are (1+eps)·sigmoid(beta q).
    """
    if gating.beta is None:
        # four times as fast as a comparison and a conversion
        return torch.sign(torch.relu(q.detach()))
    return _broadcast(1 + gating.eps, q) * torch.sigmoid(_broadcast(gating.beta, q) * q)


def _broadcast(number: float | Tensor, q: Tensor) -> float | Tensor:
    """Reshape one number per replica, (R,), to multiply q, (R, ...); a float is returned as is."""
    if not isinstance(number, Tensor):
        return number
    return number.to(q.dtype).view(-1, *[1] * (q.dim() - 1))


def hidden_feature(q: Tensor, gates: Tensor, gating: Gating) -> Tensor:
    """Return the hidden output of a feature network: ReLU (NPF) or q times gates (DGN Table 2)."""
    return torch.relu(q) if gating.feature_hidden == "hard" else q * gates


def preactivation(layer: Layer, number: int, weights: Weights, z: Tensor) -> Tensor:
    """Compute the pre-activations of one layer for R stacked networks.

    Args:
        layer: the layer.
        number: its number, from 0.
        weights: weights of all layers.
        z: outputs of the layer below, (R, batch, units) or (R, batch, channels, height, width).
            Before a dense layer, images are flattened or averaged as ``layer.reduce`` says.
    """
    weight, bias = weights[f"{number}.weight"], weights.get(f"{number}.bias")
    if layer.reduce and z.dim() > 3:
        z = z.flatten(2) if layer.reduce == "flatten" else z.mean(dim=(3, 4))
    if layer.kind == "dense":
        return torch.bmm(z, weight) if bias is None else torch.baddbmm(bias[:, None], z, weight)
    return _convolution(layer, weight, bias, z)


def _convolution(layer: Layer, weight: Tensor, bias: Tensor | None, z: Tensor) -> Tensor:
    left, right, top, bottom = layer.pad
    if (left, top) != (right, bottom):
        z, left, top = F.pad(z, layer.pad), 0, 0
    if len(z) > 1:
        return _grouped(layer, weight, bias, z, (top, left))
    bias = None if bias is None else bias[0]
    return F.conv2d(z[0], weight[0], bias, layer.stride, (top, left))[None]


def _grouped(
    layer: Layer, weight: Tensor, bias: Tensor | None, z: Tensor, padding: tuple[int, int]
) -> Tensor:
    """Compute all replicas in one grouped convolution, that is, in one call instead of R."""
    replicas = len(z)
    joined = z.transpose(0, 1).flatten(1, 2)
    bias = None if bias is None else bias.flatten()
    q = F.conv2d(joined, weight.flatten(0, 1), bias, layer.stride, padding, groups=replicas)
    return q.unflatten(1, (replicas, layer.fan_out)).transpose(0, 1)
