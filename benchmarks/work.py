"""The operations, bytes and random numbers that a computation needs at least."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import torch
from torch.utils.flop_counter import FlopCounterMode


@dataclass(frozen=True)
class Work:
    """What one unit of work needs at least.

    Attributes:
        flops: operations in matrix products and QR factorisations; a multiplication and an
            addition are two.
        bytes: inputs and parameters read once, results written once. Temporary arrays are counted
            only where a method has to store them.
        normals, gammas, uniforms: random numbers.
    """

    flops: float = 0.0
    bytes: float = 0.0
    normals: float = 0.0
    gammas: float = 0.0
    uniforms: float = 0.0

    @property
    def random_numbers(self) -> float:
        """Return the number of random numbers of all kinds."""
        return self.normals + self.gammas + self.uniforms


def counted_flops(run: Callable[[], object]) -> float:
    """Run something in torch once and count the operations in its products and factorisations."""
    aten = torch.ops.aten
    formulas = {
        aten.linalg_qr: _qr,
        aten.mv: _mv,
        aten.dot: _mv,
        aten.convolution_backward: _convolution_backward,
    }
    with FlopCounterMode(display=False, custom_mapping=formulas) as counter:
        run()
    return float(counter.get_total_flops())


def _qr(shape: torch.Size, mode: str = "reduced", *_: object, **__: object) -> int:
    """Householder: 2 n^2 (m - n / 3) operations for R, and as many again to form Q."""
    *batch, rows, columns = shape
    n, m = sorted((rows, columns))
    for_r = 2 * n**2 * (m - n / 3)
    factors = 1 if mode == "r" else 2
    return round(prod(batch) * factors * for_r)


def _mv(matrix: torch.Size, *_: object, **__: object) -> int:
    return 2 * prod(matrix)


def _convolution_backward(
    signal: torch.Size, _: torch.Size, weight: torch.Size, *others: object, **__: object
) -> int:
    """Either gradient needs each product of the forward pass once; torch ignores the groups."""
    needed = others[-1]  # whether gradients by the input, the weight and the bias are
    return 2 * prod(signal) * prod(weight[1:]) * sum(needed[:2])
