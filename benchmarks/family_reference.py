"""What all public functions must return for a network, from a plain loop with autograd."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from finitewidth.kernels.trained.units import module_of

Inputs = Tensor | dict[str, Tensor]
NOISE = 0.05  # deviation of what is added to each parameter


def shaken(network: nn.Module) -> nn.Module:
    """Add noise to all parameters and to running statistics.

    Many layers start at zero or one, and parts of a kernel are zero there.
    """
    stream = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(NOISE * torch.randn(parameter.shape, generator=stream))
        for module in network.modules():
            if isinstance(module, _BatchNorm):
                size = module.running_mean.shape
                module.running_mean.add_(NOISE * torch.randn(size, generator=stream))
                module.running_var.mul_(0.5 + torch.rand(size, generator=stream))
    return network


def in_double(network: nn.Module) -> nn.Module:
    """Convert a model to float64, in which grouped products of experts do not work."""
    for module in network.modules():
        if hasattr(getattr(module, "config", None), "_experts_implementation"):
            module.config._experts_implementation = "eager"
    return network.double()


def rows_of(x: Inputs, rows: list[int] | slice) -> Inputs:
    return x[rows] if isinstance(x, Tensor) else {name: each[rows] for name, each in x.items()}


def count(x: Inputs) -> int:
    return len(x) if isinstance(x, Tensor) else len(next(iter(x.values())))


def converted(x: Inputs, dtype: torch.dtype) -> Inputs:
    """Convert real numbers; words stay integers."""
    if isinstance(x, Tensor):
        return x.to(dtype) if x.is_floating_point() else x
    return {name: converted(each, dtype) for name, each in x.items()}


def called(function: Callable[..., Tensor], x: Inputs) -> Tensor:
    return function(x) if isinstance(x, Tensor) else function(**x)


def jacobian(
    network: nn.Module, function: Callable[..., Tensor], x: Inputs
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the outputs (N, K) and their derivatives (N, K, size) by each parameter.

    One output of one input after another is sent back. Each input stands in a batch of two, because
    torch's gradient of a single one is wrong for batch norms of two axes in eval mode whose output
    is read as tokens.
    """
    parameters = {name: p for name, p in network.named_parameters() if p.requires_grad}
    N = count(x)
    values = []
    rows = []
    for at in range(N):
        outputs = called(function, rows_of(x, [at, (at + 1) % N]))[0]
        values.append(outputs.detach())
        rows.append([_gradient(output, parameters) for output in outputs])
    by_name = {}
    for name in parameters:
        by_input = []  # N of (K, size)
        for row in rows:
            by_input.append(torch.stack([gradients[name] for gradients in row]))
        by_name[name] = torch.stack(by_input)
    return torch.stack(values), by_name


def _gradient(output: Tensor, parameters: dict[str, nn.Parameter]) -> dict[str, Tensor]:
    found = torch.autograd.grad(
        output, list(parameters.values()), retain_graph=True, materialize_grads=True
    )
    pairs = zip(parameters, found, strict=True)
    return {name: gradient.to_dense().flatten().double() for name, gradient in pairs}


@dataclass(frozen=True)
class Reference:
    """What the public functions must return, in float64.

    Attributes:
        outputs: of the network, (N, K).
        by_name: the derivatives (N, K, size) by each parameter.
    """

    outputs: Tensor
    by_name: dict[str, Tensor]

    @cached_property
    def full(self) -> Tensor:
        """The full kernel, (K, N, K, N)."""
        return sum(_full(rows) for rows in self.by_name.values())

    @property
    def traced(self) -> Tensor:
        """The traced kernel, (N, N)."""
        return torch.einsum("kikj->ij", self.full)

    @property
    def diagonal(self) -> Tensor:
        """The diagonal of the full kernel, (K, N)."""
        return torch.einsum("kiki->ki", self.full)

    @property
    def norms(self) -> Tensor:
        """The norms over inputs for all pairs of outputs, (K, K)."""
        return torch.einsum("kisj,kisj->ks", self.full, self.full).sqrt()

    @property
    def largest(self) -> Tensor:
        """The largest eigenvalue of the full kernel."""
        size = self.outputs.numel()
        return torch.linalg.eigvalsh(self.full.reshape(size, size))[-1]

    @property
    def terms(self) -> dict[str, Tensor]:
        """The traced kernel of each module; modules of which nothing arrives are left out."""
        terms: dict[str, Tensor] = {}
        for name, rows in self.by_name.items():
            part = torch.einsum("iks,jks->ij", rows, rows)
            module = module_of(name)
            terms[module] = terms[module] + part if module in terms else part
        return {module: part for module, part in terms.items() if part.any()}

    @property
    def ridge(self) -> float:
        """A ridge as large as the mean of the diagonal, so that rounding does not grow."""
        return float(self.diagonal.mean())

    def predicted(self, targets: np.ndarray, train: slice, test: slice) -> np.ndarray:
        """Return the predictions of the linearised network, trained to the end with the ridge."""
        K = self.outputs.shape[1]
        full = self.full.numpy()
        outputs = self.outputs.double().numpy()
        inner = full[:, train][..., train]
        across = full[:, test][..., train]
        residual = (targets - outputs[train]).T.reshape(-1)  # (output, input), as the kernel
        theta = inner.reshape(len(residual), len(residual)) + self.ridge * np.eye(len(residual))
        change = across.reshape(-1, len(residual)) @ np.linalg.solve(theta, residual)
        return outputs[test] + change.reshape(K, -1).T


def _full(rows: Tensor) -> Tensor:
    N, K = rows.shape[:2]
    flat = rows.transpose(0, 1).flatten(0, 1)  # (K N, size)
    return (flat @ flat.mT).view(K, N, K, N)


def reference_of(
    network: nn.Module,
    of: Callable[[nn.Module], Callable[..., Tensor] | None],
    x: Inputs,
    change: Callable[[nn.Module], None] | None = None,
) -> Reference:
    """Compute a reference with a copy of a network in float64, after a change of it."""
    network = in_double(copy.deepcopy(network))
    if change:
        change(network)
    return Reference(*jacobian(network, of(network) or network, converted(x, torch.float64)))
