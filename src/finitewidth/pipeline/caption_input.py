"""Files and settings of the rules of captions: templates, verdicts, settings, footers."""

from pathlib import Path
from typing import Any

from finitewidth.claims import ledger
from finitewidth.claims.captions import settings_of
from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.files import Files
from finitewidth.pipeline.footers import Footers
from finitewidth.pipeline.jobs import Jobs, chosen


class CaptionInput:
    """The input of the rule of captions, for each paper."""

    def __init__(self, jobs: Jobs, files: Files, footers: Footers, root: Path):
        self._jobs = jobs
        self._files = files
        self._footers = footers
        self._root = root

    def files(self, paper: str) -> dict[str, list[str]]:
        """The templates of the captions of a paper, and the tables of verdicts.

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
        return {"templates": templates, "verdicts": verdicts}

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


def _template(paper: str, artifact: str) -> str:
    return f"src/finitewidth/papers/{paper}/captions/{artifact}.rst"
