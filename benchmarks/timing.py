"""Times of several ways to do the same work, taken in turn, and their ratios."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from benchmarks.work import Work

Clock = Literal["cpu", "wall"]


@dataclass(frozen=True)
class Way:
    """One way to do some work.

    Attributes:
        name: as shown in tables.
        run: does the work once.
        units: how many units of work one call does, such as draws or kernels; may be a fraction
            if only a part is timed.
        work: what one unit needs at least.
    """

    name: str
    run: Callable[[], object]
    units: float
    work: Work


@dataclass(frozen=True)
class Ratio:
    """How many times as long a reference takes: the median over rounds, and both quartiles."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Timer:
    """How times are taken.

    Attributes:
        device: "cpu" or "cuda".
        clock: "cpu" for the CPU seconds of the process, which work of others changes little;
            "wall" for seconds that pass, the only ones that tell something of several threads.
        rounds: how often each way is timed.
        seconds: a way is repeated in each round until this time has passed, or done once.
    """

    device: str
    clock: Clock
    rounds: int
    seconds: float

    def once(self, run: Callable[[], object], times: int = 1) -> float:
        """Return the seconds of a number of calls, until the device has finished them."""
        now = time.process_time if self.clock == "cpu" else time.perf_counter
        self._finish()
        start = now()
        for _ in range(times):
            run()
        self._finish()
        return now() - start

    def _finish(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def in_turn(self, ways: Sequence[Way]) -> list[list[float]]:
        """Time all ways in each round, every other round in the opposite order.

        Returns:
            For each way the seconds per unit in each round.
        """
        repeats = []
        for way in ways:
            self.once(way.run)  # the first call also loads and allocates
            repeats.append(max(1, round(self.seconds / max(self.once(way.run), 1e-6))))
        found: list[list[float]] = [[] for _ in ways]
        for number in range(self.rounds):
            order = range(len(ways))
            for place in reversed(order) if number % 2 else order:
                spent = self.once(ways[place].run, repeats[place])
                found[place].append(spent / repeats[place] / ways[place].units)
        return found


def ratio_of(ours: Sequence[float], reference: Sequence[float]) -> Ratio:
    """Compare the times of the same rounds."""
    ratios = [b / a for a, b in zip(ours, reference, strict=True)]
    low, high = np.quantile(ratios, [0.25, 0.75])
    return Ratio(statistics.median(ratios), float(low), float(high))


@dataclass(frozen=True)
class Comparison:
    """Ways that are timed in turn: each of ours is compared with each reference.

    Attributes:
        benchmark: name of the benchmark.
        sweep: the parameter that the benchmark varies here.
        parameters: all sizes by name.
        unit: what a unit of work is.
        dtype: type of most products, as the bound counts them.
        ours, references: the ways. The name of one of ours is the case.
    """

    benchmark: str
    sweep: str
    parameters: dict[str, int]
    unit: str
    dtype: str
    ours: tuple[Way, ...]
    references: tuple[Way, ...]
