"""The tangent kernel of more inputs than fit into one call, in square tiles."""

from itertools import combinations_with_replacement
from typing import Unpack

import torch
from torch import Tensor, nn

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.trained import Options, traced_kernel
from finitewidth.kernels.trained.interface import Inputs, as_inputs
from finitewidth.library.modules import cross_kernel

TILE = 250
BUDGET = 1536 * 2**20  # bytes: a ResNet-18 and a tile of 250 by 250 images of 32 by 32 pixels


def blocks(count: int, tile: int) -> list[slice]:
    """Return the blocks of ``tile`` inputs, the last with fewer, whose pairs are the tiles.

    Raises:
        ConfigError: ``tile`` is below 1.
    """
    if tile < 1:
        raise ConfigError(f"tile = {tile}: must be at least 1, such as {TILE}")
    return [slice(start, min(start + tile, count)) for start in range(0, count, tile)]


def kernel_tile(
    network: nn.Module, x: Tensor, other: Tensor | None = None, **options: Unpack[Options]
) -> Tensor:
    """Compute one tile of a traced kernel.

    Args:
        network: a torch module in eval mode; see `finitewidth.kernels.trained.traced_kernel`.
        x: inputs of the rows, (n, ...).
        other: inputs of the columns, (m, ...); None for a tile on the diagonal.
        **options: see `finitewidth.kernels.trained.Options`.

    Returns:
        Float64, (n, m). A tile on the diagonal is exactly symmetric.

    Raises:
        ConfigError: see `finitewidth.kernels.trained.traced_kernel`.
    """
    if other is not None:
        return cross_kernel(network, x, other, **options)
    upper = traced_kernel(network, x, **options).triu()  # the rest may differ by rounding
    return upper + upper.triu(1).mT


def tiled_kernel(
    network: nn.Module,
    x: Inputs,
    *,
    tile: int = TILE,
    budget: int = BUDGET,
    **options: Unpack[Options],
) -> Tensor:
    """Compute the traced kernel of many inputs, tile after tile.

    It needs the memory of the result, and of a call with two blocks of ``tile`` inputs. The command
    ``finitewidth kernel`` computes the same tiles in several processes, each with one thread. Its
    result has the same bytes after ``torch.set_num_threads(1)``; another number of threads, another
    ``tile`` or another ``budget`` may change the last digits.

    Args:
        network: a torch module in eval mode; see `traced_kernel`.
        x: inputs, (N, ...).
        tile: number of inputs of a block.
        budget: bytes for temporary arrays.
        **options: those of `traced_kernel`.

    Returns:
        Float64, (N, N), on the CPU, exactly symmetric.

    Raises:
        ConfigError: ``tile`` is below 1; or see `traced_kernel`.

    Examples:
        >>> import torch
        >>> import finitewidth as fw
        >>> network = torch.nn.Linear(2, 1)  # its kernel is <x, x'> + 1
        >>> fw.tiled_kernel(network, torch.eye(2), tile=1)
        tensor([[2., 1.],
                [1., 2.]], dtype=torch.float64)
    """
    options["budget"] = budget
    x = as_inputs(network, x)
    kernel = torch.empty(len(x), len(x), dtype=torch.float64)
    for rows, columns in combinations_with_replacement(blocks(len(x), tile), 2):
        part = kernel_tile(network, x[rows], None if rows == columns else x[columns], **options)
        kernel[rows, columns] = part
        kernel[columns, rows] = part.mT
    return kernel
