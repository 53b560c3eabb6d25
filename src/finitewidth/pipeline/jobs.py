"""The jobs of a configuration: what each job reads and writes, and which jobs it rests on.

A job is a stacked training (``npf/nu``), an experiment (``npf_nu``) or an artifact (``npf_fig3``).
All follows from the declarations (`finitewidth.declarations.papers`) and the settings.
"""

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
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
from finitewidth.pipeline.folders import DATASETS
from finitewidth.settings.nested import at
from finitewidth.settings.presets import results_folder
from finitewidth.settings.typed import sections_for
from finitewidth.training.planned import PlannedTraining

TRAINING_FILES = {"history": "history.csv", "weights": "weights.npz"}
SETTING = re.compile(r"\{([\w.]+)\}")  # within a reference
CONFIG = "config."  # before the path of a setting, in the params of a declaration


@dataclass(frozen=True, kw_only=True)
class Input:
    """One input of a job.

    Attributes:
        name: by which the job asks for it
        reference: by which a declaration names it, such as ``npf_nu.curves``
        files: one file, or those of a list
        jobs: the job that makes each file; empty for datasets and printed numbers
        role: the paper's dataset whose part the file plays, if it is a dataset
        several: whether the job takes a list of files
    """

    name: str
    reference: str
    files: tuple[str, ...]
    jobs: tuple[str, ...] = ()
    role: str | None = None
    several: bool = False

    @property
    def table(self) -> str:
        """The name of a table among those of its experiment: ``curves``."""
        return self.reference.split(".")[-1]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job of a configuration.

    Attributes:
        name: ``paper/training``, or the name of its rule
        kind: of its declaration
        paper: to which it belongs
        inputs: all that it reads
        params: all settings that it depends on, without facts that the plan adds
        declared: its declaration
    """

    name: str
    kind: Literal["training", "experiment", "figure", "table"]
    paper: str
    inputs: tuple[Input, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    declared: Experiment | Artifact | PlannedTraining

    @property
    def input_files(self) -> dict[str, str | list[str]]:
        """Name -> file, or list of files, as a rule takes them."""
        files: dict[str, str | list[str]] = {}
        for item in self.inputs:
            files[item.name] = list(item.files) if item.several else item.files[0]
        return files

    @property
    def on_device(self) -> bool:
        """Whether it runs on the device of the configuration, such as a GPU."""
        return isinstance(self.declared, Experiment) and self.declared.gpu

    @property
    def explains(self) -> bool:
        """Whether its tables only explain the paper, without a result."""
        return isinstance(self.declared, Experiment) and self.declared.explains


class Jobs:
    """All jobs of one configuration with checked settings, made as they are asked for."""

    def __init__(self, papers: Sequence[Paper], config: Mapping[str, Any]):
        self.papers = papers
        self.config = config
        self.results = results_folder(
            config["preset"],
            config.get("seed", 0),
            own_images(config.get("data", {})),
            config.get("name"),
        )
        self.experiments = {entry.name: entry for paper in papers for entry in paper.experiments}
        self.artifacts = {entry.artifact: entry for entry in artifacts_of(papers)}
        self._jobs: dict[str, Job] = {}

    @cached_property
    def trainings(self) -> dict[str, PlannedTraining]:
        """``paper/name`` -> training, of all families."""
        trainings: dict[str, PlannedTraining] = {}
        for family in self.families.values():
            trainings |= family
        return trainings

    @cached_property
    def families(self) -> dict[tuple[str, str], dict[str, PlannedTraining]]:
        """(paper, family) -> its trainings by ``paper/name``, in their order."""
        families = {}
        for paper in self.papers:
            for family in paper.trainings:
                trainings = self._trainings_of(paper, family)
                families[paper.name, family] = {
                    f"{paper.name}/{training.name}": training for training in trainings
                }
        return families

    def _trainings_of(self, paper: Paper, family: str) -> Iterable[PlannedTraining]:
        """Plan the trainings of a family, from the sections of settings that it is made of."""
        module = import_module(f"finitewidth.papers.{paper.name}.experiments.trainings")
        settings = [self.config[paper.name][section] for section in paper.trainings[family]]
        plan = getattr(module, family)
        return plan(*sections_for(plan, *settings))

    def artifacts_of(self, paper: str | None) -> list[Artifact]:
        """The artifacts of one paper or, for None, of all papers."""
        return [entry for entry in self.artifacts.values() if paper in (None, entry.paper)]

    def declared(self) -> list[Job]:
        """Every experiment and every artifact, in the order of their declarations."""
        jobs = []
        for paper in self.papers:
            jobs += [self[experiment.name] for experiment in paper.experiments]
            jobs += [self[artifact.artifact] for artifact in paper.artifacts]
        return jobs

    def family(self, training: str) -> tuple[str, str]:
        """The paper and the family of a training."""
        return next(key for key, family in self.families.items() if training in family)

    def __contains__(self, name: str) -> bool:
        """Whether there is a job of this name."""
        return name in self.experiments or name in self.artifacts or name in self.trainings

    def __getitem__(self, name: str) -> Job:
        """The job of this name.

        Raises:
            ConfigError: there is none, or a setting that its declaration names does not exist.
        """
        if name not in self._jobs:
            self._jobs[name] = self._job(name)
        return self._jobs[name]

    def _job(self, name: str) -> Job:
        if name in self.experiments:
            return self._experiment(self.experiments[name])
        if name in self.artifacts:
            return self._artifact(self.artifacts[name])
        if name in self.trainings:
            return self._training(name, self.trainings[name])
        raise ConfigError(
            f"{name!r} is neither an artifact, an experiment nor a training; "
            "workflow/papers/ declares what there is"
        )

    def _experiment(self, declared: Experiment) -> Job:
        return Job(
            name=declared.name,
            kind="experiment",
            paper=declared.paper,
            inputs=self.inputs(declared.paper, declared.input),
            params=self._params(declared.name, declared),
            declared=declared,
        )

    def _artifact(self, declared: Artifact) -> Job:
        return Job(
            name=declared.artifact,
            kind=declared.kind,
            paper=declared.paper,
            inputs=self.inputs(declared.paper, declared.input),
            params=self._params(declared.artifact, declared),
            declared=declared,
        )

    def _params(self, name: str, declared: Experiment | Artifact) -> Any:
        paper = declared.paper
        try:
            return chosen(self.config.get(paper, {}), declared.params)
        except ConfigError as error:
            raise ConfigError(
                f"workflow/papers/{paper}.yaml: {name}: {error}; write it below the "
                f"key {paper!r} of config/papers/{paper}.yaml"
            ) from None

    def _training(self, name: str, training: PlannedTraining) -> Job:
        paper = name.split("/")[0]
        references = {"data": f"data/{training.dataset}"}
        if training.earlier:
            for file in TRAINING_FILES:
                references[file] = f"training/{training.earlier}/{file}"
        return Job(
            name=name,
            kind="training",
            paper=paper,
            inputs=self.inputs(paper, references),
            params=training.run.to_mapping(),
            declared=training,
        )

    def inputs(self, paper: str, references: Mapping[str, str]) -> tuple[Input, ...]:
        """The inputs of a declaration, from name -> reference."""
        return tuple(self.input(paper, reference, name) for name, reference in references.items())

    def input(self, paper: str, reference: str, name: str = "") -> Input:
        """The input that a reference in a declaration of a paper means in this configuration."""
        kind, _, rest = reference.partition("/")
        if kind == "data":
            return self._dataset_input(paper, reference, name)
        if kind == "reported":
            return Input(name=name, reference=reference, files=(f"config/reported/{rest}.csv",))
        if kind in ("training", "trainings"):
            return self._training_input(paper, reference, name)
        return self._table_input(reference, name)

    def _dataset_input(self, paper: str, reference: str, name: str) -> Input:
        dataset = _looked_up(self.config[paper], reference.removeprefix("data/"))
        if dataset in ROLES:
            files = (self.dataset(dataset),)
            return Input(name=name, reference=reference, files=files, role=dataset)
        files = (f"{DATASETS}/{dataset}.npz",)  # a source of the user
        return Input(name=name, reference=reference, files=files)

    def _training_input(self, paper: str, reference: str, name: str) -> Input:
        """The same file of one training, or of all trainings of a family."""
        kind, _, path = reference.partition("/")
        target, file = _looked_up(self.config.get(paper, {}), path).split("/")
        several = kind == "trainings"
        jobs = tuple(self.families[paper, target]) if several else (f"{paper}/{target}",)
        return Input(
            name=name,
            reference=reference,
            files=tuple(f"{self.folder(job)}/{TRAINING_FILES[file]}" for job in jobs),
            jobs=jobs,
            several=several,
        )

    def _table_input(self, reference: str, name: str) -> Input:
        """The table of one experiment, or of all whose names begin as the reference says."""
        job, table = reference.split(".")
        several = job.endswith("*")
        jobs = tuple(fnmatch.filter(self.experiments, job)) if several else (job,)
        return Input(
            name=name,
            reference=reference,
            files=tuple(self._table(maker, table) for maker in jobs),
            jobs=jobs,
            several=several,
        )

    def folder(self, training: str) -> str:
        """The folder of a training's results."""
        return f"{self.results}/{training.replace('/', '/training/')}"

    def dataset(self, role: str) -> str:
        """The file of the source that plays the part of a paper's dataset."""
        return f"{DATASETS}/{source_for(role, self.config['data']).name}.npz"

    def outputs(self, name: str) -> dict[str, str]:
        """Name or format -> file that a job writes."""
        if name in self.experiments:
            return self._outputs_of_experiment(self.experiments[name])
        if name in self.artifacts:
            return self._outputs_of_artifact(self.artifacts[name])
        return self._outputs_of_training(name)

    def _outputs_of_training(self, name: str) -> dict[str, str]:
        folder = self.folder(name)
        files = {key: f"{folder}/{file}" for key, file in TRAINING_FILES.items()}
        return {**files, "provenance": f"{folder}/provenance.json"}

    def _outputs_of_experiment(self, declared: Experiment) -> dict[str, str]:
        files = {table: self._table(declared.name, table) for table in declared.output}
        provenance = self._table(declared.name, "provenance").removesuffix(".csv")
        return {**files, "provenance": f"{provenance}.json"}

    def _outputs_of_artifact(self, declared: Artifact) -> dict[str, str]:
        folder = f"{self.results}/{declared.paper}/{declared.kind}s"
        return {suffix: f"{folder}/{declared.artifact}.{suffix}" for suffix in declared.formats}

    def _table(self, experiment: str, table: str) -> str:
        """The file of a table."""
        return f"{self.results}/{table_file(f'{experiment}.{table}')}"

    def closure(self, inputs: Iterable[Input]) -> tuple[list[Input], list[str]]:
        """All inputs and all jobs that some inputs rest on, the nearest first."""
        visited: dict[tuple[str, tuple[str, ...]], Input] = {}
        jobs: dict[str, None] = {}
        waiting = list(inputs)
        while waiting:
            item = waiting.pop(0)
            key = (item.reference, item.files)
            if key in visited:
                continue
            visited[key] = item
            for name in item.jobs:
                if name not in jobs:
                    jobs[name] = None
                    waiting += self[name].inputs
        return list(visited.values()), list(jobs)

    def roles(self, inputs: Iterable[Input], names: Iterable[str]) -> tuple[str, ...]:
        """The papers' datasets that are among some inputs, or that some jobs read."""
        read = {item.role for item in inputs}
        for name in names:
            read |= {item.role for item in self[name].inputs}
        return tuple(role for role in ROLES if role in read)


