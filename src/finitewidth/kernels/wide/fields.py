"""Covariances of one tensor of a network of infinite width, and the linear maps that act on them.

In the limit, the channels of a tensor are independent and have the same law. A `Field` holds what
that law needs: for inputs i of the rows and j of the columns, and positions p and q,

    nngp    E h_p(x_i) h_q(x_j)                     ntk     <grad h_p(x_i), grad h_q(x_j)>

either for all pairs of positions, or for p = q alone, where no layer averages over positions. The
same covariance of each input with itself gives the variances that activations need.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import torch
from torch import Tensor
from torch.nn import functional

from finitewidth.kernels.wide.duals import Dual

# a window of a convolution along each axis: size, stride, padding before, padding after, dilation
Window = tuple[int, int, int, int, int]


class NeedsPairsError(Exception):
    """A layer averages over positions, so that all pairs of positions are needed."""


@dataclass(frozen=True)
class Field:
    """The law of one channel of a tensor.

    Attributes:
        nngp: (N, M, *space) for p = q, or (N, M, *space, *space).
        ntk: the same.
        rows: the covariance of each input of the rows with itself, (N, *space[, *space]).
        columns: that of the columns, (M, *space[, *space]).
        space: the sizes of the axes of positions.
        pairs: whether all pairs of positions are held.
        same: whether the inputs of rows and columns are the same.
    """

    nngp: Tensor
    ntk: Tensor
    rows: Tensor
    columns: Tensor
    space: tuple[int, ...]
    pairs: bool
    same: bool

    def mapped(self, change: Callable[[Tensor], Tensor], space: Sequence[int]) -> "Field":
        """Apply a linear map of covariances to all of them; it acts on the axes of positions."""
        rows = change(self.rows)
        return replace(
            self,
            nngp=change(self.nngp),
            ntk=change(self.ntk),
            rows=rows,
            columns=rows if self.same else change(self.columns),
            space=tuple(space),
        ).tied()

    def tied(self) -> "Field":
        """Give an input in rows and columns exactly its variance; rounding would break |c| <= 1."""
        if self.same:
            self.nngp.diagonal().copy_(self.rows.movedim(0, -1))
        return self

    def scaled(self, factor: float) -> "Field":
        """Multiply the tensor by a number."""
        return self.mapped(lambda k: k * factor**2, self.space)

    def plus(self, other: "Field") -> "Field":
        """Add an independent tensor."""
        columns = self.columns + other.columns
        return replace(
            self,
            nngp=self.nngp + other.nngp,
            ntk=self.ntk + other.ntk,
            rows=columns if self.same else self.rows + other.rows,
            columns=columns,
        ).tied()

    def activated(self, dual: Dual) -> "Field":
        """Apply an elementwise activation to Gaussian channels."""
        first, second = self._variances(self.rows), self._variances(self.columns)
        a = self._as_first(first)[:, None]  # (N, 1, ...)
        b = self._as_second(second)[None]  # (1, M, ...)
        a, b = torch.broadcast_tensors(a, b)
        slope = dual.slope(self.nngp, a, b)

        def of_itself(own: Tensor, variance: Tensor) -> Tensor:
            pair = self._as_first(variance), self._as_second(variance)
            return dual.value(own, *torch.broadcast_tensors(*pair))

        rows = of_itself(self.rows, first)
        return replace(
            self,
            nngp=dual.value(self.nngp, a, b),
            ntk=self.ntk * slope,
            rows=rows,
            columns=rows if self.same else of_itself(self.columns, second),
        ).tied()

    def normalised(self, eps: float, scale: bool, shift: bool) -> "Field":
        """Divide Gaussian channels by their standard deviation.

        Trained parameters of each channel add to the NTK: gamma = 1 the covariance, if ``scale``,
        and beta = 0 adds 1, if ``shift``.
        """
        first, second = self._variances(self.rows) + eps, self._variances(self.columns) + eps
        a, b = self._as_first(first)[:, None], self._as_second(second)[None]
        inverse = (a * b).rsqrt()
        nngp = self.nngp * inverse
        own = float(scale) * nngp + float(shift)
        rows = self.rows * (self._as_first(first) * self._as_second(first)).rsqrt()
        columns = self.columns * (self._as_first(second) * self._as_second(second)).rsqrt()
        return replace(
            self,
            nngp=nngp,
            ntk=self.ntk * inverse + own,
            rows=rows,
            columns=rows if self.same else columns,
        ).tied()

    def averaged(self, average: Callable[[Tensor], Tensor]) -> "Field":
        """Apply an average over positions; it maps (B, 1, *space) to (B, 1, *new space).

        Raises:
            NeedsPairsError: only equal positions are held.
        """
        if not self.pairs:
            raise NeedsPairsError
        count = len(self.space)

        def change(k: Tensor) -> Tensor:
            leading = k.shape[: k.dim() - 2 * count]
            by_second = average(k.reshape(-1, 1, *self.space))[:, 0]
            new = by_second.shape[1:]
            k = by_second.reshape(-1, prod(self.space), prod(new)).mT
            by_first = average(k.reshape(-1, 1, *self.space))[:, 0]
            k = by_first.reshape(-1, prod(new), prod(new)).mT
            return k.reshape(*leading, *new, *new)

        probe = average(self.nngp.new_zeros(1, 1, *self.space))
        return self.mapped(change, probe.shape[2:])

    def over_positions(self) -> "Field":
        """Average over equal positions, as a dense layer does that reads all of them."""
        axes = len(self.space)
        if not axes:
            return self
        return replace(self.mapped(lambda k: self._equal(k).mean(-1), ()), pairs=self.pairs)

    def windowed(self, windows: Sequence[Window], circular: bool) -> "Field":
        """Average over the taps of a convolution, which shift both positions alike."""
        count = len(self.space)
        copies = 2 if self.pairs else 1
        sides = [side for *_, before, after, _ in reversed(windows) for side in (before, after)]
        lengths = []
        for size, (taps, stride, before, after, dilation) in zip(self.space, windows, strict=True):
            lengths.append((size + before + after - dilation * (taps - 1) - 1) // stride + 1)
        shifts = torch.cartesian_prod(*(torch.arange(w[0]) for w in windows)).view(-1, count)

        def change(k: Tensor) -> Tensor:
            leading = k.dim() - copies * count
            for copy in range(copies):
                k = _padded(k, leading + copy * count, sides, circular)
            total: Tensor | None = None
            for shift in shifts.tolist():
                part = k
                for at in range(copies * count):
                    _, stride, _, _, dilation = windows[at % count]
                    start = shift[at % count] * dilation
                    stop = start + stride * (lengths[at % count] - 1) + 1
                    axis = leading + at
                    part = part[(slice(None),) * axis + (slice(start, stop, stride),)]
                total = part.clone() if total is None else total.add_(part)
            return total / len(shifts)

        return self.mapped(change, lengths)

    def _equal(self, k: Tensor) -> Tensor:
        """Return a covariance at equal positions, (..., P)."""
        count = len(self.space)
        if not self.pairs:
            return k.flatten(k.dim() - count)
        positions = prod(self.space)
        leading = k.shape[: k.dim() - 2 * count]
        return k.reshape(*leading, positions, positions).diagonal(dim1=-2, dim2=-1)

    def _variances(self, own: Tensor) -> Tensor:
        """Return the variances of each input, (N, *space)."""
        return self._equal(own).reshape(len(own), *self.space) if self.space else own

    def _as_first(self, variance: Tensor) -> Tensor:
        """Arrange variances as those of the first position."""
        return variance.view(*variance.shape, *[1] * len(self.space)) if self.pairs else variance

    def _as_second(self, variance: Tensor) -> Tensor:
        """Arrange variances as those of the second position."""
        if not self.pairs:
            return variance
        return variance.view(len(variance), *[1] * len(self.space), *self.space)


def of_inputs(x: Tensor, other: Tensor, channel: int, pairs: bool, same: bool) -> Field:
    """Return the field of inputs (N, ...) and (M, ...): products, averaged over their channels."""
    first, second = (each.movedim(channel, 1).double() for each in (x, other))
    channels, space = first.shape[1], tuple(first.shape[2:])
    first = first.reshape(len(first), channels, -1)  # (N, C, P); without positions P = 1
    second = second.reshape(len(second), channels, -1)
    across, alone = ("ncp,mcq->nmpq", "ncp,ncq->npq") if pairs else ("ncp,mcp->nmp", "ncp,ncp->np")
    places = space * (2 if pairs else 1)
    nngp = torch.einsum(across, first, second).reshape(len(first), len(second), *places)
    rows = torch.einsum(alone, first, first).reshape(len(first), *places) / channels
    columns = torch.einsum(alone, second, second).reshape(len(second), *places) / channels
    nngp = nngp / channels
    ntk = torch.zeros_like(nngp)
    return Field(nngp, ntk, rows, rows if same else columns, space, pairs, same).tied()


def _padded(k: Tensor, start: int, sides: Sequence[int], circular: bool) -> Tensor:
    """Pad axes of a covariance from ``start`` on; ``sides`` are those of the last axis first."""
    if not any(sides):
        return k
    count = len(sides) // 2
    behind = k.dim() - start - count
    if not circular:
        return functional.pad(k, [0, 0] * behind + list(sides))
    for at in range(count):
        before, after = sides[2 * (count - 1 - at) :][:2]
        axis = start + at
        length = k.shape[axis]
        index = torch.arange(-before, length + after, device=k.device) % length
        k = k.index_select(axis, index)
    return k
