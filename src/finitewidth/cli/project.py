"""The project folder that a command works in."""

from collections.abc import Sequence
from pathlib import Path

from finitewidth.common.declarations import artifacts_of, read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import nearest

MARKS = ("Snakefile", "workflow/papers")


def find_project(start: Path, given: Path | None = None) -> Path:
    """Return the folder of the project: ``given``, or ``start`` or a folder above it.

    Raises:
        ConfigError: there is no project.
    """
    places = (start.resolve(), *start.resolve().parents) if given is None else (given.resolve(),)
    for folder in places:
        if all((folder / mark).exists() for mark in MARKS):
            return folder
    if given is not None:
        raise ConfigError(f"--project {given}: this folder has no {' and '.join(MARKS)}; name "
                          "the top folder of a clone of finitewidth")  # fmt: skip
    raise ConfigError(f"{start} is not in a clone of finitewidth; go to one, or name it with "
                      "--project DIR")  # fmt: skip


def checked_targets(names: Sequence[str]) -> list[str]:
    """Return names of artifacts, papers, experiments and other targets that can be made.

    Files below ``results`` are left to Snakemake. The current folder is the project.

    Raises:
        ConfigError: a name is unknown, with the nearest names.
    """
    papers = read_papers()
    artifacts = [entry.artifact for entry in artifacts_of(papers)]
    experiments = {experiment.name for paper in papers for experiment in paper.experiments}
    known = {*artifacts, *experiments, *(paper.name for paper in papers), "all", "report",
             "errata", "datapackages",
             *(f"captions_{paper.name}" for paper in papers)}  # fmt: skip
    for name in names:
        if "/" not in name and name not in known:
            raise ConfigError(f"{name!r} is no artifact, paper or experiment"
                              f"{nearest(name, sorted(known))}; finitewidth list shows "
                              "all")  # fmt: skip
    return list(names)
