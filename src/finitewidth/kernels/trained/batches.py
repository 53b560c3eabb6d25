"""The inputs of a network: one tensor, or several whose first axis is that of the inputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeGuard

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from finitewidth.common.arrays import Array, array_of_numbers
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.inputs import check_tensor

Network = FullyConnected | nn.Module
Rows: TypeAlias = slice | Sequence[int] | Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """The arguments of a network for N inputs.

    Attributes:
        tensors: one tensor (N, ...) for each argument.
        names: the names of arguments that are passed by name; None if they are passed by position.
    """

    tensors: tuple[Tensor, ...]
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, rows: Rows) -> "Batch":
        return self.map(lambda tensor: tensor[rows])

    @property
    def device(self) -> torch.device:
        """Return the device of the first tensor."""
        return self.tensors[0].device

    @property
    def only(self) -> Tensor | None:
        """Return the tensor of a single argument that is passed by position, else None."""
        single = self.names is None and len(self.tensors) == 1
        return self.tensors[0] if single else None

    def given(self) -> Tensor | dict[str, Tensor] | tuple[Tensor, ...]:
        """Return these arguments as a user gives them: a tensor, a mapping or a tuple."""
        if self.names is not None:
            return dict(zip(self.names, self.tensors, strict=True))
        return self.tensors if self.only is None else self.only

    @property
    def arguments(self) -> str:
        """Return how a function takes these arguments, for messages: "x", "*x" or "**x"."""
        if self.names is not None:
            return "**x"
        return "x" if self.only is not None else "*x"

    def map(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Return a batch of changed tensors."""
        return replace(self, tensors=tuple(change(tensor) for tensor in self.tensors))

    def passed_to(self, function: Callable[..., Any]) -> Any:
        """Call a function with these arguments."""
        if self.names is None:
            return function(*self.tensors)
        return function(**dict(zip(self.names, self.tensors, strict=True)))

    def split(self, size: int) -> Iterator["Batch"]:
        """Yield consecutive batches of at most ``size`` inputs."""
        for start in range(0, len(self), size):
            yield self[start : start + size]

    def shapes(self) -> str:
        """Return shapes and types of one input, for messages."""
        texts = []
        for at, tensor in enumerate(self.tensors):
            kind = str(tensor.dtype).removeprefix("torch.")
            text = f"shape {tuple(tensor.shape[1:])} and type {kind}"
            texts.append(f"{self.names[at]!r} of {text}" if self.names else text)
        return ", ".join(texts)

    def check_alike(self, other: "Batch", name: str) -> None:
        """Check that another batch, given by the argument ``name``, holds the same kind of inputs.

        Raises:
            ConfigError: names, or shapes of single inputs, differ.
        """
        same_names = self.names == other.names and len(self.tensors) == len(other.tensors)
        if not same_names:
            raise ConfigError(
                f"{name}: the arguments {_named(other)} must be {_named(self)}, as those of x"
            )
        for one, two in zip(self.tensors, other.tensors, strict=True):
            if one.shape[1:] != two.shape[1:]:
                raise ConfigError(
                    f"{name}: inputs of shape {tuple(two.shape[1:])} must be "
                    f"{tuple(one.shape[1:])}, as x"
                )


Inputs: TypeAlias = Array | Mapping[str, Array] | tuple[Array, ...] | Batch


def joined(batches: Sequence[Batch]) -> Batch:
    """Return batches of the same arguments one after another."""
    columns = zip(*(batch.tensors for batch in batches), strict=True)
    return replace(batches[0], tensors=tuple(torch.cat(column) for column in columns))


def as_batch(network: Network, x: Inputs, name: str = "x") -> Batch:
    """Return the inputs of a network as tensors.

    Args:
        network: the network that they are for.
        x: a tensor, an array or nested lists (N, ...), which the network takes as its only
            argument; a mapping of these by name, passed as ``network(**x)``; or a tuple of tensors
            or arrays, passed as ``network(*x)``. In a mapping or tuple, integers stay integers.
            What becomes of other arrays and lists: see `as_inputs`.
        name: of the argument, for messages.

    Raises:
        ConfigError: they are not numbers, there are none, one is not finite, or first axes differ.
    """
    if isinstance(x, Batch):
        return x
    if isinstance(x, Mapping):
        strange = [key for key in x if not isinstance(key, str)]
        if strange:
            raise ConfigError(f"{name}: key {strange[0]!r} must be the name of an argument")
        names = tuple(x)
        members = {f"{name}[{key!r}]": value for key, value in x.items()}
    elif is_several(x):
        names = None
        members = {f"{name}[{at}]": value for at, value in enumerate(x)}
    else:
        return Batch((as_inputs(network, x, name),))
    if not members:
        raise ConfigError(f"{name}: holds no inputs; it must have at least one tensor (N, ...)")
    tensors = {key: _member(network, value, key) for key, value in members.items()}
    _check_first_axis(tensors)
    return Batch(tuple(tensors.values()), names)


def as_inputs(network: Network, x: Inputs | Batch, name: str = "x") -> Tensor:
    """Return the inputs of a network with one argument as a tensor.

    Args:
        network: the network that they are for.
        x: inputs (N, ...). Arrays and lists get the type and the device of the network; integers
            stay integers if the network has an embedding.
        name: of the argument, for messages.

    Raises:
        ConfigError: they are not numbers, there are none, or one is not finite.
    """
    if not isinstance(x, Tensor):
        words = isinstance(network, nn.Module) and any(
            isinstance(module, nn.Embedding | nn.EmbeddingBag) for module in network.modules()
        )
        x = _as_tensor(network, x, name, words)  # type: ignore[arg-type]  # refuses other types
    return _checked(x, name)


def is_several(x: Any) -> TypeGuard[Mapping[str, Any] | tuple[Any, ...]]:
    """Tell whether inputs are a mapping or a tuple of arguments, and not one array or list."""
    return isinstance(x, Mapping) or (isinstance(x, tuple) and any(map(_is_array, x)))


def _is_array(value: Any) -> bool:
    """Tell whether a member of a tuple is an argument of its own, and not a row of numbers."""
    return bool(getattr(value, "shape", ()))


def _member(network: Network, value: Array, name: str) -> Tensor:
    return _checked(value if isinstance(value, Tensor) else _as_tensor(network, value, name), name)


def _as_tensor(network: Network, x: ArrayLike, name: str, keep_integers: bool = True) -> Tensor:
    """Return an array with the type of the network, or its own if it is one of integers."""
    weights = network.weights if isinstance(network, FullyConnected) else network.parameters()
    like = next((weight for weight in weights if weight.is_floating_point()), torch.empty(0))
    array = array_of_numbers(x, name)
    keep = keep_integers and array.dtype.kind != "f"
    return torch.tensor(array, dtype=None if keep else like.dtype, device=like.device)


def _checked(x: Tensor, name: str) -> Tensor:
    check_tensor(x, name)
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


def _check_first_axis(tensors: Mapping[str, Tensor]) -> None:
    (first, rows), *others = ((name, len(tensor)) for name, tensor in tensors.items())
    for name, count in others:
        if count != rows:
            raise ConfigError(
                f"{name}: {count} rows must be {rows}, as {first} has; each argument has one row "
                "for each input. Use what is not a row for each input, such as the edges of a "
                "graph, in the function of="
            )


def _named(batch: Batch) -> str:
    if batch.names is not None:
        return ", ".join(batch.names)
    return "one tensor" if batch.only is not None else f"a tuple of {len(batch.tensors)} tensors"
