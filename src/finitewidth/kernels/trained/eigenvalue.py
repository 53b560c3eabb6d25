"""The largest eigenvalue of kernels that are given by products, and these products of a module."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import hypot, log2

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.nn.attention import SDPBackend, sdpa_kernel

from finitewidth.kernels.trained import refusals
from finitewidth.kernels.trained.budget import BudgetError
from finitewidth.kernels.trained.check import differing
from finitewidth.kernels.trained.operations import real
from finitewidth.kernels.trained.ranges import length_of
from finitewidth.kernels.trained.recording import Pass, Request, checked_pass, gradients_on
from finitewidth.kernels.trained.sweeps import module_terms, sufficient_budget

SPACE = 24  # vectors that are kept; then the iteration starts again from the best one


@dataclass(frozen=True)
class Eigenpair:
    """Estimates for R matrices.

    Attributes:
        value: the largest eigenvalues, (R,) or ().
        vector: unit vectors, (R, S, K) or (S, K); pass them as ``start`` to the next call.
        residual: the norm of Theta v - value v, over value. An eigenvalue lies within this
            relative distance of value.
        products: number of products with the matrices; 0 if the kernel was formed.
    """

    value: Tensor
    vector: Tensor
    residual: Tensor
    products: int


def largest_eigenpair(
    times: Callable[[Tensor], Tensor], start: Tensor, products: int, tolerance: float
) -> Eigenpair:
    """Estimate the largest eigenvalues of R matrices from the products of a power iteration.

    The estimate is the largest Ritz value in the span of v, Theta v, Theta^2 v, .. (Lanczos, with
    full reorthogonalisation). It is at least as large as the Rayleigh quotient of power iteration
    after the same number of products, and at most the eigenvalue. It matters here because the K
    outputs of a wide network have almost equal largest eigenvalues, between which power iteration
    hardly moves. Each matrix stops for itself, at the relative residual ``tolerance``, so its
    result does not depend on the others. Vectors are (R, D); estimates are nan where a matrix is
    not finite.
    """
    R = len(start)
    infinite = torch.full_like(start[:, 0], torch.inf)
    best = Eigenpair(start.new_zeros(R), _unit(_in_range(start)[0]), infinite, products)
    active = torch.ones(R, dtype=torch.bool, device=start.device)
    used = 0
    factor = None
    while used < products and bool(active.any()):
        basis = [best.vector]  # (R, D) each
        alphas: list[Tensor] = []  # (R,) each, the diagonal of Q^T Theta Q
        betas: list[Tensor] = []  # (R,) each, the numbers beside it
        while used < products and len(alphas) < SPACE and bool(active.any()):
            w = times(basis[-1])
            used += 1
            if used == 1:
                w, factor = _in_range(w)
            elif factor is not None:
                w = w * factor
            alphas.append((w * basis[-1]).sum(-1))
            Q = torch.stack(basis, 1)  # (R, n, D)
            for _ in range(2):
                parallel = Q.mT @ (Q @ w[:, :, None])
                w = w - parallel[:, :, 0]
            betas.append(w.norm(dim=-1))
            best, active = _improved(best, active, Q, alphas, betas, tolerance)
            basis.append(_unit(w))
    value = best.value if factor is None else best.value / factor[:, 0]
    return replace(best, value=value, products=used)


def _in_range(vectors: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return vectors (R, D) whose squares do not overflow, and what they are multiplied by, (R, 1).

    The factors are powers of two, and None for vectors that are in the range already.
    """
    largest = vectors.abs().amax(dim=-1, keepdim=True)
    limits = torch.finfo(vectors.dtype)
    outside = (largest < limits.tiny**0.25) | (largest > limits.max**0.25)
    change = outside & (largest > 0) & largest.isfinite()
    if not bool(change.any()):
        return vectors, None
    most = round(-log2(limits.tiny))
    exponent = torch.frexp(largest).exponent.clamp(-most, most)
    one = torch.ones_like(largest)
    factor = torch.where(change, torch.ldexp(one, -exponent), one)
    return vectors * factor, factor


def _improved(
    best: Eigenpair,
    active: Tensor,
    Q: Tensor,
    alphas: list[Tensor],
    betas: list[Tensor],
    tolerance: float,
) -> tuple[Eigenpair, Tensor]:
    """Return the Ritz pairs of the active matrices, and which of them go on."""
    T = torch.diag_embed(torch.stack(alphas, -1))  # (R, n, n), tridiagonal
    if len(betas) > 1:
        beside = torch.stack(betas[:-1], -1)
        T = T + torch.diag_embed(beside, 1) + torch.diag_embed(beside, -1)
    finite = T.isfinite().all(-1).all(-1) & betas[-1].isfinite()
    values, vectors = torch.linalg.eigh(T.where(finite[:, None, None], torch.zeros_like(T)))
    value = values[:, -1]
    weights = vectors[:, :, -1]  # (R, n), of the vectors of the basis
    error = betas[-1] * weights[:, -1].abs()
    residual = torch.where(value > 0, error / value, error)
    nan = torch.full_like(value, torch.nan)
    value = value.where(finite, nan)
    residual = residual.where(finite, nan)
    vector = _unit((Q * weights[:, :, None]).sum(1))  # (R, D)
    moves = (active & finite)[:, None]
    best = Eigenpair(
        value=torch.where(active, value, best.value),
        vector=torch.where(moves, vector, best.vector),
        residual=torch.where(active, residual, best.residual),
        products=best.products,
    )
    # beta = 0 in exact arithmetic means that the space is invariant; rounding remains
    return best, active & (residual > tolerance)


