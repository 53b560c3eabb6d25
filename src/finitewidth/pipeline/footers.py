"""What an artifact, a claim or a number was computed with, derived from the jobs that it rests on.

Nothing here is declared by hand. The parameters of all jobs upstream are compared with those of the
unmodified preset and with those of the papers' own settings. The sources in the models of the
settings (`finitewidth.common.setting_types.Source`) say which differences matter.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from finitewidth.claims.grades import (
    AT_SIZES,
    DRAWING,
    DRAWN,
    EXACT,
    ON_STAND_IN,
    PAPER,
    REDUCED,
    SMALLER,
    STAND_IN,
)
from finitewidth.claims.needs import is_original
from finitewidth.common.declarations import Artifact, Experiment, Paper
from finitewidth.common.setting_types import Source
from finitewidth.common.settings import at, leaves, replaced
from finitewidth.data.catalogue import ROLES, describe, find_source
from finitewidth.data.places import is_own
from finitewidth.pipeline.differences import (
    Difference,
    counted,
    counted_by_panel,
    in_words,
    named,
    of_settings,
    of_training,
    pooled,
)
from finitewidth.pipeline.jobs import Jobs, Path, Read, Seen

UNITS = ("runs", "draws")
REPETITIONS = ("runs", "draws", "paper_draws")  # settings that are no sizes
NO_RESULT = {"figure": "a drawing, shows no result", "table": "equations, shows no result"}


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How a set of upstream jobs compares with the preset and with the paper.

    Attributes:
        modified: whether a setting or a dataset differs from the unmodified preset.
        reduced: whether a value that the paper or its code states is another one here.
        choices: our own choices that differ from those of preset ``paper``, in words, where
            nothing else differs.
        originals: whether every dataset is the paper's own.
        sizes: whether all sizes are the paper's; where it gives no size of a training, whether it
            is at least that of preset ``paper``. Fewer runs or draws than the paper's (the
            settings named in `REPETITIONS`) do not count as a size.
        stand_in: whether some dataset is another one than the paper's. Images that were only
            re-encoded are not another dataset, although they are not ``originals``.
    """

    modified: bool
    reduced: bool
    choices: tuple[str, ...]
    originals: bool
    sizes: bool
    stand_in: bool

    @property
    def papers(self) -> bool:
        """Whether all is at the paper's scale: nothing reduced, no dataset replaced."""
        return self.originals and not self.reduced


