"""What the workflow announces to the terminal: the results folder and forecasts of jobs.

Snakemake starts its logger before it reads the workflow, so the workflow leaves these facts here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """The run of this process.

    Attributes:
        results: folder of its results.
        seconds: name of a job, such as ``npf_fig3`` or ``npf/nu`` -> forecast in CPU seconds of
            the reference machine.
        jobs: the names of all jobs that have to run.
    """

    results: str
    seconds: Callable[[str], float]
    jobs: Callable[[], Iterable[str]]


_RUN: list[Run] = []


def announce(run: Run) -> None:
    """Leave the facts of this run; the last ones count."""
    _RUN[:] = [run]


def announced() -> Run | None:
    """Return the facts of this run, or None before the workflow is read."""
    return _RUN[0] if _RUN else None


def job_name(rule: str, wildcards: dict[str, str]) -> str:
    """Return the name of a job: ``npf/nu`` for a training, ``dataset digits``, or the rule."""
    if {"paper", "training"} <= set(wildcards):
        return f"{wildcards['paper']}/{wildcards['training']}"
    return " ".join([rule, *wildcards.values()])
