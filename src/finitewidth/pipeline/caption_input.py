"""Files and settings of the rules of captions: templates, verdicts, settings, footers."""

from pathlib import Path
from typing import Any

from finitewidth.claims import ledger
from finitewidth.claims.captions import settings_of
from finitewidth.common.errors import ConfigError
from finitewidth.declarations.papers import Artifact
from finitewidth.pipeline.evidence import Evidence
from finitewidth.pipeline.files import Files
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs, chosen
from finitewidth.records.code import source_of


class CaptionInput:
    """The input of the rule of captions, for each paper."""

    def __init__(self, jobs: Jobs, files: Files, evidence: Evidence, footers: Footers, root: Path):
        self._jobs = jobs
        self._files = files
        self._evidence = evidence
        self._footers = footers
        self._root = root

    def files(self, paper: str) -> dict[str, list[str]]:
        """The templates of the captions of a paper, data files, and the tables of verdicts.

        Raises:
            ConfigError: an artifact has no template.
        """
        templates = []
        for entry in self._jobs.artifacts_of(paper):
            template = _template(paper, entry.artifact)
            if not (self._root / template).is_file():
                raise ConfigError(f"{entry.artifact} has no caption; write {template}")
            templates.append(template)
        verdicts = [self._files.verdict_table(judge) for judge in self.judges_of(paper)]
        data = list(self.data_files(paper))
        return {"templates": templates, "verdicts": verdicts, "data": data}

    def data_files(self, paper: str) -> dict[str, str]:
        """The data files of the artifacts that have a sentence of result -> artifact."""
        files = {}
        for entry in self._jobs.artifacts_of(paper):
            if result_module(entry):
                files[self._files.table(entry.artifact)] = entry.artifact
        return files

    def modules(self, paper: str) -> list[str]:
        """The modules of the sentences of result of a paper, and of their artifacts."""
        modules = set()
        for entry in self._jobs.artifacts_of(paper):
            module = result_module(entry)
            if module:
                modules |= {module, entry.module}
        return sorted(modules)

    def settings(self, paper: str) -> dict[str, dict[str, Any]]:
        """Artifact -> what its caption is written from.

        Raises:
            ConfigError: a template names a setting that does not exist.
        """
        settings = {}
        for entry in self._jobs.artifacts_of(paper):
            template = _template(paper, entry.artifact)
            settings[entry.artifact] = {
                "template": template,
                "settings": self._named_settings(template),
                "output": self._files.caption(entry.artifact),
                "footer": self._footers.footer(entry.artifact),
            }
            module = result_module(entry)
            if module:
                settings[entry.artifact]["result"] = {
                    "module": module,
                    "renderer": entry.module,
                    "data": self._files.table(entry.artifact),
                    "settings": self._evidence.params(entry.artifact),
                }
        return settings

    def _named_settings(self, template: str) -> dict[str, Any]:
        """The settings that a template names."""
        text = (self._root / template).read_text(encoding="utf-8")
        try:
            return {name: chosen(self._jobs.config, f"config.{name}") for name in settings_of(text)}
        except ConfigError as error:
            raise ConfigError(f"{template}: {error}") from None

    def judges_of(self, paper: str) -> list[str]:
        """The papers with claims on the artifacts of a paper."""
        artifacts = {entry.artifact for entry in self._jobs.artifacts_of(paper)}
        judges = []
        for other in self._jobs.papers:
            claims = ledger.claims_of(other.name)
            if any(artifacts.intersection(claim.artifacts) for claim in claims):
                judges.append(other.name)
        return judges


def result_module(artifact: Artifact) -> str:
    """The module with the sentence of result of an artifact; empty if it has none.

    It has the name of the renderer, in the folder ``results`` of the renderer's paper or, if all
    papers share the renderer, of the artifact's.
    """
    folder, _, name = artifact.module.rpartition(".")
    package = folder.rpartition(".")[0]
    if not package.startswith("finitewidth.papers."):
        package = f"finitewidth.papers.{artifact.paper}"
    module = f"{package}.results.{name}"
    return module if source_of(module) else ""


def _template(paper: str, artifact: str) -> str:
    return f"src/finitewidth/papers/{paper}/captions/{artifact}.rst"
