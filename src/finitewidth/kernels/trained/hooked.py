"""Kernels of torch modules from one forward pass and one backward sweep for each output."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import by_autograd
from finitewidth.kernels.trained.budget import fitting, megabytes, pieces
from finitewidth.kernels.trained.contractions import (
    Store,
    add_diagonal,
    add_gram,
    add_traced,
    full_plans,
)
from finitewidth.kernels.trained.layers import Call, Unit, by_channel
from finitewidth.kernels.trained.recording import Recording, record

OfCall = Callable[[Call], Tensor]


@dataclass(frozen=True)
class Request:
    """What is wanted of a network.

    Attributes:
        of: the function x -> (N, K).
        x: inputs, (N, ...).
        by_layer: False to add all layers up, under the name "".
        unreachable: "jacobian" or "refuse", for parameters that hooks cannot reach.
        budget: bytes for temporary arrays.
    """

    of: Callable[[Tensor], Tensor]
    x: Tensor
    by_layer: bool
    unreachable: str
    budget: int


def module_terms(
    network: nn.Module, request: Request, counted: dict[str, nn.Parameter], what: str
) -> dict[str, Tensor]:
    """Compute the parts of a kernel that belong to the modules of a network.

    Args:
        network: the network.
        request: what is wanted.
        counted: the parameters of the kernel by name.
        what: "traced", "full" or "diagonal".

    Returns:
        For each module, and each parameter that hooks cannot reach, a float64 tensor: traced
        (N, N), full (K, N, K, N), diagonal (K, N).

    Raises:
        ConfigError: the kernel would be wrong, or the budget is too small.
    """
    recording = record(network, request.of, request.x, counted)
    if recording.others and request.unreachable == "refuse":
        raise ConfigError(
            f"network: hooks cannot reach the parameters {', '.join(recording.others)}; use "
            "unreachable='jacobian' for their Jacobian row by row, or leave them out with "
            "parameters="
        )
    N, K = recording.outputs.shape
    shape = {"traced": (N, N), "full": (N * K, N * K), "diagonal": (N, K)}[what]
    names = [*(unit.name for unit in recording.units), *recording.others]
    totals = {
        name if request.by_layer else "": recording.outputs.new_zeros(shape, dtype=torch.float64)
        for name in (names or [""])
    }
    {"traced": _traced, "full": _full, "diagonal": _diagonal}[what](recording, request, totals)
    if what == "full":
        totals = {
            name: total.view(N, K, N, K).permute(1, 0, 3, 2).contiguous()
            for name, total in totals.items()
        }
    return {name: total.mT if what == "diagonal" else total for name, total in totals.items()}


def sweeps(recording: Recording, share: int) -> Iterator[tuple[slice, OfCall]]:
    """Yield some outputs after another, with the function that returns the signals of a call.

    There is one backward sweep for each output. The signals have the shape (N, k, C, P) for the k
    outputs of a step; they are overwritten in the next.

    Args:
        recording: the forward pass.
        share: bytes for signals.

    Raises:
        ConfigError: the signals of one output do not fit.
    """
    calls = list(dict.fromkeys(call for unit in recording.units for call in unit.calls))
    if not calls:
        return
    outputs = recording.outputs
    (N, K), item = outputs.shape, outputs.element_size()
    per_output = item * sum(call.output.numel() for call in calls)
    # a sweep makes as many numbers again, and about as many on its way
    joined = item * max(
        sum(call.output.numel() for call in unit.calls) if len(unit.calls) > 1 else 0
        for unit in recording.units
    )
    fitting(share, 3 * per_output + joined, K, "a backward sweep for one output")
    count = fitting(share - 2 * per_output, per_output + joined, K, "one output")
    kept = {call: call.output.new_empty(N, count, *call.size[1:]) for call in calls}
    nodes = [call.output for call in calls]
    for part in pieces(K, count):
        for place, k in enumerate(range(part.start, part.stop)):
            found = torch.autograd.grad(
                outputs[:, k].sum(), nodes, retain_graph=k + 1 < K, allow_unused=True
            )
            for call, signal in zip(calls, found, strict=True):
                if signal is None:
                    kept[call][:, place] = 0
                else:
                    kept[call][:, place] = by_channel(call.module, signal)
        yield part, lambda call, width=part.stop - part.start: kept[call][:, :width]


def _traced(recording: Recording, request: Request, totals: dict[str, Tensor]) -> None:
    half = request.budget // 2
    for _, of_call in sweeps(recording, half):
        for unit in recording.units:
            total = _total(totals, unit.name)
            if unit.kind == "product":
                add_traced(total, unit, unit.signals(of_call), half)
            else:
                add_gram(total, unit.rows(of_call).flatten(1))
    for name, _, rows in _other_rows(recording, request, half):
        add_gram(_total(totals, name), rows.flatten(1))


def _diagonal(recording: Recording, request: Request, totals: dict[str, Tensor]) -> None:
    half = request.budget // 2
    for part, of_call in sweeps(recording, half):
        for unit in recording.units:
            total = _total(totals, unit.name)[:, part]
            if unit.kind == "product":
                add_diagonal(total, unit, unit.signals(of_call), half)
            else:
                total += unit.rows(of_call).square().sum(-1)
    for name, part, rows in _other_rows(recording, request, half):
        _total(totals, name)[:, part] += rows.square().sum(-1)


def _full(recording: Recording, request: Request, totals: dict[str, Tensor]) -> None:
    quarter = request.budget // 4
    stores = _stores(recording, 2 * quarter)
    for part, of_call in sweeps(recording, quarter):
        for store in stores:
            store.put(part, of_call, quarter)
    while stores:  # each is freed after its use
        store = stores.pop()
        store.add_to(_total(totals, store.unit.name))
    K = recording.outputs.shape[1]
    for name, part, rows in _other_rows(recording, request, 2 * quarter):
        if part != slice(0, K):
            raise ConfigError(
                f"budget: the gradients of all outputs by {name!r} need more than half of "
                f"{megabytes(request.budget)}; raise budget"
            )
        add_gram(_total(totals, name), rows.flatten(0, 1))


def _stores(recording: Recording, share: int) -> list[Store]:
    """Choose an order for each unit: the cheapest ones that fit into the share of the budget.

    Raises:
        ConfigError: even the smallest ones do not fit.
    """
    outputs = recording.outputs
    K, item = outputs.shape[1], outputs.element_size()
    plans = [full_plans(unit, K) for unit in recording.units]
    chosen = [other is not None and other[0] < first[0] for first, other in plans]

    def kept(at: int, structured: bool) -> int:
        return item * plans[at][structured][1]

    needed = sum(kept(at, structured) for at, structured in enumerate(chosen))
    swaps = [
        (kept(at, structured) - kept(at, not structured), at)
        for at, structured in enumerate(chosen)
        if plans[at][1] is not None
    ]
    for saved, at in sorted(swaps, reverse=True):
        if needed > share and saved > 0:
            chosen[at] = not chosen[at]
            needed -= saved
    if needed > share:
        raise ConfigError(
            f"budget: the full kernel keeps {megabytes(needed)}, half of the budget is "
            f"{megabytes(share)}; raise budget to {megabytes(2 * needed)}, or use the traced kernel"
        )
    return [
        Store(unit, K, structured, outputs.detach())
        for unit, structured in zip(recording.units, chosen, strict=True)
    ]


def _other_rows(
    recording: Recording, request: Request, share: int
) -> Iterator[tuple[str, slice, Tensor]]:
    """Yield the names, outputs and Jacobians (N, k, size) of parameters that hooks do not reach."""
    if not recording.others:
        return
    N, K = recording.outputs.shape
    size = sum(p.numel() * p.element_size() for p in recording.others.values())
    what = f"the Jacobian of one output by {', '.join(recording.others)}"
    for part in pieces(K, fitting(share, N * size, K, what)):
        found = by_autograd.rows(request.of, request.x, list(recording.others.values()), part)
        for name, rows in zip(recording.others, found, strict=True):
            yield name, part, rows


def _total(totals: dict[str, Tensor], name: str) -> Tensor:
    return totals[name] if name in totals else totals[""]


def units_of(network: nn.Module, request: Request, counted: dict[str, nn.Parameter]) -> list[Unit]:
    """Return the units of parameters that the hooks reach, for benchmarks and tests."""
    return list(record(network, request.of, request.x, counted).units)
