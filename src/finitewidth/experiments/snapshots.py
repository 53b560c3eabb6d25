"""Weights kept along a training, as the kernels take them."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from finitewidth.networks.weights import as_lists


def epochs_kept(arrays: Mapping[str, np.ndarray]) -> list[int]:
    """The epochs at which weights were kept, ascending."""
    labels = {name.split("/")[0] for name in arrays}
    return sorted(int(label.removeprefix("epoch")) for label in labels if label.startswith("epoch"))


def network_at(
    arrays: Mapping[str, np.ndarray], epoch: int, part: str
) -> tuple[list[Tensor], list[Tensor] | None]:
    """Weights (R, fan_in, fan_out) and biases (R, fan_out) or None by layer, float64.

    ``part`` is ``value`` or ``feature``; a feature network has no output layer.
    """
    prefix = f"epoch{epoch}/{part}/"
    weights = {
        name.removeprefix(prefix): torch.from_numpy(array).double()
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
    return as_lists(weights)
