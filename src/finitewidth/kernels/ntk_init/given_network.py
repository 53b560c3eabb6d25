"""The tangent kernel of a given fully connected network: in closed form, and by its definition."""

from collections.abc import Sequence

import torch
from torch.func import jacrev

from finitewidth.kernels.ntk_init.activations import Activation, TensorMap, activation_of
from finitewidth.kernels.ntk_init.initialisation import refuse

Tensors = Sequence[torch.Tensor]


def checked_layers(weights: Tensors, biases: Tensors, inputs: torch.Tensor) -> None:
    """Check that layers follow on each other and fit the inputs.

    Raises:
        ConfigError: no layers, or shapes that do not fit.
    """
    if not weights or len(weights) != len(biases):
        raise refuse("biases", f"{len(biases)} vectors", f"one per weight matrix ({len(weights)})")
    fan_in = inputs.shape[-1]
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True), start=1):
        if weight.shape[-1] != fan_in or bias.shape[-1] != weight.shape[-2]:
            raise refuse(
                f"weights[{layer - 1}]",
                f"shape {tuple(weight.shape)}",
                f"(..., n_{layer}, {fan_in}) with a bias of n_{layer} numbers",
            )
        fan_in = weight.shape[-2]


def network_output(
    weights: Tensors, biases: Tensors, inputs: torch.Tensor, activation: TensorMap
) -> torch.Tensor:
    """Outputs (..., S, C) of networks on inputs (..., S, n_0); arguments as `tangent_kernel`."""
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
    """The S C x S C kernel of a given network in closed form, without Jacobians.

    Theta = sum_l <delta^l_s, delta^l_r> (gain_l <x^(l-1)_s, x^(l-1)_r> + bias gain), ``beyond``
    equations 4 and 7. Leading dimensions of the tensors are a batch of networks.

    Args:
        weights: W^l, (..., n_l, n_(l-1)), l = 1..L.
        biases: b^l, (..., n_l); zeros for none.
        inputs: (S, n_0) or (..., S, n_0).
        activation: of the hidden layers.
        weight_gains: (L,): 1 for the standard parametrisation; see `Initialisation`.
        bias_gain: 1 for the standard parametrisation.

    Returns:
        Theta_W and Theta_b, (..., S C, S C), index s C + k; and f, (..., S, C).

    Cost: S C backward passes by matrix products, and O(S^2 C^2 sum of widths).

    Raises:
        ConfigError: shapes do not fit or the activation is unknown.
    """
    checked_layers(weights, biases, inputs)
    activations, slopes, output = _forward(weights, biases, inputs, activation_of(activation))
    count, outputs = output.shape[-2:]
    # rows s C + k of delta^L: the unit vector k
    delta = torch.eye(outputs, dtype=output.dtype, device=output.device).tile(count, 1)
    ones = torch.ones(outputs, outputs, dtype=output.dtype, device=output.device)
    gains = [1.0] * len(weights) if weight_gains is None else weight_gains
    theta_w, theta_b = 0.0, 0.0
    for layer in range(len(weights), 0, -1):
        below = activations[layer - 1]
        errors = delta @ delta.mT
        theta_w = theta_w + float(gains[layer - 1]) * errors * _kron(below @ below.mT, ones)
        theta_b = theta_b + bias_gain * errors
        if layer > 1:
            slope = slopes[layer - 2].repeat_interleave(outputs, dim=-2)
            delta = slope * (delta @ weights[layer - 1])
    return theta_w, theta_b.expand_as(theta_w), output


def _forward(
    weights: Tensors, biases: Tensors, inputs: torch.Tensor, activation: Activation
) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
    """x^0..x^(L-1), phi'(h^1)..phi'(h^(L-1)) and f, each (..., S, units)."""
    activations, slopes = [inputs], []
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        h = activations[-1] @ weight.mT + bias[..., None, :]
        slopes.append(activation.slope(h))
        activations.append(activation.value(h))
    return activations, slopes, activations[-1] @ weights[-1].mT + biases[-1][..., None, :]


def _kron(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    blocks = left[..., :, None, :, None] * right[:, None, :]
    size = left.shape[-1] * right.shape[-1]
    return blocks.reshape(*left.shape[:-2], size, size)


def tangent_kernel_by_definition(
    weights: Tensors,
    biases: Tensors,
    inputs: torch.Tensor,
    *,
    activation: TensorMap,
    weight_gains: Sequence[float] | None = None,
    bias_gain: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Theta_W and Theta_b of one network from the Jacobian of all its parameters (torch.func).

    The definition, for tests and benchmarks; arguments and results as for `tangent_kernel` without
    the batch, the activation a torch callable. Memory: S C Jacobian rows of all parameters.

    Raises:
        ConfigError: shapes do not fit.
    """
    checked_layers(weights, biases, inputs)

    def output(weights: Tensors, biases: Tensors) -> torch.Tensor:
        return network_output(weights, biases, inputs, activation).reshape(-1)

    jacobians = jacrev(output, argnums=(0, 1))(tuple(weights), tuple(biases))
    gains = [1.0] * len(weights) if weight_gains is None else weight_gains
    theta_w = sum(
        float(gain) * part.flatten(1) @ part.flatten(1).T
        for gain, part in zip(gains, jacobians[0], strict=True)
    )
    theta_b = sum(part.flatten(1) @ part.flatten(1).T for part in jacobians[1])
    return theta_w, bias_gain * theta_b
