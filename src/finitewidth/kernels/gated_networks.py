"""Fully connected networks with gates: their forward passes, gates and the checks of their shapes.

The value network multiplies its pre-activations by gates from outside, the feature network makes
such gates from its own (Lakshminarayanan and Singh 2020, section 4).
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError


def gate_values(q: Tensor, beta: float | None, eps: float = 0.0) -> Tensor:
    """Gates of pre-activations: 1{q > 0}, or (1+eps)/(1+exp(-beta q)) if ``beta`` is a number."""
    if beta is None:
        return (q > 0).to(q.dtype)
    return (1 + eps) * torch.sigmoid(beta * q)


def gate_slopes(q: Tensor, beta: float | None, eps: float = 0.0) -> Tensor:
    """Derivatives of ``gate_values`` with respect to q; zero for hard gates."""
    if beta is None:
        return torch.zeros_like(q)
    opened = torch.sigmoid(beta * q)
    return (1 + eps) * beta * opened * (1 - opened)


def relu_gates(
    weights: Sequence[Tensor], biases: Sequence[Tensor] | None, x: Tensor
) -> list[Tensor]:
    """Gates 1{q > 0} of a ReLU network (NPF Table 1), in the dtype of ``weights``.

    Args:
        weights: L tensors (..., fan_in, fan_out), the output layer last.
        biases: L tensors (..., fan_out), or None.
        x: inputs (S, n0) or (R, S, n0).

    Returns:
        L-1 tensors (..., S, width).

    Raises:
        ConfigError: shapes do not fit.
    """
    check_network(x, weights, biases)
    gates, z = [], x.to(weights[0].dtype)
    for layer, weight in enumerate(weights[:-1]):
        q = z @ weight if biases is None else z @ weight + biases[layer][..., None, :]
        gates.append((q > 0).to(q.dtype))
        z = q * gates[-1]
    return gates


def feature_gates(
    x: Tensor,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor] | None,
    *,
    beta: float | None,
    eps: float = 0.0,
    hidden: Literal["hard", "soft"] = "hard",
) -> list[Tensor]:
    """Gates that a feature network gives to a value network (NPF section 4, Figure 2).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        weights: V_1 .. V_{L-1} of shape (..., fan_in, fan_out); there is no output layer.
        biases: c_1 .. c_{L-1} of shape (..., fan_out), or None.
        beta: slope of soft gates; None for hard ones.
        eps: overshoot of soft gates.
        hidden: the network's own hidden units, relu(q) or, with ``soft``, q·G(q) (DGN Table 2).

    Returns:
        L-1 tensors (..., S, width) in the dtype of ``weights``.

    Raises:
        ConfigError: shapes do not fit or ``hidden`` is unknown.
    """
    check_network(x, weights, biases, "feature ")
    return feature_pass(x.to(weights[0].dtype), weights, biases, beta, eps, hidden)[2]


def value_pass(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None, gates: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Layer inputs z^0 .. z^{L-1}, hidden pre-activations q^1 .. q^{L-1} and the outputs."""
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
    """Layer inputs z_f^0 .. z_f^{L-2}, pre-activations q_f^1 .. q_f^{L-1} and their gates."""
    if hidden not in ("hard", "soft"):
        raise ConfigError(f"hidden: {hidden!r} must be 'hard' or 'soft'")
    z, inputs, preactivations, gates = x, [], [], []
    for layer in range(len(weights)):
        inputs.append(z)
        q = _affine(z, weights, biases, layer)
        preactivations.append(q)
        gates.append(gate_values(q, beta, eps))
        z = torch.relu(q) if hidden == "hard" else q * gates[-1]
    return inputs, preactivations, gates


def hidden_slope(q: Tensor, gate: Tensor, slope: Tensor, hidden: str) -> Tensor:
    """Derivative of a feature network's hidden unit: of relu(q), or of q·G(q)."""
    return (q > 0).to(q.dtype) if hidden == "hard" else gate + q * slope


def check_network(
    x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None, name: str = ""
) -> None:
    """Refuse inputs, weights and biases that do not make a network.

    Raises:
        ConfigError: the message names the argument, with ``name`` before it.
    """
    if not len(weights):
        raise ConfigError(f"{name}weights: at least the output layer is needed")
    if biases is not None and len(biases) != len(weights):
        raise ConfigError(f"{name}biases: {len(biases)} layers given, weights has {len(weights)}")
    if x.dim() < 2:
        raise ConfigError(f"x: shape {tuple(x.shape)} must be (S, n0) or (R, S, n0)")
    units = x.shape[-1]
    for layer, weight in enumerate(weights):
        if weight.dim() < 2 or weight.shape[-2] != units:
            raise ConfigError(
                f"{name}weights[{layer}]: shape {tuple(weight.shape)} must be (..., {units}, "
                "fan_out): the layer below has that many units"
            )
        units = weight.shape[-1]
        if biases is not None and biases[layer].shape[-1:] != (units,):
            raise ConfigError(
                f"{name}biases[{layer}]: shape {tuple(biases[layer].shape)} must be (..., {units})"
            )
    check_replicas(f"{name}weights", [x.shape[:-2], *(weight.shape[:-2] for weight in weights)])
    if biases is not None:
        check_replicas(f"{name}biases", [weights[0].shape[:-2], *(b.shape[:-1] for b in biases)])


def check_replicas(argument: str, leading: Sequence[Sequence[int]]) -> None:
    """Refuse replica axes that do not broadcast against each other.

    Raises:
        ConfigError: the message names the argument.
    """
    try:
        torch.broadcast_shapes(*leading)
    except RuntimeError as error:
        shapes = ", ".join(str(tuple(shape)) for shape in leading)
        raise ConfigError(f"{argument}: replica axes {shapes} do not agree") from error


def check_gates(gates: Sequence[Tensor]) -> None:
    """Refuse gates that are missing, negative, not finite or of unequal S.

    Raises:
        ConfigError: the message names the layer.
    """
    if not len(gates):
        raise ConfigError("gates: at least one hidden layer is needed")
    for layer, gate in enumerate(gates):
        if gate.dim() < 2 or gate.shape[-2] != gates[0].shape[-2]:
            raise ConfigError(
                f"gates[{layer}]: shape {tuple(gate.shape)} must be (..., S, width) with the same "
                "S in each layer"
            )
        if not bool((torch.isfinite(gate) & (gate >= 0)).all()):
            raise ConfigError(f"gates[{layer}]: a gate is negative or not finite")
    check_replicas("gates", [gate.shape[:-2] for gate in gates])


def check_widths(
    argument: str, layers: Sequence[Tensor], widths: Sequence[int], samples: int | None = None
) -> None:
    """Refuse gates or weights of other widths than ``widths``, or gates of other rows than x.

    Raises:
        ConfigError: the message names the argument.
    """
    found = [layer.shape[-1] for layer in layers]
    if found != list(widths):
        raise ConfigError(f"{argument}: widths {found} must be {list(widths)}, as in weights")
    for layer in layers:
        if samples is not None and layer.shape[-2:-1] != (samples,):
            raise ConfigError(f"{argument}: shape {tuple(layer.shape)}, x has {samples} rows")
    check_replicas(argument, [layer.shape[:-2] for layer in layers])


def _affine(
    z: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None, layer: int
) -> Tensor:
    return (
        z @ weights[layer] if biases is None else z @ weights[layer] + biases[layer][..., None, :]
    )


def cast(tensors: Sequence[Tensor] | None, dtype: torch.dtype) -> list[Tensor] | None:
    """The tensors in another dtype; None stays None (no biases)."""
    return None if tensors is None else [tensor.to(dtype) for tensor in tensors]
