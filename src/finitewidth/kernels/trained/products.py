"""Products of the full kernel of a torch module with vectors, without the kernel."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import refusals
from finitewidth.kernels.trained.budget import megabytes
from finitewidth.kernels.trained.operations import real
from finitewidth.kernels.trained.recording import Pass, Request, checked_pass, gradients_on
from finitewidth.kernels.trained.sweeps import module_terms


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
            _check_together(request, run)
    outputs, parameters = run.outputs, list(run.counted.values())
    N, K = len(request.x), outputs.shape[1]
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
        if request.budget < 8 * (N * K) ** 2:
            raise ConfigError(
                "budget: the network cannot be differentiated twice, so that its kernel of "
                f"{megabytes(8 * (N * K) ** 2)} has to be formed; raise budget, or use fewer inputs"
            )
        theta = module_terms(request, "full")[""].permute(1, 0, 3, 2).reshape(N * K, N * K)
        like = like.double()
        return lambda v: (theta @ v.reshape(-1)).view_as(v), like
    return times, like


def _check_together(request: Request, run: Pass) -> None:
    """Check that gradients of some inputs in the batch are those of the same inputs alone."""
    x, parameters = request.padded(), list(run.counted.values())
    stream = torch.Generator().manual_seed(0)
    given, wanted = torch.zeros_like(run.outputs), [0.0] * len(parameters)
    for at in {0, len(x) // 2, len(x) - 1}:
        given[at] = torch.randn(given[at].shape, generator=stream).to(given)
        with gradients_on():
            alone = request.outputs(x[at : at + 1])
        gradients = _gradients(alone, parameters, given[at : at + 1])
        wanted = [total + part for total, part in zip(wanted, gradients, strict=True)]
    found = _gradients(run.outputs, parameters, given)
    eps = torch.finfo(run.dtype).eps
    for name, ours, right in zip(run.counted, found, wanted, strict=True):
        if torch.dist(ours, right) > eps**0.5 * torch.linalg.vector_norm(right):
            raise refusals.not_apart([name])


def _gradients(outputs: Tensor, parameters: list[Tensor], given: Tensor) -> list[Tensor]:
    """Return dense gradients by the parameters, zero where none arrives."""
    found = torch.autograd.grad(
        outputs, parameters, given, retain_graph=True, materialize_grads=True
    )
    return [gradient.to_dense() for gradient in found]


def _is_product(
    times: Callable[[Tensor], Tensor], outputs: Tensor, parameters: list[Tensor], like: Tensor
) -> bool:
    """Tell whether <v, J J^T v> = |J^T v|^2 for a random v; some operations stop gradients."""
    stream = torch.Generator().manual_seed(1)
    v = torch.randn(like.shape, generator=stream).to(like)
    given = torch.zeros_like(outputs)
    given[: len(v)] = v
    tangent = torch.autograd.grad(outputs, parameters, given, retain_graph=True)
    wanted = sum(t.to_dense().double().square().sum() for t in tangent)
    found = (given[: len(v)].double() * times(v[None])[0]).sum()
    return bool((found - wanted).abs() <= torch.finfo(outputs.dtype).eps ** 0.5 * wanted)
