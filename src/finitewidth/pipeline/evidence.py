"""How good the evidence is that some inputs give: for an artifact, a claim or a number.

It follows from the jobs behind the inputs alone: from their deviations from the paper, from their
datasets, and from a comparison with the unmodified preset.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from finitewidth.claims import grades
from finitewidth.claims.needs import is_original
from finitewidth.data.catalogue import describe
from finitewidth.pipeline import wording
from finitewidth.pipeline.deviations import Deviation, Deviations, Kind, Path
from finitewidth.pipeline.jobs import Input, Jobs, direct_jobs, named_settings
from finitewidth.pipeline.repetitions import repetitions_of
from finitewidth.pipeline.views import View
from finitewidth.settings.sections import Source


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How the jobs behind some inputs compare with the preset and with the paper.

    Attributes:
        deviations: of all jobs behind them
        modified: whether a setting or a dataset differs from the unmodified preset
        originals: whether every dataset is the paper's own
        stand_in: whether a dataset is another one than the paper's, and not only re-encoded
    """

    deviations: tuple[Deviation, ...]
    modified: bool
    originals: bool
    stand_in: bool

    @property
    def reduced(self) -> bool:
        """Whether a value that the paper or its code states is another one here."""
        return any(deviation.stated for deviation in self.deviations)

    @property
    def sizes(self) -> bool:
        """Whether all sizes are the paper's.

        Where it gives no size of a training, it is at least that of preset ``paper``. Fewer runs or
        draws than the paper's do not count as a size.
        """
        return not any(deviation.kind is Kind.SIZE for deviation in self.deviations)

    @property
    def fewer_runs(self) -> bool:
        """Whether a number of runs or draws that the paper states is another one here."""
        return any(
            deviation.stated and deviation.kind is Kind.REPETITION for deviation in self.deviations
        )

    @property
    def choices(self) -> tuple[str, ...]:
        """Our own choices that differ from those of preset ``paper``, if nothing else differs."""
        return () if self.reduced else wording.statements(self.deviations)

    @property
    def papers(self) -> bool:
        """Whether nothing is reduced and no dataset replaced."""
        return self.originals and not self.reduced


