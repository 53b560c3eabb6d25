"""Products of the full kernel of a torch module with vectors, without the kernel."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from finitewidth.kernels.trained import refusals


def module_times(
    network: nn.Module, of: Callable[[Tensor], Tensor], x: Tensor, counted: dict[str, nn.Parameter]
) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """Return the function v -> J J^T v, and the outputs (N, K).

    J^T v is a backward sweep. It is linear in v, so its derivative by v in the direction of the
    parameters J^T v is J J^T v: a second backward sweep through the first.

    Args:
        network: the network.
        of: the function x -> (N, K).
        x: inputs (N, ...).
        counted: the parameters of the kernel by name.

    Raises:
        ConfigError: the kernel would be wrong. The message says why.
    """
    refusals.check_modules(network)
    with torch.no_grad():
        alone = of(x[:1])
    # only the plain form of attention can be differentiated twice
    with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):
        outputs = of(x)
        refusals.check_outputs(outputs, len(x))
        refusals.check_single_input(alone, outputs)
        parameters = list(counted.values())
        vector = torch.zeros_like(outputs, requires_grad=True)
        backward = torch.autograd.grad(
            outputs, parameters, vector, create_graph=True, allow_unused=True
        )
        used = [gradient for gradient in backward if gradient is not None]

    def times(v: Tensor) -> Tensor:
        kept = [p for p, gradient in zip(parameters, backward, strict=True) if gradient is not None]
        tangent = torch.autograd.grad(outputs, kept, v[0], retain_graph=True)
        (product,) = torch.autograd.grad(used, vector, tangent, retain_graph=True)
        return product[None]

    return times, outputs.detach()
