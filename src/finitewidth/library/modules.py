"""Tangent kernels of the user's own torch module: in training, and between two sets."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal, Unpack

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels import trained
from finitewidth.kernels.ntk_init.initialisation import checked_choice, checked_count
from finitewidth.kernels.trained import Options, traced_kernel
from finitewidth.kernels.trained.batches import Inputs, as_batch
from finitewidth.kernels.trained.interface import check_options
from finitewidth.networks.user_network import forget

FEWEST_ROWS = 256  # of a group in a block: with each, its columns are computed again


def kernel_over_training(
    network: nn.Module,
    x: Inputs,
    step: Callable[[], Any],
    times: Sequence[int],
    *,
    kernel: Callable[..., Tensor] = traced_kernel,
    **options: Any,
) -> Tensor:
    """Compute a kernel at several times of a training.

    Args:
        network: a torch module. Kernels are computed in eval mode; for the steps, each of its
            modules has the mode that it has at the call.
        x: inputs of the kernel, (N, ...).
        step: does one step of the training. It is called without arguments.
        times: numbers of steps after which the kernel is computed, ascending; 0 is before the
            first.
        kernel: `traced_kernel`, `full_kernel`, or another function of the network and its inputs
            that returns a tensor.
        **options: of ``kernel``.

    Returns:
        The kernels one after another, (len(times), N, N) for `traced_kernel`.

    Raises:
        ConfigError: times do not ascend; see `traced_kernel` for the others.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> network, x = torch.nn.Linear(2, 1), torch.randn(8, 2)
        >>> descent = torch.optim.SGD(network.parameters(), lr=0.1)
        >>> def step():
        ...     descent.zero_grad()
        ...     network(x).square().mean().backward()
        ...     descent.step()
        >>> kernels = fw.kernel_over_training(network, x, step, [0, 10, 100])
        >>> kernels.shape, bool((kernels[0] == kernels[2]).all())  # a linear network
        (torch.Size([3, 8, 8]), True)
    """
    steps = [checked_count("times", time, 0) for time in times]
    if not steps or sorted({*steps}) != steps:
        raise ConfigError(f"times: {list(times)} must ascend, such as [0, 10, 100]")
    kernels = []
    for before, after in pairwise([0, *steps]):
        for _ in range(after - before):
            step()
        with _eval_mode(network):
            kernels.append(kernel(network, x, **options))
    return torch.stack(kernels)


@contextmanager
def _eval_mode(network: nn.Module) -> Iterator[None]:
    """Put a network into eval mode; each module gets its mode back, also after an error.

    A module may cache numbers in eval mode. They are dropped before, since parameters may have
    changed, and after.
    """
    modes = [(module, module.training) for module in network.modules()]
    forget(network)
    network.eval()
    try:
        yield
    finally:
        forget(network)
        for module, mode in modes:
            module.training = mode


def cross_kernel(
    network: nn.Module,
    x: Inputs,
    other: Inputs,
    *,
    kind: Literal["traced", "full"] = "traced",
    **options: Unpack[Options],
) -> Tensor:
    """Compute the tangent kernel between two sets of inputs, such as test and training inputs.

    Only this block is formed. The rows are computed in groups of about as many inputs as there are
    columns, so that it needs at most about twice the memory of the kernel of ``other``.

    Args:
        network: a torch module in eval mode; see `traced_kernel`.
        x: inputs of the rows, (N, ...).
        other: inputs of the columns, (N', ...).
        kind: "traced" for the sum over outputs, "full" for all pairs of outputs.
        **options: those of `traced_kernel`.

    Returns:
        Float64, (N, N') or (K, N, K, N').

    Raises:
        ConfigError: an argument is out of range; see `traced_kernel` for the others.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> from torch.nn import Linear, ReLU, Sequential
        >>> net = Sequential(Linear(5, 50), ReLU(), Linear(50, 3))
        >>> fw.cross_kernel(net, torch.randn(4, 5), torch.randn(7, 5)).shape
        torch.Size([4, 7])
    """
    checked_choice("kind", kind, ("traced", "full"))
    check_options(network, options)
    x = as_batch(network, x)
    other = as_batch(network, other, "other")
    x.check_alike(other, "other")
    groups = x.split(max(len(other), FEWEST_ROWS))
    parts = [trained.kernel_block(network, group, other, kind, **options) for group in groups]
    if len(parts) == 1:
        return parts[0]
    rows = -2 if kind == "traced" else -3  # the axis of the rows
    return torch.cat(parts, dim=rows)
