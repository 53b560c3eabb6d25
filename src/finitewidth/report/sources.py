"""The jobs that an artifact is computed from, and the provenance that they wrote."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finitewidth.common import result_files
from finitewidth.common.errors import ResultError
from finitewidth.common.usage import Usage, provenance_files, usage_in

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


def read_records(results: str | Path) -> list[dict[str, Any]]:
    """Read the provenance of all finished jobs of a run but the report.

    An experiment that is killed while it ends leaves a file without the name of its job.

    Raises:
        ResultError: a file is damaged.
    """
    found = [_read(file) for file in provenance_files(results) if file.stem != REPORT]
    return [record for record in found if "job" in record]


def usage_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Usage]:
    """Return name of a job, as `Job` has it -> what it took, the longest wall time first."""
    found: dict[str, Usage] = {}
    for record in records:
        name = f"train {record['job']}" if "/" in record["job"] else record["job"]
        found[name] = found.get(name, Usage()) + usage_in(record)
    return dict(sorted(found.items(), key=lambda item: -item[1].wall))


def read_stamp(job: Job) -> dict[str, Any] | None:
    """Read the provenance of a job; None if the job has not been run.

    Raises:
        ResultError: the file is damaged.
    """
    if job.stamp is None or not Path(job.stamp).is_file():
        return None
    return _read(Path(job.stamp))


def _read(file: Path) -> dict[str, Any]:
    stamp = result_files.read_json(file)
    if not isinstance(stamp, dict):
        raise ResultError(f"{file} is damaged: it is not a JSON object; delete it and run again")
    return stamp
