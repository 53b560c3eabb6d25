"""Laws of the tensors of a network of infinite width, as expressions over its inputs.

In the limit, the channels of a tensor are independent and have the same law. A `Field` stands for
what that law needs: for inputs i of the rows and j of the columns, and positions p and q,

    nngp    E h_p(x_i) h_q(x_j)                     ntk     <grad h_p(x_i), grad h_q(x_j)>

either for all pairs of positions, or for p = q alone, where no layer averages over positions.
`evaluation` computes them for one tile of rows and columns after another. The axes of positions of
a covariance are *space, or *space twice for all pairs of them, which is written *positions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from finitewidth.common.shapes import Float, Num
from finitewidth.kernels.wide.duals import Dual
from finitewidth.kernels.wide.law import LayerLaw
from finitewidth.kernels.wide.positions import (
    Average,
    Window,
    averaged,
    equal_positions,
    window_lengths,
    windowed,
)


class Kernels(NamedTuple):
    """Both kernels of a tile, (n, m, *positions)."""

    nngp: Float[Tensor, "n m *positions"]
    ntk: Float[Tensor, "n m *positions"] | None  # None if only the NNGP is computed


class Variances(NamedTuple):
    """Variances of the inputs of rows and columns, which broadcast to a covariance."""

    first: Tensor
    second: Tensor


@dataclass(frozen=True, eq=False)
class Field:
    """The law of one channel of a tensor.

    Attributes:
        space: the sizes of the axes of positions.
        parents: the laws that it follows from.
    """

    space: tuple[int, ...]
    parents: tuple["Field", ...]

    def times(self, factor: float) -> "Field":
        """Multiply both kernels by a number."""
        return Mapped(self.space, (self,), lambda k, pairs: k * factor)

    def scaled(self, factor: float) -> "Field":
        """Multiply the tensor by a number."""
        return self.times(factor**2)

    def plus(self, other: "Field") -> "Field":
        """Add an independent tensor."""
        return Sum(self.space, (self, other))

    def weighted(self, law: LayerLaw) -> "Field":
        """Apply random weights and biases to this mean over their fan-in."""
        return Weighted(self.space, (self,), law)

    def activated(self, dual: Dual) -> "Field":
        """Apply an elementwise activation to Gaussian channels."""
        return Activated(self.space, (self,), dual)

    def normalised(self, eps: float, scale: bool, shift: bool) -> "Field":
        """Divide Gaussian channels by their standard deviation, see `Normalised`."""
        return Normalised(self.space, (self,), eps, scale, shift)

    def averaged(self, average: Average) -> "Field":
        """Apply an average over positions; it maps (B, 1, *space) to (B, 1, *new space)."""
        space = self.space
        new_space = average(torch.zeros(1, 1, *space, dtype=torch.float64)).shape[2:]

        def change(k: Tensor, pairs: bool) -> Tensor:
            return averaged(k, average, space)

        return Mapped(tuple(new_space), (self,), change, averages=True)

    def over_positions(self) -> "Field":
        """Average over equal positions, as a dense layer does that takes all of them as inputs."""
        if not self.space:
            return self
        space = self.space

        def mean(k: Tensor, pairs: bool) -> Tensor:
            return equal_positions(k, space, pairs).mean(-1)

        return Mapped((), (self,), mean)

    def windowed(self, windows: Sequence[Window], circular: bool) -> "Field":
        """Average over the taps of a convolution, which shift both positions alike."""
        lengths = window_lengths(self.space, windows)

        def change(k: Tensor, pairs: bool) -> Tensor:
            return windowed(k, windows, lengths, circular, pairs)

        return Mapped(lengths, (self,), change)


@dataclass(frozen=True, eq=False)
class Inputs(Field):
    """Given inputs of rows (N, C, P) and of columns (M, C, P): products, averaged over channels."""

    rows: Num[Tensor, "N C P"]
    columns: Num[Tensor, "M C P"]

    def self_covariance(
        self, x: Float[Tensor, "n C P"], pairs: bool
    ) -> Float[Tensor, "n *positions"]:
        """Return the covariance of inputs (n, C, P) with themselves, (n, P), or (n, P, P)."""
        if pairs:
            return torch.einsum("ncp,ncq->npq", x, x) / x.shape[1]
        return x.square().mean(1)

    def products(
        self, first: Float[Tensor, "n C P"], second: Float[Tensor, "m C P"], pairs: bool
    ) -> Float[Tensor, "n m *positions"]:
        """Return the covariance of (n, C, P) and (m, C, P), (n, m, P), or (n, m, P, P)."""
        products = "ncp,mcq->nmpq" if pairs else "ncp,mcp->nmp"
        return torch.einsum(products, first, second) / first.shape[1]


class Derived(Field, ABC):
    """A law that follows from others.

    Attributes:
        needs_variances: whether it depends on the variances of its parent.
        averages: whether it needs all pairs of positions.
    """

    needs_variances = False
    averages = False

    @abstractmethod
    def self_covariance(
        self, parents: Sequence[Float[Tensor, "n ..."]], pairs: bool, variances: Variances | None
    ) -> Float[Tensor, "n *positions"]:
        """Return the covariance of each input with itself, (n, *positions), from those below."""

    @abstractmethod
    def kernels(
        self, parents: Sequence[Kernels], pairs: bool, variances: Variances | None
    ) -> Kernels:
        """Return both kernels of a tile from those of the parents."""


@dataclass(frozen=True, eq=False)
class Mapped(Derived):
    """A linear map of covariances, ``change(k, pairs)``, which acts on the axes of positions."""

    change: Callable[[Tensor, bool], Tensor]
    averages: bool = False

    def self_covariance(
        self, parents: Sequence[Float[Tensor, "n ..."]], pairs: bool, variances: Variances | None
    ) -> Float[Tensor, "n *positions"]:
        """Apply the map."""
        return self.change(parents[0], pairs)

    def kernels(
        self, parents: Sequence[Kernels], pairs: bool, variances: Variances | None
    ) -> Kernels:
        """Apply the map to both kernels."""
        (below,) = parents
        ntk = None if below.ntk is None else self.change(below.ntk, pairs)
        return Kernels(self.change(below.nngp, pairs), ntk)


@dataclass(frozen=True, eq=False)
class Weighted(Derived):
    """Random weights and biases after a mean over the fan-in.

    The covariance is sigma_w2 times the mean, plus sigma_b2. The NTK is gain times the mean, plus
    sigma_w2 times the NTK below, plus the part of the biases.
    """

    law: LayerLaw

    def self_covariance(
        self, parents: Sequence[Float[Tensor, "n ..."]], pairs: bool, variances: Variances | None
    ) -> Float[Tensor, "n *positions"]:
        """Return sigma_w2 K + sigma_b2."""
        return (parents[0] * self.law.sigma_w2).add_(self.law.sigma_b2)

    def kernels(
        self, parents: Sequence[Kernels], pairs: bool, variances: Variances | None
    ) -> Kernels:
        """Return the covariance, and gain K + sigma_w2 Theta + the part of the biases."""
        (mean,) = parents
        law = self.law
        nngp = (mean.nngp * law.sigma_w2).add_(law.sigma_b2)
        if mean.ntk is None:
            return Kernels(nngp, None)
        ntk = mean.nngp * law.gain
        ntk.add_(mean.ntk, alpha=law.sigma_w2)
        ntk.add_(law.bias_gain)
        return Kernels(nngp, ntk)


@dataclass(frozen=True, eq=False)
class Sum(Derived):
    """A sum of independent tensors."""

    def self_covariance(
        self, parents: Sequence[Float[Tensor, "n ..."]], pairs: bool, variances: Variances | None
    ) -> Float[Tensor, "n *positions"]:
        """Return the sum."""
        return parents[0] + parents[1]

    def kernels(
        self, parents: Sequence[Kernels], pairs: bool, variances: Variances | None
    ) -> Kernels:
        """Return the sums."""
        first, second = parents
        nngp = first.nngp + second.nngp
        if first.ntk is None or second.ntk is None:
            return Kernels(nngp, None)
        return Kernels(nngp, first.ntk + second.ntk)


@dataclass(frozen=True, eq=False)
class Activated(Derived):
    """An elementwise activation of Gaussian channels."""

    dual: Dual
    needs_variances = True

    def self_covariance(
        self, parents: Sequence[Float[Tensor, "n ..."]], pairs: bool, variances: Variances | None
    ) -> Float[Tensor, "n *positions"]:
        """Return E phi(u)^2, or E phi(u) phi(v) of two positions."""
        assert variances is not None  # this law needs them
        return self.dual.value(parents[0], *variances)

    def kernels(
        self, parents: Sequence[Kernels], pairs: bool, variances: Variances | None
    ) -> Kernels:
        """Return E phi(u) phi(v), and E phi'(u) phi'(v) times the NTK."""
        (below,) = parents
        assert variances is not None
        if below.ntk is None:
            return Kernels(self.dual.value(below.nngp, *variances), None)
        value, slope = self.dual.means(below.nngp, *variances)
        return Kernels(value, slope.mul_(below.ntk))


@dataclass(frozen=True, eq=False)
class Normalised(Derived):
    """Gaussian channels over their standard deviation, with eps added to the variance.

    Trained parameters of each channel add to the NTK: gamma = 1 the covariance, if ``scale``, and
    beta = 0 adds 1, if ``shift``.
    """

    eps: float
    scale: bool
    shift: bool
    needs_variances = True

    def self_covariance(
        self, parents: Sequence[Float[Tensor, "n ..."]], pairs: bool, variances: Variances | None
    ) -> Float[Tensor, "n *positions"]:
        """Return K / sqrt(a b)."""
        assert variances is not None  # this law needs them
        return parents[0] * self._inverse(variances)

    def kernels(
        self, parents: Sequence[Kernels], pairs: bool, variances: Variances | None
    ) -> Kernels:
        """Return K / sqrt(a b), and Theta / sqrt(a b) with the parts of gamma and beta."""
        (below,) = parents
        assert variances is not None
        inverse = self._inverse(variances)
        nngp = below.nngp * inverse
        if below.ntk is None:
            return Kernels(nngp, None)
        ntk = below.ntk * inverse
        ntk.add_(nngp, alpha=float(self.scale))
        ntk.add_(float(self.shift))
        return Kernels(nngp, ntk)

    def _inverse(self, variances: Variances) -> Tensor:
        """Return 1 / sqrt((a + eps) (b + eps))."""
        a = variances.first + self.eps
        b = variances.second + self.eps
        return (a * b).rsqrt_()


def input_field(x: Num[Tensor, "N ..."], other: Num[Tensor, "M ..."], channel: int) -> Inputs:
    """Return the law of inputs (N, ...) and (M, ...), whose channels lie on an axis."""
    rows = x.movedim(channel, 1).double()  # (N, C, *space)
    columns = other.movedim(channel, 1).double()
    channels = rows.shape[1]
    return Inputs(
        space=tuple(rows.shape[2:]),
        parents=(),
        rows=rows.reshape(len(rows), channels, -1),  # (N, C, P), P = 1 without axes of positions
        columns=columns.reshape(len(columns), channels, -1),
    )
