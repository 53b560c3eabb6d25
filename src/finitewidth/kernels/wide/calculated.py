"""Operations on the inputs themselves, and products with numbers."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from finitewidth.kernels.wide.layers import Root, Signal, refused


def flat(args: Any, kwargs: Mapping[str, Any]) -> list[Any]:
    """Return all arguments, and the members of lists among them."""
    flat: list[Any] = []
    for each in (*args, *kwargs.values()):
        flat += list(each) if isinstance(each, list | tuple) else [each]
    return flat


def calculated(what: str, function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Signal:
    """Apply a function without weights to the inputs themselves.

    It gets two inputs at a time, as sizes that were read from a tensor are those for two.

    Raises:
        ConfigError: it mixes inputs.
    """
    x, other = (_by_twos(what, function, args, kwargs, side) for side in (0, 1))
    return Signal((2, *x.shape[1:]), inputs=(x, other))


def _by_twos(
    what: str, function: Callable, args: tuple, kwargs: Mapping[str, Any], side: int
) -> Tensor:
    """Return a function of the inputs of one side, (n, ...)."""
    tensors = [each.inputs[side] for each in flat(args, kwargs) if isinstance(each, Signal)]
    count = len(tensors[0])

    def of(rows: list[int]) -> Tensor:
        def value(each: Any) -> Any:
            if isinstance(each, list | tuple):
                return type(each)(map(value, each))
            return each.inputs[side][rows] if isinstance(each, Signal) else each

        return function(*map(value, args), **{key: value(each) for key, each in kwargs.items()})

    last = count - 1
    parts = [of([at, min(at + 1, last)]) for at in range(0, count, 2)]
    if not torch.equal(parts[0][:1], of([0, 0])[:1]):
        raise refused(what, "mixes inputs")
    return torch.cat(parts)[:count]


def scaled(what: str, function: Callable, args: tuple, signal: Signal, root: Root | None) -> Signal:
    """Multiply by a number, or divide by one."""
    others = [each for each in args if not isinstance(each, Signal)]
    if not all(isinstance(each, int | float) for each in others):
        raise refused(what, "combines a tensor with something else than a number")
    one = torch.ones((), dtype=torch.float64)
    factor = function(*(one if isinstance(each, Signal) else each for each in args))
    return replace(signal, field=signal.field.scaled(float(factor)), root=root)
