"""Checks that shapes of inputs, weights, biases and gates match."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from finitewidth.common.errors import ConfigError


def check_network(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor] | None) -> None:
    """Check that the shapes of inputs (S, n0) or (R, S, n0), weights and biases match.

    Raises:
        ConfigError: the shapes do not match. The message names the argument.
    """
    if biases is not None and len(biases) != len(weights):
        raise ConfigError(
            f"biases: {len(biases)} layers; there must be {len(weights)}, as in weights"
        )
    if x.dim() < 2:
        raise ConfigError(f"x: shape {tuple(x.shape)} must be (S, n0) or (R, S, n0)")
    units = x.shape[-1]
    for layer, weight in enumerate(weights):
        _check_weight(weight, f"weights[{layer}]", units)
        units = weight.shape[-1]
        if biases is not None:
            _check_bias(biases[layer], f"biases[{layer}]", units)
    check_replicas("weights", [x.shape[:-2], *(weight.shape[:-2] for weight in weights)])
    if biases is not None:
        leading = [bias.shape[:-1] for bias in biases]
        check_replicas("biases", [weights[0].shape[:-2], *leading])


def _check_weight(weight: Tensor, argument: str, units: int) -> None:
    """Check that a weight reads the units of the layer below."""
    if weight.dim() < 2 or weight.shape[-2] != units:
        raise ConfigError(
            f"{argument}: shape {tuple(weight.shape)} must be (..., {units}, "
            f"fan_out), because the layer below has {units} units"
        )


def _check_bias(bias: Tensor, argument: str, units: int) -> None:
    """Check that a bias has as many numbers as its layer has units."""
    if bias.shape[-1:] != (units,):
        raise ConfigError(f"{argument}: shape {tuple(bias.shape)} must be (..., {units})")


def check_replicas(argument: str, leading: Sequence[Sequence[int]]) -> None:
    """Check that the replica axes of an argument can be broadcast against each other.

    Raises:
        ConfigError: they cannot be broadcast.
    """
    try:
        np.broadcast_shapes(*leading)
    except ValueError as error:
        shapes = ", ".join(str(tuple(shape)) for shape in leading)
        raise ConfigError(
            f"{argument}: the replica axes {shapes} cannot be broadcast; make them equal or 1"
        ) from error
