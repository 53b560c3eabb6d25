"""Sampler of the tangent kernel at one input for any activation, in O(sum of widths) time.

A weight matrix acts on one activation vector in the forward pass and on one error vector in the
backward pass. In the forward pass, W^l x needs n_l normal variables. In the backward pass, the
component of (W^l)^T delta along x is determined by them, and the component orthogonal to x is an
independent Gaussian vector, which needs n_(l-1) normal variables. No matrix is formed. Source:
docs/theory.md, section 2.
"""

from functools import partial

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, ActivationLike, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation
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
    activation, device = activation_of(activation), checked_device(device)
    units = sum(init.widths)
    plan = streams.planned(draws, streams.block_size(3 * units), 40 * units, 24)
    return drawn(plan, seed, device, partial(_draw, init, activation, norm2))


def _draw(init: Initialisation, activation: Activation, norm2: float, normals: Normals) -> NtkDraws:
    growth, gains, depth = growth_of(init, activation.name == "relu"), init.weight_gains, init.depth
    fan_in = [init.sigma_w2 / width / growth.layer for width in init.widths]
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
    delta, error = torch.ones_like(along), torch.ones_like(output)
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
