"""What feeds an artifact: the jobs between the datasets and it, and the stamps they left."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finitewidth.common import result_files
from finitewidth.common.errors import ResultError

STAMP = "provenance.json"


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job of the workflow: what feeds it, what it makes, where it tells of itself.

    Attributes:
        name: of its rule; ``train <paper>/<training>`` for a training.
        inputs, outputs: files.
        log, benchmark: files; empty where it has none.
        paper: whose job it is; empty for a job of no paper.
        footer: what stands below the table or figure it makes.
    """

    name: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    log: str = ""
    benchmark: str = ""
    footer: str = ""
    paper: str = ""

    @property
    def stamp(self) -> str | None:
        """The provenance it writes; None for one that only draws or typesets."""
        return next((file for file in self.outputs if file.endswith(STAMP)), None)

    @property
    def is_training(self) -> bool:
        """Whether it is one of the stacked trainings."""
        return self.name.startswith("train ")


def read_jobs(described: Mapping[str, Mapping[str, Any]]) -> dict[str, Job]:
    """Jobs by name, from what the workflow says of its rules."""
    return {
        name: Job(
            name=name, inputs=tuple(facts["inputs"]), outputs=tuple(facts["outputs"]),
            log=facts["log"], benchmark=facts["benchmark"], footer=facts["footer"],
            paper=facts["paper"],
        )
        for name, facts in described.items()
    }  # fmt: skip


def feeding(job: Job, jobs: Mapping[str, Job]) -> list[Job]:
    """All jobs upstream of ``job`` that leave a stamp, the nearest first."""
    return upstream(job.inputs, jobs)


def upstream(files: tuple[str, ...], jobs: Mapping[str, Job]) -> list[Job]:
    """All jobs that made ``files``, or what those were made from, if they leave a stamp."""
    makers = {file: job for job in jobs.values() for file in job.outputs}
    found: dict[str, Job] = {}
    seen: set[str] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop(0)
        maker = makers.get(file)
        if file in seen or maker is None:
            continue
        seen.add(file)
        if maker.stamp:
            found[maker.name] = maker
        waiting += maker.inputs
    return list(found.values())


def read_stamp(job: Job) -> dict[str, Any] | None:
    """The provenance a job left; None if it was not run yet.

    Raises:
        ResultError: the file is damaged.
    """
    if job.stamp is None or not Path(job.stamp).is_file():
        return None
    stamp = result_files.read_json(job.stamp)
    if not isinstance(stamp, dict):
        raise ResultError(f"{job.stamp} is damaged (no object); delete it and run again")
    return stamp
