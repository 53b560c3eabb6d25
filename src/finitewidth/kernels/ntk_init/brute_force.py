"""Networks with all their weight matrices: their kernels, and the reference sampler.

The other samplers are tested against it. `finitewidth.kernels.trained` computes the sum of the
kernels of weights and of biases for any network; its closed form for dense networks is used here.
"""

from collections.abc import Sequence
from typing import Any

import torch

from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws, checked_finite, joined
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals
from finitewidth.kernels.trained.dense import forward, signals, stacked
from finitewidth.kernels.trained.fully_connected import FullyConnected

Tensors = Sequence[torch.Tensor]


def drawn_network(
    init: Initialisation, normals: Normals
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Draw random networks.

    Returns:
        Weights (draws, n_l, n_(l-1)) and biases (draws, n_l), one tensor per layer each.
    """
    weights, biases = [], []
    for fan_in, width in zip(init.widths, init.layer_widths[1:], strict=True):
        weights.append(normals(width, fan_in) * (init.sigma_w2 / fan_in) ** 0.5)
        if init.sigma_b2 > 0:
            biases.append(normals(width) * init.sigma_b2**0.5)
        else:
            biases.append(torch.zeros_like(weights[-1][..., 0]))
    return weights, biases


def network_output(
    weights: Tensors, biases: Tensors, inputs: torch.Tensor, activation: TensorMap
) -> torch.Tensor:
    """Compute the outputs (..., S, C) of networks on inputs (..., S, n_0).

    The arguments are those of `tangent_kernel`; ``activation`` must be a callable.
    """
    x = inputs
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True), start=1):
        h = x @ weight.mT + bias[..., None, :]
        x = h if layer == len(weights) else activation(h)
    return x


def tangent_kernel(
    weights: Tensors,
    biases: Tensors,
    inputs: torch.Tensor,
    *,
    activation: "str | Activation | TensorMap",
    weight_gains: Sequence[float] | None = None,
    bias_gain: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the S C x S C kernel of a given network in closed form, without Jacobians.

    Theta = sum_l <delta^l_s, delta^l_r> (gain_l <x^(l-1)_s, x^(l-1)_r> + bias gain), from
    equations 4 and 7 of ``beyond``. Leading dimensions of the tensors are a batch of networks.

    Args:
        weights: W^l, (..., n_l, n_(l-1)), for l = 1..L.
        biases: b^l, (..., n_l); zeros if there are none.
        inputs: (S, n_0) or (..., S, n_0).
        activation: activation of the hidden layers.
        weight_gains: (L,), see `Initialisation`; None for ones, the standard parametrisation.
        bias_gain: 1 for the standard parametrisation.

    Returns:
        Theta_W and Theta_b, (..., S C, S C), where index s C + k is output k at input s, and the
        outputs f, (..., S, C).

    Cost: S C backward passes by matrix products, and O(S^2 C^2 sum of widths) for the products of
    errors and activations.

    Raises:
        ConfigError: the shapes do not match or the activation is unknown.
    """
    stack = FullyConnected([weight.mT for weight in weights], biases, activation)
    stack, x, leading = stacked(stack, inputs)
    run = forward(stack, x, dtype=inputs.dtype)
    gains = [1.0] * len(weights) if weight_gains is None else weight_gains
    theta_w, theta_b = 0.0, 0.0
    for layer, signal in signals(run, slice(None)):
        rows, below = signal.flatten(1, 2), run.inputs[layer]
        errors = rows @ rows.mT
        inner = below @ below.mT
        for axis in (1, 2):
            inner = inner.repeat_interleave(stack.outputs, axis)
        theta_w = theta_w + float(gains[layer]) * errors * inner
        theta_b = theta_b + bias_gain * errors
    output = run.inputs[-1] @ run.weights[-1] + stack.biases[-1][:, None, :]
    found = (theta_w, theta_b, output)
    return tuple(part.reshape(*leading, *part.shape[1:]) for part in found)


def sample_by_brute_force(
    init: Initialisation,
    inputs: Any,
    draws: int,
    seed: int,
    *,
    activation: "str | Activation | TensorMap",
) -> NtkDraws:
    """Draw the S C x S C tangent kernel of random networks whose matrices are drawn in full.

    Args:
        init: the law of the network, with any number of outputs C.
        inputs: (S, n_0) with S >= 1; no input may have norm zero.
        draws: number of draws, >= 1. A smaller number gives the first of the same draws.
        seed: from `finitewidth.common.provenance.seed_for`.
        activation: "relu", "tanh", "erf", an `Activation` or an elementwise torch callable.

    Cost: sum of n_l n_(l-1) normal variables per draw, and as many multiplications per input.
    Memory: 8 bytes per weight and per draw held at the same time. Use one of the other samplers if
    it applies.

    Raises:
        ConfigError: an argument is out of range, there are too many draws, or a number overflows.
    """
    activation, array = activation_of(activation), checked_inputs(inputs, init.widths[0])
    errors = len(array) * init.outputs
    sizes = zip(init.widths, init.layer_widths[1:], strict=True)
    numbers = sum((fan_in + 1) * width for fan_in, width in sizes)
    work = 16 * (numbers + errors * sum(init.layer_widths))
    result = 8 * (2 * errors**2 + errors)
    plan = streams.planned(draws, streams.block_size(numbers), work, result)
    x, parts = torch.as_tensor(array), []
    for blocks in plan.groups():
        weights, biases = drawn_network(init, Normals(seed, blocks, plan.block, x.device))
        theta_w, theta_b, output = tangent_kernel(
            weights, biases, x,
            activation=activation, weight_gains=init.weight_gains, bias_gain=init.bias_gain,
        )  # fmt: skip
        found = (part.numpy() for part in (theta_w, theta_b.contiguous(), output))
        drawn = NtkDraws(*found, log_growth=0.0, depth=init.depth)
        parts.append(drawn.first(plan.kept(blocks)))
    return checked_finite(joined(parts))
