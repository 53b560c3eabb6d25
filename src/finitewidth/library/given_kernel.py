"""Kernels that were computed before, given in place of inputs."""

import torch
from torch import Tensor

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.library.fixed_kernel import At
from finitewidth.library.targets import as_array

SYMMETRIC = 1e-4  # largest difference from the transposed, beside the largest entry


def refuse_unused(names: list[str]) -> None:
    """Refuse arguments that are for kernels of networks.

    Raises:
        ConfigError: ``names`` has one.
    """
    if names:
        raise ConfigError(
            f"{', '.join(names)}: not used with kind='precomputed', where the kernel is given; "
            "leave it out"
        )


def check_symmetric(kernel: Tensor) -> None:
    """Check a kernel of the training inputs.

    Raises:
        ConfigError: it is not square, or not symmetric.
    """
    if kernel.shape != (len(kernel), len(kernel)):
        raise ConfigError(f"X: shape {tuple(kernel.shape)} must be (N, N), a kernel of N inputs")
    apart = (kernel - kernel.mT).abs().amax()
    if apart > SYMMETRIC * kernel.abs().amax():
        raise ConfigError(
            "X: with kind='precomputed' it must be the kernel of the training inputs, but it is "
            "not symmetric"
        )


def at_given(block: Tensor, return_std: bool, prior_variance: Array | None) -> At:
    """Return what predictions at N' inputs need.

    Args:
        block: the kernel between them and the training inputs, (N', N).
        return_std: whether deviations are wanted.
        prior_variance: the kernel of each input with itself, (N',).

    Raises:
        ConfigError: variances are wanted and missing, or out of range.
    """
    if not return_std:
        return At(len(block), block, 0.0, None)
    if prior_variance is None:
        raise ConfigError(
            "prior_variance: with kind='precomputed', return_std needs the kernel of each "
            "input with itself, (N',)"
        )
    variances = torch.as_tensor(as_array(prior_variance)).to(block)
    if variances.shape != (len(block),) or not bool((variances >= 0).all()):
        raise ConfigError(
            f"prior_variance: shape {tuple(variances.shape)} must be ({len(block)},), of "
            "numbers >= 0"
        )
    return At(len(block), block, 0.0, variances)
