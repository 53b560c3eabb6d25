"""Operations on the inputs themselves, and products with numbers."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from finitewidth.kernels.wide.layers import Root, Signal, refused


def flat(args: Any, kwargs: Mapping[str, Any]) -> list[Any]:
    """Return all arguments, and the members of lists among them."""
    values: list[Any] = []
    for argument in (*args, *kwargs.values()):
        if isinstance(argument, list | tuple):
            values += argument
        else:
            values.append(argument)
    return values


def calculated(
    operation: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Signal:
    """Apply a function without weights to the inputs themselves.

    It gets two inputs at a time, as sizes that were read from a tensor are those for two.

    Raises:
        ConfigError: it mixes inputs.
    """
    x = _by_twos(operation, function, args, kwargs, side=0)
    other = _by_twos(operation, function, args, kwargs, side=1)
    return Signal((2, *x.shape[1:]), inputs=(x, other))


def _by_twos(
    operation: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    side: int,
) -> Tensor:
    """Return a function of the inputs of rows (``side`` 0) or columns (1), (n, ...)."""
    signals = [value for value in flat(args, kwargs) if isinstance(value, Signal)]
    count = len(signals[0].given[side])

    def result(rows: list[int]) -> Tensor:
        values = [_with_rows(value, side, rows) for value in args]
        named = {name: _with_rows(value, side, rows) for name, value in kwargs.items()}
        return function(*values, **named)

    last = count - 1
    parts = [result([row, min(row + 1, last)]) for row in range(0, count, 2)]
    if not torch.equal(parts[0][:1], result([0, 0])[:1]):
        raise refused(operation, "mixes inputs")
    return torch.cat(parts)[:count]


def _with_rows(value: Any, side: int, rows: list[int]) -> Any:
    """Put the given rows of their inputs in place of signals, also in lists."""
    if isinstance(value, list | tuple):
        return type(value)(_with_rows(member, side, rows) for member in value)
    if isinstance(value, Signal):
        return value.given[side][rows]
    return value


def scaled(
    operation: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    signal: Signal,
    root: Root | None,
) -> Signal:
    """Multiply by a number, or divide by one.

    Raises:
        ConfigError: another argument is no number.
    """
    others = [value for value in args if not isinstance(value, Signal)]
    if not all(isinstance(value, int | float) for value in others):
        raise refused(operation, "combines a tensor with something else than a number")
    one = torch.ones((), dtype=torch.float64)
    factor = function(*(one if isinstance(value, Signal) else value for value in args))
    return replace(signal, field=signal.law.scaled(float(factor)), root=root)
