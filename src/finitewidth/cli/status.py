"""``finitewidth status``: what runs now, seen from another terminal or machine."""

import time
from collections.abc import Sequence

from finitewidth.cli.options import Results
from finitewidth.cli.run_state import Line, time_left
from finitewidth.records.running import RUN, Running, read_running


def status(*, results: Results = Results()) -> None:
    """Show what is running, and how long it will take.

    Example: finitewidth status --preset laptop
    """
    print("\n".join(lines(results.folder, time.time())))


def lines(folder: str, now: float) -> list[str]:
    """A line for each run, and one for each running job, of a folder of results."""
    runs = [each for each in read_running([folder]) if each.job == RUN]
    jobs = [each for each in read_running([folder, "results/data"]) if each.job != RUN]
    if not runs and not jobs:
        return [f"{folder}: nothing is running"]
    heads = [f"{folder}: {run.what}, {time_left(_left(run.left, run, now))}" for run in runs]
    return [*heads, *(f"  {_line(job, runs, now)}" for job in jobs)]


def _line(job: Running, runs: Sequence[Running], now: float) -> Line:
    """A job; how much time is left says the run that has it, else the job itself."""
    for source, left in [(run, run.jobs.get(job.job)) for run in runs] + [(job, job.left)]:
        if left is not None:
            return Line.of(job, _left(left, source, now), now)
    return Line.of(job, None, now)


def _left(seconds: float, source: Running, now: float) -> float:
    """Seconds left now, of those that a file has said when it was written."""
    return max(seconds - (now - source.updated), 0.0)
