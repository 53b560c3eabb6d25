"""How long jobs take on a number of cores: before a run, and while it works.

A forecast lets jobs start as Snakemake does: of those whose inputs are there, the one with the
highest priority. Imports no torch: Snakemake reads this at every start.
"""

import heapq
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

# Seconds of a core that no provenance counts. Runs of preset smoke of up to 42 jobs took 2.7 s and
# 0.23 s a job more than their jobs say; a run of preset quick, whose jobs are longer, 0.7 s a job.
START = 3.0  # until the first job starts
JOB = 0.5  # of a job: Snakemake starts and watches it, and it ends
# see `TimeLeft.pace`
PRIOR = 10.0  # seconds of jobs as forecast
SHARE = 0.03  # share of all jobs
OVERDUE = 0.1  # share of its time so far that is left of a job which should have ended


@dataclass(frozen=True)
class Step:
    """A job before it runs.

    Attributes:
        seconds: CPU seconds by the table of costs; None without a row.
        needs: the jobs whose files it reads.
        priority: of the jobs that can start, the one with the highest priority does.
    """

    seconds: float | None = None
    needs: Collection[str] = ()
    priority: float = 0.0

    @property
    def wall(self) -> float:
        """Seconds on an idle core."""
        return (self.seconds or 0.0) + JOB


@dataclass(frozen=True)
class AtWork:
    """A running job: seconds since its start, and what it says itself of its work, if anything.

    It says the share that is done, 0 to 1, also by an earlier run, and the seconds that are left at
    its own pace.
    """

    elapsed: float
    share: float | None = None
    left: float | None = None

    @property
    def whole(self) -> float | None:
        """Seconds of all its work at its own pace; None if it does not say."""
        if self.left is None or self.share is None or self.share >= 1:
            return None
        return self.left / (1 - self.share)

    @property
    def resumed(self) -> bool:
        """Whether an earlier run has done a part of it."""
        if self.whole is None or self.left is None:
            return False
        return self.elapsed + self.left < 0.8 * self.whole


def ends(
    steps: Mapping[str, Step],
    cores: int,
    running: Mapping[str, float] | None = None,
    pace: float = 1.0,
) -> dict[str, float]:
    """Return job -> seconds from now to its end, by list scheduling.

    Args:
        steps: the jobs that have not ended; what they need beside these is there.
        cores: number of jobs side by side.
        running: seconds left of the jobs that have started.
        pace: seconds for one second of the forecast of the others.
    """
    readers: dict[str, list[str]] = {name: [] for name in steps}
    missing = dict.fromkeys(steps, 0)  # job -> number of jobs that it waits for
    for name, step in steps.items():
        for need in steps.keys() & set(step.needs):
            readers[need].append(name)
            missing[name] += 1
    at_work: list[tuple[float, str]] = []  # heap of ends and jobs
    for name, seconds in (running or {}).items():
        heapq.heappush(at_work, (seconds, name))
    ready: list[tuple[float, str]] = []  # heap of jobs, of which the most urgent comes first
    for name, step in steps.items():
        if not missing[name] and name not in (running or {}):
            heapq.heappush(ready, (-step.priority, name))
    end_of: dict[str, float] = {}
    now = 0.0
    while ready or at_work:
        while ready and len(at_work) < cores:
            _, name = heapq.heappop(ready)
            heapq.heappush(at_work, (now + pace * steps[name].wall, name))
        now, name = heapq.heappop(at_work)
        end_of[name] = now
        for reader in readers.get(name, ()):
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, (-steps[reader].priority, reader))
    return end_of


class TimeLeft:
    """How long the jobs of a run will take that have not ended."""

    def __init__(self, steps: Mapping[str, Step], cores: int):
        """Forecast a run before its first job.

        Args:
            steps: all jobs that have to run
            cores: number of jobs side by side
        """
        self._steps = steps
        self._cores = cores
        self._prior = PRIOR + SHARE * sum(step.wall for step in steps.values())
        self._took: dict[str, float | None] = {}  # seconds of the jobs that have ended

    def end(self, job: str, took: float | None) -> None:
        """A job has ended, and took so many seconds; None if an earlier run did a part of it."""
        self._took[job] = took

    def pace(self, running: Mapping[str, AtWork]) -> float:
        """Seconds that jobs take for one second of their forecasts.

        Jobs count by their seconds, running ones by what they have done. `PRIOR` and a `SHARE` of
        all count as if they had taken what was forecast, so that the first short jobs say little.
        """
        took = self._prior
        foreseen = self._prior
        for job, seconds in self._took.items():
            if seconds is not None and self._steps[job].seconds is not None:
                took += seconds
                foreseen += self._steps[job].wall
        for job, at_work in running.items():
            step = self._steps[job]
            if step.seconds is None:
                continue
            if at_work.whole:
                took += at_work.elapsed
                foreseen += at_work.elapsed / at_work.whole * step.wall
            elif at_work.elapsed > step.wall:
                took += at_work.elapsed
                foreseen += step.wall
        return took / foreseen

    def each(self, running: Mapping[str, AtWork]) -> dict[str, float]:
        """Seconds left of every running job."""
        pace = self.pace(self._known(running))
        left = {}
        for job, at_work in running.items():
            left[job] = _left(at_work, self._steps.get(job, Step()), pace)
        return left

    def seconds(self, running: Mapping[str, AtWork], failed: Iterable[str] = ()) -> float:
        """Seconds until the last job ends; what rests on a job that ``failed`` does not start."""
        known = self._known(running)
        lost = self._resting_on(failed)
        waiting = {
            job: step
            for job, step in self._steps.items()
            if job not in self._took and job not in lost
        }
        end_of = ends(waiting, self._cores, self.each(known), self.pace(known))
        return max(end_of.values(), default=0.0)

    def _known(self, running: Mapping[str, AtWork]) -> dict[str, AtWork]:
        """The running jobs that were forecast."""
        return {job: at_work for job, at_work in running.items() if job in self._steps}

    def _resting_on(self, failed: Iterable[str]) -> set[str]:
        """Some jobs, and all that need them."""
        lost = set(failed)
        count = -1
        while count < len(lost):
            count = len(lost)
            for job, step in self._steps.items():
                if lost.intersection(step.needs):
                    lost.add(job)
        return lost


def _left(at_work: AtWork, step: Step, pace: float) -> float:
    """Seconds left of a running job: by itself, the more it has done, and by its forecast."""
    if at_work.left is not None and step.seconds is None:
        return at_work.left
    forecast = pace * step.wall
    if not at_work.share:
        return max(forecast - at_work.elapsed, OVERDUE * at_work.elapsed)
    left_by_forecast = (1 - at_work.share) * forecast
    if at_work.left is None:
        return left_by_forecast
    return at_work.share * at_work.left + (1 - at_work.share) * left_by_forecast
