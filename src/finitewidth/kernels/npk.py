"""The neural path kernel H = Sigma ⊙ Lambda (NPF Lemma 2.1), computed without listing paths.

Lambda is the product over layers of the numbers of shared active units (NPF Definition C.2). For
wide, deep networks it overflows float64. It is therefore kept as a logarithm until H is normalised.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from finitewidth.common.arrays import as_tensor
from finitewidth.common.errors import ConfigError, FinitewidthError
from finitewidth.common.shapes import Bool, Float, Shaped
from finitewidth.kernels.shapes import check_replicas


class SingularKernelError(FinitewidthError):
    """A kernel matrix cannot be normalised or inverted in float64."""


class NuValue(NamedTuple):
    """nu = yᵀ Ĥ⁻¹ y and the condition number of the inverted matrix.

    Attributes:
        nu: (...,) in float64.
        condition_number: (...,), largest over smallest eigenvalue of the matrix that was inverted.
        ridge: the number that was added to the diagonal of Ĥ.
    """

    nu: Float[Tensor, "*R"]
    condition_number: Float[Tensor, "*R"]
    ridge: float


def overlap(gates: Sequence[Tensor | ArrayLike]) -> Float[Tensor, "*R S S"]:
    """Return Lambda(s, s') = prod_l sum_i G_s(i,l) G_s'(i,l) (NPF Definition C.2).

    For hard gates, entries below 2⁵³ are exact.

    Args:
        gates: one tensor or array (..., S, width) per hidden layer, hard or soft.

    Returns:
        (..., S, S) in float64.

    Raises:
        ConfigError: there are no gates, a gate is negative or not finite, S differs between layers,
            or Lambda overflows float64.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> gates = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])  # 2 inputs, 3 units
        >>> fw.overlap([gates])
        tensor([[2., 1.],
                [1., 2.]], dtype=torch.float64)
    """
    product = torch.ones((), dtype=torch.float64)
    for shared in _shared_units(gates):
        # keeps zeros: infinity times zero would be nan
        product = torch.where((product == 0) | (shared == 0), 0.0, product * shared)
    if not torch.isfinite(product).all():
        raise ConfigError(
            "gates: the number of shared paths overflows float64; use npk with normalise='trace'"
        )
    return product


def npk(
    x: Tensor | ArrayLike,
    gates: Sequence[Tensor | ArrayLike],
    normalise: Literal["none", "trace"] = "none",
) -> Float[Tensor, "*R S S"]:
    """Compute the neural path kernel H = Sigma ⊙ Lambda (NPF Lemma 2.1).

    Args:
        x: inputs (S, n0) or (R, S, n0).
        gates: one tensor or array (..., S, width) per hidden layer.
        normalise: ``none`` for H, or ``trace`` for Ĥ = H / trace(H) (NPF section 6.2). Ĥ is finite
            even if H overflows.

    Returns:
        (..., S, S) in float64.

    Raises:
        ConfigError: an argument is refused, or H overflows float64 with ``none``.
        SingularKernelError: the trace is zero, so H cannot be normalised.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> gates = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
        >>> fw.npk(torch.ones(2, 1), [gates], normalise="trace")
        tensor([[0.5000, 0.2500],
                [0.2500, 0.5000]], dtype=torch.float64)
    """
    if normalise not in ("none", "trace"):
        raise ConfigError(f"normalise: {normalise!r} must be 'none' or 'trace'")
    gates = _checked(gates)
    gram = _input_gram(as_tensor(x, "x"), gates)
    if normalise == "none":
        return gram * overlap(gates)
    # logarithms of counts would sum to large numbers and lose digits, so ratios are used
    logarithms = [torch.log(_over_largest(shared)) for shared in _shared_units(gates)]
    log_counts = sum(logarithms, start=torch.zeros((), dtype=torch.float64))
    # by Cauchy-Schwarz the largest entry of Lambda is on its diagonal; if all are -inf, the
    # result is nan
    largest = log_counts.diagonal(dim1=-2, dim2=-1).amax(-1)[..., None, None]
    kernel = gram * torch.exp(log_counts - largest)
    total = trace(kernel)
    if not (total > 0).all():
        raise SingularKernelError(
            "the trace of the neural path kernel is zero, because no active path starts from a "
            "non-zero input; the network is dead on these inputs, remove them or use other gates"
        )
    return kernel / total[..., None, None]


def nu(y: Tensor | ArrayLike, H: Tensor | ArrayLike, ridge: float = 0.0) -> NuValue:
    """Compute nu = yᵀ Ĥ⁻¹ y with Ĥ = H / trace(H) (NPF section 6.2).

    The smaller nu is, the better the labels can be fitted with fixed gates.

    Args:
        y: labels (S,) or (..., S).
        H: positive definite kernels (..., S, S).
        ridge: a number that is added to the diagonal of Ĥ before the inversion.

    Raises:
        ConfigError: the shapes do not match, H is not symmetric or not finite, or ``ridge`` is
            negative.
        SingularKernelError: H is singular at the precision of float64.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> round(float(fw.nu(torch.tensor([1.0, -1.0]), torch.eye(2)).nu), 6)
        4.0
    """
    labels = as_tensor(y, "y").double()
    kernels = as_tensor(H, "H").double()
    _check_kernel(labels, kernels, ridge)
    total = trace(kernels)
    if not (total > 0).all():
        raise SingularKernelError(
            f"H: a matrix has trace {float(total.min()):g}; the trace must be positive"
        )
    size = kernels.shape[-1]
    ridged = kernels / total[..., None, None] + ridge * torch.eye(size).to(kernels)
    eigenvalues = torch.linalg.eigvalsh(ridged)
    smallest = eigenvalues[..., 0]
    largest = eigenvalues[..., -1]
    factor, failed = torch.linalg.cholesky_ex(ridged)
    singular = (smallest <= size * torch.finfo(torch.float64).eps * largest) | (failed > 0)
    if singular.any():
        raise SingularKernelError(_explain_singular(singular, smallest, largest, size))
    solution = torch.cholesky_solve(labels[..., None], factor)[..., 0]
    return NuValue((labels * solution).sum(-1), largest / smallest, ridge)


def _shared_units(gates: Sequence[Tensor | ArrayLike]) -> list[Float[Tensor, "... S S"]]:
    """Return tau_l(s, s') = sum_i G_s(i,l) G_s'(i,l) for each layer l (NPF Definition C.2)."""
    return [gate.double() @ gate.double().mT for gate in _checked(gates)]


def _checked(gates: Sequence[Tensor | ArrayLike]) -> list[Shaped[Tensor, "... S _"]]:
    """Return gates as tensors; refuse negative ones, and shapes that do not match."""
    tensors = [as_tensor(gate, f"gates[{layer}]") for layer, gate in enumerate(gates)]
    if not tensors:
        raise ConfigError("gates: the list is empty; it needs at least one hidden layer")
    for layer, gate in enumerate(tensors):
        if gate.dim() < 2 or gate.shape[-2] != tensors[0].shape[-2]:
            raise ConfigError(
                f"gates[{layer}]: shape {tuple(gate.shape)} must be (..., S, width) with the same "
                "S in each layer"
            )
        if not bool((torch.isfinite(gate) & (gate >= 0)).all()):
            raise ConfigError(
                f"gates[{layer}]: a gate is negative or not finite; all must be at least 0"
            )
    check_replicas("gates", [gate.shape[:-2] for gate in tensors])
    return tensors


def _over_largest(counts: Float[Tensor, "*R S S"]) -> Float[Tensor, "*R S S"]:
    """Return counts (..., S, S) over the largest of them; they stay 0 if all are 0."""
    largest = counts.amax((-2, -1), keepdim=True)
    return counts / torch.where(largest > 0, largest, 1.0)


def _input_gram(x: Tensor, gates: Sequence[Tensor]) -> Float[Tensor, "... S S"]:
    """Return Sigma, the Gram matrix of the inputs, (..., S, S)."""
    samples = gates[0].shape[-2]
    if x.dim() < 2 or x.shape[-2] != samples:
        raise ConfigError(
            f"x: shape {tuple(x.shape)} must be (..., {samples}, n0), with as many rows "
            "as the gates"
        )
    check_replicas("x", [x.shape[:-2], *(gate.shape[:-2] for gate in gates)])
    return x.double() @ x.double().mT


def trace(kernels: Float[Tensor, "*R S S"]) -> Float[Tensor, "*R"]:
    """Return the traces, (...,), of kernels (..., S, S)."""
    return kernels.diagonal(dim1=-2, dim2=-1).sum(-1)


def _check_kernel(labels: Tensor, kernels: Tensor, ridge: float) -> None:
    """Refuse arguments of `nu` whose shapes or numbers are not as it needs them."""
    shape = tuple(kernels.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ConfigError(f"H: shape {shape} must be (..., S, S)")
    if labels.shape[-1:] != kernels.shape[-1:]:
        raise ConfigError(
            f"y: shape {tuple(labels.shape)} must be (..., {shape[-1]}), as H is {shape}"
        )
    if not ridge >= 0:
        raise ConfigError(f"ridge: {ridge} must not be negative")
    if not torch.isfinite(kernels).all() or not torch.isfinite(labels).all():
        raise ConfigError("H, y: an entry is nan or infinite; all entries must be finite")
    asymmetry = (kernels - kernels.mT).abs().max()
    if asymmetry > 1e-8 * kernels.abs().max():
        raise ConfigError(
            "H: a matrix is not symmetric; its entries may differ from those of the "
            "transpose by at most 1e-8 of the largest"
        )


def _explain_singular(
    singular: Bool[Tensor, "*R"],
    smallest: Float[Tensor, "*R"],
    largest: Float[Tensor, "*R"],
    size: int,
) -> str:
    """Return the message for kernels of which some are singular."""
    worst = float((smallest / largest).min())
    subject = "H"
    if singular.dim():
        subject = f"{int(singular.sum())} of {singular.numel()} kernels"
    return (
        f"{subject} cannot be inverted: the smallest of {size} eigenvalues is {worst:.2g} "
        "times the largest, which is below the precision of float64; remove repeated or dead "
        "inputs, or set ridge"
    )
