"""The inputs of a network of one or several arguments."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, fx, nn

from finitewidth.common.arrays import as_tensor
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch, is_several
from finitewidth.kernels.wide.law import TOKENS
from finitewidth.kernels.wide.layers import Signal


def as_arguments(network: nn.Module, x: Inputs, name: str = "x") -> Batch:
    """Return inputs in float64; integers stay integers if the network has an embedding.

    Raises:
        ConfigError: they are not numbers, there are none, one is not finite, or first axes differ.
    """
    if isinstance(x, Mapping):
        x = {key: as_tensor(value, f"{name}[{key!r}]") for key, value in x.items()}
    elif is_several(x):
        x = tuple(as_tensor(value, f"{name}[{number}]") for number, value in enumerate(x))
    else:
        x = as_tensor(x, name)  # type: ignore[arg-type]  # a tuple of rows is one array
    has_embedding = any(isinstance(module, TOKENS) for module in network.modules())

    def converted(tensor: Tensor) -> Tensor:
        if has_embedding and not tensor.is_floating_point():
            return tensor
        return tensor.double()

    return as_batch(network, x, name).map(converted)


def signals(graph: fx.GraphModule, x: Batch, other: Batch) -> list[Any]:
    """Return the arguments of a network in their order, for inputs of rows and columns.

    Raises:
        ConfigError: the network takes other arguments.
    """
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    names = [str(node.target) for node in placeholders]
    defaults = {str(node.target): node.args[0] for node in placeholders if node.args}
    given = x.names or names[: len(x.tensors)]
    required = set(names) - set(defaults)
    if len(given) != len(x.tensors) or not required <= set(given) <= set(names):
        got = f"has {', '.join(given)}" if x.names else f"is {len(x.tensors)} tensor(s)"
        raise ConfigError(
            f"x: it {got}, but the network takes {', '.join(names)}; pass a tuple with one tensor "
            "for each argument, or a mapping of them by name"
        )
    values = dict(defaults)
    for name, rows, columns in zip(given, x.tensors, other.tensors, strict=True):
        values[name] = Signal((2, *rows.shape[1:]), inputs=(rows, columns))
    return [values[name] for name in names]
