"""Targets of regressions, as users give them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_array
from torch import Tensor

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.batches import Inputs, is_several
from finitewidth.kernels.trained.inputs import check_tensor


def as_targets(y: Array, count: int) -> Tensor:
    """Return targets (N, C) or (N,), of the type that they have.

    Args:
        y: a tensor, an array or lists.
        count: N, the number of inputs.

    Raises:
        ConfigError: they are no finite numbers, or not one row for each input.
    """
    if y is None:  # the words that scikit-learn looks for
        raise ConfigError("y: the regression requires y to be passed, but the target y is None")
    if isinstance(y, Tensor):
        check_tensor(y, "y")
        values = finite(y.detach(), "y")
    else:
        rules = {"ensure_2d": False, "allow_nd": True, "ensure_min_samples": 0, "input_name": "y"}
        try:
            values = torch.tensor(check_array(y, **rules))
        except ValueError as error:
            raise ConfigError(str(error)) from error
    if values.dim() not in (1, 2) or len(values) != count:
        raise ConfigError(
            f"y: shape {tuple(values.shape)} must be ({count}, C) or ({count},), for {count} inputs"
        )
    return values


def finite(values: Tensor, name: str) -> Tensor:
    """Return values that are finite, with at least one row.

    Raises:
        ConfigError: there are none, or one is not finite.
    """
    if not values.numel() or not bool(values.isfinite().all()):
        raise ConfigError(f"{name}: must have at least one row, and only finite numbers")
    return values


def as_array(values: Array) -> np.ndarray:
    """Return a tensor on any device, an array or lists as an array."""
    if isinstance(values, Tensor):
        return values.detach().cpu().numpy()
    return np.asarray(values)


def like_inputs(x: Inputs, values: Tensor) -> Tensor | np.ndarray:
    """Return values as a tensor or an array, as the inputs are."""
    members: list[Any] = [x]
    if isinstance(x, Mapping):
        members = list(x.values())
    elif isinstance(x, tuple) and is_several(x):
        members = list(x)
    tensors = any(isinstance(member, Tensor) for member in members)
    return values if tensors else values.cpu().numpy()


def check_columns(targets: Tensor, outputs: int, reason: str = "") -> None:
    """Refuse targets that do not belong to the outputs of a network.

    Args:
        targets: (N, C) or (N,).
        outputs: K, the number of outputs.
        reason: why C must be K, such as "kind='full'"; "" if it need not be.

    Raises:
        ConfigError: C is not K; or integers (N,), which may be classes, with K > 1.
    """
    columns = 1 if targets.dim() == 1 else targets.shape[1]
    if targets.dim() == 1 and outputs > 1 and not targets.is_floating_point():
        raise ConfigError(
            f"y: integers (N,) for a network with {outputs} outputs are not taken as classes; give "
            "one-hot labels (N, C) for classes, or floating-point numbers"
        )
    if reason and columns != outputs:
        raise ConfigError(
            f"y: {columns} columns must be {outputs} with {reason}, one for each output of the "
            "network"
        )
