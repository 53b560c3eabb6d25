"""Kernels of a `Field` for some rows and columns after another.

An activation needs the variances of its argument for each input. They are computed first, for one
input after another; tiles of the kernel then hold one covariance of each pair of inputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from torch import Tensor
from tqdm.auto import tqdm

from finitewidth.kernels.trained.budget import BudgetError, pieces
from finitewidth.kernels.wide.fields import Derived, Field, Inputs, Kernels, Variances
from finitewidth.kernels.wide.positions import equal_positions

ITEM = 8  # bytes of a number
TEMPORARY = 8  # arrays of the size of a covariance that one operation makes at once
CACHED = 2**16  # numbers of a covariance; operations on more of them wait for memory
BAR_AFTER = 1.0  # seconds

OwnVariances = dict[Field, Tensor]  # (N, *space) of each law that an activation reads


@dataclass(frozen=True)
class Program:
    """The laws that an output depends on, each after those that it follows from."""

    order: tuple[Field, ...]

    @property
    def output(self) -> Field:
        """The law of the output."""
        return self.order[-1]

    @cached_property
    def derived(self) -> list[Derived]:
        """The laws that follow from others."""
        return [field for field in self.order if isinstance(field, Derived)]

    @cached_property
    def pairs(self) -> bool:
        """Whether all pairs of positions are needed."""
        return any(field.averages for field in self.derived)

    @cached_property
    def places(self) -> int:
        """The largest number of covariances of a pair of inputs."""
        return max(prod(field.space) for field in self.order) ** (2 if self.pairs else 1)

    @cached_property
    def unused(self) -> list[list[Field]]:
        """The laws that nothing needs after each step."""
        last: dict[Field, int] = {}
        for at, field in enumerate(self.order):
            last[field] = at
            last.update(dict.fromkeys(field.parents, at))
        return [[field for field in self.order if last[field] == at] for at in range(len(last))]

    @cached_property
    def kept(self) -> int:
        """The largest number of laws that are held at once."""
        count = largest = 0
        for unused in self.unused:
            count += 1
            largest = max(largest, count)
            count -= len(unused)
        return largest

    def bytes_of(self, kernels: int) -> int:
        """Return the bytes of the arrays of a pair of inputs, with so many kernels."""
        return ITEM * self.places * (kernels * self.kept + TEMPORARY)


def program_of(output: Field) -> Program:
    """Order the laws that an output depends on."""
    order: dict[Field, None] = {}
    waiting = [output]
    while waiting:
        field = waiting[-1]
        missing = [parent for parent in field.parents if parent not in order]
        waiting += missing
        if not missing:
            order.setdefault(waiting.pop())
    return Program(tuple(order))


def kernel_of(program: Program, same: bool, ntk: bool, budget: int, progress: bool) -> Tensor:
    """Compute the NTK or the NNGP of an output for all rows and columns.

    Args:
        program: of the output.
        same: whether rows and columns are the same inputs.
        ntk: whether the NTK is wanted, and not the NNGP.
        budget: bytes for temporary arrays.
        progress: whether a bar is shown, if it takes time.

    Returns:
        (N, M), float64, on the CPU.

    Raises:
        BudgetError: one pair of inputs does not fit into the budget.
    """
    of_pair = program.bytes_of(2 if ntk else 1)
    if of_pair > budget:
        raise BudgetError("the kernel of two inputs", budget, of_pair, ", or use smaller inputs")
    inputs = next(field for field in program.order if isinstance(field, Inputs))
    N, M = len(inputs.rows), len(inputs.columns)
    first = variances_of(program, N, "rows", budget)
    second = first if same else variances_of(program, M, "columns", budget)
    kernel = torch.empty(N, M, dtype=torch.float64)
    side = int((budget / of_pair) ** 0.5)
    if inputs.rows.device.type == "cpu":
        side = min(side, int((CACHED / program.places) ** 0.5))
    tiles = list(_tiles(N, M, max(side, 1), same))
    shown = tqdm(tiles, desc="tiles", leave=False, delay=BAR_AFTER, disable=not progress)
    for rows, columns in shown:
        on_diagonal = same and rows == columns
        tile = _tile(program, rows, columns, (first, second), on_diagonal, ntk)
        part = tile.ntk if ntk else tile.nngp
        if on_diagonal:  # both halves may differ by rounding
            part = part.triu() + part.triu(1).mT
        kernel[rows, columns] = part.cpu()
        if same and not on_diagonal:
            kernel[columns, rows] = part.mT.cpu()
    return kernel


def _tiles(N: int, M: int, side: int, same: bool) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns; of equal inputs those on and above the diagonal."""
    for rows in pieces(N, side):
        for columns in pieces(M, side):
            if not same or columns.start >= rows.start:
                yield rows, columns