class Footers:
    """Footers and contexts of one configuration.

    Its settings, ``config``, are compared with those of its preset, ``preset``, and with those of
    preset ``paper``. ``sources`` has path of a setting -> where its value comes from.
    """

    def __init__(
        self, papers: Sequence[Paper], config: Mapping[str, Any], preset: Mapping[str, Any],
        paper: Mapping[str, Any], sources: Mapping[Path, Source],
    ):  # fmt: skip
        self.jobs = Jobs(papers, config)
        self._papers, self._sources = papers, sources
        self._config, self._preset_config, self._paper_config = config, preset, paper
        self._scales: dict[Any, Scale] = {}  # a start of Snakemake asks for many of them often

    @cached_property
    def _preset(self) -> Jobs:
        same = self._config == self._preset_config
        return self.jobs if same else Jobs(self._papers, self._preset_config)

    @cached_property
    def _paper(self) -> Jobs:
        return Jobs(self._papers, self._paper_config)

    @cached_property
    def _choosing(self) -> Jobs:
        """The same run with accepted values replaced by those of preset paper, not our choices."""
        return self._with_the_papers(lambda path: False)

    @cached_property
    def _canonical(self) -> Jobs:
        """The same as `_choosing`, with our own choices replaced, too."""
        return self._with_the_papers(lambda path: not self._sources[path].stated)

    @cached_property
    def _repeated(self) -> Jobs:
        """The same as `_canonical`, with as many runs and draws as the paper."""
        return self._with_the_papers(
            lambda path: (
                path[-1] in REPETITIONS or "shown" in path or not self._sources[path].stated
            )
        )

    def _with_the_papers(self, taken: Callable[[Path], bool]) -> Jobs:
        """The same run with the values of preset ``paper`` where these are accepted or taken."""
        theirs = leaves(self._paper_config)
        changed = {
            path: theirs[path]
            for path, value in leaves(self._config).items()
            if path in self._sources
            and theirs.get(path, value) != value
            and (taken(path) or self._sources[path].accepts(theirs[path], value))
        }
        return Jobs(self._papers, replaced(self._config, changed))

    def scale(
        self,
        reads: Sequence[Read],
        role: str | None = None,
        rows: Sequence[str] = (),
        artifact: Artifact | None = None,
    ) -> Scale:
        """How the jobs behind some inputs compare with the preset and the paper.

        Settings that cannot be seen in these inputs, or in the ``artifact`` that has them, do not
        count (`Seen`). With ``role``, trainings on other datasets are left out, and with ``rows``
        those for other rows (`TrainingRun.row`).
        """
        seen = Seen.of(self.jobs, reads, artifact)
        files = frozenset((read.reference, read.files) for read in reads)
        key = files, role, tuple(rows), seen.key
        if key not in self._scales:
            jobs = self._jobs_behind(reads, role, rows)
            roles = self._roles(reads, jobs) if role is None else (role,)
            ours, papers = self._config["data"], self._paper_config["data"]
            reduced = self._differ(self._canonical, self._paper, jobs, seen)
            chosen = (one for name in jobs for one in self._compared(self._choosing, name, seen))
            self._scales[key] = Scale(
                modified=any(ours[r] != self._preset_config["data"][r] for r in roles)
                or self._differ(self.jobs, self._preset, jobs, seen),
                reduced=reduced,
                choices=() if reduced else in_words(chosen),
                originals=all(ours[r] == papers[r] for r in roles),
                sizes=not self._differ(self._repeated, self._paper, jobs, seen)
                and not any(map(self._chosen_smaller, jobs)),
                stand_in=not all(is_original(ours[r], r) for r in roles),
            )
        return self._scales[key]

    def differences(self, reads: Sequence[Read], rows: Sequence[str] = ()) -> tuple[str, ...]:
        """What differs from the paper in what some inputs rest on, in words; the data come first.

        Values that the paper also accepts are left out, and so are our own choices except smaller
        sizes of trainings. Where nothing differs, the result is empty. ``rows`` is as for `scale`.
        """
        jobs = self._jobs_behind(reads, rows=rows)
        seen = Seen.of(self.jobs, reads)
        stated = [one for name in jobs for one in self._compared(self._canonical, name, seen)]
        roles, data = self._roles(reads, jobs), self._config["data"]
        chosen = in_words(one for name in jobs for one in self._chosen_smaller(name))
        if not stated and not chosen and all(data[r] == self._paper_config["data"][r]
                                             for r in roles):  # fmt: skip
            return ()
        words = in_words(stated, [describe(data[r], r, data["imagefolder"]) for r in roles])
        if chosen:
            words += (f"our own choice: {', '.join(chosen).replace('(paper ', '(preset paper ')}",)
        return words

    def _chosen_smaller(self, name: str) -> list[Difference]:
        """Sizes of a training that the paper does not give and that are smaller than in preset
        ``paper``.
        """
        ours, theirs = self._choosing.trainings.get(name), self._paper.trainings.get(name)
        if ours is None or theirs is None or ours.run == theirs.run:
            return []
        seen = Seen(unseen={})
        stated = {one.what for one in self._compared(self._canonical, name, seen)}
        every = of_training(ours, theirs, self._config["data"][ours.dataset])
        return [one for one in every if one.smaller and one.what not in stated]

    def _compared(self, ours: Jobs, name: str, seen: Seen) -> Iterator[Difference]:
        theirs = self._paper
        if not self._differ(ours, theirs, [name], seen):
            return
        changes: list[Difference] = []
        if name in ours.experiments:
            changes = of_settings(seen.params(ours, name), seen.params(theirs, name))
        elif name in theirs.trainings:
            training = ours.trainings[name]
            source = self._config["data"][training.dataset]
            changes = of_training(training, theirs.trainings[name], source)
        yield from changes or [Difference(f"{name} is set up otherwise", None, None)]

    def grade(
        self,
        reads: Sequence[Read],
        rows: Sequence[str] = (),
        *,
        reduced: bool | None = None,
        artifact: Artifact | None = None,
    ) -> str:
        """How good the evidence is that some inputs give (`finitewidth.claims.grades`).

        It is told by ``reduced`` whether sizes are, if that is known otherwise than from the
        settings; the rest is as for `scale`.
        """
        scale = self.scale(reads, rows=rows, artifact=artifact)
        if scale.stand_in:
            return STAND_IN
        if not self._roles(reads) and not any(self._counted(reads).values()):
            return EXACT
        if reduced is None:
            reduced = not (scale.sizes and scale.originals)
        return REDUCED if reduced else PAPER

    def grade_of_artifact(self, name: str) -> str:
        """The grade of a figure or table."""
        if self._drawn(name):
            return DRAWING
        return self.grade(self.jobs[name].reads, artifact=self.jobs[name].declared)

    def status(self, name: str) -> str:
        """What a figure or table shows, one of `finitewidth.claims.grades.STATUSES`."""
        if self._drawn(name):
            return DRAWN
        scale = self.scale(self.jobs[name].reads, artifact=self.jobs[name].declared)
        if scale.stand_in:
            return ON_STAND_IN
        return AT_SIZES if scale.sizes and scale.originals else SMALLER

    def _drawn(self, name: str) -> bool:
        """Whether an artifact shows only what explains the paper."""
        experiments = [self.jobs.experiments.get(job)
                       for read in self.jobs[name].reads for job in read.jobs]  # fmt: skip
        return bool(experiments) and all(e is not None and e.explains for e in experiments)

    def _jobs_behind(
        self, reads: Sequence[Read], role: str | None = None, rows: Sequence[str] = ()
    ) -> tuple[str, ...]:
        _, jobs = self.jobs.closure(reads)
        trainings = self.jobs.trainings
        return tuple(
            name for name in jobs
            if name not in trainings
            or (role in (None, trainings[name].dataset)
                and (not rows or trainings[name].run.row in rows))
        )  # fmt: skip

    @staticmethod
    def _differ(one: Jobs, other: Jobs, names: Iterable[str], seen: Seen) -> bool:
        return one is not other and any(
            _identity(one, n, seen) != _identity(other, n, seen) for n in names
        )

    @cached_property
    def modified(self) -> set[str]:
        """The experiments and trainings whose settings are not those of the unmodified preset."""
        return {name for name in (*self.jobs.experiments, *self.jobs.trainings)
                if self._differ(self.jobs, self._preset, [name], Seen(unseen={}))}  # fmt: skip

    def _roles(self, reads: Sequence[Read], jobs: Sequence[str] | None = None) -> tuple[str, ...]:
        """The papers' datasets that some inputs and jobs (by default all behind them) read."""
        chosen = self._jobs_behind(reads) if jobs is None else jobs
        roles = {read.role for read in (*reads, *(r for j in chosen for r in self.jobs[j].reads))}
        return tuple(role for role in ROLES if role in roles)

    def datasets(self, reads: Sequence[Read]) -> dict[str, str]:
        """Role -> what is shown in its place, stand-ins named as such."""
        data = self._config["data"]
        trees = data["imagefolder"]
        return {role: describe(data[role], role, trees) for role in self._roles(reads)}

    def comparable(self, reads: Sequence[Read]) -> dict[str, bool]:
        """Role -> whether all that rests on this dataset is at the paper's scale."""
        return {role: self.scale(reads, role).papers for role in self._roles(reads)}

    def mark(self, artifact: str, wildcards: Any = None) -> str:
        """The mark in a figure, empty for a drawing, and where all is as in the paper.

        Its parts are separated by " · ", for example ``stand-in data: digits 8×8 for MNIST · other
        sizes than the paper's``.
        """
        if self._drawn(artifact):
            return ""
        data, job = self._config["data"], self.jobs[artifact]
        roles = self._roles(job.reads)
        words = [_marked(role, data[role], data["imagefolder"]) for role in roles]
        if not self.scale(job.reads, artifact=job.declared).sizes:
            words.append("other sizes than the paper's")
        return " · ".join(filter(None, words))

    def footer(self, artifact: str, wildcards: Any = None) -> str:
        """The line below a figure or table."""
        job = self.jobs[artifact]
        return self.context(job.reads, job.declared)

    def context(self, reads: Sequence[Read], artifact: Artifact | None = None) -> str:
        """Preset, data, number of runs or draws, and what is reduced or chosen differently.

        ``reads`` and ``artifact`` are as for `scale`; its scientific settings count as well.
        """
        scale = self.scale(reads, artifact=artifact)
        modified = scale.modified or (
            artifact is not None
            and self._differ(self.jobs, self._preset, [artifact.artifact], Seen(unseen={}))
        )
        seed = self._config.get("seed", 0)
        seeded = f", seed {seed}" if seed else ""
        words = [f"preset {self._config['preset']}{seeded}{', modified' * modified}"]
        words += [*self.datasets(reads).values(), *pooled(self._sections(reads))]
        words.append(self._amount(reads, artifact))
        if scale.reduced:
            fewer = "fewer runs or draws than the paper's"
            words.append(fewer if scale.sizes else "other sizes than the paper's")
        if scale.choices:
            words.append(named(scale.choices))
        return " · ".join(words)

    def _sections(self, reads: Sequence[Read]) -> dict[str, Mapping[str, Any]]:
        """Name -> settings section of every experiment and family behind some inputs."""
        sections = {}
        for name in self._jobs_behind(reads):
            paper, section = self._section(name)
            path = getattr(self.jobs[name].declared, "settings", None)
            settings = self._config[paper].get(section)
            if settings is None and isinstance(path, str):
                section, settings = path.split(".")[-1], self.jobs[name].params
            if isinstance(settings, Mapping):
                sections[section] = settings
        return sections

    def _section(self, job: str) -> tuple[str, str]:
        if job in self.jobs.trainings:
            return self.jobs.family_of[job]
        return self.jobs[job].paper, self.jobs.experiments[job].section

    def _counted(self, reads: Sequence[Read]) -> dict[str, dict[str, int]]:
        """Unit -> section -> number of runs or draws that the inputs average."""
        every, _ = self.jobs.closure(reads)
        counts: dict[str, dict[str, int]] = {unit: {} for unit in UNITS}
        for read in every:
            for job in read.jobs:
                paper, section = self._section(job)
                declared = self.jobs[job].declared
                table = read.reference.split(".")[-1]
                paths = [section]
                if isinstance(declared, Experiment):
                    paths = declared.counts.get(table, paths)
                for path in paths:
                    if path not in self._config[paper] and "." not in path:
                        continue  # an experiment without settings
                    settings = at(self._config[paper], path)
                    for unit in UNITS:
                        if unit in settings:
                            counts[unit][path.split(".")[-1]] = settings[unit]
        if not any(counts.values()) and self._roles(reads):
            counts["runs"]["once"] = 1  # each network of a training that is not repeated
        return counts

    def _amount(self, reads: Sequence[Read], artifact: Artifact | None) -> str:
        """Number of runs or draws, and how many of them an artifact shows if not all."""
        counts = self._counted(reads)
        words = counted(counts)
        if artifact is None:
            return words
        if self._drawn(artifact.artifact) and not any(counts.values()):
            return NO_RESULT[artifact.kind]
        if artifact.panels:
            panels = {r.name: artifact.panels[r.name] for r in reads if r.name in artifact.panels}
            own_reads = {letter: [r for r in reads if panels.get(r.name) == letter]
                         for letter in panels.values()}  # fmt: skip
            return counted_by_panel({each: self._counted(of) for each, of in own_reads.items()})
        if not artifact.shown:
            return words
        if isinstance(artifact.shown, int):
            shown, runs = artifact.shown, max(counts["runs"].values())
        else:
            shown = at(self._config, artifact.shown)
            runs = at(self._config, ".".join(artifact.shown.split(".")[:2]))["runs"]
        return f"{words} drawn, {shown:,} shown" if shown < runs else words


def _marked(role: str, source: str, trees: Mapping[str, str]) -> str:
    """``stand-in data: digits 8×8 for MNIST``; empty for the paper's own dataset."""
    title, wanted = find_source(source, trees).title, ROLES[role]
    if is_own(source, trees):
        return f"your images: {source} for {wanted}"
    if title == wanted:
        return ""
    if title.startswith(f"{wanted} ("):  # the same images, encoded anew
        return title
    return f"stand-in data: {title} for {wanted}"


def _identity(jobs: Jobs, name: str, seen: Seen) -> Any:
    """What is seen of a job of one configuration: its settings, and which jobs it reads."""
    if name not in jobs.experiments and name not in jobs.artifacts and name not in jobs.trainings:
        return None
    job = jobs[name]
    earlier = getattr(job.declared, "earlier", None)
    return seen.params(jobs, name), earlier, [(r.reference, r.jobs, r.role) for r in job.reads]
