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
from typing import Any, NamedTuple

import torch

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, ActivationLike, activation_of
from finitewidth.kernels.ntk_init.draws import Growth, NtkDraws, growth_of
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals, checked_device, draw_blocks
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
    return draw_blocks(plan, seed, device, partial(_vector_draws, init, activation, norm2))


class _VectorLayer(NamedTuple):
    """A hidden layer at one input, of the scaled network of `Growth`.

    ``along`` is W x / |x| for the activations x below, and ``slope`` phi'(h), both (draws, n_l);
    ``x`` are the activations, (draws, n_l), and ``norm2`` is their |x|^2, (draws,).
    """

    along: Float[torch.Tensor, "draws units"]
    slope: Float[torch.Tensor, "draws units"]
    x: Float[torch.Tensor, "draws units"]
    norm2: Float[torch.Tensor, "draws"]


def _vector_draws(
    init: Initialisation, activation: Activation, input_norm2: float, normals: Normals
) -> NtkDraws:
    """Draw one group of blocks for `sample_vectors`."""
    growth = growth_of(init, activation.name == "relu")
    gains = init.weight_gains
    depth = init.depth
    first_norm2 = normals().fill_(input_norm2)
    layers = _vector_layers(init, activation, growth, first_norm2, normals)
    norms = [first_norm2, *(layer.norm2 for layer in layers)]  # |x|^2 of x^0..x^(L-1)
    # the output layer is a layer of one unit with delta = 1, without the factor 1/g
    fan_in = init.sigma_w2 / init.widths[-1] / growth.layer
    along = normals(1) * (fan_in * growth.layer) ** 0.5
    output = norms[-1].sqrt() * along[:, 0]
    output += normals() * growth.bias_variance(depth - 1) ** 0.5
    along = along / growth.layer**0.5
    delta = torch.ones_like(along)  # (draws, 1)
    error = torch.ones_like(output)  # |delta|^2, (draws,)
    theta_w = gains[-1] * norms[-1]
    theta_b = growth.theta_b_factor(depth) * error
    for number in range(depth - 1, 0, -1):
        layer = layers[number - 1]
        # W^T delta = z + x (<x, W^T delta> - <x, z>) / |x|^2 with independent noise z
        known = layer.norm2.sqrt() * torch.linalg.vecdot(along, delta)
        variance = init.sigma_w2 / init.widths[number] / growth.layer * error
        z = normals(init.widths[number]).mul_(variance.sqrt()[:, None])
        missing = known - torch.linalg.vecdot(z, layer.x)
        # in a dead layer x and all slopes are 0, so there is nothing to correct
        coefficient = torch.where(layer.norm2 > 0, missing / layer.norm2, 0.0)
        z.addcmul_(coefficient[:, None], layer.x)
        delta = z.mul_(layer.slope)
        error = torch.linalg.vecdot(delta, delta)
        theta_w += gains[number - 1] * error * norms[number - 1]
        theta_b += growth.theta_b_factor(number) * error
        along = layer.along
    return _draws(init, growth, theta_w, theta_b, output)


def _vector_layers(
    init: Initialisation,
    activation: Activation,
    growth: Growth,
    norm2: torch.Tensor,
    normals: Normals,
) -> list[_VectorLayer]:
    """Draw the forward pass through the hidden layers, for inputs of squared norm ``norm2``."""
    layers = []
    for number, width in enumerate(init.widths[1:], start=1):
        variance = init.sigma_w2 / init.widths[number - 1] / growth.layer  # of a weight
        along = normals(width).mul_(variance**0.5)
        h = norm2.sqrt()[:, None] * along
        if init.sigma_b2 > 0:
            h.add_(normals(width), alpha=growth.bias_variance(number) ** 0.5)
        x = activation.value(h)
        norm2 = torch.linalg.vecdot(x, x)
        layers.append(_VectorLayer(along, activation.slope(h), x, norm2))
    return layers


def _draws(
    init: Initialisation,
    growth: Growth,
    theta_w: torch.Tensor,
    theta_b: torch.Tensor,
    output: torch.Tensor,
) -> NtkDraws:
    """Return draws of the kernel from sums over the layers of the scaled network."""
    return NtkDraws(
        (growth.theta_w_factor * theta_w).cpu().numpy(),
        (init.bias_gain * theta_b).cpu().numpy(),
        (growth.output_factor * output).cpu().numpy(),
        growth.log_growth,
        init.depth,
    )


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
    return draw_blocks(plan, seed, device, partial(_matrix_draws, init, activation, x))


