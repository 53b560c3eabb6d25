"""Gradients that have to be formed, in pieces of inputs, outputs and columns that fit.

Weights that are computed from parameters, such as by weight norm, and weights that are used in
several ways have gradients without a product form. Where the gradients of all inputs do not fit,
they are formed for some columns of the parameters after another, each time anew.
"""

from collections.abc import Iterator, Mapping

from torch import Tensor

from finitewidth.common.shapes import Float
from finitewidth.kernels.trained.budget import ShortageError, fitting, pieces
from finitewidth.kernels.trained.contractions import add_gram, add_squares
from finitewidth.kernels.trained.operations import Operation
from finitewidth.kernels.trained.units import OfOperation, RowUnit

PASSES = 32  # at most, in which the columns of gradients are formed

Columns = dict[str, slice]  # of some parameters


def formed_bytes(unit: RowUnit, samples: int, outputs: int, item: int) -> int:
    """Return bytes that suffice for `add_formed`, and for `FormedStore.add_to` with all outputs."""
    size = sum(unit.sizes.values())
    fewest = -(-size // PASSES)
    return 2 * item * max(unit.formed_size, samples * outputs * fewest)


def add_formed(
    totals: Mapping[str, Tensor],
    unit: RowUnit,
    of_operation: OfOperation,
    work: int,
    *,
    diagonal: bool,
) -> None:
    """Add the products of gradients by a unit to a traced kernel, or their squares (N, k).

    Args:
        totals: what is added to, by the names of the parameters of the unit.
        unit: the parameters.
        of_operation: returns the signals (N, k, ...) of an operation.
        work: bytes for temporary arrays.
        diagonal: whether squares are added, and not products.

    Raises:
        ShortageError: too few columns fit.
    """
    like = of_operation(unit.operations[0])
    N, k = like.shape[:2]
    item = like.element_size()
    at_once = _at_once(unit, work, N * k, item)
    if at_once == N * k:
        add = add_squares if diagonal else add_gram
        for name, rows in unit.rows(of_operation).items():
            add(totals[name], rows)
        return
    if diagonal:
        for inputs, outputs in _pairs(N, k, at_once):
            of_pairs = unit.rows(_of_outputs(of_operation, outputs), inputs)
            for name, rows in of_pairs.items():
                add_squares(totals[name][inputs, outputs], rows)
        return
    size = sum(unit.sizes.values())
    together = max(1, min(k, work // 2 // (item * N * size)))
    for outputs in pieces(k, together):
        of_some = _of_outputs(of_operation, outputs)
        count = outputs.stop - outputs.start
        for columns in _column_groups(unit, work // 2, item * N * count):
            gradients = _filled(unit, of_some, slice(0, N), count, columns, at_once)
            for name, rows in gradients.items():
                add_gram(totals[name], rows)


def put_formed(
    targets: Mapping[str, Float[Tensor, "N k _"]],
    unit: RowUnit,
    of_operation: OfOperation,
    work: int,
) -> None:
    """Write the gradients (N, k, size) by each parameter of a unit.

    Raises:
        ShortageError: the gradients of one input and output do not fit into ``work`` bytes.
    """
    like = of_operation(unit.operations[0])
    N, k = like.shape[:2]
    at_once = _at_once(unit, work, N * k, like.element_size())
    for inputs, outputs in _pairs(N, k, at_once):
        for name, rows in unit.rows(_of_outputs(of_operation, outputs), inputs).items():
            targets[name][inputs, outputs] = rows


class FormedStore:
    """Signals (N, K, ...) of a unit, of which gradients are formed once all outputs are known."""

    def __init__(self, unit: RowUnit, outputs: int, like: Tensor) -> None:
        self.unit = unit
        self.name = unit.name
        self.signals: dict[Operation, Tensor] = {}
        for op in unit.operations:
            self.signals[op] = like.new_empty(len(like), outputs, *op.kept)

    def put(self, part: slice, of_operation: OfOperation) -> None:
        """Keep the signals of some outputs; those of an operation are (N, k, ...)."""
        for op, signals in self.signals.items():
            signals[:, part] = of_operation(op)

    def add_to(
        self,
        names: frozenset[str],
        total: Float[Tensor, "b K n K"],
        block: slice,
        columns: slice,
        work: int,
    ) -> None:
        """Add the part of some parameters, see `contractions.SignalStore.add_to`."""
        unit = self.unit
        b, K, n, _ = total.shape
        item = next(iter(self.signals.values())).element_size()
        inside = block.start == columns.start  # the rows are the first of the columns
        at_once = _at_once(unit, work, (b + n) * K, item)
        per_column = item * K * (n if inside else n + b)
        for group in _column_groups(unit, work // 2, per_column):
            chosen = names & group.keys()
            if not chosen:
                continue
            right = _filled(unit, self.signals.__getitem__, columns, K, group, at_once)
            left = right
            if not inside:
                left = _filled(unit, self.signals.__getitem__, block, K, group, at_once)
            for name in chosen:
                of_rows = left[name][:b].flatten(0, 1)  # (b K, columns)
                of_columns = right[name].flatten(0, 1)  # (n K, columns)
                total += (of_rows @ of_columns.mT).view(total.shape)


def _at_once(unit: RowUnit, work: int, count: int, item: int) -> int:
    """Return how many pairs of an input and an output are formed at once, in half of the bytes."""
    what = f"the gradient of one output for one input by {', '.join(unit.parameters)}"
    return fitting(work // 2, item * unit.formed_size, count, what)


def _pairs(samples: int, outputs: int, at_once: int) -> Iterator[tuple[slice, slice]]:
    """Yield inputs and outputs, ``at_once`` pairs of them."""
    together = min(outputs, at_once)
    for inputs in pieces(samples, at_once // together):
        for part in pieces(outputs, together):
            yield inputs, part


def _column_groups(unit: RowUnit, share: int, per_column: int) -> list[Columns]:
    """Return columns of the parameters that fit together into ``share`` bytes.

    Raises:
        ShortageError: there would be more than `PASSES` groups of equal size.
    """
    size = sum(unit.sizes.values())
    width = share // per_column
    if width * PASSES < size:
        raise ShortageError(f"the gradients of one output by {', '.join(unit.parameters)}")
    groups: list[Columns] = [{}]
    left = width
    for name, count in unit.sizes.items():
        for part in pieces(count, width):
            taken = part.stop - part.start
            if taken > left:
                groups.append({})
                left = width
            groups[-1][name] = part
            left -= taken
    return groups


def _filled(
    unit: RowUnit,
    of_operation: OfOperation,
    inputs: slice,
    outputs: int,
    columns: Columns,
    at_once: int,
) -> dict[str, Float[Tensor, "n k _"]]:
    """Return some columns of the gradients of some inputs, (n, k, columns)."""
    like = of_operation(unit.operations[0])
    start, stop, _ = inputs.indices(len(like))
    gradients = {}
    for name, part in columns.items():
        gradients[name] = like.new_empty(stop - start, outputs, part.stop - part.start)
    for target, part_of_outputs in _pairs(stop - start, outputs, at_once):
        source = slice(start + target.start, start + target.stop)
        formed = unit.rows(_of_outputs(of_operation, part_of_outputs), source)
        for name, part in columns.items():
            gradients[name][target, part_of_outputs] = formed[name][..., part]
    return gradients


def _of_outputs(of_operation: OfOperation, outputs: slice) -> OfOperation:
    return lambda op: of_operation(op)[:, outputs]
