"""The jobs of the workflow as the report shows them, and those upstream of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

STAMP = "provenance.json"


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job of the workflow, with its files and the footer of the table or figure that it makes.

    Its name is that of its rule, or ``train <paper>/<training>``. It may belong to no paper.
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


def upstream(files: Sequence[str], jobs: Mapping[str, Job]) -> list[Job]:
    """Return all jobs upstream of ``files`` that write a provenance file, the nearest first."""
    return [job for job in all_upstream(files, jobs) if job.stamp]


def all_upstream(files: Sequence[str], jobs: Mapping[str, Job]) -> list[Job]:
    """Return all jobs upstream of ``files``, each once, the nearest first."""
    job_of_file = {file: job for job in jobs.values() for file in job.outputs}
    upstream_jobs: dict[str, Job] = {}
    waiting = list(files)
    while waiting:
        job = job_of_file.get(waiting.pop(0))
        if job and job.name not in upstream_jobs:
            upstream_jobs[job.name] = job
            waiting += job.inputs
    return list(upstream_jobs.values())
