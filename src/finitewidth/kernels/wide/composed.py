"""Activations that a network writes out, such as h * torch.sigmoid(h), as functions of one tensor.

Any elementwise function of a Gaussian tensor is an activation, whose means a series gives. See
`hermite` for the error where the slope of a function jumps.
"""

from collections.abc import Callable, Mapping
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


def function_of_one(function: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Root | None:
    """Return a result as a function of the Gaussian tensor from which all arguments follow.

    It is None if there is no such tensor.
    """
    if not all(isinstance(value, Signal | NUMBERS) for value in args):
        return None
    if not all(isinstance(value, NUMBERS) for value in kwargs.values()):
        return None
    roots = [_root(value) for value in args if isinstance(value, Signal)]
    if None in roots or any(base is not roots[0][0] for base, _ in roots):
        return None

    def composed(h: Any) -> Any:
        return function(*(_value_at(h, value) for value in args), **kwargs)

    base, _ = roots[0]
    return base, composed


def _value_at(h: Any, value: Any) -> Any:
    """Return the value of an argument where its Gaussian tensor is h; numbers stay as they are."""
    if not isinstance(value, Signal):
        return value
    _, function = _root(value)
    return function(h)


def _root(signal: Signal) -> Root | None:
    """Return the Gaussian tensor that a signal is a function of, and the function."""
    if signal.root is None and signal.gaussian:
        return signal, lambda h: h.clone()  # operations in place leave h as it is
    return signal.root