def variances_of(program: Program, count: int, axis: str, budget: int) -> OwnVariances:
    """Compute the variances that activations need.

    Args:
        program: of the output.
        count: number of inputs.
        axis: "rows" or "columns".
        budget: bytes for temporary arrays.
    """
    read = {field.parents[0] for field in program.derived if field.reads_variances}
    variances = {field: torch.empty(count, *field.space, dtype=torch.float64) for field in read}
    if not read:
        return variances
    size = min(budget // program.bytes_of(1), CACHED // program.places)
    size = max(size, 1)
    for some in pieces(count, size):
        held: dict[Field, Tensor] = {}
        for at, field in enumerate(program.order):
            held[field] = _own(field, held, some, axis, program.pairs)
            if field in read:
                equal = equal_positions(held[field], field.space, program.pairs)
                variances[field] = variances[field].to(equal.device)
                variances[field][some] = equal.reshape(-1, *field.space)
            for each in program.unused[at]:
                del held[each]
    return variances


def _own(field: Field, held: dict[Field, Tensor], some: slice, axis: str, pairs: bool) -> Tensor:
    """Return the covariance of some inputs with themselves, (n, *places)."""
    if isinstance(field, Inputs):
        x = getattr(field, axis)[some]
        return field.own(x, pairs).reshape(len(x), *field.space * (2 if pairs else 1))
    parents = [held[parent] for parent in field.parents]
    if not field.reads_variances:
        return field.own(parents, pairs, None)
    space = field.parents[0].space
    variance = equal_positions(parents[0], space, pairs).reshape(-1, *space)
    both = Variances(*_as_places(variance, variance, pairs))
    return field.own(parents, pairs, both)


def _tile(
    program: Program,
    rows: slice,
    columns: slice,
    variances: tuple[OwnVariances, OwnVariances],
    on_diagonal: bool,
    ntk: bool,
) -> Kernels:
    """Return both kernels of the output for some rows and columns, (n, m)."""
    held: dict[Field, Kernels] = {}
    pairs = program.pairs
    for at, field in enumerate(program.order):
        if isinstance(field, Inputs):
            nngp = _products(field, rows, columns, pairs)
            held[field] = Kernels(nngp, torch.zeros_like(nngp) if ntk else None)
        else:
            both = None
            if field.reads_variances:
                (parent,) = field.parents
                first, second = variances[0][parent][rows], variances[1][parent][columns]
                if on_diagonal:
                    _tie(held[parent].nngp, first, pairs)
                first, second = _as_places(first, second, pairs)
                both = Variances(first[:, None], second[None])
            held[field] = field.kernels([held[parent] for parent in field.parents], pairs, both)
        if field is not program.output:
            for each in program.unused[at]:
                del held[each]
    return held[program.output]


def _products(inputs: Inputs, rows: slice, columns: slice, pairs: bool) -> Tensor:
    """Return the covariances of given inputs, (n, m, *places)."""
    first, second = inputs.rows[rows], inputs.columns[columns]
    products = inputs.products(first, second, pairs)
    return products.reshape(len(first), len(second), *inputs.space * (2 if pairs else 1))


def _as_places(first: Tensor, second: Tensor, pairs: bool) -> tuple[Tensor, Tensor]:
    """Arrange variances (n, *space) as those of the first and of the second position."""
    space = first.shape[1:]
    if not pairs:
        return first, second
    ones = [1] * len(space)
    return first.reshape(len(first), *space, *ones), second.reshape(len(second), *ones, *space)


def _tie(nngp: Tensor, variances: Tensor, pairs: bool) -> None:
    """Give an input in rows and columns exactly its variance; rounding would break |c| <= 1."""
    equal = nngp.diagonal(dim1=0, dim2=1)  # (*places, n)
    if pairs:
        for axes in range(variances.dim() - 1, 0, -1):
            equal = equal.diagonal(dim1=0, dim2=axes)  # the next axis of positions goes to the end
        equal.copy_(variances)
    else:
        equal.copy_(variances.movedim(0, -1))
