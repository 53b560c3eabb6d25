"""Neural paths by their definition: a list of every path of a small network without biases.

Source: Lakshminarayanan and Singh 2020, "Neural Path Features and Neural Path Kernel", section 2.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError

MAX_PATHS = 10**6


def network_sizes(weights: Sequence[Tensor]) -> tuple[int, ...]:
    """Return the units per layer, (n0, w_1, .., w_{L-1}, n_out).

    Args:
        weights: one tensor (..., fan_in, fan_out) per layer.
    """
    return (*(w.shape[-2] for w in weights), weights[-1].shape[-1])


def count_paths(sizes: Sequence[int]) -> int:
    """Return the number of paths to one output unit, P = n0 w_1 ... w_{L-1} (NPF section 2.1).

    Args:
        sizes: units per layer, (n0, w_1, .., w_{L-1}, n_out).
    """
    return math.prod(sizes[:-1])


def enumerate_paths(sizes: Sequence[int], output: int = 0) -> Tensor:
    """List all paths to one output unit in lexicographic order.

    Args:
        sizes: units per layer, (n0, w_1, .., w_{L-1}, n_out).
        output: the output unit at which the paths end.

    Returns:
        (P, L+1) integers: the unit of layer l that path p passes through, I_l(p) in NPF
        section 2.1.

    Raises:
        ConfigError: a layer has no unit, the output unit does not exist, or P exceeds
            ``MAX_PATHS``.
    """
    if len(sizes) < 2 or any(size < 1 for size in sizes):
        raise ConfigError(f"sizes: {tuple(sizes)} must be two or more positive numbers of units")
    if not 0 <= output < sizes[-1]:
        raise ConfigError(f"output: {output} must lie between 0 and {sizes[-1] - 1}")
    number = count_paths(sizes)
    if number > MAX_PATHS:
        raise ConfigError(
            f"sizes: a network {tuple(sizes)} has {number} paths; at most {MAX_PATHS} are allowed; "
            "use finitewidth.kernels.npk, which does not list paths"
        )
    layers = [*(torch.arange(size) for size in sizes[:-1]), torch.tensor([output])]
    return torch.stack([grid.flatten() for grid in torch.meshgrid(*layers, indexing="ij")], dim=-1)


def path_activity(gates: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Compute the activity A(x, p), the product of the gates along path p (NPF Definition 2.1 i).

    Args:
        gates: one tensor (..., S, width) per hidden layer.
        paths: (P, L+1) from ``enumerate_paths``.

    Returns:
        (..., S, P) in float64; 0 or 1 for hard gates.

    Raises:
        ConfigError: ``gates`` and ``paths`` belong to networks of different shapes.
    """
    _check_layers("gates", len(gates), paths.shape[1] - 2)
    activity = torch.ones(())
    for layer, gate in enumerate(gates, start=1):
        _check_units(f"gates[{layer - 1}]", gate.shape[-1], paths[:, layer])
        activity = activity * gate.double()[..., paths[:, layer]]
    return activity


def path_features(x: Tensor, gates: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Compute the neural path features phi (NPF Definition 2.1 ii).

    The feature of a path is the input at its start times its activity.

    Args:
        x: inputs (S, n0) or (R, S, n0).
        gates: one tensor (..., S, width) per hidden layer.
        paths: (P, L+1) from ``enumerate_paths``.

    Returns:
        (..., S, P) in float64; the transpose of the paper's matrix Phi.

    Raises:
        ConfigError: ``x`` or ``gates`` do not match ``paths``.
    """
    _check_units("x", x.shape[-1], paths[:, 0])
    return x.double()[..., paths[:, 0]] * path_activity(gates, paths)


def path_values(weights: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Compute the neural path values v, the product of the weights along each path.

    Source: NPF Definition 2.1 iii. The result is differentiable with respect to the weights.

    Args:
        weights: L tensors (..., fan_in, fan_out).
        paths: (P, L+1) from ``enumerate_paths``.

    Returns:
        (..., P) in the dtype of the weights.

    Raises:
        ConfigError: ``weights`` do not match ``paths``.
    """
    _check_layers("weights", len(weights), paths.shape[1] - 1)
    values = torch.ones(())
    for layer, weight in enumerate(weights):
        _check_units(f"weights[{layer}]", weight.shape[-2], paths[:, layer])
        values = values * weight[..., paths[:, layer], paths[:, layer + 1]]
    return values


def path_output(
    x: Tensor, weights: Sequence[Tensor], gates: Sequence[Tensor], output: int = 0
) -> Tensor:
    """Compute one output unit as <phi, v>, the sum over its paths.

    Source: NPF equation 1 and Proposition 2.1.

    Args:
        x: inputs (S, n0) or (R, S, n0).
        weights: L tensors (..., fan_in, fan_out).
        gates: one tensor (..., S, width) per hidden layer.
        output: the output unit.

    Returns:
        (..., S) in float64.

    Raises:
        ConfigError: the network has too many paths, or the shapes do not match.
    """
    paths = enumerate_paths(network_sizes(weights), output)
    values = path_values([weight.double() for weight in weights], paths)
    return (path_features(x, gates, paths) @ values[..., None])[..., 0]


def _check_layers(argument: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise ConfigError(
            f"{argument}: {found} layers; there must be {wanted}, as the paths pass through"
        )


def _check_units(argument: str, units: int, visited: Tensor) -> None:
    """Check the size of a layer: paths visit each of its units, so it is the largest index + 1."""
    wanted = int(visited.max()) + 1
    if units != wanted:
        raise ConfigError(
            f"{argument}: {units} units; there must be {wanted}, as the paths pass through"
        )
