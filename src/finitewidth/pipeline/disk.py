"""How much disk space a complete run takes."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from math import prod

from finitewidth.data.catalogue import ROLES, SOURCES, Source, source_for
from finitewidth.pipeline.jobs import Job, Jobs
from finitewidth.settings.typed import settings_for
from finitewidth.training.disk import Disk, of_training

# Tables, figures, the report, logs: at `quick` those of a run; else estimated
OTHERS = {"smoke": 0.1e9, "quick": 0.14e9, "laptop": 0.25e9, "paper": 0.5e9}
LABEL = 8  # bytes


def disk_space(jobs: Jobs) -> str:
    """Return a line with the disk space of a run, and of its parts."""
    written = Disk()
    for job in _jobs_with_weights(jobs):
        written += _written(jobs, job)
    parts = {
        "weights of networks": written.weights,
        "checkpoints, which the end of the run removes": written.checkpoint,
        "datasets": sum(_dataset(jobs, role) for role in ROLES),
        "all else": OTHERS[jobs.config["preset"]],
    }
    words = ", ".join(f"{size(count)} {name}" for name, count in parts.items())
    return f"disk: {size(sum(parts.values()))} by estimate ({words})"


def size(count: float) -> str:
    """Bytes in the largest unit that leaves at least one: ``3.2 GB``."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= length:
            return f"{float(f'{count / length:.2g}'):g} {unit}"
    return f"{count / 1e3:.0f} kB"


def _jobs_with_weights(jobs: Jobs) -> Iterator[Job]:
    """Trainings, and experiments that keep the weights of networks that they train."""
    for name in jobs.trainings:
        yield jobs[name]
    for name, declared in jobs.experiments.items():
        if "weights" in declared.output:
            yield jobs[name]


def _written(jobs: Jobs, job: Job) -> Disk:
    """What a training, or an experiment that trains, writes to the disk."""
    role = next(item.role for item in job.inputs if item.name == "data")
    source = _source(jobs, role)
    if job.kind == "training":
        return of_training(jobs.trainings[job.name].run, source)
    module = f"finitewidth.papers.{job.paper}.experiments.disk"
    if not find_spec(module):
        return Disk()
    written = import_module(module).disk
    return written(settings_for(written, job.params), source)


def _source(jobs: Jobs, role: str | None) -> Source:
    """The source of a role; the original where only the files of the user tell the sizes."""
    source = source_for(role or "mnist", jobs.config["data"])
    return source if source.shape else SOURCES[role or "mnist"]


def _dataset(jobs: Jobs, role: str) -> int:
    """Bytes of a dataset: its images, and their labels."""
    source = _source(jobs, role)
    assert source.shape is not None
    assert source.images is not None
    bytes_of_an_image = prod(source.shape) + LABEL
    return sum(source.images) * bytes_of_an_image
