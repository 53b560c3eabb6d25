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
    roots = [_root(each) for each in args]
    known = [root for root in roots if root is not None]
    strange = [each for each in (*args, *kwargs.values()) if not isinstance(each, Signal | NUMBERS)]
    signals = [each for each in (*args, *kwargs.values()) if isinstance(each, Signal)]
    if strange or len(known) < len(signals) or any(base is not known[0][0] for base, _ in known):
        return None

    def composed(h: Any) -> Any:
        values = [
            each if root is None else root[1](h) for each, root in zip(args, roots, strict=True)
        ]
        return function(*values, **kwargs)

    return known[0][0], composed


def _root(value: Any) -> Root | None:
    """Return the Gaussian tensor that a value is a function of, and the function."""
    if not isinstance(value, Signal):
        return None
    if value.root is None and value.gaussian:
        return value, lambda h: h.clone()  # operations in place leave h as it is
    return value.root
