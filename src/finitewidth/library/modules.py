"""Tangent kernels of the user's own torch module: between sets of inputs, by layer, by label."""

from typing import Any, Unpack

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels import trained
from finitewidth.kernels.trained import Options, full_kernel
from finitewidth.measures.blocks import alignment

LARGEST = 2**30  # bytes: 11,585 inputs with a traced kernel
KINDS = ("traced", "full")


def kernel_diagonal(network: nn.Module, x: Tensor, **options: Unpack[Options]) -> Tensor:
    """Compute |grad f_k(x_i)|^2, float64, (K, N); see `finitewidth.kernels.trained.diagonal`.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> fw.kernel_diagonal(torch.nn.Linear(2, 1), torch.eye(2))
        tensor([[2., 2.]], dtype=torch.float64)
    """
    return trained.diagonal(network, x, **options)


def kernel_terms(network: nn.Module, x: Tensor, **options: Any) -> dict[str, Tensor]:
    """Compute the layers' parts of a kernel; see `finitewidth.kernels.trained.terms`.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> network = Sequential(Linear(2, 8), ReLU(), Linear(8, 1))
        >>> list(fw.kernel_terms(network, torch.eye(2)))
        ['0', '2']
    """
    return trained.terms(network, x, **options)


def label_alignment(kernel: Any, labels: Any) -> Any:
    """Return the cosine between a kernel and the kernel of equal labels.

    See `finitewidth.measures.blocks.alignment`.

    Examples:
        >>> import numpy as np
        >>> import finitewidth as fw
        >>> float(fw.label_alignment(np.ones((2, 2)), [0, 0]))
        1.0
    """
    return alignment(kernel, labels)


def cross_kernel(
    network: nn.Module,
    x: Tensor,
    other: Tensor,
    *,
    kind: str = "traced",
    kernel_bytes: int = LARGEST,
    **options: Unpack[Options],
) -> Tensor:
    """Compute the tangent kernel between two sets of inputs, such as test and training inputs.

    The rows are computed in groups. For "full", and in the closed form of dense networks, the
    kernel of a group and of all columns is formed as a whole, of ``kernel_bytes`` bytes at most.

    Args:
        network: a torch module in eval mode; see `finitewidth.kernels.trained.traced_kernel`.
        x: inputs of the rows, (N, ...).
        other: inputs of the columns, (N', ...).
        kind: "traced" for the sum over outputs, "full" for all pairs of outputs.
        kernel_bytes: size of the kernel of one group of rows and all columns.
        **options: see `finitewidth.kernels.trained.Options`; ``budget`` is for temporary arrays.

    Returns:
        Float64, (N, N') or (K, N, K, N').

    Raises:
        ConfigError: an argument is out of range, or ``kernel_bytes`` does not hold one row.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> net = Sequential(Linear(5, 50), ReLU(), Linear(50, 3))
        >>> fw.cross_kernel(net, torch.randn(4, 5), torch.randn(7, 5)).shape
        torch.Size([4, 7])
    """
    if kind not in KINDS:
        raise ConfigError(f"kind: {kind!r} must be one of {', '.join(KINDS)}")
    if x.shape[1:] != other.shape[1:]:
        raise ConfigError(
            f"other: inputs of shape {tuple(other.shape[1:])} must be {tuple(x.shape[1:])}, as x"
        )
    outputs = 1 if kind == "traced" else _outputs(network, x, options)
    rows = _rows(len(other), outputs, kernel_bytes)
    parts = []
    for group in x.split(rows):
        if kind == "traced":
            parts.append(trained.traced_block(network, group, other, **options))
        else:
            both = full_kernel(network, torch.cat([group, other]), **options)
            parts.append(both[:, : len(group), :, len(group) :])
    return torch.cat(parts, dim=0 if kind == "traced" else 1)


def _outputs(network: nn.Module, x: Tensor, options: Options) -> int:
    with torch.no_grad():
        return (options.get("of") or network)(x[:1]).shape[1]


def _rows(columns: int, outputs: int, kernel_bytes: int) -> int:
    """The number of rows so that a kernel of rows and columns together has the given size."""
    whole = int((kernel_bytes / 8) ** 0.5 / outputs) - columns
    if whole < 1:
        raise ConfigError(
            f"kernel_bytes: {kernel_bytes} do not hold a kernel of {columns + 1} inputs; give at "
            f"least {8 * (outputs * (columns + 1)) ** 2}, or fewer inputs"
        )
    return whole
