"""How much disk space a complete run takes."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from math import prod

from finitewidth.data.catalogue import ROLES, SOURCES, Source, source_for
from finitewidth.pipeline.jobs import Job, Jobs
from finitewidth.training.disk import Disk, of_training

# Tables, figures, the report, logs: at `quick` those of a run; else estimated
OTHERS = {"smoke": 0.1e9, "quick": 0.14e9, "laptop": 0.25e9, "paper": 0.5e9}
LABEL = 8  # bytes


def disk_space(jobs: Jobs) -> str:
    """Return a line that says how much a run takes, and what of it."""
    preset = jobs.config["preset"]
    written = sum((_written(jobs, job) for job in _training_jobs(jobs)), Disk())
    parts = {
        "weights of networks": written.weights,
        "checkpoints, which the end of the run removes": written.checkpoint,
        "datasets": sum(_dataset(jobs, role) for role in ROLES),
        "all else": OTHERS[preset],
    }
    words = ", ".join(f"{size(count)} {name}" for name, count in parts.items())
    return f"disk: {size(sum(parts.values()))} by estimate ({words})"


def size(count: float) -> str:
    """Bytes in the largest unit that leaves at least one: ``3.2 GB``."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= length:
            return f"{float(f'{count / length:.2g}'):g} {unit}"
    return f"{count / 1e3:.0f} kB"


def _training_jobs(jobs: Jobs) -> Iterable[Job]:
    """Trainings, and experiments that keep the weights of networks that they train."""
    keeping = (name for name, each in jobs.experiments.items() if "weights" in each.output)
    return (jobs[name] for name in (*jobs.trainings, *keeping))


def _written(jobs: Jobs, job: Job) -> Disk:
    source = _source(jobs, next(read.role for read in job.inputs if read.name == "data"))
    if job.kind == "training":
        return of_training(job.declared.run, source)
    module = f"finitewidth.papers.{job.paper}.experiments.disk"
    return import_module(module).disk(job.params, source) if find_spec(module) else Disk()


def _source(jobs: Jobs, role: str | None) -> Source:
    """The source of a role; the original where only the files of the user tell the sizes."""
    source = source_for(role or "mnist", jobs.config["data"])
    return source if source.shape else SOURCES[role or "mnist"]


def _dataset(jobs: Jobs, role: str) -> int:
    source = _source(jobs, role)
    return sum(source.images) * (prod(source.shape) + LABEL)
