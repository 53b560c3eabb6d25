"""Time and memory of one computation in a process of its own. Neither torch nor jax is needed."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROUNDS, LONG = 3, 15.0  # after this many seconds there is no further round
SHORT = 1.0  # seconds; until then there are further rounds, since short times vary most
LIMIT = 20_000_000_000  # bytes; what needs more does not fit

Result = TypeVar("Result")


@dataclass(frozen=True)
class Usage:
    """What a computation takes: the fastest of some rounds.

    Attributes:
        seconds: that pass.
        cpu_seconds: of all threads, those of the operating system for the process included.
        system_seconds: those of the operating system, most of them to provide memory.
        memory: bytes of the largest resident memory, less what was resident before.
        peak: bytes of the largest resident memory.
        rounds: number of rounds, without the first call.
    """

    seconds: float
    cpu_seconds: float
    system_seconds: float
    memory: float
    peak: float
    rounds: int


def usage_of(run: Callable[[], Result]) -> tuple[Result, Usage]:
    """Run something several times, and return its result and what it takes.

    The first call is not timed, except if it is so long that no other is made.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, resource.RLIM_INFINITY))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak of imports
    before = resident("VmRSS")
    result, first = _timed(run)
    times = []
    spent = 0.0
    while (len(times) < ROUNDS or spent < SHORT) and first[0] + spent < LONG:
        result, one = _timed(run)
        times.append(one)
        spent += one[0]
    peak = resident("VmHWM")
    return result, Usage(*min(times or [first]), peak - before, peak, max(len(times), 1))


def resident(name: str) -> int:
    """Return the bytes that are resident now (VmRSS) or were at most (VmHWM).

    `getrusage` is of no use here: a process takes over the maximum of the one that starts it.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))


def _timed(run: Callable[[], Result]) -> tuple[Result, tuple[float, float, float]]:
    start = _clocks()
    result = run()
    return result, tuple(end - begin for begin, end in zip(start, _clocks(), strict=True))


def _clocks() -> tuple[float, float, float]:
    system = resource.getrusage(resource.RUSAGE_SELF).ru_stime
    return time.perf_counter(), time.process_time(), system
