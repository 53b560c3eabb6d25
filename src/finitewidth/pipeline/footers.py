"""Footers of figures and tables, marks in figures, and contexts of claims and numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from finitewidth.data.catalogue import ROLES, find_source
from finitewidth.data.places import is_user_folder
from finitewidth.declarations.papers import Artifact
from finitewidth.pipeline import wording
from finitewidth.pipeline.evidence import Evidence, Scale
from finitewidth.pipeline.jobs import Input, Jobs
from finitewidth.pipeline.repetitions import Repetitions, repetitions_of, section_of
from finitewidth.settings.nested import at

NO_RESULT = {"figure": "a drawing, shows no result", "table": "equations, shows no result"}
OTHER_SIZES = "other sizes than the paper's"
FEWER_REPETITIONS = "fewer runs or draws than the paper's"


class Footers:
    """Footers, marks and contexts of one configuration."""

    def __init__(self, jobs: Jobs, evidence: Evidence):
        self._jobs = jobs
        self._evidence = evidence
        self._config = jobs.config

    def mark(self, artifact: str) -> str:
        """The mark in a figure, empty for a drawing, and where all is as in the paper.

        Its parts are separated by " · ", for example ``stand-in data: digits 8×8 for MNIST · other
        sizes than the paper's``.
        """
        if self._evidence.is_drawing(artifact):
            return ""
        data = self._config["data"]
        roles = self._evidence.roles(self._jobs[artifact].inputs)
        words = [_mark_of_data(role, data[role], data["imagefolder"]) for role in roles]
        if not self._evidence.scale_of_artifact(artifact).sizes:
            words.append(OTHER_SIZES)
        return " · ".join(filter(None, words))

    def footer(self, artifact: str) -> str:
        """The line below a figure or table; the settings of its drawing count as well."""
        inputs = self._jobs[artifact].inputs
        scale = self._evidence.scale_of_artifact(artifact)
        modified = scale.modified or self._evidence.is_modified(artifact)
        amount = self._amount(self._jobs.artifacts[artifact], inputs)
        return self._line(inputs, scale, modified, amount)

    def context(self, inputs: Sequence[Input]) -> str:
        """The same line for what some inputs of a claim or number rest on."""
        scale = self._evidence.scale(inputs)
        amount = wording.counted(repetitions_of(self._jobs, inputs))
        return self._line(inputs, scale, scale.modified, amount)

    def _line(self, inputs: Sequence[Input], scale: Scale, modified: bool, amount: str) -> str:
        """Preset, data, number of runs or draws, and what is reduced or chosen differently."""
        words = [
            self._preset(modified),
            *self._evidence.datasets(inputs).values(),
            *wording.pooled(self._sections(inputs).values()),
            amount,
        ]
        if scale.reduced:
            words.append(FEWER_REPETITIONS if scale.sizes else OTHER_SIZES)
        elif scale.choices:
            words.append(wording.own_choices(scale.choices, wording.MOST_CHOICES))
        return " · ".join(words)

    def _preset(self, modified: bool) -> str:
        words = f"preset {self._config['preset']}"
        seed = self._config.get("seed", 0)
        if seed:
            words += f", seed {seed}"
        if modified:
            words += ", modified"
        return words

    def _sections(self, inputs: Sequence[Input]) -> dict[str, Mapping[str, Any]]:
        """Name -> settings section of every experiment and family behind some inputs."""
        sections = {}
        _, names = self._jobs.closure(inputs)
        for name in names:
            paper, section = section_of(self._jobs, name)
            settings = self._config[paper].get(section)
            path = getattr(self._jobs[name].declared, "params", None)
            if settings is None and isinstance(path, str):
                section = path.split(".")[-1]
                settings = self._jobs[name].params
            if isinstance(settings, Mapping):
                sections[section] = settings
        return sections

    def _amount(self, artifact: Artifact, inputs: Sequence[Input]) -> str:
        """Number of runs or draws, and how many of them an artifact shows if not all."""
        numbers = repetitions_of(self._jobs, inputs)
        if self._evidence.is_drawing(artifact.artifact) and not any(numbers.values()):
            return NO_RESULT[artifact.kind]
        if artifact.panels:
            by_panel = {}
            for item in inputs:
                if item.name in artifact.panels:
                    by_panel[artifact.panels[item.name]] = repetitions_of(self._jobs, [item])
            return wording.counted_by_panel(by_panel)
        words = wording.counted(numbers)
        if not artifact.runs_shown:
            return words
        shown, runs = self._runs_shown(artifact.runs_shown, numbers)
        return f"{words} drawn, {shown:,} shown" if shown < runs else words

    def _runs_shown(self, declared: str | int, numbers: Repetitions) -> tuple[int, int]:
        """How many runs an artifact shows, and how many there are."""
        if isinstance(declared, int):
            return declared, max(numbers["runs"].values())
        experiment = ".".join(declared.split(".")[:2])
        return at(self._config, declared), at(self._config, experiment)["runs"]


def _mark_of_data(role: str, source: str, folders: Mapping[str, str]) -> str:
    """``stand-in data: digits 8×8 for MNIST``; empty for the paper's own dataset."""
    title = find_source(source, folders).title
    dataset = ROLES[role]
    if is_user_folder(source, folders):
        return f"your images: {source} for {dataset}"
    if title == dataset:
        return ""
    if title.startswith(f"{dataset} ("):  # the same images, encoded anew
        return title
    return f"stand-in data: {title} for {dataset}"
