"""A network as it was at one time: its weights, buffers, modes and modules."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

# What a stored snapshot keeps; others, such as weak references, cannot be stored.
STORED = ("_parameters", "_buffers", "_modules")


@dataclass(frozen=True)
class _Module:
    """The attributes of a module at one time.

    Attributes:
        module: the module.
        training: its mode.
        kind: its class; a parametrisation changes it. None if it is left as it is.
        attributes: by name.
        items: copies of those attributes that are dicts or lists, such as its parameters.
    """

    module: nn.Module
    training: bool
    kind: type | None
    attributes: dict[str, Any]
    items: dict[str, dict[Any, Any] | list[Any]]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.module,
            self.training,
            None,
            _stored(self.attributes),
            _stored(self.items),
        )

    def set(self) -> None:
        """Give the module these attributes."""
        now = vars(self.module)
        if self.kind is None:
            now.update(self.attributes)
        else:
            self.module.__class__ = self.kind
            _set_items(now, self.attributes)
        for name, items in self.items.items():
            _set_items(self.attributes[name], items)
        self.module.training = self.training  # a script holds it elsewhere


class Snapshot:
    """A copy of the parameters, the buffers and other tensors of a network, with all attributes.

    Tensors are copied. Other attributes of the modules, such as their modes, hooks and submodules,
    are kept as they are. What the network uses besides its modules is not kept.

    Args:
        network: a torch module.
    """

    def __init__(self, network: nn.Module):
        self._modules = [_module(module) for module in network.modules()]
        self._tensors = _tensors_of(network)
        with torch.inference_mode(False):  # autograd refuses copies made in inference mode
            self._values = [tensor.detach().clone() for tensor in self._tensors]
        self._trainable = [tensor.requires_grad for tensor in self._tensors]

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Give the network back what it had at this time; afterwards it has what it has now."""
        present = [_module(earlier.module) for earlier in self._modules]
        values = [tensor.data for tensor in self._tensors]
        trainable = [tensor.requires_grad for tensor in self._tensors]
        try:
            self._set(self._modules, self._values, self._trainable)
            yield
        finally:
            self._set(present, values, trainable)

    def _set(self, modules: list[_Module], values: list[Tensor], trainable: list[bool]) -> None:
        for module in modules:
            module.set()
        for tensor, value, flag in zip(self._tensors, values, trainable, strict=True):
            tensor.data = value
            tensor.requires_grad_(flag)


def _module(module: nn.Module) -> _Module:
    """The attributes of a module as they are now."""
    attributes = dict(vars(module))
    items = {}
    for name, value in attributes.items():
        if isinstance(value, dict | list):
            items[name] = value.copy()
    return _Module(module, module.training, type(module), attributes, items)


def _stored(values: dict[str, Any]) -> dict[str, Any]:
    """Those of the values that can be stored."""
    return {name: values[name] for name in STORED if name in values}


def _tensors_of(network: nn.Module) -> list[Tensor]:
    """Return parameters, buffers, and tensors that are attributes of modules, each once."""
    tensors = [*network.parameters(), *network.buffers()]
    for module in network.modules():
        tensors += [value for value in vars(module).values() if isinstance(value, Tensor)]
    # every forward pass computes tensors with a history again
    leaves = [tensor for tensor in tensors if tensor.is_leaf]
    return list({id(tensor): tensor for tensor in leaves}.values())


def _set_items(target: Any, items: Any) -> None:
    """Set the items of a dict or list in their order, which is that of the layers of a network."""
    target.clear()
    if isinstance(target, dict):
        target.update(items)
    else:
        target.extend(items)
