"""The jobs that a configuration means: what each reads, makes and depends on.

A job is a stacked training (``npf/nu``), an experiment (``npf_nu``) or an artifact (``npf_fig3``).
All follows from the declarations (`finitewidth.declarations.papers`) and the settings.
"""

import fnmatch
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import PurePath
from typing import Any, Literal

from finitewidth.common.errors import ConfigError
from finitewidth.data.catalogue import ROLES, source_for
from finitewidth.data.places import own_images
from finitewidth.declarations.papers import Artifact, Experiment, Paper, artifacts_of
from finitewidth.declarations.references import table_file
from finitewidth.settings.nested import at, leaves, replaced
from finitewidth.settings.presets import results_folder
from finitewidth.training.planned import PlannedTraining

TRAINING_FILES = {"history": "history.csv", "weights": "weights.npz"}
Path = tuple[str, ...]  # of a setting
_LOOKUP = re.compile(r"\{([\w.]+)\}")
CONFIG = "config."  # before the path of a setting, in the params of a declaration


@dataclass(frozen=True, kw_only=True)
class Read:
    """One input of a job: its name there, its files (or a list of ``several``), and their makers.

    No job makes a dataset or printed numbers. The ``role`` is the paper's dataset, if it is one.
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

    The ``params`` are all settings that it depends on, without what the plan tells it.
    """

    name: str
    kind: Literal["training", "experiment", "figure", "table"]
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
            config["preset"],
            config.get("seed", 0),
            own_images(config.get("data", {})),
            config.get("name"),
        )
        self.experiments = {e.name: e for paper in papers for e in paper.experiments}
        self.artifacts = {a.artifact: a for a in artifacts_of(papers)}
        self._made: dict[str, Job] = {}

    @cached_property
    def trainings(self) -> dict[str, PlannedTraining]:
        """``paper/name`` -> training, of all families."""
        return {name: each for family in self.families.values() for name, each in family.items()}

    @cached_property
    def families(self) -> dict[tuple[str, str], dict[str, PlannedTraining]]:
        """(paper, family) -> its trainings by ``paper/name``, in their order."""
        families = {}
        for paper in self.papers:
            for family, sections in paper.trainings.items():
                module = import_module(f"finitewidth.papers.{paper.name}.experiments.trainings")
                settings = [self.config[paper.name][section] for section in sections]
                made = getattr(module, family)(*settings)
                families[paper.name, family] = {f"{paper.name}/{each.name}": each for each in made}
        return families

    def __getitem__(self, name: str) -> Job:
        """The job of that name."""
        if name not in self._made:
            declared = self.experiments.get(name) or self.artifacts.get(name)
            if declared is None and name not in self.trainings:
                raise ConfigError(
                    f"{name!r} is neither an artifact, an experiment nor a training; "
                    "workflow/papers/ declares what there is"
                )
            self._made[name] = self._declared(name, declared) if declared else self._training(name)
        return self._made[name]

    def _declared(self, name: str, declared: Experiment | Artifact) -> Job:
        paper = declared.paper
        try:
            params = chosen(self.config.get(paper, {}), declared.params)
        except ConfigError as error:
            raise ConfigError(
                f"workflow/papers/{paper}.yaml: {name}: {error}; write it below the "
                f"key {paper!r} of config/papers/{paper}.yaml"
            ) from None
        return Job(
            name=name,
            kind="experiment" if isinstance(declared, Experiment) else declared.kind,
            paper=paper,
            reads=self.reads(paper, declared.input),
            params=params,
            declared=declared,
        )

    def _training(self, name: str) -> Job:
        training, paper = self.trainings[name], name.split("/")[0]
        references = {"data": f"data/{training.dataset}"}
        if training.earlier:
            references |= {file: f"training/{training.earlier}/{file}" for file in TRAINING_FILES}
        return Job(
            name=name,
            kind="training",
            paper=paper,
            declared=training,
            reads=self.reads(paper, references),
            params=training.run.to_mapping(),
        )

    def reads(self, paper: str, references: Mapping[str, str]) -> tuple[Read, ...]:
        """The inputs of a declaration."""
        return tuple(self.read(paper, reference, name) for name, reference in references.items())

    def read(self, paper: str, reference: str, name: str = "") -> Read:
        """What a reference of a paper's declaration means in this configuration."""
        kind, _, rest = reference.partition("/")
        common = {"name": name, "reference": reference}
        if kind == "data":
            role = _looked_up(self.config[paper], rest)
            if role in ROLES:
                return Read(files=(self.dataset(role),), role=role, **common)
            return Read(files=(f"results/data/{role}.npz",), **common)  # a source of the user
        if kind == "reported":
            return Read(files=(f"config/reported/{rest}.csv",), **common)
        if kind in ("training", "trainings"):
            target, file = _looked_up(self.config.get(paper, {}), rest).split("/")
            several = kind == "trainings"
            jobs = tuple(self.families[paper, target]) if several else (f"{paper}/{target}",)
            files = tuple(f"{self.folder(job)}/{TRAINING_FILES[file]}" for job in jobs)
            return Read(files=files, jobs=jobs, several=several, **common)
        job, table = reference.split(".")
        jobs = tuple(fnmatch.filter(self.experiments, job)) if job.endswith("*") else (job,)
        files = tuple(f"{self.results}/{table_file(f'{each}.{table}')}" for each in jobs)
        return Read(files=files, jobs=jobs, several=job.endswith("*"), **common)

    def folder(self, training: str) -> str:
        """The folder of a training's results."""
        return f"{self.results}/{training.replace('/', '/training/')}"

    def dataset(self, role: str) -> str:
        """The file of the source that plays the part of a paper's dataset."""
        return f"results/data/{source_for(role, self.config['data']).name}.npz"

    def outputs(self, name: str) -> dict[str, str]:
        """Name or format -> file that a job makes."""
        job = self[name]
        if job.kind == "training":
            files = {**TRAINING_FILES, "provenance": "provenance.json"}
            return {key: f"{self.folder(name)}/{file}" for key, file in files.items()}
        if job.kind == "experiment":
            tables = {t: f"{self.results}/{table_file(f'{name}.{t}')}" for t in job.declared.output}
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


