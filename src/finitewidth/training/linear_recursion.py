"""Gradient descent with a constant tangent kernel: e_{t+1} = (I - a K) e_t.

In the basis of the kernel's eigenvectors every component shrinks by a constant factor. The cost is
therefore the same for any time, and rounding errors do not accumulate.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError


def error_ratios(
    eigenvalues: Tensor,
    eigenvectors: Tensor,
    errors: Tensor,
    *,
    step: Tensor,
    times: Sequence[int],
    loss_half: bool = True,
) -> Tensor:
    """Compute |e_t|^2 / |e_0|^2 under the linear recursion.

    Args:
        eigenvalues: of the kernels, (R, S).
        eigenvectors: in columns, (R, S, S), as returned by ``torch.linalg.eigh``.
        errors: e_0, outputs minus targets at the start, (R, S).
        step: step size a of each replica, (R,).
        times: numbers of steps, in any order.
        loss_half: True for the loss 1/2 sum e^2, False for sum e^2, which doubles a.

    Returns:
        (times, R), float64.

    Raises:
        ConfigError: the shapes do not match.
    """
    if eigenvectors.shape != (*errors.shape, errors.shape[-1]) or eigenvalues.shape != errors.shape:
        raise ConfigError(
            f"errors: shape {tuple(errors.shape)} does not fit eigenvectors of shape "
            f"{tuple(eigenvectors.shape)}"
        )
    energy = (eigenvectors.mT @ errors.double()[..., None])[..., 0] ** 2
    energy = energy / energy.sum(-1, keepdim=True)
    steepness = (1 if loss_half else 2) * step.double()[:, None]
    shrinking = (1 - steepness * eigenvalues) ** 2
    return torch.stack([(energy * shrinking**time).sum(-1) for time in times])
