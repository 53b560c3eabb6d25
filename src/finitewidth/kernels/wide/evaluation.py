"""Kernels of a `Field`, one tile of rows and columns after another.

An activation needs the variances of its argument for each input. They are computed first, for one
piece of the inputs after another. Tiles of the kernel then hold one covariance for each pair of
inputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

import torch
from torch import Tensor
from tqdm.auto import tqdm

from finitewidth.common.shapes import Float
from finitewidth.kernels.trained.budget import BudgetError, pieces
from finitewidth.kernels.wide.fields import Derived, Field, Inputs, Kernels, Variances
from finitewidth.kernels.wide.positions import equal_positions

ITEM = 8  # bytes of a number
TEMPORARY = 8  # arrays of the size of a covariance that one operation makes at once
CACHED = 2**16  # numbers of a covariance; operations on more of them wait for memory
BAR_AFTER = 1.0  # seconds

Law = Inputs | Derived
VariancesByField = dict[Field, Tensor]  # (N, *space) of each law that an activation needs


@dataclass(frozen=True)
class Program:
    """The laws that an output depends on, each after those that it follows from."""

    order: tuple[Law, ...]

    @property
    def output(self) -> Law:
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
    def positions(self) -> int:
        """The largest number of covariances of a pair of inputs."""
        largest = max(prod(field.space) for field in self.order)
        return largest**2 if self.pairs else largest

    @cached_property
    def unused(self) -> list[list[Field]]:
        """The laws that nothing needs after each step."""
        last_use: dict[Field, int] = {}
        for step, field in enumerate(self.order):
            last_use[field] = step
            for parent in field.parents:
                last_use[parent] = step
        unused: list[list[Field]] = [[] for _ in self.order]
        for field in self.order:
            unused[last_use[field]].append(field)
        return unused

    @cached_property
    def held(self) -> int:
        """The largest number of laws that are held at once."""
        count = 0
        largest = 0
        for unused in self.unused:
            count += 1
            largest = max(largest, count)
            count -= len(unused)
        return largest

    def bytes_per_pair(self, kernels: int) -> int:
        """Return the bytes of the arrays for a pair of inputs; 2 ``kernels`` are NTK and NNGP."""
        return ITEM * self.positions * (kernels * self.held + TEMPORARY)


def program_of(output: Field) -> Program:
    """Order the laws that an output depends on."""
    order: dict[Law, None] = {}  # a set that keeps its order
    waiting: list[Field] = [output]
    while waiting:
        field = waiting[-1]
        assert isinstance(field, Inputs | Derived)  # there are no other laws
        missing = [parent for parent in field.parents if parent not in order]
        if missing:
            waiting += missing
        else:
            order[field] = None
            waiting.pop()
    return Program(tuple(order))


def kernel_of(
    program: Program, same: bool, ntk: bool, budget: int, progress: bool
) -> Float[Tensor, "N M"]:
    """Compute the NTK or the NNGP of an output for all rows and columns.

    Args:
        program: the laws that the output depends on.
        same: whether rows and columns are the same inputs.
        ntk: whether to compute the NTK, and not the NNGP.
        budget: bytes for temporary arrays.
        progress: whether to show a bar if it takes more than `BAR_AFTER`.

    Returns:
        (N, M), float64, on the CPU.

    Raises:
        BudgetError: one pair of inputs does not fit into the budget.
    """
    per_pair = program.bytes_per_pair(2 if ntk else 1)
    if per_pair > budget:
        raise BudgetError("the kernel of two inputs", budget, per_pair, ", or use smaller inputs")
    inputs = next(field for field in program.order if isinstance(field, Inputs))
    N = len(inputs.rows)
    M = len(inputs.columns)
    row_variances = variances_of(program, N, "rows", budget)
    column_variances = row_variances if same else variances_of(program, M, "columns", budget)
    variances = (row_variances, column_variances)
    kernel = torch.empty(N, M, dtype=torch.float64)
    side = int((budget / per_pair) ** 0.5)
    if inputs.rows.device.type == "cpu":
        side = min(side, int((CACHED / program.positions) ** 0.5))
    tiles = list(_tiles(N, M, max(side, 1), same))
    bar = tqdm(tiles, desc="tiles", leave=False, delay=BAR_AFTER, disable=not progress)
    for rows, columns in bar:
        on_diagonal = same and rows == columns
        tile = _tile(program, rows, columns, variances, on_diagonal, ntk)
        part = tile.nngp if tile.ntk is None else tile.ntk
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


def variances_of(program: Program, count: int, axis: str, budget: int) -> VariancesByField:
    """Compute the variances that activations need.

    Args:
        program: the laws that the output depends on.
        count: number of inputs.
        axis: "rows" or "columns".
        budget: bytes for temporary arrays.
    """
    needed = {field.parents[0] for field in program.derived if field.needs_variances}
    variances = {field: torch.empty(count, *field.space, dtype=torch.float64) for field in needed}
    if not needed:
        return variances
    size = min(budget // program.bytes_per_pair(1), CACHED // program.positions)
    size = max(size, 1)
    for piece in pieces(count, size):
        held: dict[Field, Tensor] = {}
        for step, field in enumerate(program.order):
            held[field] = _self_covariance(field, held, piece, axis, program.pairs)
            if field in needed:
                variance = equal_positions(held[field], field.space, program.pairs)
                variances[field] = variances[field].to(variance.device)
                variances[field][piece] = variance.reshape(-1, *field.space)
            for unused in program.unused[step]:
                del held[unused]
    return variances


def _self_covariance(
    field: Law, held: dict[Field, Tensor], piece: slice, axis: str, pairs: bool
) -> Float[Tensor, "n *positions"]:
    """Return the covariance of each input of a piece with itself, (n, *positions)."""
    if isinstance(field, Inputs):
        x = getattr(field, axis)[piece]
        return field.self_covariance(x, pairs).reshape(len(x), *_positions(field, pairs))
    parents = [held[parent] for parent in field.parents]
    if not field.needs_variances:
        return field.self_covariance(parents, pairs, None)
    space = field.parents[0].space
    variance = equal_positions(parents[0], space, pairs).reshape(-1, *space)
    variances = Variances(*_by_position(variance, variance, pairs))
    return field.self_covariance(parents, pairs, variances)


def _positions(field: Field, pairs: bool) -> tuple[int, ...]:
    """Return the axes of positions of a covariance."""
    return field.space * 2 if pairs else field.space


def _tile(
    program: Program,
    rows: slice,
    columns: slice,
    variances: tuple[VariancesByField, VariancesByField],
    on_diagonal: bool,
    ntk: bool,
) -> Kernels:
    """Return both kernels of the output for a tile of rows and columns, (n, m)."""
    held: dict[Field, Kernels] = {}
    pairs = program.pairs
    for step, field in enumerate(program.order):
        if isinstance(field, Inputs):
            nngp = _products(field, rows, columns, pairs)
            held[field] = Kernels(nngp, torch.zeros_like(nngp) if ntk else None)
        else:
            tile_variances = None
            if field.needs_variances:
                (parent,) = field.parents
                first = variances[0][parent][rows]
                second = variances[1][parent][columns]
                if on_diagonal:
                    _set_variances(held[parent].nngp, first, pairs)
                first, second = _by_position(first, second, pairs)
                tile_variances = Variances(first[:, None], second[None])
            parents = [held[parent] for parent in field.parents]
            held[field] = field.kernels(parents, pairs, tile_variances)
        if field is not program.output:
            for unused in program.unused[step]:
                del held[unused]
    return held[program.output]


def _products(
    inputs: Inputs, rows: slice, columns: slice, pairs: bool
) -> Float[Tensor, "n m *positions"]:
    """Return the covariances of given inputs, (n, m, *positions)."""
    first = inputs.rows[rows]
    second = inputs.columns[columns]
    products = inputs.products(first, second, pairs)
    return products.reshape(len(first), len(second), *_positions(inputs, pairs))


def _by_position(
    first: Float[Tensor, "n *space"], second: Float[Tensor, "m *space"], pairs: bool
) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "m ..."]]:
    """Arrange variances (n, *space) as those of the first and of the second position.

    For pairs of positions they become (n, *space, *ones) and (n, *ones, *space).
    """
    if not pairs:
        return first, second
    space = first.shape[1:]
    ones = [1] * len(space)
    by_first = first.reshape(len(first), *space, *ones)
    by_second = second.reshape(len(second), *ones, *space)
    return by_first, by_second


def _set_variances(
    nngp: Float[Tensor, "n n *positions"], variances: Float[Tensor, "n *space"], pairs: bool
) -> None:
    """Write the exact variance of an input that is in rows and in columns.

    With a rounded one the correlation could be above 1.
    """
    equal = nngp.diagonal(dim1=0, dim2=1)  # (*positions, n)
    if pairs:
        for axes in range(variances.dim() - 1, 0, -1):
            equal = equal.diagonal(dim1=0, dim2=axes)  # the next axis of positions goes to the end
        equal.copy_(variances)
    else:
        equal.copy_(variances.movedim(0, -1))
