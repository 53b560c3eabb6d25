"""The jobs that a configuration means: what each reads, makes and depends on.

A job is a stacked training (``npf/nu``), an experiment (``npf_nu``) or an artifact (``npf_fig3``).
All follows from the declarations (`finitewidth.common.declarations`) and the settings.
"""

import fnmatch
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from finitewidth.common.declarations import Artifact, Experiment, Paper, artifacts_of
from finitewidth.common.errors import ConfigError
from finitewidth.common.references import table_file
from finitewidth.common.settings import at, leaves, replaced, results_folder
from finitewidth.data.catalogue import ROLES, source_for
from finitewidth.data.places import own_images
from finitewidth.experiments.planned import PlannedTraining

HISTORY, WEIGHTS = "history.csv", "weights.npz"
TRAINING_FILES = {"history": HISTORY, "weights": WEIGHTS}
Path = tuple[str, ...]  # of a setting
_LOOKUP = re.compile(r"\{([\w.]+)\}")


@dataclass(frozen=True, kw_only=True)
class Read:
    """One input of a job: the name under which the job sees it, its files, and their makers.

    No job makes a dataset or printed numbers. The ``role`` is the paper's dataset, where the input
    is one. ``several`` says whether the job sees a list of files.
    """

    name: str
    reference: str
    files: tuple[str, ...]
    jobs: tuple[str, ...] = ()
    role: str | None = None
    several: bool = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job of a configuration; its name is ``paper/training``, or that of its rule.

    Its kind is ``training``, ``experiment``, ``figure`` or ``table``. The ``params`` are all
    settings that it depends on beside its inputs, without what the plan tells it.
    """

    name: str
    kind: str
    paper: str
    reads: tuple[Read, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    declared: Experiment | Artifact | PlannedTraining

    @property
    def inputs(self) -> dict[str, str | list[str]]:
        """Name -> file, or list of files, as a rule takes them."""
        return {r.name: list(r.files) if r.several else r.files[0] for r in self.reads}


class Jobs:
    """All jobs of one configuration with checked settings, made as they are asked for."""

    def __init__(self, papers: Sequence[Paper], config: Mapping[str, Any]):
        self.papers, self.config = papers, config
        self.results = results_folder(
            config["preset"], config.get("seed", 0), own_images(config.get("data", {}))
        )
        self.experiments = {e.name: e for paper in papers for e in paper.experiments}
        self.artifacts = {a.artifact: a for a in artifacts_of(papers)}
        self._made: dict[str, Job] = {}

    @cached_property
    def trainings(self) -> dict[str, PlannedTraining]:
        """``paper/name`` -> training."""
        return {f"{paper}/{training.name}": training
                for (paper, _), family in self.families.items() for training in family}  # fmt: skip

    @cached_property
    def families(self) -> dict[tuple[str, str], tuple[PlannedTraining, ...]]:
        """(paper, family) -> its trainings, in their order."""
        families = {}
        for paper in self.papers:
            for family, sections in paper.trainings.items():
                module = import_module(f"finitewidth.papers.{paper.name}.experiments.trainings")
                settings = [self.config[paper.name][section] for section in sections]
                families[paper.name, family] = tuple(getattr(module, family)(*settings))
        return families

    @cached_property
    def family_of(self) -> dict[str, tuple[str, str]]:
        """``paper/name`` of a training -> (paper, family)."""
        return {f"{paper}/{training.name}": (paper, family)
                for (paper, family), trainings in self.families.items()
                for training in trainings}  # fmt: skip

    def __getitem__(self, name: str) -> Job:
        """The job of that name."""
        if name not in self._made:
            declared = self.experiments.get(name) or self.artifacts.get(name)
            if declared is None and name not in self.trainings:
                raise ConfigError(f"{name!r} is neither an artifact, an experiment nor a training; "
                                  "workflow/papers/ declares what there is")  # fmt: skip
            self._made[name] = self._declared(name, declared) if declared else self._training(name)
        return self._made[name]

    def _declared(self, name: str, declared: Experiment | Artifact) -> Job:
        paper, experiment = declared.paper, isinstance(declared, Experiment)
        try:
            params = chosen(self.config.get(paper, {}), declared.settings)
        except ConfigError as error:
            raise ConfigError(f"workflow/papers/{paper}.yaml: {name}: {error}; write it below the "
                              f"key {paper!r} of config/papers/{paper}.yaml") from None  # fmt: skip
        return Job(
            name=name, kind="experiment" if experiment else declared.kind, paper=paper,
            reads=tuple(self._reads(paper, declared.reads if experiment else declared.of)),
            params=params if experiment else {**declared.show, **params}, declared=declared,
        )  # fmt: skip

    def _training(self, name: str) -> Job:
        training, paper = self.trainings[name], name.split("/")[0]
        role = training.dataset
        reads = [
            Read(name="data", reference=f"data/{role}", files=(self.dataset(role),), role=role)
        ]
        if training.earlier:
            for file in TRAINING_FILES:
                reads += self._reads(paper, {file: f"training/{training.earlier}/{file}"})
        return Job(name=name, kind="training", paper=paper, declared=training, reads=tuple(reads),
                   params=training.run.to_mapping())  # fmt: skip

    def _reads(self, paper: str, reads: Mapping[str, str]) -> Iterator[Read]:
        for name, reference in reads.items():
            yield self.read(paper, reference, name)

    def read(self, paper: str, reference: str, name: str = "") -> Read:
        """What a reference of a paper's declaration means in this configuration."""
        kind, _, rest = reference.partition("/")
        common = {"name": name, "reference": reference}
        if kind == "data":
            role = _looked_up(self.config[paper], rest)
            if role not in ROLES:  # the user names a source, which plays no part of a dataset
                return Read(files=(f"results/data/{role}.npz",), **common)
            return Read(files=(self.dataset(role),), role=role, **common)
        if kind == "reported":
            return Read(files=(f"config/reported/{rest}.csv",), **common)
        if kind in ("training", "trainings"):
            target, file = _looked_up(self.config.get(paper, {}), rest).split("/")
            several = kind == "trainings"
            names = [t.name for t in self.families[paper, target]] if several else [target]
            return Read(
                files=tuple(f"{self.folder(paper, each)}/{TRAINING_FILES[file]}" for each in names),
                jobs=tuple(f"{paper}/{each}" for each in names),
                several=several,
                **common,
            )
        job, table = reference.split(".")
        jobs = tuple(fnmatch.filter(self.experiments, job)) if job.endswith("*") else (job,)
        files = tuple(f"{self.results}/{table_file(f'{each}.{table}')}" for each in jobs)
        return Read(files=files, jobs=jobs, several=job.endswith("*"), **common)

    def folder(self, paper: str, training: str) -> str:
        """The folder of a training's results."""
        return f"{self.results}/{paper}/training/{training}"

    def dataset(self, role: str) -> str:
        """The file of the source that plays the part of a paper's dataset."""
        return f"results/data/{source_for(role, self.config['data']).name}.npz"

    def outputs(self, name: str) -> dict[str, str]:
        """Name or format -> file that a job makes."""
        job = self[name]
        if job.kind == "training":
            folder = self.folder(*name.split("/"))
            return {key: f"{folder}/{file}" for key, file in TRAINING_FILES.items()} | {
                "provenance": f"{folder}/provenance.json"
            }
        if job.kind == "experiment":
            tables = {t: f"{self.results}/{table_file(f'{name}.{t}')}" for t in job.declared.makes}
            stamp = table_file(f"{name}.provenance").removesuffix("csv")
            return tables | {"provenance": f"{self.results}/{stamp}json"}
        folder = f"{self.results}/{job.paper}/{job.kind}s"
        return {suffix: f"{folder}/{name}.{suffix}" for suffix in job.declared.formats}

    def closure(self, reads: Iterable[Read]) -> tuple[list[Read], list[str]]:
        """All inputs and all jobs that some inputs rest on, the nearest first."""
        inputs: dict[tuple[str, tuple[str, ...]], Read] = {}
        jobs: dict[str, None] = {}
        waiting = list(reads)
        while waiting:
            read = waiting.pop(0)
            if (key := (read.reference, read.files)) in inputs:
                continue
            inputs[key] = read
            for name in read.jobs:
                if name not in jobs:
                    jobs[name] = None
                    waiting += self[name].reads
        return list(inputs.values()), list(jobs)


