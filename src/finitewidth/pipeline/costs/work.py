"""Work as counts, machines as rates, and seconds as the one over the other.

Only trainings are described by counts of operations; the time of every other job is known in CPU
seconds of the reference machine (`finitewidth.pipeline.costs.table`).
"""

import os
import time
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a job does.

    Attributes:
        flops: of matrix products; a multiplication and an addition are two.
        convolutions: flops of convolutions.
        elements: numbers touched by elementwise and other memory-bound steps.
        calls: of array functions, each of which costs something however small its arrays.
        starts: of processes that import torch, where ``seconds`` does not include them.
        seconds: CPU seconds on one core of the reference machine, of jobs that are not counted.
        memory: bytes at the peak of one job.
        disk: bytes of results and checkpoints.
    """

    flops: float = 0.0
    convolutions: float = 0.0
    elements: float = 0.0
    calls: float = 0.0
    starts: int = 0
    seconds: float = 0.0
    memory: float = 0.0
    disk: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        """Both, one after the other: everything adds up, of memory the larger one counts."""
        total = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Work(**{**total, "memory": max(self.memory, other.memory)})


@dataclass(frozen=True, kw_only=True)
class Machine:
    """How fast one core, or one GPU, does what `Work` counts.

    Attributes:
        flops, convolutions, elements, calls: per second.
        start: seconds until a process has imported torch.
        pace: seconds it takes for one second of the reference machine.
        workers: cores, or 1 for a GPU: how many jobs run side by side.
    """

    name: str
    flops: float
    convolutions: float
    elements: float
    calls: float
    start: float = 2.0
    pace: float = 1.0
    workers: int = 1

    def seconds(self, work: Work) -> float:
        """Time of the jobs one after the other."""
        return (
            sum(getattr(work, name) / getattr(self, name) for name in RATES)
            + work.starts * self.start
            + work.seconds * self.pace
        )


RATES = ("flops", "convolutions", "elements", "calls")
# One core of the machine on which the training formula was compared with measured jobs.
REFERENCE = Machine(name="reference core", flops=6e10, convolutions=6e10, elements=3.5e9, calls=8e5)
REFERENCE_YARDSTICK = 0.0091  # seconds of `yardstick` there


def yardstick() -> float:
    """Seconds for a fixed mixture of products and elementwise steps on one core, best of five."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    x = np.linspace(0, 1, 40_000).reshape(200, 200)
    # results go to arrays that are there: how fast memory is had differs between threads
    product, power = np.empty((200, 100)), np.empty_like(x)
    best = float("inf")
    with threadpool_limits(1):
        for _ in range(5):
            started = time.thread_time()  # what other programs take of the core does not count
            for _ in range(40):
                np.matmul(x, x[:, :100], out=product).sum()
                np.exp(np.negative(x, out=power), out=power).sum()
            best = min(best, time.thread_time() - started)
    return best


def here(cores: int | None = None) -> Machine:
    """Cores of this machine: the reference, faster or slower by the yardstick."""
    pace = yardstick() / REFERENCE_YARDSTICK
    cores = cores or os.cpu_count() or 1
    rates = {name: getattr(REFERENCE, name) / pace for name in RATES}
    return Machine(
        name=f"{cores} cores here", workers=cores, start=REFERENCE.start * pace, pace=pace, **rates
    )


def gpu(tflops: float) -> Machine:
    """A GPU of so many useful single-precision TFLOP/s; launches and memory are today's usual.

    Reached by wide networks only: small ones are bound by launches (some 10 microseconds each).
    """
    return Machine(
        name=f"GPU of {tflops:g} TFLOP/s", flops=tflops * 1e12, convolutions=tflops * 1e12,
        elements=2e11, calls=1e5, start=10.0,
    )  # fmt: skip
