"""The kernel of a network with its training inputs, which later changes of the network leave alone.

Regression and the linearised network stand on it. The kernel is a matrix of rows and columns: with
"traced" one for each input, and all columns of the targets use it; with "full" one for each output
and input, and the targets are one column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import full_kernel, kernel_diagonal, traced_kernel
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch, joined
from finitewidth.kernels.trained.interface import module_outputs, output_count
from finitewidth.library.modules import cross_kernel
from finitewidth.library.snapshot import Snapshot


@dataclass(frozen=True)
class At:
    """A kernel and a network at some inputs.

    Attributes:
        count: N', the number of inputs.
        block: the kernel between these and the training inputs, (N', N) or (K N', K N).
        start: the outputs of the network (N', K), or 0.
        variances: the prior variance of each row, (N',) or (K N',): the kernel with itself, or that
            of random starts. None if not asked for.
        start_block: the covariance of random starts between these and the training inputs, (N', N);
            None if they are not random, or not asked for.
    """

    count: int
    block: Tensor
    start: Tensor | float
    variances: Tensor | None
    start_block: Tensor | None = None


class FixedKernel:
    """The kernel of a network as it is now, and what it starts from.

    Args:
        network: a torch module in eval mode.
        x: the training inputs.
        kind: "traced" for the mean over outputs of Theta_kk, "full" for all pairs of outputs.
        from_network: whether the start is the network, or 0.
        options: those of `traced_kernel`.

    Attributes:
        x: the training inputs.
        outputs: K, the number of outputs.
    """

    def __init__(
        self,
        network: nn.Module,
        x: Batch,
        *,
        kind: Literal["traced", "full"],
        from_network: bool,
        options: Mapping[str, Any],
    ):
        self.network = network
        self.kind = kind
        self.x = x.map(Tensor.clone)  # the caller may change them in place
        self.from_network = from_network
        self.options = dict(options)
        self.outputs = output_count(network, x, **self.options)
        self._snapshot = Snapshot(network)
        self._first_outputs = self._outputs(x[:1])
        self._first_rows: Tensor  # from `matrix`, which comes before `at`

    @property
    def eps(self) -> float:
        """Return the rounding unit of parameters and outputs, of the lowest precision."""
        types = {p.dtype for p in self.network.parameters() if p.is_floating_point()}
        types.add(self._first_outputs.dtype)
        return max(torch.finfo(dtype).eps for dtype in types)

    def matrix(self) -> Tensor:
        """Compute the kernel of the training inputs, (N, N) or (K N, K N)."""
        if self.kind == "traced":
            matrix = traced_kernel(self.network, self.x, **self.options) / self.outputs
        else:
            size = self.outputs * len(self.x)
            matrix = full_kernel(self.network, self.x, **self.options).reshape(size, size)
        self._first_rows = matrix[:: len(self.x)].clone()
        return matrix

    def start(self) -> Tensor | float:
        """Return the start at the training inputs, (N, K) or 0."""
        return self._start(self.x)

    def at(self, x: Inputs, *, variances: bool = False) -> At:
        """Compute kernel and start at inputs (N', ...), with the network as it was.

        Raises:
            ConfigError: the network cannot be as it was, because something else that it uses has
                changed; or see `traced_kernel`.
        """
        with self._snapshot.restored():
            batch = as_batch(self.network, x, "X")
            self.x.check_alike(batch, "X")
            # the first training input comes along, to see whether its rows are what they were
            rows = joined([batch, self.x[:1]])
            block = cross_kernel(self.network, rows, self.x, kind=self.kind, **self.options)
            if self.kind == "traced":
                block = block / self.outputs
            block = block.reshape(-1, len(rows), self._columns)  # (1 or K, N' + 1, columns)
            self._check_unchanged(block[:, -1])
            return At(
                count=len(batch),
                block=block[:, :-1].reshape(-1, self._columns),
                start=self._start(batch),
                variances=self._variances(batch) if variances else None,
            )

    @property
    def _columns(self) -> int:
        return len(self.x) if self.kind == "traced" else self.outputs * len(self.x)

    def _outputs(self, x: Batch) -> Tensor:
        return module_outputs(self.network, x, **self.options)

    def _start(self, x: Batch) -> Tensor | float:
        return self._outputs(x).double() if self.from_network else 0.0

    def _variances(self, x: Batch) -> Tensor:
        """The kernel of each input with itself, (N',) or (K N',)."""
        diagonal = kernel_diagonal(self.network, x, **self.options)  # (K, N')
        return diagonal.mean(0) if self.kind == "traced" else diagonal.flatten()

    def _check_unchanged(self, first_rows: Tensor) -> None:
        """Check that outputs and kernel of the first training input are what they were."""
        if not self.options.get("check", True):
            return
        tolerance = self.eps**0.5
        other_outputs = _differ(self._outputs(self.x[:1]), self._first_outputs, tolerance)
        if other_outputs or _differ(first_rows, self._first_rows, tolerance):
            raise ConfigError(
                "network: with the parameters and buffers that it had, it does not compute what it "
                "did; something else that it uses has changed, such as a tensor or a module that "
                "of= takes from elsewhere. Compute again with the network as it is now"
            )


def as_rows(values: Tensor, kind: str) -> Tensor:
    """Return values (N, C) in the order of the rows of a kernel: (C N, 1) if it is full."""
    return values.mT.reshape(-1, 1) if kind == "full" else values


def as_outputs(rows: Tensor, count: int, kind: str) -> Tensor:
    """Return values (N', C) from those in the order of the rows of a kernel, of N' inputs."""
    return rows.reshape(-1, count).mT if kind == "full" else rows


def _differ(now: Tensor, before: Tensor, tolerance: float) -> bool:
    """Whether two tensors differ by more than a relative tolerance, or in shape."""
    if now.shape != before.shape:
        return True
    distance = (now - before).double().norm()
    return not bool(distance <= tolerance * before.double().norm())
