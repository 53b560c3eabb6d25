"""What an artifact, a claim or a number was computed with, derived from the jobs that it rests on.

Nothing here is declared by hand. The parameters of all jobs upstream are compared with those of the
unmodified preset and with those of the papers' own settings. The sources in the models of the
settings (`finitewidth.settings.sections.Source`) say which differences matter.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from finitewidth.claims import grades
from finitewidth.claims.needs import is_original
from finitewidth.data.catalogue import ROLES, describe, find_source
from finitewidth.data.places import is_own
from finitewidth.declarations.papers import Artifact, Experiment, Paper
from finitewidth.pipeline import differences as words_of
from finitewidth.pipeline.differences import Difference
from finitewidth.pipeline.jobs import Jobs, Path, Read, Seen
from finitewidth.settings.nested import at, leaves, replaced
from finitewidth.settings.sections import Source

UNITS = ("runs", "draws")
REPETITIONS = ("runs", "draws", "paper_draws")  # settings that are no sizes
NO_RESULT = {"figure": "a drawing, shows no result", "table": "equations, shows no result"}


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How a set of upstream jobs compares with the preset and with the paper."""

    modified: bool  # a setting or a dataset differs from the unmodified preset
    reduced: bool  # a value that the paper or its code states is another one here
    # our own choices that differ from those of preset `paper`, where nothing else differs
    choices: tuple[str, ...]
    originals: bool  # every dataset is the paper's own
    # All sizes are the paper's; where it gives no size of a training, it is at least that of preset
    # `paper`. Fewer runs or draws than the paper's (`REPETITIONS`) do not count as a size.
    sizes: bool
    stand_in: bool  # some dataset is another one than the paper's, and not only re-encoded

    @property
    def papers(self) -> bool:
        """Whether nothing is reduced and no dataset replaced."""
        return self.originals and not self.reduced


