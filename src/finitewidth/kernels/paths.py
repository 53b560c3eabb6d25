"""Neural paths by definition: every path of a small bias-free network, listed one by one.

The closed forms of ``finitewidth.kernels.npk`` are checked against these definitions
(Lakshminarayanan and Singh 2020, "Neural Path Features and Neural Path Kernel", section 2).
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError

MAX_PATHS = 10**6


def network_sizes(weights: Sequence[Tensor]) -> tuple[int, ...]:
    """Units per layer (n0, w_1, .., w_{L-1}, n_out) of weights (..., fan_in, fan_out)."""
    return (*(w.shape[-2] for w in weights), weights[-1].shape[-1])


def count_paths(sizes: Sequence[int]) -> int:
    """Number of paths to one output unit: P = n0 w_1 ... w_{L-1} (NPF section 2.1)."""
    return math.prod(sizes[:-1])


def enumerate_paths(sizes: Sequence[int], output: int = 0) -> Tensor:
    """All paths to one output unit, in lexicographic order.

    Args:
        sizes: units per layer (n0, w_1, .., w_{L-1}, n_out).
        output: the output unit in which the paths end.

    Returns:
        (P, L+1) integers: the unit in which path p meets layer l; the I_l(p) of NPF section 2.1.

    Raises:
        ConfigError: a layer has no unit, there is no such output unit, or P exceeds ``MAX_PATHS``.
    """
    if len(sizes) < 2 or any(size < 1 for size in sizes):
        raise ConfigError(f"sizes: {tuple(sizes)} must be two or more positive numbers of units")
    if not 0 <= output < sizes[-1]:
        raise ConfigError(f"output: there is no unit {output} among {sizes[-1]} outputs")
    number = count_paths(sizes)
    if number > MAX_PATHS:
        raise ConfigError(
            f"sizes: {tuple(sizes)} has {number} paths, more than {MAX_PATHS}; "
            "use finitewidth.kernels.npk, which lists none"
        )
    layers = [*(torch.arange(size) for size in sizes[:-1]), torch.tensor([output])]
    return torch.stack([grid.flatten() for grid in torch.meshgrid(*layers, indexing="ij")], dim=-1)


def path_activity(gates: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Activity A(x, p), the product of the gates along path p (NPF Definition 2.1 i).

    Args:
        gates: for each hidden layer (..., S, width).
        paths: (P, L+1) from ``enumerate_paths``.

    Returns:
        (..., S, P) in float64; 0 or 1 for hard gates.

    Raises:
        ConfigError: ``gates`` and ``paths`` belong to networks of other shapes.
    """
    _check_layers("gates", len(gates), paths.shape[1] - 2)
    activity = torch.ones(())
    for layer, gate in enumerate(gates, start=1):
        _check_units(f"gates[{layer - 1}]", gate.shape[-1], paths[:, layer])
        activity = activity * gate.double()[..., paths[:, layer]]
    return activity


def path_features(x: Tensor, gates: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Neural path features phi: start input times activity of each path (Definition 2.1 ii).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        gates: for each hidden layer (..., S, width).
        paths: (P, L+1) from ``enumerate_paths``.

    Returns:
        (..., S, P) in float64; the transpose of the paper's matrix Phi.

    Raises:
        ConfigError: ``x`` or ``gates`` do not fit ``paths``.
    """
    _check_units("x", x.shape[-1], paths[:, 0])
    return x.double()[..., paths[:, 0]] * path_activity(gates, paths)


def path_values(weights: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Neural path values v: the product of the weights along each path (Definition 2.1 iii).

    Args:
        weights: L tensors (..., fan_in, fan_out).
        paths: (P, L+1) from ``enumerate_paths``.

    Returns:
        (..., P) in the dtype of the weights; differentiable with respect to them.

    Raises:
        ConfigError: ``weights`` do not fit ``paths``.
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
    """One output unit as <phi, v>, the sum over its paths (NPF equation 1, Proposition 2.1).

    Returns:
        (..., S) in float64.

    Raises:
        ConfigError: the network has too many paths, or shapes do not fit.
    """
    paths = enumerate_paths(network_sizes(weights), output)
    values = path_values([weight.double() for weight in weights], paths)
    return (path_features(x, gates, paths) @ values[..., None])[..., 0]


def overlap_by_definition(
    gates: Sequence[Tensor], paths: Tensor, input_unit: int | None = None
) -> Tensor:
    """Lambda(s, s') = |Act(s, s')| / n0: shared active paths per input unit (NPF Definition 2.2).

    With ``input_unit`` only the paths from that unit count and nothing is divided; in a fully
    connected network the answer is the same for each unit (the remark after the definition).

    Returns:
        (..., S, S) in float64.

    Raises:
        ConfigError: ``gates`` do not fit ``paths``, or no path starts from ``input_unit``.
    """
    inputs = int(paths[:, 0].max()) + 1
    if input_unit is not None:
        paths, inputs = paths[paths[:, 0] == input_unit], 1
        if not len(paths):
            raise ConfigError(f"input_unit: no path starts from input unit {input_unit}")
    activity = path_activity(gates, paths)
    return activity @ activity.mT / inputs


def npk_by_definition(x: Tensor, gates: Sequence[Tensor], paths: Tensor) -> Tensor:
    """Neural path kernel H(s, s') = <phi_s, phi_s'> (NPF Lemma 2.1), (..., S, S) in float64.

    Raises:
        ConfigError: ``x`` or ``gates`` do not fit ``paths``.
    """
    features = path_features(x, gates, paths)
    return features @ features.mT


def _check_layers(argument: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise ConfigError(f"{argument}: {found} layers given, the paths pass through {wanted}")


def _check_units(argument: str, units: int, visited: Tensor) -> None:
    """Paths visit each unit of a layer, so its size is the largest index plus one."""
    wanted = int(visited.max()) + 1
    if units != wanted:
        raise ConfigError(f"{argument}: {units} units where the paths pass through {wanted}")