class _MatrixLayer(NamedTuple):
    """A layer at S inputs, of the scaled network of `Growth`; the output layer is not scaled.

    ``basis`` Q (draws, n_(l-1), k) has orthonormal columns that span the activations x below.
    ``image`` is W Q (draws, n_l, k), and ``gram`` <x_s, x_r> (draws, S, S). ``slope`` is phi'(h)
    (draws, n_l, S), None for the output layer.
    """

    basis: Float[torch.Tensor, "draws below k"]
    image: Float[torch.Tensor, "draws units k"]
    gram: Float[torch.Tensor, "draws S S"]
    slope: Float[torch.Tensor, "draws units S"] | None


def _matrix_draws(
    init: Initialisation,
    activation: Activation,
    inputs: Float[torch.Tensor, "S n0"],
    normals: Normals,
) -> NtkDraws:
    """Draw one group of blocks for `sample_kernels`, with S inputs and C outputs."""
    growth = growth_of(init, activation.name == "relu")
    depth = init.depth
    outputs = init.outputs
    layers, output = _matrix_layers(init, activation, growth, inputs, normals)
    ones = torch.ones(outputs, outputs, dtype=torch.float64, device=inputs.device)
    # column s C + k of delta^L is the unit vector k for every s
    delta = torch.eye(outputs, dtype=torch.float64, device=inputs.device).tile(1, len(inputs))
    delta = delta.expand(normals.draws, -1, -1)  # (draws, n_l, S C)
    theta_w = inputs.new_zeros(())
    theta_b = inputs.new_zeros(())
    for number in range(depth, 0, -1):
        layer = layers[number - 1]
        errors = delta.mT @ delta  # (draws, S C, S C)
        theta_w = theta_w + init.weight_gains[number - 1] * errors * torch.kron(layer.gram, ones)
        theta_b = theta_b + growth.theta_b_factor(number) * errors
        if number > 1:
            # the output layer was drawn without scaling, so its errors are divided by sqrt(g)
            scale = growth.layer**-0.5 if number == depth else 1.0
            # W^T delta = Z + Q ((W Q)^T delta - Q^T Z): its component in the span of the
            # activations is known, and the component orthogonal to it is that of the noise Z
            width = init.widths[number - 1]
            variance = init.sigma_w2 / width / (growth.layer * scale**2)
            factor = torch.linalg.qr(delta, mode="r").R
            noise = normals(width, factor.shape[1]) @ factor * variance**0.5
            missing = layer.image.mT @ delta - layer.basis.mT @ noise
            back = scale * (noise + layer.basis @ missing)
            slope = layers[number - 2].slope
            assert slope is not None  # of a hidden layer
            delta = slope.repeat_interleave(outputs, dim=2) * back
    return _draws(init, growth, theta_w, theta_b, output)


def _matrix_layers(
    init: Initialisation,
    activation: Activation,
    growth: Growth,
    inputs: Float[torch.Tensor, "S n0"],
    normals: Normals,
) -> tuple[list[_MatrixLayer], Float[torch.Tensor, "draws S C"]]:
    """Draw the forward pass of inputs (S, n_0); return its layers and the outputs (draws, S, C)."""
    layers = []
    x = inputs.T.expand(normals.draws, -1, -1)  # (draws, n_(l-1), S)
    for number, width in enumerate(init.layer_widths[1:], start=1):
        is_last = number == init.depth
        basis, coordinates = torch.linalg.qr(x)
        variance = init.sigma_w2 / init.widths[number - 1] / (1.0 if is_last else growth.layer)
        image = normals(width, basis.shape[2]) * variance**0.5
        h = image @ coordinates
        if init.sigma_b2 > 0:
            power = number - 1 if is_last else number  # of the growth by which the bias is scaled
            h += normals(width, 1) * growth.bias_variance(power) ** 0.5
        slope = None if is_last else activation.slope(h)
        layers.append(_MatrixLayer(basis, image, gram=x.mT @ x, slope=slope))
        x = h if is_last else activation.value(h)
    return layers, x.mT