def direct_jobs(inputs: Iterable[Input]) -> list[str]:
    """The jobs that make some inputs, without those of datasets."""
    names: dict[str, None] = {}
    for item in inputs:
        names |= dict.fromkeys(item.jobs)
    return list(names)


def makers_of(inputs: Iterable[Input]) -> dict[str, str]:
    """File -> job that makes it; no job makes printed numbers."""
    makers: dict[str, str] = {}
    for item in inputs:
        if item.jobs:
            makers |= dict(zip(item.files, item.jobs, strict=True))
            continue
        for file in item.files:
            if file.startswith(f"{DATASETS}/"):
                makers[file] = f"dataset {PurePath(file).stem}"
    return makers


def chosen(section: Mapping[str, Any], params: Any) -> Any:
    """The ``params`` of a declaration, with the settings of one paper that they name.

    Args:
        section: settings of the paper
        params: a value ``config.memorisation.task`` is replaced by the setting at this path, in
            which a part in braces, ``config.regimes.networks.{cntk.network}``, is looked up first;
            a key ``config.nu`` with a list, by these keys of the section; other values stay

    Raises:
        ConfigError: there is no such setting.
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


def named_settings(params: Any) -> list[tuple[str, ...]]:
    """The paths of all settings that the ``params`` of a declaration name, see `chosen`."""
    if isinstance(params, str) and params.startswith(CONFIG):
        return [tuple(params.removeprefix(CONFIG).split("."))]
    paths: list[tuple[str, ...]] = []
    if isinstance(params, Mapping):
        for name, value in params.items():
            if name.startswith(CONFIG):
                section = tuple(name.removeprefix(CONFIG).split("."))
                paths += [(*section, key) for key in value]
            else:
                paths += named_settings(value)
    return paths


def _looked_up(section: Mapping[str, Any], text: str) -> str:
    """A text with the values of settings in place of their paths in braces."""
    return SETTING.sub(lambda match: str(at(section, match[1])), text)
