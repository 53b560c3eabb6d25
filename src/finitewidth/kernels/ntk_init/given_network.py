"""Kernel of weights and kernel of biases of a given network, as the theorems of beyond need them.

`finitewidth.kernels.trained` computes the sum of both for any network; its closed form for fully
connected networks is also used here.
"""

from collections.abc import Sequence

import torch

from finitewidth.kernels.ntk_init.activations import Activation, TensorMap
from finitewidth.kernels.trained.dense import forward, signals, stacked
from finitewidth.kernels.trained.fully_connected import FullyConnected

Tensors = Sequence[torch.Tensor]


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
