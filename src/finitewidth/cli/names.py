"""Names of artifacts, targets and runs, as commands take them and shells complete them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from finitewidth.declarations.papers import FOLDER, Artifact, Paper, artifacts_of, read_papers
from finitewidth.pipeline.runs.surroundings import find_project
from finitewidth.settings.presets import preset_names


def file_of(artifact: Artifact, results: str) -> Path:
    """Return the file of a figure or a table that a reader opens first."""
    suffix = "pdf" if artifact.kind == "figure" else "md"
    return Path(results, artifact.paper, f"{artifact.kind}s", f"{artifact.artifact}.{suffix}")


def target_names(papers: Iterable[Paper]) -> dict[str, str]:
    """Return what ``finitewidth run`` makes, by name, with a few words on it."""
    papers = tuple(papers)
    names = {}
    for artifact in artifacts_of(papers):
        names[artifact.artifact] = f"{artifact.label}: {artifact.title}"
    for paper in papers:
        names[paper.name] = paper.title
    for paper in papers:
        for experiment in paper.experiments:
            names[experiment.name] = "experiment"
    for paper in papers:
        names[f"captions_{paper.name}"] = "captions of its artifacts"
    names["all"] = "everything"
    names["report"] = "pages of all results"
    names["errata"] = "misprints of the papers"
    names["datapackages"] = "descriptions of all data files"
    return names


# --- completion; cyclopts hides errors, such as those outside of a project ------------------------


def complete_targets(context: Any) -> dict[str, str]:
    """The targets of ``finitewidth run`` in the project of the user."""
    return target_names(read_papers(find_project(Path.cwd()) / FOLDER))


def complete_jobs(context: Any) -> dict[str, str]:
    """The artifacts and experiments in the project of the user."""
    papers = read_papers(find_project(Path.cwd()) / FOLDER)
    names = {}
    for artifact in artifacts_of(papers):
        names[artifact.artifact] = f"{artifact.label}: {artifact.title}"
    for paper in papers:
        for experiment in paper.experiments:
            names[experiment.name] = experiment.stage
    return names


def complete_papers(context: Any) -> dict[str, str]:
    """The papers in the project of the user."""
    return {paper.name: paper.title for paper in read_papers(find_project(Path.cwd()) / FOLDER)}


def complete_presets(context: Any) -> list[str]:
    """The presets in the project of the user."""
    return preset_names(find_project(Path.cwd()) / "config")


def complete_runs(context: Any) -> list[str]:
    """The folders of ``results`` with verdicts, in the project of the user."""
    verdicts = (find_project(Path.cwd()) / "results").glob("*/claims/*_verdicts.csv")
    return sorted({file.parents[1].name for file in verdicts})
