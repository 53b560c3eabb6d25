"""What a computation needs at least, what the machine can do, and the bound that follows.

The bound is the longest of three times: FLOP of matrix products at the rate of a large matrix
product, bytes at the rate of a copy of large arrays, and random numbers at the rate of the
generator. They are measured in the same run as the benchmarks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

if TYPE_CHECKING:
    from benchmarks.timing import Timer

PRODUCTS = "products"
MEMORY = "memory"
NUMBERS = "random numbers"


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


@dataclass(frozen=True)
class Machine:
    """The best rates of a machine with a number of threads.

    Attributes:
        flops: name of a type -> operations per second of a product of square matrices.
        bandwidth: bytes per second that a copy reads and writes.
        normal, gamma, uniform: seconds per random number.
    """

    flops: dict[str, float]
    bandwidth: float
    normal: float
    gamma: float
    uniform: float


@dataclass(frozen=True)
class Bound:
    """Which rate bounds some work, and the seconds that it leaves at least."""

    name: str
    seconds: float


def bound_of(work: Work, machine: Machine, dtype: str) -> Bound:
    """Return the largest of the times that products, memory and random numbers take."""
    drawn = work.normals * machine.normal + work.gammas * machine.gamma
    times = {
        PRODUCTS: work.flops / machine.flops[dtype],
        MEMORY: work.bytes / machine.bandwidth,
        NUMBERS: drawn + work.uniforms * machine.uniform,
    }
    name = max(times, key=times.get)
    return Bound(name, times[name])


def counted_flops(run: Callable[[], object]) -> float:
    """Run something in torch once and count the operations in its products and factorisations."""
    aten = torch.ops.aten
    own = {
        aten.linalg_qr: _qr,
        aten.mv: _mv,
        aten.dot: _mv,
        aten.convolution_backward: _convolution_backward,
    }
    with FlopCounterMode(display=False, custom_mapping=own) as counter:
        run()
    return float(counter.get_total_flops())


def _qr(shape: torch.Size, mode: str = "reduced", *_: object, **__: object) -> int:
    """Householder: 2 n^2 (m - n / 3) operations for R, and as many again to form Q."""
    *batch, rows, columns = shape
    n, m = sorted((rows, columns))
    return round(prod(batch) * (1 if mode == "r" else 2) * 2 * n**2 * (m - n / 3))


def _mv(matrix: torch.Size, *_: object, **__: object) -> int:
    return 2 * prod(matrix)


def _convolution_backward(
    signal: torch.Size, _: torch.Size, weight: torch.Size, *others: object, **__: object
) -> int:
    """Either gradient needs each product of the forward pass once; torch ignores the groups."""
    wanted = others[-1]  # gradients by the input, the weight and the bias
    return 2 * prod(signal) * prod(weight[1:]) * sum(wanted[:2])


def measured(timer: "Timer", size: int = 1024, megabytes: int = 256) -> Machine:
    """Measure the rates of this machine: the best over the rounds of a timer.

    Args:
        timer: how times are taken.
        size: rows of the square matrices.
        megabytes: size of the array that is copied; it must not fit into the caches.
    """
    best = partial(_best, timer)
    source = torch.ones(megabytes * 2**17, dtype=torch.float64, device=timer.device)
    target = torch.empty_like(source)
    bandwidth = 2 * source.numel() * 8 / best(lambda: target.copy_(source))
    stream = np.random.Generator(np.random.SFC64(1))
    count = 2**17
    normals = torch.empty(count, dtype=torch.float64, device=timer.device)
    draw = normals.normal_
    if timer.device == "cpu":  # as the samplers do
        view = normals.numpy()
        draw = lambda: stream.standard_normal(out=view)  # noqa: E731
    halves = np.full(count, 50.0)
    return Machine(
        flops={
            str(dtype).removeprefix("torch."): matmul_flops(timer, dtype, size)
            for dtype in (torch.float32, torch.float64)
        },
        bandwidth=bandwidth,
        normal=best(draw) / count,
        gamma=best(lambda: stream.standard_gamma(halves)) / count,
        uniform=best(lambda: stream.random(count)) / count,
    )


def matmul_flops(timer: "Timer", dtype: torch.dtype, size: int = 1024) -> float:
    """Measure the operations per second of a product of square matrices."""
    a = torch.ones(size, size, dtype=dtype, device=timer.device)
    out = torch.empty_like(a)
    return 2 * size**3 / _best(timer, lambda: torch.mm(a, a, out=out))


def _best(timer: "Timer", run: Callable[[], object]) -> float:
    run()
    return min(timer.once(run) for _ in range(timer.rounds))
