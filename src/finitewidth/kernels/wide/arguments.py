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
        x = {key: as_tensor(each, f"{name}[{key!r}]") for key, each in x.items()}
    elif is_several(x):
        x = tuple(as_tensor(each, f"{name}[{at}]") for at, each in enumerate(x))
    else:
        x = as_tensor(x, name)
    words = any(isinstance(module, TOKENS) for module in network.modules())

    def converted(tensor: Tensor) -> Tensor:
        return tensor if words and not tensor.is_floating_point() else tensor.double()

    return as_batch(network, x, name).map(converted)


def signals(graph: fx.GraphModule, x: Batch, other: Batch) -> list[Any]:
    """Return the arguments of a network in their order, for inputs of rows and columns.

    Raises:
        ConfigError: the network takes other arguments.
    """
    places = [node for node in graph.graph.nodes if node.op == "placeholder"]
    names = [str(node.target) for node in places]
    given = x.names or names[: len(x.tensors)]
    defaults = {str(node.target): node.args[0] for node in places if node.args}
    required = set(names) - set(defaults)
    if len(given) != len(x.tensors) or not required <= set(given) <= set(names):
        got = f"has {', '.join(given)}" if x.names else f"is {len(x.tensors)} tensor(s)"
        raise ConfigError(
            f"x: it {got}, but the network takes {', '.join(names)}; pass a tuple with one tensor "
            "for each argument, or a mapping of them by name"
        )
    pairs = zip(given, x.tensors, other.tensors, strict=True)
    found = {name: Signal((2, *one.shape[1:]), inputs=(one, two)) for name, one, two in pairs}
    return [found[name] if name in found else defaults[name] for name in names]
