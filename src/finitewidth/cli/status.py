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
    runs = [job for job in read_running([folder]) if job.job == RUN]
    jobs = [job for job in read_running([folder, "results/data"]) if job.job != RUN]
    if not runs and not jobs:
        return [f"{folder}: nothing is running"]
    texts = []
    for run in runs:
        assert run.left is not None  # as that of a job may be
        left = time_left(_left(run.left, run, now))
        texts.append(f"{folder}: {run.what}, {left}")
    for job in jobs:
        texts.append(f"  {_line(job, runs, now)}")
    return texts


def _line(job: Running, runs: Sequence[Running], now: float) -> Line:
    """A job; its run knows how much time is left, or else the job itself."""
    for run in runs:
        left = run.jobs.get(job.job)
        if left is not None:
            return Line.of(job, _left(left, run, now), now)
    if job.left is not None:
        return Line.of(job, _left(job.left, job, now), now)
    return Line.of(job, None, now)


def _left(seconds: float, source: Running, now: float) -> float:
    """Seconds left now, where the file of ``source`` said ``seconds`` when it was written."""
    return max(seconds - (now - source.updated), 0.0)