class Evidence:
    """The evidence of one configuration."""

    def __init__(self, jobs: Jobs, preset: Jobs, paper: Jobs, sources: Mapping[Path, Source]):
        """Compare nothing yet.

        Args:
            jobs: of the configuration
            preset: jobs of its preset, unmodified
            paper: jobs of preset ``paper``
            sources: path of a setting -> where its value in preset ``paper`` comes from
        """
        self.jobs = jobs
        self._preset = preset
        self._paper = paper
        self._sources = sources
        self._deviations = Deviations(jobs, paper, sources)
        self._scales: dict[Any, Scale] = {}  # a start of Snakemake asks for many of them often

    def scale(
        self,
        inputs: Sequence[Input],
        rows: Sequence[str] = (),
        role: str = "",
        shown: str | int = "",
    ) -> Scale:
        """How the jobs behind some inputs compare with the preset and with the paper.

        Args:
            inputs: of an artifact, a claim or a number
            rows: if given, trainings for other rows (`TrainingRun.row`) are left out
            role: if given, trainings on other datasets are left out
            shown: what an artifact shows of its runs (`finitewidth.pipeline.views.View`)
        """
        files = frozenset((item.reference, item.files) for item in inputs)
        key = files, tuple(rows), role, shown
        if key not in self._scales:
            self._scales[key] = self._scale(inputs, rows, role, shown)
        return self._scales[key]

    def _scale(
        self, inputs: Sequence[Input], rows: Sequence[str], role: str, shown: str | int
    ) -> Scale:
        view = View.of_inputs(self.jobs, inputs, shown)
        names = self._jobs_behind(inputs, rows, role)
        roles = (role,) if role else self.jobs.roles(inputs, names)
        deviations: list[Deviation] = []
        modified = False
        for name in names:
            deviations += self._deviations.of_job(name, view)
            modified |= view.differs(self.jobs, self._preset, name)
        originals = True
        stand_in = False
        for dataset in roles:
            source = _source(self.jobs, dataset)
            modified |= source != _source(self._preset, dataset)
            originals &= source == _source(self._paper, dataset)
            stand_in |= not is_original(source, dataset)
        return Scale(
            deviations=tuple(deviations),
            modified=modified,
            originals=originals,
            stand_in=stand_in,
        )

    def _jobs_behind(
        self, inputs: Sequence[Input], rows: Sequence[str] = (), role: str = ""
    ) -> list[str]:
        """All jobs behind some inputs; of the trainings, those of a dataset and for some rows."""
        _, names = self.jobs.closure(inputs)
        return [name for name in names if self._counts(name, rows, role)]

    def _counts(self, name: str, rows: Sequence[str], role: str) -> bool:
        """Whether a job counts: of the trainings, those on the dataset and for the rows, if any."""
        training = self.jobs.trainings.get(name)
        if training is None:
            return True
        on_dataset = not role or training.dataset == role
        for_rows = not rows or training.run.row in rows
        return on_dataset and for_rows

    def scale_of_artifact(self, name: str) -> Scale:
        """The scale of what a figure or table shows."""
        return self.scale(self.jobs[name].inputs, shown=self.jobs.artifacts[name].runs_shown)

    @cached_property
    def modified(self) -> set[str]:
        """The experiments and trainings whose settings are not those of the unmodified preset."""
        names = (*self.jobs.experiments, *self.jobs.trainings)
        return {name for name in names if self.is_modified(name)}

    def is_modified(self, name: str) -> bool:
        """Whether the settings of a job are not those of the unmodified preset."""
        return View().differs(self.jobs, self._preset, name)

    def roles(self, inputs: Sequence[Input]) -> tuple[str, ...]:
        """The papers' datasets that some inputs rest on."""
        return self.jobs.roles(inputs, self._jobs_behind(inputs))

    def datasets(self, inputs: Sequence[Input], rows: Sequence[str] = ()) -> dict[str, str]:
        """Role -> what plays its part, stand-ins named as such; ``rows`` as for `scale`."""
        data = self.jobs.config["data"]
        roles = self.jobs.roles(inputs, self._jobs_behind(inputs, rows))
        return {role: describe(data[role], role, data["imagefolder"]) for role in roles}

    def comparable(self, inputs: Sequence[Input]) -> dict[str, bool]:
        """Role -> whether all that rests on this dataset is at the paper's scale."""
        return {role: self.scale(inputs, role=role).papers for role in self.roles(inputs)}

    def differences(self, inputs: Sequence[Input], rows: Sequence[str] = ()) -> tuple[str, ...]:
        """What differs from the paper in what some inputs rest on, in words; the data come first.

        Values that the paper also accepts are left out, and so are our own choices except smaller
        sizes of trainings. Where nothing differs, the result is empty. ``rows`` is as for `scale`.
        """
        scale = self.scale(inputs, rows)
        stated = [deviation for deviation in scale.deviations if deviation.stated]
        chosen = [deviation for deviation in scale.deviations if not deviation.stated]
        smaller = [deviation for deviation in chosen if deviation.kind is Kind.SIZE]
        if scale.originals and not stated and not smaller:
            return ()
        datasets = list(self.datasets(inputs, rows).values())
        words = wording.statements(stated, before=datasets)
        if smaller:
            words += (wording.own_choices(wording.statements(smaller)),)
        return words

    def grade(self, inputs: Sequence[Input], scale: Scale, reduced: bool | None = None) -> str:
        """How good the evidence is that some inputs give (`finitewidth.claims.grades`).

        Pass ``reduced`` if it is already known whether sizes are reduced.
        """
        if scale.stand_in:
            return grades.STAND_IN
        if not self.roles(inputs) and not any(repetitions_of(self.jobs, inputs).values()):
            return grades.EXACT
        if reduced is None:
            reduced = not (scale.sizes and scale.originals)
        return grades.REDUCED if reduced else grades.PAPER

    def grade_of_artifact(self, name: str) -> str:
        """The grade of a figure or table."""
        if self.is_drawing(name):
            return grades.DRAWING
        return self.grade(self.jobs[name].inputs, self.scale_of_artifact(name))

    def status(self, name: str) -> str:
        """What a figure or table shows, one of `finitewidth.claims.grades.STATUSES`."""
        if self.is_drawing(name):
            return grades.DRAWN
        scale = self.scale_of_artifact(name)
        if scale.stand_in:
            return grades.ON_STAND_IN
        if not (scale.sizes and scale.originals):
            return grades.SMALLER
        if scale.fewer_runs:
            return grades.FEWER_RUNS
        return grades.OWN_SIZES if self._is_of_our_own(name) else grades.AT_SIZES

    def _is_of_our_own(self, name: str) -> bool:
        """Whether the paper states no setting of any experiment behind an artifact."""
        _, behind = self.jobs.closure(self.jobs[name].inputs)
        if not behind or any(job in self.jobs.trainings for job in behind):
            return False
        return not any(self._has_stated_setting(job) for job in behind)

    def _has_stated_setting(self, experiment: str) -> bool:
        """Whether the paper or its code states a setting that an experiment declares."""
        declared = self.jobs.experiments[experiment]
        sections = [(declared.paper, *path) for path in named_settings(declared.params)]
        for path, source in self._sources.items():
            if source.stated and any(path[: len(section)] == section for section in sections):
                return True
        return False

    def params(self, name: str) -> dict[str, Any]:
        """The settings of an experiment or a renderer, with the facts about its inputs."""
        job = self.jobs[name]
        declared = self.jobs.experiments.get(name) or self.jobs.artifacts[name]
        params: dict[str, Any] = {} if job.kind == "experiment" else {"artifact": name}
        params |= job.params
        if "datasets" in declared.facts:
            params["datasets"] = self.datasets(job.inputs)
        if "comparable" in declared.facts:
            params["comparable"] = self.comparable(job.inputs)
        return params

    def is_drawing(self, name: str) -> bool:
        """Whether an artifact shows only what explains the paper."""
        makers = direct_jobs(self.jobs[name].inputs)
        return bool(makers) and all(self.jobs[maker].explains for maker in makers)


def _source(jobs: Jobs, role: str) -> str:
    """The source that plays the part of a dataset of the papers."""
    return jobs.config["data"][role]
