"""Weights kept during a training, in the form that the kernels take."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from finitewidth.networks.weights import as_lists


def epochs_kept(arrays: Mapping[str, np.ndarray]) -> list[int]:
    """The epochs for which weights were kept, ascending."""
    labels = {name.split("/")[0] for name in arrays}
    return sorted(int(label.removeprefix("epoch")) for label in labels if label.startswith("epoch"))


def network_at(
    arrays: Mapping[str, np.ndarray], epoch: int, part: str
) -> tuple[list[Tensor], list[Tensor] | None]:
    """Weights and biases of a network at one epoch.

    Args:
        arrays: the weights file of a training, ``epoch<n>/<part>/<layer>.weight`` and the like.
        epoch: one of `epochs_kept`.
        part: ``value`` or ``feature``. A feature network has no output layer.

    Returns:
        One weight tensor (R, fan_in, fan_out) per layer, and one bias tensor (R, fan_out) per layer
        or None, all float64.
    """
    prefix = f"epoch{epoch}/{part}/"
    weights = {
        name.removeprefix(prefix): torch.from_numpy(array).double()
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
    return as_lists(weights)
