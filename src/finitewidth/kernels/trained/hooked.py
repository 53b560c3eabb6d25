"""Kernels of torch modules from one forward pass and one backward sweep for each output."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import by_autograd
from finitewidth.kernels.trained.budget import fitting, megabytes, pieces
from finitewidth.kernels.trained.contractions import (
    GRAM_BLOCKS,
    GRAM_ROWS,
    Rows,
    Store,
    add_diagonal,
    add_gram,
    add_traced,
    full_plans,
    pairs_fit,
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
        what: "traced", "full", "diagonal" or "norms".

    Returns:
        For each module, and each parameter that hooks cannot reach, a float64 tensor: traced
        (N, N), full (K, N, K, N), diagonal (K, N), norms of all pairs of outputs (K, K).

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
    shape = {"traced": (N, N), "full": (K, N, K, N), "diagonal": (N, K), "norms": (K, K)}[what]
    names = [*(unit.name for unit in recording.units), *recording.others]
    totals = {
        name if request.by_layer else "": recording.outputs.new_zeros(shape, dtype=torch.float64)
        for name in (names or [""])
    }
    FORMS[what](recording, request, totals)
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
    stores = _filled(recording, request)
    for name, total in totals.items():
        for block, part in _blocks(stores.pop(name, []), recording, request.budget // 2):
            total[:, block, :, block.start :] = part.permute(1, 0, 3, 2)
            later = part[:, :, len(part) :]
            total[:, block.stop :, :, block] = later.permute(3, 2, 1, 0)


def _norms(recording: Recording, request: Request, totals: dict[str, Tensor]) -> None:
    stores = _filled(recording, request)
    for name, total in totals.items():
        for _, part in _blocks(stores.pop(name, []), recording, request.budget // 2):
            squares = part.square_().sum(0)  # (K, n, K)
            total += squares.sum(1)
            total += squares[:, len(part) :].sum(1).mT
        total.sqrt_()


def _blocks(
    stores: Sequence[Store | Rows], recording: Recording, share: int
) -> Iterator[tuple[slice, Tensor]]:
    """Yield some inputs after another, with their part of the full kernel.

    The part belongs to these inputs and to all from the first of them on, (b, K, n, K). What is
    left out follows from symmetry.

    Args:
        stores: what is kept of the parameters.
        recording: the forward pass.
        share: bytes for the part, and for what is made on the way.

    Raises:
        ConfigError: the part of one input does not fit.
    """
    N, K = recording.outputs.shape
    wanted = max(-(-N // GRAM_BLOCKS), -(-GRAM_ROWS // K))
    one = N * K**2 * 16  # the part, and products or squares
    size = fitting(share // 2, one, min(wanted, N), "the full kernel of one input with all others")
    for block in pieces(N, size):
        shape = (block.stop - block.start, K, N - block.start, K)
        part = recording.outputs.new_zeros(shape, dtype=torch.float64)
        for store in stores:
            store.add_to(part, block, share // 2)
        yield block, part


def _filled(recording: Recording, request: Request) -> dict[str, list[Store | Rows]]:
    """Run all sweeps, and return by name what is kept of the parameters."""
    quarter = request.budget // 4
    stores = _stores(recording, 2 * quarter, quarter)
    for part, of_call in sweeps(recording, quarter):
        for store in stores:
            store.put(part, of_call, quarter)
    everything = slice(0, recording.outputs.shape[1])
    for name, _, rows in _other_rows(recording, request, quarter, everything):
        stores.append(Rows(name, rows))
    grouped: dict[str, list[Store | Rows]] = {}
    for store in stores:
        grouped.setdefault(store.name if request.by_layer else "", []).append(store)
    return grouped


def _stores(recording: Recording, share: int, work: int) -> list[Store | Rows]:
    """Choose an order for each unit: the cheapest ones that fit into the share of the budget.

    Args:
        recording: the forward pass.
        share: bytes for everything that is kept.
        work: bytes for what is made on the way.

    Raises:
        ConfigError: even the smallest ones do not fit.
    """
    outputs = recording.outputs
    K, item = outputs.shape[1], outputs.element_size()
    plans = [_affordable(unit, K, item, work) for unit in recording.units]
    chosen = [other is not None and other[0] < first[0] for first, other in plans]

    def kept(at: int, structured: bool) -> int:
        return item * plans[at][structured][1]

    needed = sum(kept(at, structured) for at, structured in enumerate(chosen))
    needed += item * outputs.numel() * sum(p.numel() for p in recording.others.values())
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


def _affordable(
    unit: Unit, outputs: int, item: int, work: int
) -> tuple[tuple[float, int], tuple[float, int] | None]:
    """Return the plans of a unit, without the structured one if it has no space to work."""
    direct, structured = full_plans(unit, outputs)
    fits = structured is not None and pairs_fit(unit, outputs, item, work)
    return direct, structured if fits else None


def _other_rows(
    recording: Recording, request: Request, share: int, outputs: slice | None = None
) -> Iterator[tuple[str, slice, Tensor]]:
    """Yield the names, outputs and Jacobians (N, k, size) of parameters that hooks do not reach.

    All ``outputs`` at once if they are given, else as many as fit into the share of the budget.
    """
    if not recording.others:
        return
    N, K = recording.outputs.shape
    size = sum(p.numel() * p.element_size() for p in recording.others.values())
    what = f"the Jacobian of one output by {', '.join(recording.others)}"
    steps = [outputs] if outputs else pieces(K, fitting(share, N * size, K, what))
    for part in steps:
        found = by_autograd.rows(request.of, request.x, list(recording.others.values()), part)
        for name, rows in zip(recording.others, found, strict=True):
            yield name, part, rows


def _total(totals: dict[str, Tensor], name: str) -> Tensor:
    return totals[name] if name in totals else totals[""]


FORMS = {"traced": _traced, "full": _full, "diagonal": _diagonal, "norms": _norms}


def units_of(network: nn.Module, request: Request, counted: dict[str, nn.Parameter]) -> list[Unit]:
    """Return the units of parameters that the hooks reach, for benchmarks and tests."""
    return list(record(network, request.of, request.x, counted).units)
