"""Work as counts, machines as rates, and hours as the one over the other."""

import os
import time
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a job does, in counts that do not depend on the machine.

    Attributes:
        flops: of matrix products; a multiplication and an addition are two.
        convolutions: flops of convolutions.
        elements: numbers touched by elementwise and other memory-bound steps.
        draws: random numbers drawn.
        calls: of array functions, each of which costs something however small its arrays.
        torch: jobs that import torch.
        jobs: jobs in all.
        memory: bytes of arrays at the peak of one job.
        disk: bytes of results and checkpoints.
    """

    flops: float = 0.0
    convolutions: float = 0.0
    elements: float = 0.0
    draws: float = 0.0
    calls: float = 0.0
    torch: int = 0
    jobs: int = 1
    memory: float = 0.0
    disk: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        """Both, one after the other: counts add up, of memory the larger one counts."""
        total = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Work(**{**total, "memory": max(self.memory, other.memory)})

    def __mul__(self, times: float) -> "Work":
        """The same counts so many times within one job."""
        scaled = {name: getattr(self, name) * times for name in _REPEATED}
        return Work(**{**self.__dict__, **scaled})

    @property
    def operations(self) -> float:
        """Floating-point operations, numbers touched and numbers drawn, together."""
        return self.flops + self.convolutions + self.elements + self.draws


_REPEATED = ("flops", "convolutions", "elements", "draws", "calls")
NOTHING = Work(jobs=0)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """How fast one core, or one GPU, does what `Work` counts.

    Attributes:
        flops, convolutions, elements, draws, calls: per second.
        start: seconds a job takes before it works; ``torch``: more of them if it imports torch.
        workers: cores, or 1 for a GPU: how many jobs run side by side.
    """

    name: str
    flops: float
    convolutions: float
    elements: float
    draws: float
    calls: float
    start: float = 0.6
    torch: float = 1.4
    workers: int = 1

    def seconds(self, work: Work) -> float:
        """Time of the jobs one after the other."""
        return (
            work.flops / self.flops
            + work.convolutions / self.convolutions
            + work.elements / self.elements
            + work.draws / self.draws
            + work.calls / self.calls
            + work.jobs * self.start
            + work.torch * self.torch
        )


# One core of the machine that benchmarks/costs.py compared with measured jobs; `here` scales it.
REFERENCE = Machine(
    name="reference core", flops=6e10, convolutions=6e10, elements=3.5e9, draws=5.8e7, calls=8e5
)
REFERENCE_YARDSTICK = 0.015  # seconds of `yardstick` there


def yardstick() -> float:
    """Seconds for a fixed mixture of products and elementwise steps on one core, best of five."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    x = np.linspace(0, 1, 40_000).reshape(200, 200)
    best = float("inf")
    with threadpool_limits(1):
        for _ in range(5):
            started = time.thread_time()  # what other programs take of the core does not count
            for _ in range(40):
                (x @ x[:, :100]).sum()
                np.exp(-x).sum()
            best = min(best, time.thread_time() - started)
    return best


def here(cores: int | None = None) -> Machine:
    """Cores of this machine: the reference, faster or slower by the yardstick."""
    speed = REFERENCE_YARDSTICK / yardstick()
    cores = cores or os.cpu_count() or 1
    rates = {name: getattr(REFERENCE, name) * speed for name in _REPEATED}
    return Machine(name=f"{cores} cores here", workers=cores, **rates)


def gpu(tflops: float) -> Machine:
    """A GPU of so many useful single-precision TFLOP/s; launches and memory are today's usual.

    Reached by wide networks only: small ones are bound by launches (some 10 microseconds each).
    """
    return Machine(
        name=f"GPU of {tflops:g} TFLOP/s", flops=tflops * 1e12, convolutions=tflops * 1e12,
        elements=2e11, draws=5e10, calls=1e5, start=5.0, torch=5.0,
    )  # fmt: skip
