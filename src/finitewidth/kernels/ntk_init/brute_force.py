"""Networks with all their weight matrices: their kernels, and the reference sampler.

The other samplers are tested against it. `finitewidth.kernels.trained` computes the sum of the
kernels of weights and of biases for any network; its closed form for dense networks is used here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init import streams
from finitewidth.kernels.ntk_init.activations import ActivationLike, activation_of
from finitewidth.kernels.ntk_init.draws import NtkDraws
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_inputs
from finitewidth.kernels.ntk_init.normals import Normals, draw_blocks
from finitewidth.kernels.trained.dense import forward, signals, stacked
from finitewidth.kernels.trained.fully_connected import FullyConnected

Tensors = Sequence[torch.Tensor]


def drawn_network(
    init: Initialisation, normals: Normals
) -> tuple[list[Float[torch.Tensor, "draws _ _"]], list[Float[torch.Tensor, "draws _"]]]:
    """Draw weights (draws, n_l, n_(l-1)) and biases (draws, n_l), one tensor per layer each."""
    weights = []
    biases = []
    for fan_in, width in zip(init.widths, init.layer_widths[1:], strict=True):
        weights.append(normals(width, fan_in) * (init.sigma_w2 / fan_in) ** 0.5)
        if init.sigma_b2 > 0:
            biases.append(normals(width) * init.sigma_b2**0.5)
        else:
            biases.append(torch.zeros_like(weights[-1][..., 0]))
    return weights, biases


def tangent_kernel(
    weights: Sequence[Float[torch.Tensor, "... _ _"]],
    biases: Sequence[Float[torch.Tensor, "... _"]],
    inputs: Float[torch.Tensor, "... S n0"],
    *,
    activation: ActivationLike,
    weight_gains: Sequence[float] | np.ndarray | None = None,
    bias_gain: float = 1.0,
) -> tuple[
    Float[torch.Tensor, "*R SC SC"], Float[torch.Tensor, "*R SC SC"], Float[torch.Tensor, "*R S C"]
]:
    """Compute the S C x S C kernel of given networks in closed form, without Jacobians.

    Theta = sum_l <delta^l_s, delta^l_r> (gain_l <x^(l-1)_s, x^(l-1)_r> + bias gain), from
    equations 4 and 7 of ``beyond``, with weights (..., n_l, n_(l-1)), biases (..., n_l) and inputs
    (S, n_0) or (..., S, n_0). The gains are those of `Initialisation`, by default of the standard
    parametrisation.

    Cost: S C backward passes by matrix products, and O(S^2 C^2 sum of widths) for the products of
    errors and activations.

    Returns:
        Theta_W and Theta_b, (..., S C, S C), where index s C + k is output k at input s, and the
        outputs f, (..., S, C).
    """
    stack = FullyConnected([weight.mT for weight in weights], biases, activation)
    stack, x, leading = stacked(stack, inputs)
    run = forward(stack, x, dtype=inputs.dtype)
    gains = [1.0] * len(weights) if weight_gains is None else weight_gains
    theta_w = x.new_zeros(())
    theta_b = x.new_zeros(())
    for layer, signal in signals(run, slice(None)):
        delta = signal.flatten(1, 2)  # (R, S C, n_l)
        below = run.inputs[layer]  # (R, S, n_(l-1))
        errors = delta @ delta.mT
        inner = below @ below.mT  # (R, S, S), and then (R, S C, S C)
        for axis in (1, 2):
            inner = inner.repeat_interleave(stack.outputs, axis)
        theta_w = theta_w + float(gains[layer]) * errors * inner
        theta_b = theta_b + bias_gain * errors
    assert stack.biases is not None  # those of the argument
    output = run.inputs[-1] @ run.weights[-1] + stack.biases[-1][:, None, :]

    def with_replicas(part: torch.Tensor) -> torch.Tensor:
        return part.reshape(*leading, *part.shape[1:])

    return with_replicas(theta_w), with_replicas(theta_b), with_replicas(output)


def sample_by_brute_force(
    init: Initialisation,
    inputs: Any,
    draws: int,
    seed: int,
    *,
    activation: ActivationLike,
) -> NtkDraws:
    """Draw the S C x S C tangent kernel of random networks whose matrices are drawn in full.

    Arguments are as for `samplers.sample_kernels`. Use one of the other samplers if it
    applies.

    Cost: sum of n_l n_(l-1) normal variables per draw, and as many multiplications per input.
    Memory: 8 bytes per weight and per draw held at the same time.

    Raises:
        ConfigError: there are too many draws, or a number overflows.
    """
    array = checked_inputs(inputs, init.widths[0])
    errors = len(array) * init.outputs
    sizes = zip(init.widths, init.layer_widths[1:], strict=True)
    parameters = sum((fan_in + 1) * width for fan_in, width in sizes)
    work = 16 * (parameters + errors * sum(init.layer_widths))
    result = 8 * (2 * errors**2 + errors)
    plan = streams.planned(draws, streams.block_size(parameters), work, result)
    phi = activation_of(activation)
    x = torch.as_tensor(array)

    def draw(normals: Normals) -> NtkDraws:
        weights, biases = drawn_network(init, normals)
        theta_w, theta_b, output = tangent_kernel(
            weights,
            biases,
            x,
            activation=phi,
            weight_gains=init.weight_gains,
            bias_gain=init.bias_gain,
        )
        return NtkDraws(
            theta_w.numpy(),
            theta_b.contiguous().numpy(),
            output.numpy(),
            log_growth=0.0,
            depth=init.depth,
        )

    return draw_blocks(plan, seed, x.device, draw)
