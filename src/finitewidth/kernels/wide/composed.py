"""Activations that a network writes out, such as h * torch.sigmoid(h), as functions of one tensor.

Any elementwise function of a Gaussian tensor is an activation, whose means a series gives. See
`hermite` for the error where the slope of a function jumps.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from finitewidth.kernels.wide.layers import Root, Signal

NUMBERS = int | float | None  # no words, such as that for rounding a quotient
# operations whose result at each place depends on the arguments at that place alone
ELEMENTWISE = {
    *("add", "sub", "rsub", "iadd", "mul", "imul", "truediv", "div", "true_divide", "neg"),
    *("pow", "square", "sqrt", "exp", "expm1", "log1p", "reciprocal", "logaddexp", "atan", "sinh"),
    *("clamp", "clip", "clamp_min", "clamp_max", "maximum", "minimum", "where", "sign", "cosh"),
    *("gt", "ge", "lt", "le"),
}


def function_of_one(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Root | None:
    """Return a result as a function of the Gaussian tensor from which all arguments follow.

    It is None if there is no such tensor.
    """
    if not all(isinstance(value, Signal | NUMBERS) for value in args):
        return None
    if not all(isinstance(value, NUMBERS) for value in kwargs.values()):
        return None
    bases: list[Signal] = []
    functions: list[Callable[[Any], Any]] = []  # of the Gaussian tensor, by argument
    for value in args:
        if not isinstance(value, Signal):
            functions.append(partial(_number, value))
            continue
        root = _root(value)
        if root is None:
            return None
        bases.append(root[0])
        functions.append(root[1])
    if any(base is not bases[0] for base in bases):
        return None

    def composed(h: Any) -> Any:
        return function(*(argument(h) for argument in functions), **kwargs)

    return bases[0], composed


def _number(value: Any, h: Any) -> Any:
    """Return an argument that does not depend on the Gaussian tensor h."""
    return value


def _root(signal: Signal) -> Root | None:
    """Return the Gaussian tensor that a signal is a function of, and the function."""
    if signal.root is None and signal.gaussian:
        return signal, lambda h: h.clone()  # operations in place leave h as it is
    return signal.root
