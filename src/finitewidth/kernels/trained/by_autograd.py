"""Gradients of parameters that recorded calls do not account for, input by input."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def rows(
    of: Callable[[Tensor], Tensor], x: Tensor, parameters: Sequence[nn.Parameter], outputs: slice
) -> list[Tensor]:
    """Compute the Jacobian of some outputs by some parameters, one backward sweep a row.

    Args:
        of: the function x -> (N, K).
        x: inputs (N, ...).
        parameters: the parameters.
        outputs: the outputs, k of them.

    Returns:
        One tensor (N, k, size) for each parameter. It is zero where an output does not depend on
        the parameter.
    """
    count = outputs.stop - outputs.start
    jacobians = [p.new_zeros(len(x), count, p.numel()) for p in parameters]
    for sample in range(len(x)):
        with torch.enable_grad():
            answer = of(x[sample : sample + 1])[0, outputs]
        for k in range(count):
            gradients = torch.autograd.grad(
                answer[k], parameters, retain_graph=k + 1 < count, allow_unused=True
            )
            for jacobian, gradient in zip(jacobians, gradients, strict=True):
                if gradient is not None:
                    jacobian[sample, k] = gradient.flatten()
    return jacobians
