"""What the workflow announces to the terminal: the results folder and the jobs of this run.

Snakemake starts its logger before it reads the workflow, so the workflow leaves these facts here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Announcement:
    """What is known of the run of this process.

    Attributes:
        results: folder of its results.
        jobs: name of each job that has to run -> its forecast in CPU seconds, or None.
    """

    results: str
    jobs: Callable[[], Mapping[str, float | None]]


_ANNOUNCED: list[Announcement] = []


def announce(run: Announcement) -> None:
    """Leave the facts of this run; the last ones count."""
    _ANNOUNCED[:] = [run]


def announced() -> Announcement | None:
    """Return the facts of this run, or None before the workflow is read."""
    return _ANNOUNCED[0] if _ANNOUNCED else None


def job_name(rule: str, wildcards: dict[str, str]) -> str:
    """Return the name of a job: ``npf/nu`` for a training, ``dataset digits``, or the rule."""
    if {"paper", "training"} <= set(wildcards):
        return f"{wildcards['paper']}/{wildcards['training']}"
    return " ".join([rule, *wildcards.values()])
