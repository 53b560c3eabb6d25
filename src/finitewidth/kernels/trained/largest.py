"""The largest eigenvalue of the full kernel of a given network."""

from collections.abc import Callable
from functools import partial
from typing import Unpack

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import dense, formed
from finitewidth.kernels.trained.batches import Inputs, Network
from finitewidth.kernels.trained.eigenvalue import Eigenpair, largest_eigenpair, module_times
from finitewidth.kernels.trained.fully_connected import FullyConnected
from finitewidth.kernels.trained.interface import (
    ClosedForm,
    Options,
    closed_form,
    closed_terms,
    request_of,
    within_memory,
)
from finitewidth.kernels.trained.ranges import check_eigenvalue, check_finite
from finitewidth.kernels.trained.surroundings import unchanged_surroundings


@unchanged_surroundings()
def largest_eigenvalue(
    network: Network,
    x: Inputs,
    *,
    start: Tensor | None = None,
    products: int = 60,
    tolerance: float = 1e-6,
    per_input: bool = False,
    **options: Unpack[Options],
) -> Eigenpair:
    """Estimate the largest eigenvalue of the full (S K, S K) kernel without forming it.

    A product with the kernel takes one backward and one tangent pass. For modules, a kernel of at
    most 512 rows and 40 outputs is formed, as that costs less; its eigenvalue is then exact up to
    rounding. Gradient descent with the loss (1/2S) sum |f - y|^2 is stable near a minimum if its
    rate is below 2 / (eigenvalue / S).

    Args:
        network: see `traced_kernel`.
        x: see `traced_kernel`.
        start: vector of an earlier call, (R, S, K) or (S, K); drawn at random with a fixed seed by
            default. A good start saves most of the products.
        products: largest number of products.
        tolerance: relative residual at which the iteration ends. The relative error of the value is
            at most the residual if another eigenvalue is not larger still, and about its square
            divided by the relative distance of the next eigenvalue.
        per_input: True to divide by the number of inputs S.
        **options: those of `traced_kernel`; ``budget`` is needed where an operation cannot be
            differentiated twice.

    Returns:
        The estimates, float64 for a stack; in the type of the network for a module.

    Raises:
        ConfigError: see `traced_kernel`.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> found = fw.largest_eigenvalue(torch.nn.Linear(2, 1), torch.eye(2))
        >>> round(float(found.value), 3)
        3.0
    """
    form = closed_form(network, x, options)
    kernel = None
    shape: tuple[int, ...]  # (R, S, K)
    leading: tuple[int, ...] = ()
    times: Callable[[Tensor], Tensor]
    if isinstance(form, ClosedForm):
        kernel = _small_closed_form(network, form, options)
        stack, inputs, leading = dense.stacked(form.stack, form.x)
        with torch.no_grad():
            run = dense.forward(stack, inputs)
        shape = (len(inputs), inputs.shape[1], stack.outputs)
        times = partial(dense.times, run)
        like = run.inputs[0]
    else:
        request = request_of(form.network, form.x, False, options)
        small = formed.small_kernel(request)
        if small is not None:
            kernel, like = small
        else:
            times, like = within_memory(module_times, request, options)
        shape = (1, *like.shape)
    flat = _start_vectors(start, shape, leading).to(like).reshape(shape).flatten(1)
    if not bool(flat.isfinite().all() & flat.any(dim=1).all()):
        raise ConfigError("start: it must hold finite numbers that are not all zero; leave it out")
    if kernel is not None:
        pair = formed.largest_of(kernel, flat)
    else:
        flat_times = partial(_flat_times, times, shape)
        pair = largest_eigenpair(flat_times, flat, max(products, 2), tolerance)
    if isinstance(network, nn.Module):
        check_eigenvalue(pair.value)
    scale = shape[1] if per_input else 1
    return Eigenpair(
        value=pair.value.reshape(leading) / scale,
        vector=pair.vector.reshape(*leading, *shape[1:]),
        residual=pair.residual.reshape(leading),
        products=pair.products,
    )


def _flat_times(
    times: Callable[[Tensor], Tensor], shape: tuple[int, ...], vectors: Tensor
) -> Tensor:
    """Return products with flat vectors (R, S K), from those with vectors (R, S, K)."""
    return times(vectors.view(shape)).flatten(1)


def _start_vectors(
    start: Tensor | None, shape: tuple[int, ...], leading: tuple[int, ...]
) -> Tensor:
    """Return the vectors at which an iteration starts; random ones by default."""
    if start is None:
        stream = torch.Generator().manual_seed(0)
        one = torch.randn(shape[1:], generator=stream, dtype=torch.float64)
        return one.expand(shape)  # the same for all replicas
    if start.shape != (*leading, *shape[1:]):
        raise ConfigError(
            f"start: shape {tuple(start.shape)} must be {(*leading, *shape[1:])}, as the outputs"
        )
    return start


def _small_closed_form(network: Network, form: ClosedForm, options: Options) -> Tensor | None:
    """Return the full kernel of a module in closed form, rows as its outputs, if it is small."""
    K = form.stack.outputs
    rows = len(form.x) * K
    if isinstance(network, FullyConnected) or not formed.is_small(len(form.x), K):
        return None
    kernel = closed_terms(network, form, "full", False, options)[""]
    check_finite([kernel], torch.float64)
    return kernel.permute(1, 0, 3, 2).reshape(rows, rows)