def makers_of(reads: Iterable[Read]) -> dict[str, str]:
    """File -> job that makes it; no job makes printed numbers."""
    makers: dict[str, str] = {}
    for read in reads:
        if read.jobs:
            makers |= dict(zip(read.files, read.jobs, strict=True))
        else:
            data = [file for file in read.files if file.startswith("results/data/")]
            makers |= {file: f"dataset {PurePath(file).stem}" for file in data}
    return makers


def chosen(section: Mapping[str, Any], params: Any) -> Any:
    """The ``params`` of a declaration, with the settings of one paper that they name.

    A value ``config.memorisation.task`` is what lies there; a part in braces,
    ``config.regimes.networks.{cntk.network}``, is looked up first. A key ``config.nu`` stands for
    the keys of what lies there that its list has. All other values stay as they are.
    """
    if isinstance(params, str) and params.startswith(CONFIG):
        return at(section, _looked_up(section, params.removeprefix(CONFIG)))
    if not isinstance(params, Mapping):
        return params
    settings: dict[str, Any] = {}
    for name, value in params.items():
        if name.startswith(CONFIG):
            path = name.removeprefix(CONFIG)
            settings |= {key: at(section, f"{path}.{key}") for key in value}
        else:
            settings[name] = chosen(section, value)
    return settings


def _looked_up(section: Mapping[str, Any], text: str) -> str:
    return _LOOKUP.sub(lambda part: str(at(section, part[1])), text)


@dataclass(frozen=True)
class Seen:
    """What some inputs show of the jobs behind them: not every table depends on every setting.

    Of each job, ``unseen`` has the settings on which none of its tables that are read depends
    (`Experiment.independent`). If only some runs are ``shown``
    (`Artifact.runs_shown`), these are runs of the experiments ``first``. By default all is seen.
    """

    unseen: Mapping[str, set[str]] = field(default_factory=dict)
    shown: str | int = ""
    first: Collection[str] = ()

    @classmethod
    def of(cls, jobs: Jobs, reads: Sequence[Read], shown: str | int = "") -> "Seen":
        """What is seen in some inputs of a claim or number, or of an artifact."""
        every, names = jobs.closure(reads)
        unseen = {}
        for name in names:
            declared = jobs[name].declared
            if isinstance(declared, Experiment) and declared.independent:
                tables = [r.reference.split(".")[-1] for r in every if name in r.jobs]
                parts = [set(declared.independent.get(table, ())) for table in tables]
                unseen[name] = set.intersection(*parts)
        first = {name for read in reads for name in read.jobs} if shown else set()
        if isinstance(shown, str):
            first &= {"_".join(shown.split(".")[:2])}
        return cls(unseen, shown, first)

    def params(self, jobs: Jobs, name: str) -> Mapping[str, Any]:
        """The settings of one job that can be seen; numbers of runs are at most those shown."""
        unseen = self.unseen.get(name, ())
        params = {key: value for key, value in jobs[name].params.items() if key not in unseen}
        if name not in self.first:
            return params
        most = self.shown
        if isinstance(self.shown, str):
            most, last = at(jobs.config, self.shown), self.shown.split(".")[-1]
            if isinstance(params.get("shown"), Mapping):  # also has the numbers of other figures
                params["shown"] = {last: params["shown"][last]}
        runs = {
            path: min(value, most) for path, value in leaves(params).items() if path[-1] == "runs"
        }
        return replaced(params, runs)
