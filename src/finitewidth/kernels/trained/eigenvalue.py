"""The largest eigenvalue of symmetric positive semidefinite matrices that are given by products."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

SPACE = 24  # vectors that are kept; then the iteration starts again from the best one


@dataclass(frozen=True)
class Eigenpair:
    """Estimates for R matrices.

    Attributes:
        value: the largest eigenvalues, (R,) or ().
        vector: unit vectors, (R, S, K) or (S, K); pass them as ``start`` to the next call.
        residual: the norm of Theta v - value v, over value. An eigenvalue lies within this
            relative distance of value.
        products: number of products with the matrices.
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
    best = Eigenpair(
        start.new_zeros(R), _unit(start), torch.full_like(start[:, 0], torch.inf), products
    )
    active = torch.ones(R, dtype=torch.bool, device=start.device)
    used = 0
    while used < products and bool(active.any()):
        basis, alphas, betas = [best.vector], [], []
        while used < products and len(alphas) < SPACE and bool(active.any()):
            w, used = times(basis[-1]), used + 1
            alphas.append((w * basis[-1]).sum(-1))
            Q = torch.stack(basis, 1)
            for _ in range(2):
                w = w - (Q.mT @ (Q @ w[:, :, None]))[:, :, 0]
            betas.append(w.norm(dim=-1))
            best, active = _improved(best, active, Q, alphas, betas, tolerance)
            basis.append(_unit(w))
    return replace(best, products=used)


def _improved(
    best: Eigenpair,
    active: Tensor,
    Q: Tensor,
    alphas: list[Tensor],
    betas: list[Tensor],
    tolerance: float,
) -> tuple[Eigenpair, Tensor]:
    """Return the Ritz pairs of the active matrices, and which of them go on."""
    T = torch.diag_embed(torch.stack(alphas, -1))
    if len(betas) > 1:
        beside = torch.stack(betas[:-1], -1)
        T = T + torch.diag_embed(beside, 1) + torch.diag_embed(beside, -1)
    finite = T.isfinite().all(-1).all(-1) & betas[-1].isfinite()
    values, vectors = torch.linalg.eigh(T.where(finite[:, None, None], torch.zeros_like(T)))
    value, weights = values[:, -1], vectors[:, :, -1]
    error = betas[-1] * weights[:, -1].abs()
    residual = torch.where(value > 0, error / value, error)
    nan = torch.full_like(value, torch.nan)
    value, residual = value.where(finite, nan), residual.where(finite, nan)
    vector = _unit((Q * weights[:, :, None]).sum(1))
    best = Eigenpair(
        torch.where(active, value, best.value),
        torch.where(active[:, None] & finite[:, None], vector, best.vector),
        torch.where(active, residual, best.residual),
        best.products,
    )
    # beta = 0 in exact arithmetic means that the space is invariant; rounding remains
    return best, active & (residual > tolerance)


def _unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)
