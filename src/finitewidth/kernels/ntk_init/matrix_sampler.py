"""Sampler of the tangent kernel on S inputs and C outputs for any activation; cost O(L M S^2).

In the forward pass each weight matrix is drawn on an orthonormal basis of the span of the S
activation vectors. In the backward pass its action on the orthogonal complement is drawn. The basis
comes from a Householder factorisation, which exists for every rank. Duplicate, opposite and
collinear inputs and more inputs than units therefore need no special treatment. Source:
docs/theory.md, section 2.
"""

from functools import partial
from typing import Any

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, ActivationLike, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals, checked_device, drawn


def sample_kernels(
    init: Initialisation,
    inputs: Any,
    draws: int,
    seed: int,
    *,
    activation: ActivationLike,
    device: str | torch.device = "cpu",
) -> NtkDraws:
    """Draw the S C x S C tangent kernel from its exact law.

    The inputs (S, n_0) may be equal or collinear, but none may have norm zero. A smaller number of
    draws gives the first of the same draws. On a CUDA device the law is the same, but the numbers
    differ.

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
    return drawn(plan, seed, device, partial(_draw, init, activation, x))


def _draw(
    init: Initialisation, activation: Activation, inputs: torch.Tensor, normals: Normals
) -> NtkDraws:
    growth, depth, outputs = growth_of(init, activation.name == "relu"), init.depth, init.outputs
    x = inputs.T.expand(normals.draws, -1, -1)
    # of each layer: Q (draws, n_(l-1), k), whose orthonormal columns span the activations x below,
    # V = W Q (draws, n_l, k), phi'(h) (draws, n_l, S), and <x_s, x_r> (draws, S, S)
    layers = []
    for layer, width in enumerate(init.layer_widths[1:], start=1):
        basis, coordinates = torch.linalg.qr(x)
        last = layer == depth
        scale = init.sigma_w2 / init.widths[layer - 1] / (1.0 if last else growth.layer)
        image = normals(width, basis.shape[2]) * scale**0.5
        h = image @ coordinates
        if init.sigma_b2 > 0:
            place = layer - 1 if last else layer
            h += normals(width, 1) * growth.bias_variance(place) ** 0.5
        layers.append((basis, image, None if last else activation.slope(h), x.mT @ x))
        x = h if last else activation.value(h)
    ones = torch.ones(outputs, outputs, dtype=torch.float64, device=inputs.device)
    # column s C + k of delta^L is the unit vector k for every s
    delta = torch.eye(outputs, dtype=torch.float64, device=inputs.device).tile(1, len(inputs))
    delta = delta.expand(normals.draws, -1, -1)
    theta_w, theta_b = 0.0, 0.0
    for layer in range(depth, 0, -1):
        basis, image, _, gram = layers[layer - 1]
        errors = delta.mT @ delta
        theta_w = theta_w + init.weight_gains[layer - 1] * errors * torch.kron(gram, ones)
        theta_b = theta_b + growth.of_theta_b(layer) * errors
        if layer > 1:
            # the output layer was drawn without scaling, so its errors are divided by sqrt(g) here
            scale = growth.layer**-0.5 if layer == depth else 1.0
            # (W^l)^T delta^l: the forward pass determines its component in the span of the
            # activations, and the component orthogonal to it is drawn
            width = init.widths[layer - 1]
            variance = init.sigma_w2 / width / (growth.layer * scale**2)
            factor = torch.linalg.qr(delta, mode="r").R
            fresh = normals(width, factor.shape[1]) @ factor * variance**0.5
            back = scale * (fresh + basis @ (image.mT @ delta - basis.mT @ fresh))
            delta = layers[layer - 2][2].repeat_interleave(outputs, dim=2) * back
    parts = (growth.of_theta_w * theta_w, init.bias_gain * theta_b, growth.of_output * x.mT)
    return NtkDraws(*(part.cpu().numpy() for part in parts), growth.log_growth, depth)
