"""Kernels of torch modules from one forward pass and one backward sweep for each output."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import ceil, prod

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge
from torch.nn import functional

from finitewidth.kernels.trained import by_autograd, refusals
from finitewidth.kernels.trained.budget import (
    BudgetError,
    ShortageError,
    check_result,
    fitting,
    pieces,
    within_budget,
)
from finitewidth.kernels.trained.check import Check
from finitewidth.kernels.trained.columns import arranged, write_gradients
from finitewidth.kernels.trained.contractions import (
    SignalStore,
    add_diagonal,
    add_gram,
    add_products,
    add_squares,
    add_traced,
)
from finitewidth.kernels.trained.graph import FEWEST, backward, edge_shape
from finitewidth.kernels.trained.least import (
    element_size,
    full_block_bytes,
    least_budget,
    other_bytes,
    structured_units,
)
from finitewidth.kernels.trained.operations import Operation, Product, real, real_dtype
from finitewidth.kernels.trained.ranges import check_range
from finitewidth.kernels.trained.recording import Recording, Request, record
from finitewidth.kernels.trained.row_pieces import FormedStore, add_formed
from finitewidth.kernels.trained.units import OfOperation, ProductUnit, module_of

# adds its part of some inputs of the rows and of the columns to the full kernel
Adder = Callable[[Tensor, slice, slice, int], None]
FULL_BLOCKS = 4  # of inputs in the full kernel, so that little more than half of it is formed
FULL_ROWS = 200  # at least in a block, but in half of the kernel: products of few rows are slow
AT_ONCE = 2**27  # bytes of signals of all outputs up to which they are sent back at once


class GradientError(Exception):
    """Some gradients are not those of autograd; the argument is the names of the parameters."""


def module_terms(request: Request, what: str, *, grows: bool = False) -> dict[str, Tensor]:
    """Compute the parts of a kernel that belong to the modules of a network, in float64.

    They are traced (N, N), full (K, N, K, N), diagonal (K, N), and norms of all pairs of outputs
    (K, K). With ``rows`` in the request, traced and full ones are the blocks (r, N - r) and
    (K, r, K, N - r) of the first r inputs and the others.

    Gradients may disagree with those of autograd because inputs do not come first on an axis that
    holds positions, too. The order on such axes is then found out. Parameters that still disagree
    are left to autograd, with a warning.

    If the budget ``grows``, one that suffices takes its place where it is too small, see
    `within_budget`.

    Raises:
        ConfigError: the kernel would be wrong, or the budget is too small (`BudgetError`).
    """
    apart: frozenset[str] = frozenset()
    ordered = False
    vectorise = True
    while True:
        recording = record(request, apart, ordered=ordered)

        def terms(budget: int) -> dict[str, Tensor]:
            return _terms(recording, replace(request, budget=budget), what, vectorise)  # noqa: B023

        try:
            with torch.no_grad(), torch.autocast(request.x.device.type, enabled=False):
                if grows:
                    return within_budget(terms, request.x.device, None)
                return terms(request.budget)
        except GradientError as error:
            names = error.args[0]
        known = not recording.others.keys().isdisjoint(names)  # autograd has computed these
        if not known and not ordered and recording.graph and recording.graph.merged():
            ordered = True
            continue
        if not vectorise:
            raise refusals.not_apart(sorted(apart.union(names)))
        vectorise = not known
        apart = apart.union(names)
        warnings.warn(
            f"network: gradients by {', '.join(names)} do not agree with those of autograd; "
            "autograd computes them input by input instead",
            stacklevel=5,  # the line that calls the library
        )


def _terms(recording: Recording, request: Request, what: str, vectorise: bool) -> dict[str, Tensor]:
    N, K = recording.outputs.shape
    r = request.rows
    n, m = (N, N) if r is None else (r, N - r)  # inputs of rows and of columns
    shape = {"traced": (n, m), "full": (K, n, K, m), "diagonal": (N, K), "norms": (K, K)}[what]
    keys = _modules(recording) if request.by_layer else [""]
    check_result(shape, len(keys), recording.outputs.device)
    totals = {key: recording.outputs.new_zeros(shape, dtype=torch.float64) for key in keys}
    check = Check(recording)
    sweeps = Sweeps(recording, request, check, vectorise)
    try:
        if what in ("traced", "diagonal"):
            _sum_up(sweeps, totals, what == "diagonal")
        else:
            _form(sweeps, totals, what == "norms")
    except ShortageError as error:
        needed = least_budget(recording, *sweeps.step_bytes(), what)
        raise BudgetError(str(error), request.budget, needed, _remedy(request, what)) from None
    wrong = check.disagreements()
    if wrong:
        raise GradientError(wrong)
    trained = [p for p in request.network.parameters() if p.requires_grad]
    check_range(recording, totals, what, trained)
    given = len(request.x)
    if what == "diagonal":
        return {name: total[:given].mT for name, total in totals.items()}
    if given < N and what != "norms":
        return {name: _without_padding(total, what, r, given) for name, total in totals.items()}
    return totals


def _modules(recording: Recording) -> list[str]:
    """Return the modules of all parameters, each once, or [""] without parameters."""
    names: list[str] = []
    for unit in recording.units:
        names += map(module_of, unit.parameters)
    names += map(module_of, recording.others)
    return list(dict.fromkeys(names)) or [""]


def _without_padding(total: Tensor, what: str, rows: int | None, given: int) -> Tensor:
    """Return a copy of a traced or full kernel for the given inputs, without those that fill up.

    In a block, the inputs of the columns come last.
    """
    n, m = (given, given) if rows is None else (rows, given - rows)
    if what == "traced":
        return total[:n, :m].clone()
    return total[:, :n, :, :m].clone()


def sufficient_budget(request: Request, what: str) -> int:
    """Return a budget in bytes that suffices for a kernel, see `module_terms`."""
    recording = record(request)
    sweeps = Sweeps(recording, request, Check(recording), True)
    return least_budget(recording, *sweeps.step_bytes(), what)


def _remedy(request: Request, what: str) -> str:
    """Return what helps beside a larger budget, as an end of a message."""
    others = {"full": ["use the traced kernel"], "norms": []}.get(what, [])
    if len(request.x) > FEWEST:  # fewer are filled up
        others = ["use fewer inputs", *others]
    return "".join(f", or {other}" for other in others)


class Sweeps:
    """The backward sweeps of a forward pass, one for each output.

    ``vectorise`` tells whether `torch.func.vmap` may compute parameters without rules.
    """

    def __init__(
        self, recording: Recording, request: Request, check: Check, vectorise: bool
    ) -> None:
        self.recording = recording
        self.request = request
        self.check = check
        self.vectorise = vectorise

    def steps(self, share: int) -> Iterator[tuple[slice, OfOperation]]:
        """Yield some outputs after another, with the function that returns signals.

        The signals of an operation are (N, k, G c, P) for products and (N, k, size) else, for the k
        outputs of a step, in any order in memory; they are overwritten in the next.

        Raises:
            ShortageError: the signals of one output do not fit into ``share`` bytes.
        """
        if not self._operations:
            return
        K = self.recording.outputs.shape[1]
        fixed, per_output = self.step_bytes()
        what = "the backward sweep for one output"
        count = fitting(share, per_output, K, what, fixed=fixed)
        signals_are_small = K * (self._made + self._kept) <= AT_ONCE
        if signals_are_small and count == K:
            yield self._step_of_all_outputs()
        else:
            yield from self._steps_output_by_output(count)

    def _step_of_all_outputs(self) -> tuple[slice, OfOperation]:
        """Send all K outputs, and c of the check, back in one batch."""
        K = self.recording.outputs.shape[1]
        c = self.check.cotangents()  # (1, N, K), or (0, N, K)
        cotangents = torch.cat([self._one_each(slice(0, K)), c])
        signals = self._signals(cotangents, checked=len(c) > 0)
        self.check.add_signals(slice(0, len(cotangents)), signals)
        self.check.compare()
        return slice(0, K), lambda op: signals[op][:, :K]

    def _steps_output_by_output(self, count: int) -> Iterator[tuple[slice, OfOperation]]:
        """Send one output back after another, and yield the signals of ``count`` of them."""
        N, K = self.recording.outputs.shape
        self._add_signals_of_c()
        signals = {}
        for op in self._operations:
            shape = (N, count, *op.kept)
            dtype = real_dtype(op.edge.node)
            signals[op] = self.recording.outputs.new_empty(shape, dtype=dtype)
        for part in pieces(K, count):
            for k in range(part.start, part.stop):
                cotangent = self._one_each(slice(k, k + 1))  # (1, N, K)
                for op, of_one in self._signals(cotangent, checked=False).items():
                    signals[op][:, k - part.start].copy_(of_one[:, 0])
            width = part.stop - part.start  # the last step may have fewer outputs
            of_step = {op: of_outputs[:, :width] for op, of_outputs in signals.items()}
            self.check.add_signals(part, of_step)
            if part.stop == K:
                self.check.compare()
            yield part, partial(_of_first, signals, width)

    def _add_signals_of_c(self) -> None:
        """Send c of the check back alone, where it has one; it counts as output K."""
        K = self.recording.outputs.shape[1]
        c = self.check.cotangents()
        if len(c):
            self.check.add_signals(slice(K, K + 1), self._signals(c, checked=True))

    def step_bytes(self) -> tuple[int, int]:
        """Return the bytes that a sweep makes, and those that are kept for one output."""
        # signals of several operations on a weight are copied to stand side by side
        largest = 0
        for unit in self.recording.units:
            if len(unit.operations) > 1:
                largest = max(largest, sum(prod(op.kept) for op in unit.operations))
        side_by_side = self._item * len(self.recording.outputs) * largest
        of_check, of_check_per_output = self.check.kept_bytes()
        return self._made + of_check, self._kept + side_by_side + of_check_per_output

    @cached_property
    def _operations(self) -> list[Operation]:
        return [op for unit in self.recording.units for op in (*unit.operations, unit.bias) if op]

    @cached_property
    def _edges(self) -> list[GradientEdge]:
        return list(dict.fromkeys(op.edge for op in self._operations))

    @property
    def _item(self) -> int:
        return element_size(self.recording)

    @property
    def _made(self) -> int:
        """The bytes of the signals at all edges, and of as many numbers on the way."""
        N = len(self.recording.outputs)
        return 2 * self._item * N * sum(prod(edge_shape(edge)) // N for edge in self._edges)

    @property
    def _kept(self) -> int:
        """The bytes of the signals of one output that kernels are made of."""
        N = len(self.recording.outputs)
        return self._item * N * sum(prod(op.kept) for op in self._operations)

    def _one_each(self, part: slice) -> Tensor:
        """Return the cotangents (k, N, K) of some outputs; inputs that fill up have none."""
        outputs = self.recording.outputs
        N, K = outputs.shape
        k = part.stop - part.start
        given = len(self.request.x)
        one_each = torch.eye(K, dtype=outputs.dtype, device=outputs.device)[part]  # (k, K)
        of_inputs = one_each[:, None].expand(k, given, K)
        return functional.pad(of_inputs, (0, 0, 0, N - given))

    def _signals(self, cotangents: Tensor, checked: bool) -> dict[Operation, Tensor]:
        """Return the signals (N, k, ...) of all operations for cotangents (k, N, K).

        If ``checked``, the last cotangent is c.
        """
        outputs = self.recording.outputs
        edges = self._edges
        by_edge = dict(zip(edges, backward(outputs, edges, cotangents), strict=True))
        signals = {}
        for op in self._operations:
            g = by_edge[op.edge]
            if g is None:
                shape = (len(cotangents), len(outputs), *op.kept)
                rows = terms = outputs.new_zeros(shape, dtype=real_dtype(op.edge.node))
            elif isinstance(op, Product):
                rows = terms = op.signals(g)
            else:
                rows, terms = op.signals(g)
            if checked:
                self.check.expect(op, terms[-1])
            signals[op] = rows.transpose(0, 1)
        return signals

    def other_rows(
        self, share: int, outputs: slice | None = None
    ) -> Iterator[tuple[str, slice, Tensor]]:
        """Yield modules, outputs and Jacobians (N, k, size) of parameters without rules.

        All ``outputs`` at once if they are given, else as many as fit into the share of the budget.
        """
        others = self.recording.others
        if not others:
            return
        N, K = self.recording.outputs.shape
        given = len(self.request.x)
        of_rows, per_input = other_bytes(self.recording)
        if outputs:
            steps: Iterable[slice] = [outputs]
        else:
            what = f"the Jacobian of one output by {', '.join(others)}"
            steps = pieces(K, fitting(share, of_rows + per_input, K, what))
        for part in steps:
            k = part.stop - part.start
            left = share if outputs else share - k * of_rows
            at_once = min(left // (k * per_input), N) if self.vectorise else 0
            jacobians = by_autograd.rows(self.request, list(others), part, at_once)
            for name, rows in zip(others, jacobians, strict=True):
                rows = real(rows)
                if given < N:  # inputs that fill up have no gradient
                    rows = functional.pad(rows[:given], (0, 0, 0, 0, 0, N - given))
                self.check.add_rows(name, part, rows)
                yield module_of(name), part, rows


def _sum_up(sweeps: Sweeps, totals: dict[str, Tensor], diagonal: bool) -> None:
    """Add the diagonal, or else the traced kernel, of all units and outputs."""
    half = sweeps.request.budget // 2
    add_product, add_rows = (add_diagonal, add_squares) if diagonal else (add_traced, add_gram)
    for part, of_operation in sweeps.steps(half):
        at = (slice(None), part) if diagonal else ...
        for unit in sweeps.recording.units:
            if isinstance(unit, ProductUnit):
                total = _total(totals, unit.name)[at]
                add_product(total, unit, unit.signals(of_operation), half)
            else:
                by_parameter = {}
                for name in unit.parameters:
                    by_parameter[name] = _total(totals, module_of(name))[at]
                add_formed(by_parameter, unit, of_operation, half, diagonal=diagonal)
    for name, part, rows in sweeps.other_rows(half):
        at = (slice(None), part) if diagonal else ...
        add_rows(_total(totals, name)[at], rows)


def _form(sweeps: Sweeps, totals: dict[str, Tensor], norms: bool) -> None:
    """Form the full kernel, or its norms over inputs without keeping it."""
    adders, anew = _filled(sweeps)
    for name, total in totals.items():
        for block, part in _blocks(adders.pop(name, []), sweeps, anew):
            if norms:
                squares = part.square_().sum(0)  # (K, n, K)
                total += squares.sum(1)
                total += squares[:, len(part) :].sum(1).mT
            elif sweeps.request.rows is not None:
                total[:, block] = part.permute(1, 0, 3, 2)
            else:
                total[:, block, :, block.start :] = part.permute(1, 0, 3, 2)
                later = part[:, :, len(part) :]
                total[:, block.stop :, :, block] = later.permute(3, 2, 1, 0)
        if norms:
            total.sqrt_()


def _blocks(adders: Sequence[Adder], sweeps: Sweeps, anew: bool) -> Iterator[tuple[slice, Tensor]]:
    """Yield some inputs after another, with their part of the full kernel.

    The part belongs to these inputs and to all from the first of them on, (b, K, n, K). What is
    left out follows from symmetry. In a block of rows and columns all columns belong to it. Blocks
    are as large as they can be if gradients are formed ``anew`` for each.

    Raises:
        ShortageError: the part of one input does not fit.
    """
    N, K = sweeps.recording.outputs.shape
    share = sweeps.request.budget // 2
    rows = sweeps.request.rows
    count = N if rows is None else rows
    largest = count
    if rows is None and not anew:
        fewest = min(ceil(N / 2), ceil(FULL_ROWS / K))
        largest = max(ceil(N / FULL_BLOCKS), fewest)
    one = full_block_bytes(N - (rows or 0), K)
    what = "the full kernel of one input with all others"
    size = fitting(share // 2, one, min(largest, count), what)
    for block in pieces(count, size):
        columns = slice(block.start if rows is None else rows, N)
        shape = (block.stop - block.start, K, N - columns.start, K)
        part = sweeps.recording.outputs.new_zeros(shape, dtype=torch.float64)
        for add in adders:
            add(part, block, columns, share // 2)
        yield block, part


def _filled(sweeps: Sweeps) -> tuple[dict[str, list[Adder]], bool]:
    """Run all sweeps, and return by module what adds its parts to the full kernel.

    Of the structured units the signals are kept, of all others the gradients. Also return whether
    some gradients are formed anew for each block of the kernel.

    Raises:
        ShortageError: what is kept does not fit into half of the budget, or what is made on the way
            into a quarter.
    """
    quarter = sweeps.request.budget // 4
    by_layer = sweeps.request.by_layer
    outputs = real(sweeps.recording.outputs.detach())
    N, K = outputs.shape
    structured = structured_units(sweeps.recording, 2 * quarter, quarter)
    formed = [unit for unit in sweeps.recording.units if unit not in structured]
    stores: list[SignalStore | FormedStore] = []
    for unit in structured:
        if isinstance(unit, ProductUnit):
            stores.append(SignalStore(unit, K, outputs))
        else:
            stores.append(FormedStore(unit, K, outputs))
    columns, widths = arranged(formed, by_layer)
    rows = {module: outputs.new_empty(N, K, width) for module, width in widths.items()}
    for part, of_operation in sweeps.steps(quarter):
        for store in stores:
            store.put(part, of_operation)
        for unit in formed:
            write_gradients(rows, columns, unit, part, of_operation, quarter)

    adders: dict[str, list[Adder]] = defaultdict(list)
    for store in stores:
        if isinstance(store, SignalStore):
            adders[store.name if by_layer else ""].append(store.add_to)
            continue
        by_module: dict[str, set[str]] = defaultdict(set)
        for name in store.unit.parameters:
            by_module[module_of(name) if by_layer else ""].add(name)
        for module, names in by_module.items():
            adders[module].append(partial(store.add_to, frozenset(names)))
    for module, gradients in rows.items():
        adders[module].append(partial(add_products, gradients))
    for name, _, gradients in sweeps.other_rows(quarter, slice(0, K)):
        adders[name if by_layer else ""].append(partial(add_products, gradients))
    return adders, any(isinstance(store, FormedStore) for store in stores)


def _of_first(signals: Mapping[Operation, Tensor], count: int, op: Operation) -> Tensor:
    """Return the signals of an operation for the first outputs of a step."""
    return signals[op][:, :count]


def _total(totals: dict[str, Tensor], name: str) -> Tensor:
    return totals[name] if name in totals else totals[""]
