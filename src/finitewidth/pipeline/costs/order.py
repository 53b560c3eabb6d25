"""In which order jobs start, how long they take side by side, and which chain of them is longest.

A run starts with the cheapest figures, so that something is to be seen. After this, a figure or
table is made as soon as its inputs are there, and of all other jobs those come first on which the
longest chain of jobs rests. With the forecasts of preset quick, this takes at most 2 % longer than
any order can on 2 and on 8 cores; `tests/unit/test_order.py` checks this.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

FIRST = 3  # figures that are made before all others


@dataclass(frozen=True)
class Step:
    """A job as the order sees it.

    Attributes:
        seconds: its forecast.
        needs: the jobs whose files it reads.
        kind: ``figure``, ``table`` or another word.
    """

    seconds: float
    needs: tuple[str, ...] = ()
    kind: str = ""


class Order:
    """The order of the jobs of a run.

    Args:
        steps: job -> step. Needs that are no jobs of the run are left out.
    """

    def __init__(self, steps: Mapping[str, Step]):
        self.steps = steps
        self._needs = {
            name: [need for need in step.needs if need in steps] for name, step in steps.items()
        }

    @cached_property
    def readers(self) -> dict[str, list[str]]:
        """Job -> the jobs that read its files."""
        found: dict[str, list[str]] = {name: [] for name in self.steps}
        for name, needs in self._needs.items():
            for need in needs:
                found[need].append(name)
        return found

    @cached_property
    def remaining(self) -> dict[str, float]:
        """Job -> seconds of the longest chain of jobs that begins with it."""
        found: dict[str, float] = {}
        for name in reversed(self._sorted()):
            after = (found[reader] for reader in self.readers[name])
            found[name] = self.steps[name].seconds + max(after, default=0.0)
        return found

    def _sorted(self) -> list[str]:
        """All jobs, each after those that it needs."""
        found: dict[str, None] = {}
        waiting = [(name, False) for name in self.steps]
        while waiting:
            name, ready = waiting.pop()
            if ready:
                found[name] = None
            elif name not in found:
                waiting.append((name, True))
                waiting += [(need, False) for need in self._needs[name] if need not in found]
        return list(found)

    def behind(self, name: str) -> set[str]:
        """A job and all that it rests on."""
        found, waiting = {name}, [name]
        while waiting:
            more = set(self._needs[waiting.pop()]) - found
            found |= more
            waiting += more
        return found

    @cached_property
    def first(self) -> set[str]:
        """The jobs of the figures that are made first: those with the least work behind them."""
        figures = [name for name, step in self.steps.items() if step.kind == "figure"]
        work = {f: sum(self.steps[job].seconds for job in self.behind(f)) for f in figures}
        cheapest = sorted(figures, key=work.__getitem__)[:FIRST]
        return set().union(*map(self.behind, cheapest))

    @cached_property
    def priorities(self) -> dict[str, int]:
        """Job -> priority, from 1; of the jobs that can start, the one with the highest does."""

        def urgency(name: str) -> tuple[bool, bool, float]:
            shown = self.steps[name].kind in ("figure", "table")
            return name in self.first, shown, self.remaining[name]

        return {name: place for place, name in enumerate(sorted(self.steps, key=urgency), 1)}

    def ends(self, cores: int) -> dict[str, float]:
        """Job -> seconds from the start of a run on a number of cores to its end, the first first.

        Snakemake's own time is left out.
        """
        missing = {name: len(needs) for name, needs in self._needs.items()}
        ready = [(-self.priorities[name], name) for name, count in missing.items() if not count]
        heapq.heapify(ready)
        running: list[tuple[float, str]] = []
        now, found = 0.0, {}
        while ready or running:
            while ready and len(running) < cores:
                _, name = heapq.heappop(ready)
                heapq.heappush(running, (now + self.steps[name].seconds, name))
            now, name = heapq.heappop(running)
            found[name] = now
            for reader in self.readers[name]:
                missing[reader] -= 1
                if not missing[reader]:
                    heapq.heappush(ready, (-self.priorities[reader], reader))
        return found

    def critical(self) -> list[str]:
        """The longest chain of jobs that need each other; with more cores it stays as long."""
        found: list[str] = []
        choice: Sequence[str] = list(self.steps)
        while choice:
            found.append(max(choice, key=self.remaining.__getitem__))
            choice = self.readers[found[-1]]
        return found
