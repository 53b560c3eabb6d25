"""The kernel of the infinitely wide network with its training inputs, for regressions.

Networks at the start are a Gaussian process with mean 0, whose covariance is the NNGP kernel K, and
training acts by the NTK Theta. Both depend on the operations of the network, on the sizes of its
layers and on which parameters are frozen, but not on the values of its weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.batches import Batch, Inputs, as_batch, joined
from finitewidth.kernels.wide import wide_kernel
from finitewidth.kernels.wide.law import Variance
from finitewidth.library.fixed_kernel import At, FixedKernel
from finitewidth.library.snapshot import Snapshot

LimitKind = Literal["wide", "wide_nngp"]
# what `wide_kernel` calls the kernel of each kind of regression
LIMITS: dict[str, str] = {"wide": "ntk", "wide_nngp": "nngp"}
EPS = 1e-12  # errors of entries by quadrature, relative
CHANGED = 1e-6  # difference of a row, relative, from which on the network is another one
SQUARE = 16  # inputs whose kernel is computed for its diagonal


@dataclass(frozen=True)
class Law:
    """The random weights of the infinitely wide network; see `wide_kernel`."""

    sigma_w2: Variance | None = None
    sigma_b2: Variance = 0.0
    parametrisation: str = "ntk"

    def check_kind(self, kind: str) -> None:
        """Check that the law is given where it is needed, and only there.

        Raises:
            ConfigError: it is missing, or is not for this kind.
        """
        if kind in LIMITS:
            if self.sigma_w2 is None:
                raise ConfigError(
                    f"sigma_w2: kind={kind!r} needs the variance of the weights times their "
                    "fan-in: a number, one for each layer by name, or 'torch'"
                )
            return
        defaults = vars(Law())
        unused = [name for name, value in vars(self).items() if value != defaults[name]]
        if unused:
            raise ConfigError(
                f"{', '.join(unused)}: not used with kind={kind!r}, but with kind='wide'; leave it "
                "out"
            )


class LimitKernel:
    """The kernel of the infinitely wide network, with the interface of `FixedKernel`.

    Args:
        network: a torch module, as `wide_kernel` takes it.
        x: the training inputs.
        kind: "wide" for the NTK, or "wide_nngp" for the NNGP kernel.
        law: of the weights.
        budget: as for `wide_kernel`.

    Attributes:
        x: the training inputs.
        outputs: K, the number of outputs.
        eps: relative errors of the entries of the kernel.
    """

    eps = EPS

    def __init__(self, network: nn.Module, x: Batch, *, kind: LimitKind, law: Law, **budget: int):
        self.network = network
        self.kind = kind
        self.x = x.map(Tensor.clone)  # the caller may change them in place
        self._options = {**vars(law), **budget}
        for name in ("sigma_w2", "sigma_b2"):
            if isinstance(self._options[name], Mapping):
                self._options[name] = dict(self._options[name])
        self._snapshot = Snapshot(network)
        self._first_row = self._kernel(self.x[:1], self.x, LIMITS[kind])
        self.outputs = _output_count(network, self.x[:1])

    def matrix(self) -> Tensor:
        """Compute the kernel of the training inputs, (N, N)."""
        return self._kernel(self.x, None, LIMITS[self.kind])

    def start(self) -> float:
        """Return the mean of the networks at the start, which is 0."""
        return 0.0

    def at(self, x: Inputs, *, variances: bool = False) -> At:
        """Compute the kernel at inputs (N', ...), with the network as it was.

        Raises:
            ConfigError: the network cannot be as it was, because something else that it uses has
                changed; or see `wide_kernel`.
        """
        with self._snapshot.restored():
            batch = as_batch(self.network, x, "X")
            self.x.check_alike(batch, "X")
            # the first training input comes along, to see whether its row is what it was
            rows = self._kernel(joined([batch, self.x[:1]]), self.x, LIMITS[self.kind])
            self._check_unchanged(rows[-1:])
            starts_are_random = variances and self.kind == "wide"
            return At(
                count=len(batch),
                block=rows[:-1],
                start=0.0,
                variances=self._start_variances(batch) if variances else None,
                start_block=self._kernel(batch, self.x, "nngp") if starts_are_random else None,
            )

    @cached_property
    def start_covariance(self) -> Tensor:
        """The covariance K of the networks at the start, between training inputs, (N, N)."""
        with self._snapshot.restored():
            return self._kernel(self.x, None, "nngp")

    def _start_variances(self, batch: Batch) -> Tensor:
        """Return K of each input with itself, (N',)."""
        parts = [self._kernel(part, None, "nngp").diagonal() for part in batch.split(SQUARE)]
        return torch.cat(parts)

    def _kernel(self, x: Batch, other: Batch | None, kind: str) -> Tensor:
        columns = None if other is None else other.given()
        kernel = wide_kernel(self.network, x.given(), columns, kind=kind, **self._options)
        return kernel.to(self.x.device)

    def _check_unchanged(self, first_row: Tensor) -> None:
        """Check that the kernel of the first training input is what it was."""
        change = (first_row - self._first_row).norm()
        if not bool(change <= CHANGED * self._first_row.norm()):
            raise ConfigError(
                "network: its limit is not what it was; something else that it uses has changed, "
                "such as a function or a number outside its modules. Compute again with the "
                "network as it is now"
            )


def kernel_of(
    network: nn.Module,
    x: Batch,
    *,
    kind: Literal["traced", "full"] | LimitKind,
    from_network: bool,
    law: Law,
    options: Mapping[str, Any],
) -> FixedKernel | LimitKernel:
    """Return the kernel of a network, or of its limit of infinite width.

    Args:
        network: a torch module.
        x: the training inputs.
        kind: "traced", "full", "wide" or "wide_nngp".
        from_network: whether the start is the network.
        law: of the weights in the limit.
        options: those of `traced_kernel`, as far as they are given.

    Raises:
        ConfigError: an argument is not for this kind, or is missing.
    """
    law.check_kind(kind)
    if kind == "traced" or kind == "full":
        return FixedKernel(network, x, kind=kind, from_network=from_network, options=options)
    if from_network:
        raise ConfigError(
            f"from_network: not used with kind={kind!r}, where networks start from random weights; "
            "leave it out"
        )
    unused = [name for name in options if name != "budget"]
    if unused:
        remedy = "leave it out"
        if "parameters" in unused:
            remedy += "; requires_grad_(False) freezes parameters"
        raise ConfigError(f"{', '.join(unused)}: not used with kind={kind!r}; {remedy}")
    return LimitKernel(network, x, kind=kind, law=law, **options)


def _output_count(network: nn.Module, first: Batch) -> int:
    """Return the number of outputs of a network that has a limit, from its first input."""
    types = [p.dtype for p in network.parameters() if p.is_floating_point()]

    def as_parameters(x: Tensor) -> Tensor:
        return x.to(types[0]) if x.is_floating_point() else x

    with torch.no_grad():
        return first.map(as_parameters).passed_to(network).shape[-1]