def _unit(vectors: Tensor) -> Tensor:
    lengths = vectors.norm(dim=-1, keepdim=True)
    return vectors / lengths.clamp_min(torch.finfo(vectors.dtype).tiny)


def module_times(request: Request) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """Return the function v -> J J^T v, and the outputs (N, K).

    J^T v is a backward sweep. It is linear in v, so its derivative by v in the direction of the
    parameters J^T v is J J^T v: a second backward sweep through the first. Where an operation
    cannot be differentiated twice, the kernel is formed.

    Raises:
        ConfigError: the kernel would be wrong, or has to be formed and is larger than the budget.
    """
    # only the plain form of attention can be differentiated twice
    with sdpa_kernel(SDPBackend.MATH):
        run = checked_pass(request)
        if request.check:
            check_together(request, run)
    outputs = run.outputs
    parameters = list(run.counted.values())
    N = len(request.x)
    like = real(outputs.detach()[:N])
    try:
        with torch.enable_grad():
            vector = torch.zeros_like(outputs, requires_grad=True)
            backward = torch.autograd.grad(outputs, parameters, vector, create_graph=True)
            used = [gradient for gradient in backward if gradient.grad_fn is not None]

        def times(v: Tensor) -> Tensor:
            given = torch.zeros_like(outputs)
            given[:N] = v[0]
            tangent = torch.autograd.grad(outputs, parameters, given, retain_graph=True)
            kept = [t for t, g in zip(tangent, backward, strict=True) if g.grad_fn is not None]
            (product,) = torch.autograd.grad(used, vector, kept, retain_graph=True)
            return product[None, :N].to(like)

        differentiable = _is_product(times, outputs, parameters, like)
    except (RuntimeError, NotImplementedError):
        differentiable = False
    if not differentiable:
        return _times_of_formed(request, like)
    return times, like


def _times_of_formed(request: Request, like: Tensor) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """Return the same as `module_times`, with the kernel as a matrix."""
    N, K = like.shape
    whole = 8 * (N * K) ** 2
    if request.budget < whole:
        needed = max(whole, sufficient_budget(request, "full"))
        what = "the kernel, which is formed as the network cannot be differentiated twice,"
        remedy = ", or use fewer inputs" if N > 1 else ""
        raise BudgetError(what, request.budget, needed, remedy)
    theta = module_terms(request, "full")[""]  # (K, N, K, N)
    theta = theta.permute(1, 0, 3, 2).reshape(N * K, N * K)
    return lambda v: (theta @ v.reshape(-1)).view_as(v), like.double()


def check_together(request: Request, run: Pass) -> None:
    """Check that gradients of some inputs in the batch are those of the same inputs alone.

    An input alone is given twice, because torch's gradient of it can be wrong; see `by_autograd`.
    """
    x = request.padded()
    chosen = sorted({0, len(x) // 2, len(x) - 1})
    stream = torch.Generator().manual_seed(0)
    given = torch.zeros_like(run.outputs)
    given[chosen] = torch.randn(given[chosen].shape, generator=stream).to(given)

    def apart(parameters: Sequence[Tensor]) -> list[Tensor]:
        """Return the sums of the gradients of single inputs."""
        totals = [torch.zeros_like(parameter) for parameter in parameters]
        for at in chosen:
            with gradients_on():
                outputs = request.outputs(x[[at, at]])
            cotangent = torch.stack([given[at], torch.zeros_like(given[at])])
            gradients = _gradients(outputs, parameters, cotangent)
            totals = [total + part for total, part in zip(totals, gradients, strict=True)]
        return totals

    def largest() -> float:  # beside which a gradient that should be zero is small
        trained = [p for p in request.network.parameters() if p.requires_grad]
        return max(float(vector_norm(gradient)) for gradient in apart(trained))

    parameters = list(run.counted.values())
    together = _gradients(run.outputs, parameters, given)
    singly = apart(parameters)
    compared = {}
    for name, gradient, total in zip(run.counted, together, singly, strict=True):
        compared[name] = (gradient, total, largest)
    wrong = differing(compared, torch.finfo(run.dtype).eps)
    if wrong:
        raise refusals.not_apart(wrong)


def _gradients(outputs: Tensor, parameters: Sequence[Tensor], given: Tensor) -> list[Tensor]:
    """Return dense gradients by the parameters, zero where none arrives."""
    gradients = torch.autograd.grad(
        outputs, parameters, given, retain_graph=True, materialize_grads=True
    )
    return [gradient.to_dense() for gradient in gradients]


def _is_product(
    times: Callable[[Tensor], Tensor],
    outputs: Tensor,
    parameters: Sequence[Tensor],
    like: Tensor,
) -> bool:
    """Tell whether <v, J J^T v> = |J^T v|^2 for a random v; some operations stop gradients."""
    stream = torch.Generator().manual_seed(1)
    v = torch.randn(like.shape, generator=stream).to(like)
    given = torch.zeros_like(outputs)
    given[: len(v)] = v
    tangent = torch.autograd.grad(outputs, parameters, given, retain_graph=True)
    length = hypot(*(length_of(t.to_dense()) for t in tangent))
    square = length * length
    if length > 0 and square < torch.finfo(torch.float64).tiny:
        return False  # the square vanishes
    product = times(v[None])[0]
    inner = float((given[: len(v)].double() * product).sum())
    tolerance = torch.finfo(outputs.dtype).eps ** 0.5
    return abs(inner - square) <= tolerance * square
