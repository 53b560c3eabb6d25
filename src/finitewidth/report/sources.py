"""The jobs that an artifact is computed from, and the provenance that they wrote."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from finitewidth.common.usage import Usage, usage_in

STAMP = "provenance.json"
REPORT = "report"  # the job that shows all others


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job of the workflow.

    Attributes:
        name: name of its rule; ``train <paper>/<training>`` for a training.
        inputs, outputs: files.
        log, benchmark: files; empty if there are none.
        footer: the line below the table or figure that it makes.
        paper: short name of its paper; empty if it belongs to no paper.
    """

    name: str
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    log: str = ""
    benchmark: str = ""
    footer: str = ""
    paper: str = ""

    @property
    def stamp(self) -> str | None:
        """The provenance file that it writes; None if it only draws or typesets."""
        return next((file for file in self.outputs if file.endswith(STAMP)), None)

    @property
    def is_training(self) -> bool:
        """Whether it is a training."""
        return self.name.startswith("train ")


def read_jobs(described: Mapping[str, Mapping[str, Any]]) -> dict[str, Job]:
    """Return the jobs by name, from the workflow's description of its rules."""
    return {name: Job(name=name, **facts) for name, facts in described.items()}


def upstream(files: Sequence[str], jobs: Mapping[str, Job]) -> list[Job]:
    """Return all jobs upstream of ``files`` that write a provenance file, the nearest first."""
    return [job for job in makers_of(files, jobs) if job.stamp]


def makers_of(files: Sequence[str], jobs: Mapping[str, Job]) -> list[Job]:
    """Return all jobs that ``files`` rest on, each once, the nearest first."""
    makers = {file: job for job in jobs.values() for file in job.outputs}
    found: dict[str, Job] = {}
    waiting = list(files)
    while waiting:
        maker = makers.get(waiting.pop(0))
        if maker and maker.name not in found:
            found[maker.name] = maker
            waiting += maker.inputs
    return list(found.values())


def name_of(record: Mapping[str, Any]) -> str:
    """Return the name of the job that left a provenance, as `Job` has it."""
    return f"train {record['job']}" if "/" in record["job"] else record["job"]


def usage_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Usage]:
    """Return name of a job -> what it took, the longest wall time first."""
    found = {name_of(record): usage_in(record) for record in records}
    return dict(sorted(found.items(), key=lambda item: -item[1].wall))
