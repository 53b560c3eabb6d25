"""Arrays and lists that users pass where tensors are computed with."""

from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from finitewidth.common.errors import ConfigError

Array: TypeAlias = Tensor | ArrayLike


def array_of_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Return an array or a nested list as an array; ``name`` is that of the argument.

    Raises:
        ConfigError: they are no numbers, or the lists differ in length.
    """
    try:
        array = np.asarray(values, order="C")  # torch takes no negative strides
    except (ValueError, TypeError, RuntimeError) as error:
        if "inhomogeneous" in str(error):
            raise ConfigError(
                f"{name}: its lists differ in length; pad them to one length, or cut them"
            ) from error
        raise ConfigError(f"{name}: must be a tensor or an array; {error}") from error
    if array.dtype.kind not in "biuf":
        raise ConfigError(
            f"{name}: {type(values).__name__} must be a tensor or an array of numbers"
        )
    return array


def as_tensor(values: Array, name: str) -> Tensor:
    """Return a tensor as it is, and anything else as a tensor of the type that NumPy gives it."""
    return values if isinstance(values, Tensor) else torch.tensor(array_of_numbers(values, name))
