"""Settings of the rules ``datapackages`` and ``report``: papers and artifacts."""

from typing import Any

from finitewidth.data.catalogue import ROLES, describe
from finitewidth.declarations.papers import Artifact, Experiment
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.files import Files
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs, makers_of


class ReportInput:
    """The input of the rules ``datapackages`` and ``report``."""

    def __init__(self, jobs: Jobs, files: Files, evidence: Evidence, footers: Footers):
        self._jobs = jobs
        self._config = jobs.config
        self._files = files
        self._evidence = evidence
        self._footers = footers

    def headers(self) -> dict[str, str | None]:
        """Files whose columns the data packages name -> the job that makes each, if one does."""
        headers: dict[str, str | None] = {}
        for name in self._jobs.artifacts:
            inputs = self._jobs[name].inputs
            makers = makers_of(inputs)
            for item in inputs:
                headers[item.files[0]] = makers.get(item.files[0])
        return headers

    def experiment_tables(self) -> dict[str, str]:
        """The tables of all experiments -> the job that makes each."""
        tables: dict[str, str] = {}
        for name in self._jobs.experiments:
            tables |= dict.fromkeys(self._tables(name).values(), name)
        return tables

    def _tables(self, experiment: str) -> dict[str, str]:
        """Name -> file of the tables of an experiment, without arrays and provenance."""
        outputs = self._jobs.outputs(experiment)
        return {name: file for name, file in outputs.items() if file.endswith(".csv")}

    def packages(self) -> dict[str, dict[str, Any]]:
        """File of a data package -> its content: the artifacts of a paper, or its experiments."""
        packages = {}
        for paper in self._jobs.papers:
            about = {
                "paper": paper.name,
                "title": paper.title,
                "preset": self._config["preset"],
            }
            artifacts = [self._resource(entry) for entry in paper.artifacts]
            packages[self._files.package(paper.name)] = {**about, "artifacts": artifacts}
            if paper.experiments:
                experiments = [self._experiment(entry) for entry in paper.experiments]
                file = self._files.experiments_package(paper.name)
                packages[file] = {**about, "experiments": experiments}
        return packages

    def _experiment(self, entry: Experiment) -> dict[str, Any]:
        """The tables of an experiment in a data package."""
        return {
            "experiment": entry.name,
            "module": entry.module,
            "settings": self._evidence.params(entry.name),
            "tables": self._tables(entry.name),
            "inputs": [item.reference for item in self._jobs[entry.name].inputs],
        }

    def _resource(self, entry: Artifact) -> dict[str, Any]:
        """An artifact in a data package."""
        inputs = self._jobs[entry.artifact].inputs
        return {
            "artifact": entry.artifact,
            "title": f"{entry.label}: {entry.title}",
            "footer": self._footers.footer(entry.artifact),
            "file": self._files.table(entry.artifact),
            "caption": self._files.caption(entry.artifact),
            "renderer": self._renderer(entry),
            "inputs": {item.reference: list(item.files) for item in inputs},
        }

    def _renderer(self, entry: Artifact) -> dict[str, Any]:
        """The module of an artifact and its settings, with which it can be drawn again."""
        renderer = {"module": entry.module, "settings": self._evidence.params(entry.artifact)}
        if entry.kind == "figure":
            renderer["mark"] = self._footers.mark(entry.artifact)
        return renderer

    def settings(self) -> dict[str, Any]:
        """Papers, and artifacts with their files: the settings of the report."""
        papers = self._jobs.papers
        data = self._config["data"]
        return {
            "preset": self._config["preset"],
            "results": self._jobs.results,
            "papers": [paper.name for paper in papers],
            "versions": {paper.name: paper.version_of for paper in papers},
            "errata": self._files.errata,
            "artifacts": [self._artifact(entry) for entry in self._jobs.artifacts.values()],
            "datasets": [describe(data[role], role, data["imagefolder"]) for role in ROLES],
        }

    def _artifact(self, entry: Artifact) -> dict[str, Any]:
        """A table or figure in the report: its declaration, files, scale and grade."""
        return {
            "artifact": entry.artifact,
            "paper": entry.paper,
            "kind": entry.kind,
            "label": entry.label,
            "title": entry.title,
            "extra": entry.extra,
            "first_page": entry.first_page,
            "files": self._jobs.outputs(entry.artifact),
            "caption": self._files.caption(entry.artifact),
            "scale": self._evidence.status(entry.artifact),
            "grade": self._evidence.grade_of_artifact(entry.artifact),
        }
