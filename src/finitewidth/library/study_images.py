"""The images of a study of a network of the user: checked, as tensors on one device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.data.select import first_per_class
from finitewidth.kernels.trained.batches import Batch, Inputs, is_several
from finitewidth.kernels.trained.inputs import check_tensor

Pair = tuple[Batch, Tensor]  # inputs (N, ...) and labels (N,)


@dataclass(frozen=True)
class Images:
    """Labelled inputs as tensors on one device."""

    train: Pair
    test: Pair | None
    kernel: Batch  # the inputs of the kernels (S, ...), sorted by class
    labels: np.ndarray  # their classes, (S,)

    @property
    def classes(self) -> int:
        """The smallest number of outputs that has one for each class."""
        pairs = (self.train, self.test) if self.test else (self.train,)
        return 1 + max(int(labels.max()) for _, labels in pairs)


def images_of(
    train: tuple[Inputs, Array], test: tuple[Inputs, Array] | None, per_class: int, device: str
) -> Images:
    """Check inputs and labels, and choose the first inputs of each class for the kernels."""
    x, y = _tensors("images", train, device)
    labels = y.cpu().numpy()
    index = first_per_class(labels, np.unique(labels).tolist(), per_class)
    return Images(
        train=(x, y),
        test=_tensors("test", test, device) if test is not None else None,
        kernel=x[torch.from_numpy(index).to(device)],
        labels=labels[index],
    )


def _tensors(name: str, pair: tuple[Inputs, Array], device: str) -> Pair:
    x = _as_batch(pair[0])
    labels = torch.as_tensor(pair[1])
    check_tensor(labels, name)
    for tensor in x.tensors:
        check_tensor(tensor, name)
        _check_inputs(name, tensor, labels, x.only is None)
    if labels.is_floating_point() or labels.dtype == torch.bool or labels.min() < 0:
        raise ConfigError(f"{name}: labels must be integers from 0, one for each class")
    return x.map(lambda tensor: tensor.to(device)), labels.to(device, torch.int64)


def _as_batch(inputs: Any) -> Batch:
    """Return inputs with their own types, since a network takes the type of its inputs."""
    if isinstance(inputs, Mapping):
        return Batch(tuple(map(torch.as_tensor, inputs.values())), tuple(inputs))
    members = inputs if is_several(inputs) else (inputs,)
    return Batch(tuple(map(torch.as_tensor, members)))


def _check_inputs(name: str, x: Tensor, labels: Tensor, one_of_several: bool) -> None:
    """Check the inputs of one argument of a network; one of several may be a mask or a number."""
    refused = (torch.uint8,) if one_of_several else (torch.uint8, torch.bool)
    if x.dtype in refused or x.is_complex() or not x.isfinite().all():
        raise ConfigError(
            f"{name}: inputs of type {x.dtype} must be finite real numbers; divide pixels by 255"
        )
    least = 1 if one_of_several else 2
    if x.dim() < least or not len(x) or labels.shape != x.shape[:1]:
        raise ConfigError(
            f"{name}: inputs of shape {tuple(x.shape)} and labels of shape "
            f"{tuple(labels.shape)} must be (N, ...) and (N,)"
        )
