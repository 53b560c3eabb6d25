"""Checks of the shapes of arrays in calls of kernels, while tests run, by their annotations."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from types import UnionType
from typing import Any, Union, get_args, get_origin

import jaxtyping
from beartype import beartype

from finitewidth.common import shapes

jaxtyped = jaxtyping.jaxtyped


def install() -> None:
    """Have all calls of kernels checked; to be called before the first import of a kernel."""
    shapes.read_by(jaxtyping)
    jaxtyping.jaxtyped = _where_said  # the decorator that the hook gives to functions and classes
    jaxtyping.install_import_hook("finitewidth.kernels", f"{__name__}.checked")


def _where_said(**settings: Any) -> Callable[[Any], Any]:
    """Decorate functions and classes that say shapes; it takes time in each call of the others."""

    def decorated(thing: Any) -> Any:
        says_some = any(map(_says_shape, getattr(thing, "__annotations__", {}).values()))
        return jaxtyped(**settings)(thing) if says_some else thing

    return decorated


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check the arguments and the result whose annotations say shapes; mypy checks the others."""
    hints = function.__annotations__.items()
    function.__annotations__ = {name: _of_all(hint) for name, hint in hints if _says_shape(hint)}
    return beartype(function)


def _says_shape(hint: Any) -> bool:
    """Tell whether an annotation is an array with a shape, or has one within."""
    return _is_array(hint) or any(map(_says_shape, get_args(hint)))


def _is_array(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, jaxtyping.AbstractArray)


def _of_all(hint: Any) -> Any:
    """Return an annotation that is about all members of lists; beartype checks one, by chance."""
    kind = get_origin(hint)
    parts = get_args(hint)
    if kind in (Union, UnionType):
        return reduce(or_, map(_of_all, parts))
    if kind is tuple:
        return tuple[tuple(map(_of_all, parts))]
    if kind in (list, Sequence, dict, Mapping) and _is_array(parts[-1]):
        name = f"{kind.__name__} of {parts[-1].__name__}"
        return _Arrays(name, (), {"kind": kind, "member": parts[-1]})
    return hint


class _Arrays(type):
    """The type of lists, or of values of mappings, whose members are all of one type of arrays."""

    kind: type
    member: type

    def __instancecheck__(cls, value: Any) -> bool:
        if not isinstance(value, cls.kind):
            return False
        members = value.values() if isinstance(value, Mapping) else value
        return all(isinstance(member, cls.member) for member in members)
