"""Solutions of kernel regression, and the deviations of its predictions."""

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.library.fixed_kernel import At


def factor(theta: Tensor, ridge: float) -> Tensor:
    """Return the Cholesky factor of a kernel with a ridge.

    Raises:
        ConfigError: the sum is singular.
    """
    regular = theta.clone()
    regular.diagonal().add_(ridge)
    cholesky, info = torch.linalg.cholesky_ex(regular)
    if info.item():
        raise ConfigError(
            f"ridge = {ridge:g}: the kernel of {len(theta)} rows is singular; give a larger ridge"
        )
    return cholesky


def posterior_variances(at: At, cholesky: Tensor) -> Tensor:
    """Return the variances of a Gaussian process, given its values with noise at training inputs.

    Args:
        at: the kernel Theta at N' inputs.
        cholesky: the factor of Theta(X, X) + ridge, (N, N).

    Returns:
        Theta(x, x) - Theta(x, X) (Theta(X, X) + ridge)^-1 Theta(X, x), (N',).
    """
    assert at.variances is not None
    explained = torch.linalg.solve_triangular(cholesky, at.block.mT, upper=False)
    return (at.variances - explained.square().sum(0)).clamp_min(0)


def ensemble_variances(at: At, weights: Tensor, start_covariance: Tensor) -> Tensor:
    """Return the variances of predictions f_0(x) + A (y - f_0(X)) over Gaussian starts f_0.

    With the covariance K of the starts this is the diagonal of K(x, x) + A K(X, X) A^T
    - A K(X, x) - K(x, X) A^T (Lee et al. 2019, equation 15).

    Args:
        at: the covariances of the starts at N' inputs.
        weights: A transposed, (N, N').
        start_covariance: K(X, X), (N, N).

    Returns:
        (N',).
    """
    assert at.variances is not None
    assert at.start_block is not None
    across = at.start_block.mT  # K(X, x), (N, N')
    changes = (weights * (start_covariance @ weights - 2 * across)).sum(0)
    return (at.variances + changes).clamp_min(0)


def in_range(values: Tensor, name: str) -> Tensor:
    """Return values that are finite.

    Raises:
        ConfigError: some are not.
    """
    if not bool(values.isfinite().all()):
        raise ConfigError(
            f"{name}: some are not finite; scale the targets, the kernel or the outputs of the "
            "network"
        )
    return values
