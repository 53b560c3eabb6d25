"""Forward passes and gates of fully connected gated networks, and checks of their shapes.

The feature network computes gates from its pre-activations. The value network multiplies its own
pre-activations by these gates (Lakshminarayanan and Singh 2020, section 4).
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError


def gate_values(q: Tensor, beta: float | None, eps: float = 0.0) -> Tensor:
    """Return the gates of pre-activations q, in the shape of q.

    Soft gates are (1+eps)/(1+exp(-beta q)); ``beta`` None gives the hard gates 1{q > 0}.
    """
    if beta is None:
        return (q > 0).to(q.dtype)
    return (1 + eps) * torch.sigmoid(beta * q)


def gate_slopes(q: Tensor, beta: float | None, eps: float = 0.0) -> Tensor:
    """Return the derivatives of ``gate_values`` with respect to q; they are 0 for hard gates."""
    if beta is None:
        return torch.zeros_like(q)
    opened = torch.sigmoid(beta * q)
    return (1 + eps) * beta * opened * (1 - opened)


def relu_gates(
    weights: Sequence[Tensor], biases: Sequence[Tensor] | None, x: Tensor
) -> list[Tensor]:
    """Return the gates 1{q > 0} of a ReLU network (NPF Table 1).

    Args:
        weights: L tensors (..., fan_in, fan_out), the output layer last.
        biases: L tensors (..., fan_out), or None.
        x: inputs (S, n0) or (R, S, n0).

    Returns:
        L-1 tensors (..., S, width) in the dtype of ``weights``.
    """
    return feature_gates(x, weights[:-1], biases and biases[:-1], beta=None)


def feature_gates(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    *,
    beta: float | None,
    eps: float = 0.0,
    hidden: Literal["hard", "soft"] = "hard",
) -> list[Tensor]:
    """Return the gates that a feature network computes (NPF section 4, Figure 2).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        weights: V_1 .. V_{L-1} of shape (..., fan_in, fan_out); there is no output layer.
        biases: c_1 .. c_{L-1} of shape (..., fan_out), or None.
        beta: slope of soft gates; None for hard gates.
        eps: overshoot of soft gates.
        hidden: hidden units of the feature network: ``hard`` for relu(q), ``soft`` for q·G(q)
            (DGN Table 2).

    Returns:
        L-1 tensors (..., S, width) in the dtype of ``weights``.
    """
    return feature_pass(x.to(weights[0].dtype), weights, biases, beta, eps, hidden)[2]


def value_pass(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None, gates: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Run the forward pass of a value network with given gates.

    Returns:
        The layer inputs z^0 .. z^{L-1}, the hidden pre-activations q^1 .. q^{L-1} and the outputs.
    """
    inputs, preactivations = [x], []
    for layer, gate in enumerate(gates):
        preactivations.append(_affine(inputs[-1], weights, biases, layer))
        inputs.append(preactivations[-1] * gate)
    return inputs, preactivations, _affine(inputs[-1], weights, biases, len(weights) - 1)


def feature_pass(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    beta: float | None,
    eps: float,
    hidden: str,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Run the forward pass of a feature network; arguments as for `feature_gates`.

    Returns:
        The layer inputs z_f^0 .. z_f^{L-2}, the pre-activations q_f^1 .. q_f^{L-1} and their gates.
    """
    z, inputs, preactivations, gates = x, [], [], []
    for layer in range(len(weights)):
        inputs.append(z)
        q = _affine(z, weights, biases, layer)
        preactivations.append(q)
        gates.append(gate_values(q, beta, eps))
        z = torch.relu(q) if hidden == "hard" else q * gates[-1]
    return inputs, preactivations, gates


def hidden_slope(q: Tensor, gate: Tensor, slope: Tensor, hidden: str) -> Tensor:
    """Return the derivative of a feature network's hidden unit, relu(q) or q·G(q).

    ``gate`` is G(q), ``slope`` G'(q), and ``hidden`` is hard or soft, see `feature_gates`.
    """
    return (q > 0).to(q.dtype) if hidden == "hard" else gate + q * slope


def check_network(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None) -> None:
    """Check that the shapes of inputs (S, n0) or (R, S, n0), weights and biases match.

    Raises:
        ConfigError: the shapes do not match. The message names the argument.
    """
    if not len(weights):
        raise ConfigError("weights: the list is empty; it needs at least the output layer")
    if biases is not None and len(biases) != len(weights):
        raise ConfigError(
            f"biases: {len(biases)} layers; there must be {len(weights)}, as in weights"
        )
    if x.dim() < 2:
        raise ConfigError(f"x: shape {tuple(x.shape)} must be (S, n0) or (R, S, n0)")
    units = x.shape[-1]
    for layer, weight in enumerate(weights):
        if weight.dim() < 2 or weight.shape[-2] != units:
            raise ConfigError(
                f"weights[{layer}]: shape {tuple(weight.shape)} must be (..., {units}, "
                f"fan_out), because the layer below has {units} units"
            )
        units = weight.shape[-1]
        if biases is not None and biases[layer].shape[-1:] != (units,):
            raise ConfigError(
                f"biases[{layer}]: shape {tuple(biases[layer].shape)} must be (..., {units})"
            )
    check_replicas("weights", [x.shape[:-2], *(weight.shape[:-2] for weight in weights)])
    if biases is not None:
        check_replicas("biases", [weights[0].shape[:-2], *(b.shape[:-1] for b in biases)])


def check_replicas(argument: str, leading: Sequence[Sequence[int]]) -> None:
    """Check that the replica axes of an argument can be broadcast against each other.

    Raises:
        ConfigError: they cannot be broadcast.
    """
    try:
        common_axes(*leading)
    except ValueError as error:
        shapes = ", ".join(str(tuple(shape)) for shape in leading)
        raise ConfigError(
            f"{argument}: the replica axes {shapes} cannot be broadcast; make them equal or 1"
        ) from error


def common_axes(*leading: Sequence[int]) -> tuple[int, ...]:
    """Return the axes to which leading axes are broadcast.

    `torch.broadcast_shapes` does the same, but its first call loads sympy, which takes seconds.

    Raises:
        ValueError: they cannot be broadcast.
    """
    axes = []
    for axis in range(-max(map(len, leading), default=0), 0):
        sizes = {shape[axis] for shape in leading if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            raise ValueError(f"sizes {sorted(sizes)} cannot be broadcast")
        axes.append(sizes.pop() if sizes else 1)
    return tuple(axes)


def _affine(
    z: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None, layer: int
) -> Tensor:
    return (
        z @ weights[layer] if biases is None else z @ weights[layer] + biases[layer][..., None, :]
    )


def cast(tensors: Sequence[Tensor] | None, dtype: torch.dtype) -> list[Tensor] | None:
    """Convert tensors to another dtype; None (no biases) is returned as is."""
    return None if tensors is None else [tensor.to(dtype) for tensor in tensors]
