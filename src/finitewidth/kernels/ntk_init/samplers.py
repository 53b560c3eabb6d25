"""Samplers of the tangent kernel for any activation, which form no weight matrix.

With one input, in O(sum of widths) time, a weight matrix acts on one activation vector in the
forward pass and on one error vector in the backward pass. In the forward pass, W^l x needs n_l
normal variables. In the backward pass, the component of (W^l)^T delta along x is determined by
them, and the component orthogonal to x is an independent Gaussian vector, which needs n_(l-1)
normal variables.

With S inputs and C outputs, in O(L M S^2) time, each weight matrix is drawn in the forward pass on
an orthonormal basis of the span of the S activation vectors. In the backward pass its action on the
orthogonal complement is drawn. The basis comes from a Householder factorisation, which exists for
every rank. Duplicate, opposite and collinear inputs and more inputs than units therefore need no
special treatment. Source: docs/theory.md, section 2.
"""

from functools import partial
from typing import Any

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, ActivationLike, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals, checked_device, drawn
from finitewidth.kernels.ntk_init.scalar_chain import checked_scalar


def sample_vectors(
    init: Initialisation,
    draws: int,
    seed: int,
    *,
    activation: ActivationLike,
    input_norm2: float = 1.0,
    device: str | torch.device = "cpu",
) -> NtkDraws:
    """Draw Theta(x, x) of networks with one output from its exact law, for any activation.

    The law depends on x only through |x|^2 = ``input_norm2`` > 0. A smaller number of draws gives
    the first of the same draws. On a CUDA device the law is the same, but the numbers differ.

    Cost: two normal variables per unit (three with biases) and one evaluation of phi and phi'.
    Memory: 24 bytes per unit and per draw held at the same time.

    Raises:
        ConfigError: an argument is out of range, there are too many draws, or a number overflows.
    """
    norm2 = checked_scalar(init, input_norm2)
    activation = activation_of(activation)
    device = checked_device(device)
    units = sum(init.widths)
    plan = streams.planned(draws, streams.block_size(3 * units), 40 * units, 24)
    return drawn(plan, seed, device, partial(_vector_draws, init, activation, norm2))


def _vector_draws(
    init: Initialisation, activation: Activation, norm2: float, normals: Normals
) -> NtkDraws:
    """Draw one group of blocks for `sample_vectors`."""
    growth = growth_of(init, activation.name == "relu")
    gains = init.weight_gains
    depth = init.depth
    fan_in = [init.sigma_w2 / width / growth.layer for width in init.widths]  # variances of weights
    norms = [normals().fill_(norm2)]  # |x|^2 of x^0..x^(L-1)
    layers = []  # W x / |x|, phi'(h) and x of each hidden layer
    for layer, width in enumerate(init.widths[1:], start=1):
        along = normals(width).mul_(fan_in[layer - 1] ** 0.5)
        h = norms[-1].sqrt()[:, None] * along
        if init.sigma_b2 > 0:
            h.add_(normals(width), alpha=growth.bias_variance(layer) ** 0.5)
        x = activation.value(h)
        layers.append((along, activation.slope(h), x))
        norms.append(torch.linalg.vecdot(x, x))
    # the output layer as a layer of one unit with W x / |x| and delta = 1; its fan_in contains a
    # factor 1/g too much, which is removed here
    along = normals(1) * (fan_in[-1] * growth.layer) ** 0.5
    output = norms[-1].sqrt() * along[:, 0]
    output += normals() * growth.bias_variance(depth - 1) ** 0.5
    along = along / growth.layer**0.5
    delta = torch.ones_like(along)  # (draws, 1)
    error = torch.ones_like(output)  # |delta|^2, (draws,)
    theta_w = gains[-1] * norms[-1]
    theta_b = growth.of_theta_b(depth) * error
    for layer in range(depth - 1, 0, -1):
        below, slope, x = layers[layer - 1]
        known = norms[layer].sqrt() * torch.linalg.vecdot(along, delta)
        z = normals(init.widths[layer]).mul_((fan_in[layer] * error).sqrt()[:, None])
        missing = known - torch.linalg.vecdot(z, x)
        # in a dead layer x and all slopes are 0, so there is nothing to correct
        z.addcmul_(torch.where(norms[layer] > 0, missing / norms[layer], 0.0)[:, None], x)
        delta = z.mul_(slope)
        error = torch.linalg.vecdot(delta, delta)
        theta_w += gains[layer - 1] * error * norms[layer - 1]
        theta_b += growth.of_theta_b(layer) * error
        along = below
    parts = (growth.of_theta_w * theta_w, init.bias_gain * theta_b, growth.of_output * output)
    return NtkDraws(*(part.cpu().numpy() for part in parts), growth.log_growth, depth)


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
    activation = activation_of(activation)
    device = checked_device(device)
    array = checked_inputs(inputs, init.widths[0])
    count = len(array)
    errors = count * init.outputs  # columns of a matrix of errors
    units = sum(init.layer_widths)
    block = streams.block_size(units * (count + errors + 1))
    result = 8 * (2 * errors**2 + errors)
    plan = streams.planned(draws, block, 8 * units * (4 * count + 2 * errors), result)
    x = torch.as_tensor(array, device=device)
    return drawn(plan, seed, device, partial(_matrix_draws, init, activation, x))


def _matrix_draws(
    init: Initialisation, activation: Activation, inputs: torch.Tensor, normals: Normals
) -> NtkDraws:
    """Draw one group of blocks for `sample_kernels`, with S inputs and C outputs."""
    growth = growth_of(init, activation.name == "relu")
    depth = init.depth
    outputs = init.outputs
    x = inputs.T.expand(normals.draws, -1, -1)  # (draws, n_0, S)
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
            power = layer - 1 if last else layer  # of the growth by which the bias is scaled
            h += normals(width, 1) * growth.bias_variance(power) ** 0.5
        layers.append((basis, image, None if last else activation.slope(h), x.mT @ x))
        x = h if last else activation.value(h)
    ones = torch.ones(outputs, outputs, dtype=torch.float64, device=inputs.device)
    # column s C + k of delta^L is the unit vector k for every s
    delta = torch.eye(outputs, dtype=torch.float64, device=inputs.device).tile(1, len(inputs))
    delta = delta.expand(normals.draws, -1, -1)  # (draws, n_l, S C)
    theta_w = 0.0
    theta_b = 0.0
    for layer in range(depth, 0, -1):
        basis, image, _, gram = layers[layer - 1]
        errors = delta.mT @ delta  # (draws, S C, S C)
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
