"""Sampler of the tangent kernel on S inputs and C outputs for any activation; cost O(L M S^2).

In the forward pass each weight matrix is drawn on an orthonormal basis of the span of the S
activation vectors. In the backward pass its action on the orthogonal complement is drawn. The basis
comes from a Householder factorisation, which exists for every rank. Duplicate, opposite and
collinear inputs and more inputs than units therefore need no special treatment. Source:
docs/theory.md, section 2.
"""

from dataclasses import dataclass
from typing import Any

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite, joined
from finitewidth.kernels.ntk_init.growth import Growth, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals, checked_device


@dataclass(frozen=True)
class _Layer:
    """The results of the forward pass for layer l.

    Attributes:
        basis: Q, (draws, n_(l-1), k), whose orthonormal columns span the activations x^(l-1).
        image: V = W^l Q, (draws, n_l, k).
        slope: phi'(h^l), (draws, n_l, S); None for the output layer.
        gram: <x^(l-1)_s, x^(l-1)_r>, (draws, S, S).
    """

    basis: torch.Tensor
    image: torch.Tensor
    slope: torch.Tensor | None
    gram: torch.Tensor


def sample_kernels(
    init: Initialisation,
    inputs: Any,
    draws: int,
    seed: int,
    *,
    activation: "str | Activation | TensorMap",
    device: str | torch.device = "cpu",
) -> NtkDraws:
    """Draw the S C x S C tangent kernel from its exact law.

    Args:
        init: the law of the network, with any number of outputs C.
        inputs: (S, n_0) with S >= 1. Inputs may be equal or collinear, but none may have norm zero.
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.
        activation: "relu", "tanh", "erf", an `Activation` or an elementwise torch callable.
        device: "cpu" or a CUDA device. The law does not depend on it, but the numbers do.

    Cost: O(sum of widths x S C (S + S C)) per draw. Memory: about 32 S bytes per unit and per draw
    held at the same time.

    Raises:
        ConfigError: an argument is out of range, there are too many draws, or a number overflows.
    """
    activation, device = activation_of(activation), checked_device(device)
    array = checked_inputs(inputs, init.widths[0])
    count, errors = len(array), len(array) * init.outputs
    units = sum(init.layer_widths)
    block = streams.block_size(units * (count + errors + 1))
    result = 8 * (2 * errors**2 + errors)
    plan = streams.planned(draws, block, 8 * units * (4 * count + 2 * errors), result)
    x = torch.as_tensor(array, device=device)
    parts = []
    for blocks in plan.groups():
        normals = Normals(seed, blocks, plan.block, device)
        parts.append(_draw(init, normals, activation, x).first(plan.kept(blocks)))
    return checked_finite(joined(parts))


def _draw(
    init: Initialisation, normals: Normals, activation: Activation, inputs: torch.Tensor
) -> NtkDraws:
    growth = growth_of(init, activation.name == "relu")
    layers, output = _forward(init, normals, activation, inputs, growth)
    theta_w, theta_b = _backward(init, normals, layers, growth)
    parts = (growth.of_theta_w * theta_w, init.bias_gain * theta_b, growth.of_output * output)
    return NtkDraws(*(part.cpu().numpy() for part in parts), growth.log_growth, init.depth)


def _forward(
    init: Initialisation,
    normals: Normals,
    activation: Activation,
    inputs: torch.Tensor,
    growth: Growth,
) -> tuple[list[_Layer], torch.Tensor]:
    x = inputs.T.expand(normals.draws, -1, -1)
    layers = []
    for layer, width in enumerate(init.layer_widths[1:], start=1):
        basis, coordinates = torch.linalg.qr(x)
        last = layer == init.depth
        scale = init.sigma_w2 / init.widths[layer - 1] / (1.0 if last else growth.layer)
        image = normals(width, basis.shape[2]) * scale**0.5
        h = image @ coordinates
        if init.sigma_b2 > 0:
            place = layer - 1 if last else layer
            h += normals(width, 1) * growth.bias_variance(place) ** 0.5
        gram = x.mT @ x
        if last:
            layers.append(_Layer(basis, image, None, gram))
            return layers, h.mT
        layers.append(_Layer(basis, image, activation.slope(h), gram))
        x = activation.value(h)
    raise AssertionError("the output layer returns")


def _backward(
    init: Initialisation, normals: Normals, layers: list[_Layer], growth: Growth
) -> tuple[torch.Tensor, torch.Tensor]:
    draws, count = normals.draws, layers[-1].gram.shape[-1]
    ones = torch.ones(init.outputs, init.outputs, dtype=torch.float64, device=layers[0].gram.device)
    # column s C + k of delta^L is the unit vector k for every s
    delta = torch.eye(init.outputs, dtype=torch.float64, device=ones.device).tile(1, count)
    delta = delta.expand(draws, -1, -1)
    theta_w, theta_b = 0.0, 0.0
    for layer in range(init.depth, 0, -1):
        drawn = layers[layer - 1]
        errors = delta.mT @ delta
        theta_w = theta_w + init.weight_gains[layer - 1] * errors * torch.kron(drawn.gram, ones)
        theta_b = theta_b + growth.of_theta_b(layer) * errors
        if layer > 1:
            # the output layer was drawn without scaling, so its errors are divided by sqrt(g) here
            scale = growth.layer**-0.5 if layer == init.depth else 1.0
            back = scale * _errors_below(init, normals, drawn, delta, layer, growth, scale)
            slope = layers[layer - 2].slope
            delta = slope.repeat_interleave(init.outputs, dim=2) * back
    return theta_w, theta_b


def _errors_below(
    init: Initialisation,
    normals: Normals,
    drawn: _Layer,
    delta: torch.Tensor,
    layer: int,
    growth: Growth,
    scale: float,
) -> torch.Tensor:
    """Draw (W^l)^T delta^l given the action of W^l on the span of the activations.

    The component in the span is determined by the forward pass. The component orthogonal to it is
    drawn.
    """
    width = init.widths[layer - 1]
    variance = init.sigma_w2 / width / (growth.layer * scale**2)
    factor = torch.linalg.qr(delta, mode="r").R
    fresh = normals(width, factor.shape[1]) @ factor * variance**0.5
    return fresh + drawn.basis @ (drawn.image.mT @ delta - drawn.basis.mT @ fresh)