class Footers:
    """Footers and contexts of one configuration.

    Its settings, ``config``, are compared with those of its preset, ``preset``, and with those of
    preset ``paper``. ``sources`` has path of a setting -> where its value comes from.
    """

    def __init__(
        self,
        papers: Sequence[Paper],
        config: Mapping[str, Any],
        preset: Mapping[str, Any],
        paper: Mapping[str, Any],
        sources: Mapping[Path, Source],
    ):
        self.jobs = Jobs(papers, config)
        self._papers, self._sources = papers, sources
        self._config, self._preset_config, self._paper_config = config, preset, paper
        self._preset = self.jobs if config == preset else Jobs(papers, preset)
        self._paper = Jobs(papers, paper)
        # the same run with the values of preset `paper`: where these are accepted and not our
        # choices, where they are our choices as well, and for numbers of runs and draws, too
        self._choosing = self._with_the_papers(lambda path: False)
        self._canonical = self._with_the_papers(lambda path: not sources[path].stated)
        self._repeated = self._with_the_papers(
            lambda path: path[-1] in REPETITIONS or "shown" in path or not sources[path].stated
        )
        self._scales: dict[Any, Scale] = {}  # a start of Snakemake asks for many of them often

    def _with_the_papers(self, taken: Callable[[Path], bool]) -> Jobs:
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
        self, reads: Sequence[Read], rows: Sequence[str] = (), role: str = "", shown: str | int = ""
    ) -> Scale:
        """How the jobs behind some inputs compare with the preset and the paper.

        Settings that cannot be seen in these inputs, or in the runs that are ``shown``, do not
        count (`Seen`). With ``role``, trainings on other datasets are left out, and with ``rows``
        those for other rows (`TrainingRun.row`).
        """
        files = frozenset((read.reference, read.files) for read in reads)
        key = files, role, tuple(rows), shown
        if key not in self._scales:
            seen = Seen.of(self.jobs, reads, shown)
            jobs = self._jobs_behind(reads, rows, role)
            roles = (role,) if role else self._roles(reads, jobs)
            ours, papers = self._config["data"], self._paper_config["data"]
            reduced = self._differ(self._canonical, self._paper, jobs, seen)
            chosen = (one for name in jobs for one in self._compared(self._choosing, name, seen))
            self._scales[key] = Scale(
                modified=any(ours[r] != self._preset_config["data"][r] for r in roles)
                or self._differ(self.jobs, self._preset, jobs, seen),
                reduced=reduced,
                choices=() if reduced else words_of.in_words(chosen),
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
        jobs, seen = self._jobs_behind(reads, rows), Seen.of(self.jobs, reads)
        stated = [one for name in jobs for one in self._compared(self._canonical, name, seen)]
        chosen = words_of.in_words(one for name in jobs for one in self._chosen_smaller(name))
        if self.scale(reads, rows).originals and not stated and not chosen:
            return ()
        words = words_of.in_words(stated, [*self.datasets(reads, jobs).values()])
        return words + ((words_of.named(chosen),) if chosen else ())

    def _chosen_smaller(self, name: str) -> list[Difference]:
        """Sizes that the paper does not give and that are smaller than in preset ``paper``."""
        ours, theirs = self._choosing.trainings.get(name), self._paper.trainings.get(name)
        if ours is None or theirs is None or ours.run == theirs.run:
            return []
        stated = {one.what for one in self._compared(self._canonical, name, Seen())}
        every = words_of.of_training(ours, theirs, self._config["data"][ours.dataset])
        return [one for one in every if one.smaller and one.what not in stated]

    def _compared(self, ours: Jobs, name: str, seen: Seen) -> Iterator[Difference]:
        theirs = self._paper
        if not self._differ(ours, theirs, [name], seen):
            return
        changes: list[Difference] = []
        if name in ours.experiments:
            changes = words_of.of_settings(seen.params(ours, name), seen.params(theirs, name))
        elif name in theirs.trainings:
            training = ours.trainings[name]
            source = self._config["data"][training.dataset]
            changes = words_of.of_training(training, theirs.trainings[name], source)
        yield from changes or [Difference(f"{name} is set up otherwise", None, None)]

    def grade(self, reads: Sequence[Read], scale: Scale, reduced: bool | None = None) -> str:
        """How good the evidence is that some inputs give (`finitewidth.claims.grades`).

        It is told by ``reduced`` whether sizes are, if that is known otherwise than from settings.
        """
        if scale.stand_in:
            return grades.STAND_IN
        if not self._roles(reads) and not any(self._counted(reads).values()):
            return grades.EXACT
        if reduced is None:
            reduced = not (scale.sizes and scale.originals)
        return grades.REDUCED if reduced else grades.PAPER

    def grade_of_artifact(self, name: str) -> str:
        """The grade of a figure or table."""
        if self._drawn(name):
            return grades.DRAWING
        return self.grade(self.jobs[name].reads, self._scale_of(name))

    def status(self, name: str) -> str:
        """What a figure or table shows, one of `finitewidth.claims.grades.STATUSES`."""
        if self._drawn(name):
            return grades.DRAWN
        scale = self._scale_of(name)
        if scale.stand_in:
            return grades.ON_STAND_IN
        return grades.AT_SIZES if scale.sizes and scale.originals else grades.SMALLER

    def _scale_of(self, artifact: str) -> Scale:
        job = self.jobs[artifact]
        return self.scale(job.reads, shown=job.declared.runs_shown)

    def _drawn(self, name: str) -> bool:
        """Whether an artifact shows only what explains the paper."""
        jobs = [job for read in self.jobs[name].reads for job in read.jobs]
        return bool(jobs) and all(getattr(self.jobs[j].declared, "explains", False) for j in jobs)

    def _jobs_behind(
        self, reads: Sequence[Read], rows: Sequence[str] = (), role: str = ""
    ) -> list[str]:
        def counts(name: str) -> bool:
            training = self.jobs.trainings.get(name)
            return training is None or (
                role in ("", training.dataset) and (not rows or training.run.row in rows)
            )

        return [*filter(counts, self.jobs.closure(reads)[1])]

    @staticmethod
    def _differ(one: Jobs, other: Jobs, names: Iterable[str], seen: Seen) -> bool:
        return one is not other and any(
            _identity(one, n, seen) != _identity(other, n, seen) for n in names
        )

    @cached_property
    def modified(self) -> set[str]:
        """The experiments and trainings whose settings are not those of the unmodified preset."""
        return {
            name
            for name in (*self.jobs.experiments, *self.jobs.trainings)
            if self._differ(self.jobs, self._preset, [name], Seen())
        }

    def _roles(self, reads: Sequence[Read], jobs: Sequence[str] | None = None) -> tuple[str, ...]:
        """The papers' datasets that some inputs and jobs (by default all behind them) read."""
        chosen = self._jobs_behind(reads) if jobs is None else jobs
        roles = {read.role for read in (*reads, *(r for j in chosen for r in self.jobs[j].reads))}
        return tuple(role for role in ROLES if role in roles)

    def datasets(self, reads: Sequence[Read], jobs: Sequence[str] | None = None) -> dict[str, str]:
        """Role -> what is shown in its place, stand-ins named as such; ``jobs`` as for `_roles`."""
        data = self._config["data"]
        roles = self._roles(reads, jobs)
        return {role: describe(data[role], role, data["imagefolder"]) for role in roles}

    def comparable(self, reads: Sequence[Read]) -> dict[str, bool]:
        """Role -> whether all that rests on this dataset is at the paper's scale."""
        return {role: self.scale(reads, role=role).papers for role in self._roles(reads)}

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
        if not self._scale_of(artifact).sizes:
            words.append("other sizes than the paper's")
        return " · ".join(filter(None, words))

    def footer(self, artifact: str, wildcards: Any = None) -> str:
        """The line below a figure or table."""
        job = self.jobs[artifact]
        return self.context(job.reads, job.declared)

    def context(self, reads: Sequence[Read], artifact: Artifact | None = None) -> str:
        """Preset, data, number of runs or draws, and what is reduced or chosen differently.

        The scientific settings of the ``artifact`` that has the inputs count as well.
        """
        scale = self.scale(reads, shown=artifact.runs_shown if artifact else "")
        names = [artifact.artifact] if artifact else []
        modified = scale.modified or self._differ(self.jobs, self._preset, names, Seen())
        seed = self._config.get("seed", 0)
        seeded = f", seed {seed}" if seed else ""
        words = [f"preset {self._config['preset']}{seeded}{', modified' * modified}"]
        words += [*self.datasets(reads).values(), *words_of.pooled(self._sections(reads).values())]
        words.append(self._amount(reads, artifact))
        if scale.reduced:
            fewer = "fewer runs or draws than the paper's"
            words.append(fewer if scale.sizes else "other sizes than the paper's")
        if scale.choices:
            words.append(words_of.named(scale.choices, words_of.MOST_CHOICES))
        return " · ".join(words)

    def _sections(self, reads: Sequence[Read]) -> dict[str, Mapping[str, Any]]:
        """Name -> settings section of every experiment and family behind some inputs."""
        sections = {}
        for name in self._jobs_behind(reads):
            paper, section = self._section(name)
            path = getattr(self.jobs[name].declared, "params", None)
            settings = self._config[paper].get(section)
            if settings is None and isinstance(path, str):
                section, settings = path.split(".")[-1], self.jobs[name].params
            if isinstance(settings, Mapping):
                sections[section] = settings
        return sections

    def _section(self, job: str) -> tuple[str, str]:
        if job in self.jobs.trainings:
            return next(key for key, family in self.jobs.families.items() if job in family)
        paper = self.jobs[job].paper
        return paper, job.removeprefix(f"{paper}_")

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
                        if settings.get(unit):  # none are drawn of what a preset leaves out
                            counts[unit][path.split(".")[-1]] = settings[unit]
        if not any(counts.values()) and self._roles(reads):
            counts["runs"]["once"] = 1  # each network of a training that is not repeated
        return counts

    def _amount(self, reads: Sequence[Read], artifact: Artifact | None) -> str:
        """Number of runs or draws, and how many of them an artifact shows if not all."""
        counts = self._counted(reads)
        words = words_of.counted(counts)
        if artifact is None:
            return words
        if self._drawn(artifact.artifact) and not any(counts.values()):
            return NO_RESULT[artifact.kind]
        if artifact.panels:
            panels = {
                artifact.panels[r.name]: self._counted([r])
                for r in reads
                if r.name in artifact.panels
            }
            return words_of.counted_by_panel(panels)
        if not artifact.runs_shown:
            return words
        if isinstance(artifact.runs_shown, int):
            shown, runs = artifact.runs_shown, max(counts["runs"].values())
        else:
            shown = at(self._config, artifact.runs_shown)
            runs = at(self._config, ".".join(artifact.runs_shown.split(".")[:2]))["runs"]
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
