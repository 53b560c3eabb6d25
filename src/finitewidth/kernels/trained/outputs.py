"""What a network returns: run, checked, and refused with a way to get outputs of the right shape.

Kernels need a tensor (N, K) with one row for each input. Networks also return tuples, dictionaries,
objects with fields, and tensors of other shapes. The message then names the part that would do.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError, FinitewidthError
from finitewidth.kernels.trained.batches import Batch

Run = Callable[[Batch], Any]
DEPTH = 3  # of nested outputs that are looked through
SHOWN = 4  # parts of an output that a message describes
# names of outputs that are chosen first: before these the logits of classes, after them the rest
FIRST = ("logits", "prediction_logits", "last_hidden_state", "pooler_output")


def outputs_of(run: Run, name: str, x: Batch) -> Any:
    """Return the outputs of a function, given by the argument ``name``.

    Raises:
        ConfigError: the function fails; the cause is its own error.
    """
    try:
        return run(x)
    except (torch.OutOfMemoryError, FinitewidthError):
        raise
    except Exception as error:  # a network may raise anything
        lines = str(error).strip().splitlines()
        kind = type(error).__name__
        reason = f"{kind}: {lines[0]}" if lines else kind
        inputs = "one input alone" if len(x) == 1 else "inputs"
        remedy = "Pass x of shape (N, ...) and of the type that it takes"
        if x.only is None and isinstance(error, TypeError):
            passed = "a mapping is passed by name" if x.names else "a tuple is passed by position"
            remedy = f"{passed}: {name} is called as {name}({x.arguments})"
            if name == "of":
                remedy += f", so write of=lambda {x.arguments}: ..."
        raise ConfigError(
            f"{name}: it fails with {inputs} of {x.shapes()}: {reason}. {remedy}"
        ) from error


def check_outputs(outputs: Any, run: Run, name: str, x: Batch, more: Batch) -> None:
    """Check that the outputs of a function for the inputs ``x`` are finite numbers (N, K).

    Args:
        outputs: what it returned.
        run: the function.
        name: the argument by which it was given, "network" or "of".
        x: the inputs.
        more: other inputs, of another number, by which the axis of the inputs is found.

    Raises:
        ConfigError: they are not. The message proposes what to pass, if a part of them would do.
    """
    if not isinstance(outputs, Tensor) or outputs.dim() != 2 or len(outputs) != len(x):
        what = _described(outputs)
        raise ConfigError(
            f"{name}: the outputs of {len(x)} inputs are {what}; they must be a tensor "
            f"({len(x)}, K) or ({len(x)},), one row for each input{_remedy(run, name, x, more)}"
        )
    if not outputs.is_floating_point():
        remedy = _remedy(run, name, x, more) if outputs.is_complex() else ""
        raise ConfigError(
            f"{name}: the outputs are {outputs.dtype}; they must be real numbers{remedy}"
        )
    if not bool(outputs.isfinite().all()):
        raise ConfigError(
            f"{name}: some outputs are not finite, although the inputs are; a parameter is not "
            "finite, or a number overflows"
        )


def _remedy(run: Run, name: str, x: Batch, more: Batch) -> str:
    """Return what to pass instead, as an end of a message; empty if no part would do."""
    try:
        way = proposal(run(x), run(more), len(x), len(more))
    except Exception:  # the network fails with so many inputs
        way = None
    if way is None:
        return ""
    if name == "of":
        return f". Let of return {way.format('outputs')} in place of its outputs"
    call = f"network({x.arguments})"
    return f". Pass of=lambda {x.arguments}: {way.format(call)}"


def proposal(first: Any, second: Any, count: int, other: int) -> str | None:
    """Return how a tensor (N, K) follows from the outputs of a network, as a format of them.

    Args:
        first: the outputs of ``count`` inputs.
        second: those of ``other`` inputs, from which the axis of the inputs is seen.
        count: number of inputs.
        other: another number of inputs.

    Returns:
        Such as ``{}.logits``; None if no part of the outputs has a row for each input.
    """
    ranked = []
    for way, one, two in _parts(first, second):
        arranged = _arranged(way, one, two, count, other)
        if arranged is None:
            continue
        name = way.rpartition(".")[2] if "." in way else way.strip("{}[]'\"")
        rank = FIRST.index(name) if name in FIRST else len(FIRST)
        ranked.append((rank, arranged))
    if not ranked:
        return None
    _, arranged = min(ranked, key=lambda pair: pair[0])
    return arranged


def _arranged(way: str, one: Tensor, two: Tensor, count: int, other: int) -> str | None:
    """Return how a part of the outputs becomes (N, K); None if it cannot."""
    if not (one.is_floating_point() or one.is_complex()) or not one.requires_grad:
        return None
    if one.dim() != two.dim():
        return None
    sizes = list(zip(one.shape, two.shape, strict=True))
    axes = [axis for axis, pair in enumerate(sizes) if pair[0] != pair[1]]
    if len(axes) != 1 or sizes[axes[0]] != (count, other):
        return None
    if one.is_complex():
        way, last = f"torch.view_as_real({way})", 2
    else:
        last = 1
    if axes[0]:
        way = f"{way}.movedim({axes[0]}, 0)"
    return f"{way}.flatten(1)" if one.dim() + last - 1 > 2 else way


def _parts(
    first: Any, second: Any, way: str = "{}", depth: int = 0
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield the tensors in two outputs of the same kind, with how they are reached."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        yield way, first, second
        return
    if depth == DEPTH or type(first) is not type(second):
        return
    others = dict(_members(second))
    for step, member in _members(first):
        if step in others:
            yield from _parts(member, others[step], way + step, depth + 1)


def _members(output: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of an output, with the expression that reads each."""
    if isinstance(output, tuple) and hasattr(output, "_fields"):  # a named tuple
        for name in output._fields:
            yield f".{name}", getattr(output, name)
    elif isinstance(output, tuple | list):
        for at, member in enumerate(output):
            yield f"[{at}]", member
    elif is_dataclass(output):
        for entry in fields(output):
            yield f".{entry.name}", getattr(output, entry.name)
    elif isinstance(output, Mapping):
        for key, member in output.items():
            # braces would be read as those of a format
            if isinstance(key, str) and "{" not in key and "}" not in key:
                yield f"[{key!r}]", member
    else:
        for name in getattr(output, "__dict__", {}):
            if not name.startswith("_"):
                yield f".{name}", getattr(output, name)


def _described(output: Any) -> str:
    """Return what an output is, in a few words."""
    if isinstance(output, Tensor):
        return f"a tensor {tuple(output.shape)}"
    parts = []
    for step, member in _members(output):
        if isinstance(member, Tensor):
            parts.append(f"{step} {tuple(member.shape)}")
    kind = type(output).__name__
    if not parts:
        return kind
    more = ", ..." if len(parts) > SHOWN else ""
    return f"{kind} with {', '.join(parts[:SHOWN])}{more}"
