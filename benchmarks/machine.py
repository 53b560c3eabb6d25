"""The rates of a machine, and the time that they leave at least for some work.

The bound is the longest of three times: FLOP of matrix products at the rate of a large matrix
product, bytes at the rate of a copy of large arrays, and random numbers at the rate of the
generator. They are measured in the same run as the benchmarks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from benchmarks.timing import Timer
from benchmarks.work import Work

PRODUCTS = "products"
MEMORY = "memory"
NUMBERS = "random numbers"


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


def measured_rates(timer: Timer, size: int = 1024, megabytes: int = 256) -> Machine:
    """Measure the rates of this machine: the best over the rounds of a timer.

    Args:
        timer: how times are taken.
        size: rows of the square matrices.
        megabytes: size of the array that is copied; it must not fit into the caches.
    """
    best = partial(_best_time, timer)
    source = torch.ones(megabytes * 2**17, dtype=torch.float64, device=timer.device)
    target = torch.empty_like(source)
    copied = 2 * source.numel() * source.element_size()  # read and written
    stream = np.random.Generator(np.random.SFC64(1))
    count = 2**17
    shapes = np.full(count, 50.0)
    return Machine(
        flops={
            "float32": matmul_flops(timer, torch.float32, size),
            "float64": matmul_flops(timer, torch.float64, size),
        },
        bandwidth=copied / best(lambda: target.copy_(source)),
        normal=best(_normal_draws(timer.device, stream, count)) / count,
        gamma=best(lambda: stream.standard_gamma(shapes)) / count,
        uniform=best(lambda: stream.random(count)) / count,
    )


def _normal_draws(device: str, stream: np.random.Generator, count: int) -> Callable[[], object]:
    """Return a function that draws normal numbers as the samplers do."""
    normals = torch.empty(count, dtype=torch.float64, device=device)
    if device != "cpu":
        return normals.normal_
    view = normals.numpy()
    return lambda: stream.standard_normal(out=view)


def matmul_flops(timer: Timer, dtype: torch.dtype, size: int = 1024) -> float:
    """Measure the operations per second of a product of square matrices."""
    a = torch.ones(size, size, dtype=dtype, device=timer.device)
    out = torch.empty_like(a)
    return 2 * size**3 / _best_time(timer, lambda: torch.mm(a, a, out=out))


def _best_time(timer: Timer, run: Callable[[], object]) -> float:
    run()
    return min(timer.once(run) for _ in range(timer.rounds))