def chosen(section: Mapping[str, Any], wanted: Any) -> Any:
    """The settings that a declaration names, of one paper's settings.

    What is ``wanted`` is None (no settings); a path such as ``memorisation.task`` (what lies there;
    a part in braces, ``regimes.networks.{cntk.network}``, is looked up first); or a mapping whose
    entries are ``path: [keys]`` (these keys of what lies at the path), ``name: path``, or
    ``name: {...}`` for a nested mapping.
    """
    if wanted is None:
        return {}
    if isinstance(wanted, str):
        return at(section, _looked_up(section, wanted))
    settings: dict[str, Any] = {}
    for name, value in wanted.items():
        if isinstance(value, list):
            settings |= {key: at(section, f"{name}.{key}") for key in value}
        else:
            settings[name] = chosen(section, value)
    return settings


def _looked_up(section: Mapping[str, Any], text: str) -> str:
    return _LOOKUP.sub(lambda part: str(at(section, part[1])), text)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What some inputs show of the jobs behind them: not every table depends on every setting.

    Attributes:
        unseen: job -> paths of settings on which none of its tables that are read depends
            (`Experiment.independent`).
        shown: path of the setting with the number of runs that an artifact shows, or this number;
            empty for all runs.
        first: the experiments of which it shows the first runs only.
    """

    unseen: Mapping[str, frozenset[Path]]
    shown: str | int = ""
    first: frozenset[str] = frozenset()

    @classmethod
    def of(cls, jobs: Jobs, reads: Sequence[Read], artifact: Artifact | None = None) -> "Seen":
        """What is seen in some inputs of a claim or number, or of an artifact."""
        every, names = jobs.closure(reads)
        unseen = {}
        for name in names:
            declared = jobs[name].declared
            if isinstance(declared, Experiment) and declared.independent:
                tables = [r.reference.split(".")[-1] for r in every if name in r.jobs]
                parts = [set(declared.independent.get(table, ())) for table in tables]
                paths = set.intersection(*parts)
                unseen[name] = frozenset(tuple(path.split(".")) for path in paths)
        shown = artifact.shown if artifact else ""
        read = {name for each in reads for name in each.jobs}
        if isinstance(shown, str):
            read &= {"_".join(shown.split(".")[:2])}
        return cls(unseen=unseen, shown=shown, first=frozenset(read if shown else ()))

    @property
    def key(self) -> Any:
        """A value by which equal objects can be found again."""
        return frozenset(self.unseen.items()), self.shown, self.first

    def params(self, jobs: Jobs, name: str) -> Mapping[str, Any]:
        """The settings of one job that can be seen; numbers of runs are at most those shown."""
        params = _without(jobs[name].params, self.unseen.get(name, ()))
        if name not in self.first:
            return params
        most, own = self.shown, None
        if isinstance(self.shown, str):
            most, own = at(jobs.config, self.shown), self.shown.split(".")[-1]
        changed = {path: min(value, most) for path, value in leaves(params).items()
                   if path[-1] == "runs"}  # fmt: skip
        shown = params.get("shown")
        names = shown if isinstance(shown, Mapping) else ()
        others = {("shown", other) for other in names if other != own}
        return _without(replaced(params, changed), others)


def _without(settings: Mapping[str, Any], paths: Collection[Path]) -> Mapping[str, Any]:
    """The settings without some parts."""
    if not paths:
        return settings
    below = {key: {path[1:] for path in paths if path[0] == key and path[1:]} for key in settings}
    return {
        key: _without(value, below[key]) if below[key] else value
        for key, value in settings.items() if (key,) not in paths
    }  # fmt: skip
