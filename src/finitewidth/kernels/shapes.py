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
        np.broadcast_shapes(*leading)
    except ValueError as error:
        shapes = ", ".join(str(tuple(shape)) for shape in leading)
        raise ConfigError(
            f"{argument}: the replica axes {shapes} cannot be broadcast; make them equal or 1"
        ) from error
