"""Inputs of a kernel: tensors, arrays and lists."""

from typing import TypeAlias

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from finitewidth.common.arrays import array_of_numbers
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.fully_connected import FullyConnected

Inputs: TypeAlias = Tensor | ArrayLike


def as_inputs(network: FullyConnected | nn.Module, x: Inputs, name: str = "x") -> Tensor:
    """Return inputs as a tensor.

    Args:
        network: the network that they are for.
        x: inputs (N, ...). Arrays and lists get the type and the device of the network; integers
            stay integers if the network has an embedding.
        name: of the argument, for error messages.

    Raises:
        ConfigError: they are not numbers, there are none, or one is not finite.
    """
    if not isinstance(x, Tensor):
        x = _as_tensor(network, x, name)
    if not x.dim() or not len(x):
        raise ConfigError(
            f"{name}: shape {tuple(x.shape)} holds no inputs; it must be (N, ...), N > 0"
        )
    finite = x.isfinite()
    if not bool(finite.all()):
        at = int((~finite).flatten(1).any(1).nonzero()[0]) if x.dim() > 1 else 0
        kind = "NaN" if bool(x.isnan().any()) else "infinite numbers"
        raise ConfigError(f"{name}: holds {kind}, first in input {at}; leave such inputs out")
    return x


def _as_tensor(network: FullyConnected | nn.Module, x: ArrayLike, name: str) -> Tensor:
    weights = network.weights if isinstance(network, FullyConnected) else network.parameters()
    like = next((weight for weight in weights if weight.is_floating_point()), torch.empty(0))
    array = array_of_numbers(x, name)
    words = (
        array.dtype.kind != "f"
        and isinstance(network, nn.Module)
        and any(isinstance(module, nn.Embedding | nn.EmbeddingBag) for module in network.modules())
    )
    dtype = None if words else like.dtype
    return torch.tensor(array, dtype=dtype, device=like.device)
