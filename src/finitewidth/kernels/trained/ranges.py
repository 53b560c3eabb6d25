"""Kernels that leave the range of the type in which they are computed: they are refused.

Gradients of float32 are multiplied in float32, whose smallest number is about 1e-38 and whose
largest is about 3e38: products of gradients of 1e-20 vanish, and those of 1e20 overflow.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor
from torch.linalg import vector_norm

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained.graph import rows_of
from finitewidth.kernels.trained.recording import Recording, Reference
from finitewidth.kernels.trained.units import module_of

# the smallest norm of a gradient by the parameters of a part, for types in which it is squared
SMALLEST = {torch.float64: 1e-70, torch.float32: 1e-15}


def length_of(tensor: Tensor) -> float:
    """Return the norm of a tensor, also where squares of its elements leave their range."""
    length = float(vector_norm(tensor, dtype=torch.float64))
    if 0 < length < torch.inf or not tensor.numel():
        return length
    largest = float(tensor.abs().amax())
    if not 0 < largest < torch.inf:
        return length
    return largest * float(vector_norm(tensor / largest, dtype=torch.float64))


def check_range(
    recording: Recording, totals: Mapping[str, Tensor], what: str, trained: Sequence[Tensor]
) -> None:
    """Check that parts of a kernel are finite, and not smaller than gradients of autograd allow.

    For the gradient R of sum_ik c_ik f_k(x_i) over two inputs, |R|^2 <= |c|^2 times the sum of
    Theta_kk(i, i) over them, by the inequality of Cauchy and Schwarz.

    Args:
        recording: the forward pass, with the gradient R if it is compared.
        totals: parts of the kernel by name, as in `finitewidth.kernels.trained.sweeps`.
        what: "traced", "full", "diagonal" or "norms".
        trained: all trainable parameters of the network, also those that are not counted.

    Raises:
        ConfigError: an entry is not finite, or products of gradients vanish.
    """
    dtype = torch.promote_types(recording.outputs.dtype, torch.float32)
    inputs = len(recording.outputs)
    diagonals = {name: _diagonal(total, what, inputs) for name, total in totals.items()}
    check_finite(diagonals.values(), dtype)
    reference = recording.reference
    if reference is None:
        return
    lengths = _lengths(reference, totals)
    c = rows_of(reference.cotangent, reference.chosen)
    size = length_of(c)
    for name, length in lengths.items():
        vanishes = 0 < length / size < SMALLEST[dtype]
        too_small = _trace(diagonals[name], recording, reference, what) < (length / size) ** 2 / 2
        if vanishes or (too_small and not _is_rounding(length, recording, reference, trained)):
            raise _out_of_range("are too small", dtype)


def _is_rounding(
    length: float, recording: Recording, reference: Reference, trained: Sequence[Tensor]
) -> bool:
    """Tell whether a gradient is zero up to rounding, beside those by all parameters."""
    gradients = torch.autograd.grad(
        recording.outputs,
        trained,
        reference.cotangent,
        retain_graph=True,
        materialize_grads=True,
    )
    eps = torch.finfo(recording.dtype).eps
    return length <= eps**0.5 * max(map(length_of, gradients))


def check_finite(results: Iterable[Tensor], dtype: torch.dtype) -> None:
    """Check that the results of a computation in ``dtype`` are finite.

    Raises:
        ConfigError: one is not.
    """
    if not all(bool(result.sum().isfinite()) for result in results):
        raise _out_of_range("are too large", dtype)


def check_eigenvalue(value: Tensor) -> None:
    """Check that the largest eigenvalue of a kernel is in the range of its type.

    Raises:
        ConfigError: it is not.
    """
    check_finite([value], value.dtype)
    limits = torch.finfo(value.dtype)
    if bool((value > 0).logical_and(value < limits.tiny / limits.eps).any()):
        raise _out_of_range("are too small", value.dtype)


def _diagonal(total: Tensor, what: str, inputs: int) -> Tensor:
    """Return the entries beside which all others are small, (N,) or (K, N); all where it has none.

    By the inequality of Cauchy and Schwarz, a kernel is finite if its diagonal is. A block between
    rows and columns has no diagonal.
    """
    if what == "diagonal":
        return total.mT
    if what == "norms" or total.shape[-1] != inputs:
        return total
    if what == "traced":
        return total.diagonal()
    K, N = total.shape[:2]
    return total.reshape(K * N, K * N).diagonal().view(K, N)


def _trace(diagonal: Tensor, recording: Recording, reference: Reference, what: str) -> float:
    """Return a bound from above on the sum of Theta_kk(i, i) over outputs and two inputs."""
    if what == "norms":  # tr A <= N^1/2 |A|
        return float(diagonal.diagonal().sum()) * len(recording.outputs) ** 0.5
    if diagonal.shape[-1] != len(recording.outputs):  # a block between rows and columns
        return torch.inf
    first, second = reference.chosen
    return float(diagonal[..., first].sum() + diagonal[..., second].sum())


def _lengths(reference: Reference, totals: Mapping[str, Tensor]) -> dict[str, float]:
    """Return the norms of the gradients R by the parameters of each part."""
    lengths = dict.fromkeys(totals, 0.0)
    for name, gradient in reference.gradients.items():
        part = module_of(name) if module_of(name) in totals else ""
        lengths[part] = math.hypot(lengths[part], length_of(gradient))
    return lengths


def _out_of_range(problem: str, dtype: torch.dtype) -> ConfigError:
    kind = str(dtype).removeprefix("torch.")
    remedy = (
        "convert network and inputs to float64"
        if dtype != torch.float64
        else "scale inputs or outputs, such as with of=lambda x: network(x) * factor"
    )
    return ConfigError(
        f"network: products of its gradients {problem} for {kind}, in which they are computed; "
        f"{remedy}"
    )
