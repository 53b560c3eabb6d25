"""Declarations of the trainings, experiments and artifacts of each paper.

They are written in ``workflow/papers/<paper>.yaml`` and nowhere else. Rules, files, logs, footers
and the report are derived from them (`finitewidth.pipeline.jobs`). The set of papers is the set of
these files.
"""

import fnmatch
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from finitewidth.common.errors import ConfigError, nearest
from finitewidth.declarations.wildcards import written_out
from finitewidth.settings.yaml_files import read_yaml

FOLDER = "workflow/papers"
# names behind `<paper>_`
_ARTIFACT = r"(?P<kind>fig|table)(?P<number>[1-9]\d*(_[1-9]\d*)?)|extra_(?P<extra>[a-z][a-z0-9]*)"
KINDS = {"fig": "figure", "table": "table"}

Stage = Literal["theory", "sampling", "training", "evaluation"]
STAGES: tuple[Stage, ...] = get_args(Stage)
TRAINED = ("training", "evaluation")  # stages whose tables come from trained networks


def _reference(text: str) -> str:
    """Check a reference to a table, a file of a training, a dataset or printed numbers."""
    table = r"[a-z0-9]+_[a-z0-9_]+\*?\.[a-z_]+"
    training = "[A-Za-z0-9_.{}-]+/(history|weights)"
    if not re.fullmatch(rf"{table}|trainings?/{training}|data/\S+|reported/[a-z0-9]+", text):
        raise ValueError(
            f"{text!r} is not a reference; write <job>.<table>, training/<name>/history, "
            "trainings/<family>/history, data/{<setting>} or reported/<paper>"
        )
    return text


def _params(params: Any) -> Any:
    """Check that a key ``config.<section>`` has the list of the settings that are taken from it."""
    for name, value in params.items() if isinstance(params, Mapping) else ():
        if name.startswith("config.") and not isinstance(value, list):
            raise ValueError(
                f"{name} needs a list of settings; write <name>: {name} for all that lies there"
            )
        _params(value)
    return params


References = dict[str, Annotated[str, AfterValidator(_reference)]]
Params = Annotated[dict[str, Any], AfterValidator(_params)]
Facts = tuple[Literal["datasets", "comparable"], ...]


class _Declaration(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Experiment(_Declaration):
    """The declaration of an experiment, which computes tables from tables, arrays and settings."""

    name: str  # `<paper>_<name>`, the name of the rule and of the result files
    paper: str
    module: str  # with `measure(inputs, settings)`; of the same name, if none is declared
    # What it computes, and the file of its rule, workflow/rules/<stage>.smk: `theory` draws and
    # trains nothing; `sampling` draws random networks or data; `training` trains networks itself;
    # `evaluation` measures trained networks. Checked against the inputs.
    stage: Stage
    # Name of an input -> reference to it, such as `npf_regimes.runs`. A star at the end of the job,
    # as in `collapse_training_*.history`, stands for all experiments whose names begin so; their
    # tables are read as one, in the order of their declarations. A setting in braces is looked up:
    # `training/{stages.network}_adam-relu/history`.
    input: References = {}
    # The settings that it receives. `config.<section>` is looked up in the settings of the paper
    # (see `finitewidth.pipeline.jobs.chosen`); all other values are passed on as they are.
    params: Params | str = {}
    output: tuple[str, ...] = ()  # its tables; what is called `weights` are arrays by name
    # table -> sections of the settings that contain its number of `runs` or `draws`, if that is not
    # the section with the name of the experiment
    counts: dict[str, tuple[str, ...]] = {}
    # table -> settings on which this table does not depend: footers and grades of what reads no
    # other table leave them out
    independent: dict[str, tuple[str, ...]] = {}
    facts: Facts = ()  # about its inputs, which the plan adds to its settings
    # whether it can use a GPU; not among its settings, since another device reruns nothing
    gpu: bool = False
    # whether its tables only explain the paper (notation, equations, small examples): a figure or
    # table that shows nothing else is a drawing, without a result
    explains: bool = False
    # whether it continues from checkpoints after it was interrupted: its `measure` then takes
    # `finitewidth.training.checkpoints.Checkpoints` as a third argument
    resumes: bool = False


class Artifact(_Declaration):
    """The declaration of a figure or table."""

    # `<paper>_fig<number>`, `<paper>_table<number>` (with `_` for `.`) or `<paper>_extra_<name>`:
    # the name of the rule, the target, the files and the caption
    artifact: str
    paper: str
    kind: Literal["figure", "table"]
    number: str  # that the paper prints, such as `2.5`, or the name of an extra
    title: str  # one line that says what is shown
    extra: bool = False  # the paper has no such figure or table
    # of the renderer: that of the same name or, to share one, `renderer: beyond/dispersion`
    module: str
    input: References  # name of an input -> reference to a table
    params: Params = {}  # settings of the renderer, as for an experiment
    facts: Facts = ()  # about its inputs, which the plan adds to its settings
    runs_shown: str | int = ""  # number of runs, or path of the setting with it; empty for all
    panels: dict[str, str] = {}  # input -> its panel, where these show different numbers of runs
    # position among the pictures of the report's first page, whose results docs/findings.md
    # describes; 0 if it is not there
    first_page: int = 0

    @property
    def label(self) -> str:
        """The name in the paper, ``Figure 3`` or ``Table 2``, or ``Extra: theorem31``."""
        return f"Extra: {self.number}" if self.extra else f"{self.kind.capitalize()} {self.number}"

    @property
    def formats(self) -> tuple[str, ...]:
        """All formats in which it is written."""
        return ("pdf", "png", "svg", "csv") if self.kind == "figure" else ("csv", "md", "tex")


class Paper(_Declaration):
    """All declarations of one paper, in the order of its file."""

    name: str
    order: int  # position among the papers
    title: str
    trainings: dict[str, tuple[str, ...]] = {}  # family -> sections of settings that it is made of
    experiments: tuple[Experiment, ...]
    artifacts: tuple[Artifact, ...]
    version_of: str = ""  # the paper of which it is an earlier version


def read_papers(folder: str | Path = FOLDER) -> tuple[Paper, ...]:
    """Read the declarations of all papers, one file each in ``folder``, sorted by ``order``.

    Raises:
        ConfigError: the folder has no declarations, a name or a reference has a wrong form, a key
            is unknown, or a table is read that no experiment makes.
    """
    return _read_papers(Path(folder).resolve())


@cache
def _read_papers(folder: Path) -> tuple[Paper, ...]:
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise ConfigError(
            f"{folder} declares no paper; its files are part of the project, restore them"
        )
    papers = sorted((_paper(file) for file in files), key=lambda paper: paper.order)
    experiments = {e.name: e for paper in papers for e in paper.experiments}
    for paper in papers:
        file = folder / f"{paper.name}.yaml"
        for artifact in paper.artifacts:
            _check_tables(file, artifact, experiments)
        for experiment in paper.experiments:
            _check_tables(file, experiment, experiments)
        for experiment in paper.experiments:
            _check_stage(file, experiment, experiments)
            _check_keys_of_stage(file, experiment)
    return tuple(papers)


def _check_tables(
    file: Path, declared: Experiment | Artifact, experiments: Mapping[str, Experiment]
) -> None:
    """Refuse an input that is a table which no experiment has among its outputs."""
    tables = [f"{e.name}.{table}" for e in experiments.values() for table in e.output]
    for reference in declared.input.values():
        if _is_table(reference) and not fnmatch.filter(tables, reference):
            raise ConfigError(f"{file}: {reference!r} is read, but no experiment makes it")


def _check_stage(file: Path, experiment: Experiment, experiments: Mapping[str, Experiment]) -> None:
    """Refuse a stage that contradicts the inputs: `evaluation` means that networks were trained."""
    trained = [
        reference
        for reference in experiment.input.values()
        if _is_of_trained_networks(reference, experiments)
    ]
    if trained and experiment.stage != "evaluation":
        raise ConfigError(
            f"{file}: {experiment.name}: stage is {experiment.stage!r}, but it reads "
            f"{trained[0]!r}, which comes from trained networks; write 'evaluation'"
        )
    if experiment.stage == "evaluation" and not trained:
        raise ConfigError(
            f"{file}: {experiment.name}: stage is 'evaluation', but no input comes from trained "
            "networks; write 'theory', 'sampling' or, if it trains networks itself, 'training'"
        )


def _check_keys_of_stage(file: Path, experiment: Experiment) -> None:
    """Refuse what the rules of a stage, workflow/rules/<stage>.smk, do not pass on."""
    if experiment.gpu and experiment.stage != "training":
        raise ConfigError(
            f"{file}: {experiment.name}: gpu: only an experiment of the stage 'training' can use "
            "a GPU"
        )
    if experiment.resumes and experiment.stage == "theory":
        raise ConfigError(
            f"{file}: {experiment.name}: resumes: an experiment of the stage 'theory' has no "
            "checkpoints"
        )


def _is_of_trained_networks(reference: str, experiments: Mapping[str, Experiment]) -> bool:
    """Whether a reference is to a training, or to a table of trained networks."""
    if not _is_table(reference):
        return reference.startswith(("training/", "trainings/"))
    job = reference.split(".")[0]
    return any(experiments[name].stage in TRAINED for name in fnmatch.filter(experiments, job))


def _is_table(reference: str) -> bool:
    """Whether a reference is to the table of an experiment."""
    return "." in reference.split("/")[0]


def paper_names(folder: str | Path = FOLDER) -> tuple[str, ...]:
    """Return the keys of all papers, sorted by ``order``."""
    return tuple(paper.name for paper in read_papers(folder))


def artifacts_of(papers: Iterable[Paper]) -> list[Artifact]:
    """Return all artifacts: first those of the papers, then the extras."""
    every = [artifact for paper in papers for artifact in paper.artifacts]
    return [a for a in every if not a.extra] + [a for a in every if a.extra]


def _paper(file: Path) -> Paper:
    content = read_yaml(file)
    name = content.pop("paper")
    if name != file.stem:
        raise ConfigError(
            f"{file}: paper is {name!r}; it must be {file.stem!r}, the name of the file"
        )
    wildcards = content.pop("wildcards", {})
    experiments = written_out(content.pop("experiments", {}), wildcards, file)
    artifacts = written_out(content.pop("artifacts"), wildcards, file)
    read_artifacts = [_artifact(file, name, key, values) for key, values in artifacts.items()]
    return _declared(
        Paper,
        str(file),
        {
            **content,
            "name": name,
            "experiments": tuple(_experiment(file, name, *each) for each in experiments.items()),
            "artifacts": tuple(sorted(read_artifacts, key=_position)),
        },
    )


def _position(artifact: Artifact) -> tuple[int, list[int]]:
    """The position of an artifact in its paper: tables, figures by number; then the extras."""
    if artifact.extra:
        return 2, []  # in the order of the file
    numbers = [int(part) for part in artifact.number.split(".")]
    return ("table", "figure").index(artifact.kind), numbers


def _experiment(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Experiment:
    named = re.fullmatch(f"{paper}_([a-z][a-z0-9_]*)", name)
    if named is None:
        raise ConfigError(
            f"{file}: {name!r} is not a name of an experiment; write a name like {paper}_theory"
        )
    module = values.get("module", named[1])
    return _declared(
        Experiment,
        f"{file}: {name}",
        {
            **values,
            "name": name,
            "paper": paper,
            "module": f"finitewidth.papers.{paper}.experiments.{module}",
        },
    )


def _artifact(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Artifact:
    named = re.fullmatch(f"{paper}_({_ARTIFACT})", name)
    if named is None:
        raise ConfigError(
            f"{file}: {name!r} is not a name of an artifact; write a name like {paper}_fig3, "
            f"{paper}_table2 or {paper}_extra_theory"
        )
    if named["extra"]:
        number = named["extra"]
        kind = values.get("kind")
    else:
        number = named["number"].replace("_", ".")
        kind = KINDS[named["kind"]]
    short_name = name.removeprefix(f"{paper}_")
    renderer = values.get("renderer", f"{paper}/{short_name}")
    others = {key: value for key, value in values.items() if key != "renderer"}
    return _declared(
        Artifact,
        f"{file}: {name}",
        {
            **others,
            "artifact": name,
            "paper": paper,
            "kind": kind,
            "extra": named["extra"] is not None,
            "number": number,
            "input": _named_inputs(values.get("input", {})),
            "module": _module_of(renderer, kind),
        },
    )


def _named_inputs(references: Any) -> Any:
    """Inputs by name; in a list, a table has its own name: ``npf_nu.energy`` is ``energy``."""
    if isinstance(references, list):
        return {reference.split(".")[-1]: reference for reference in references}
    return references


def _module_of(renderer: str, kind: str | None) -> str:
    """The module of a renderer: ``trust/heat`` of a paper, or ``equations`` of all papers."""
    paper, _, module = renderer.rpartition("/")
    package = f"finitewidth.papers.{paper}" if paper else "finitewidth"
    return f"{package}.{kind}s.{module}"


def _declared(kind: type[_Declaration], where: str, values: Mapping[str, Any]) -> Any:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = ", ".join(kind.model_fields)
        raise ConfigError(
            f"{where}: unknown key {key}{nearest(key, kind.model_fields)}; known keys are {known}"
        )
    if first["type"] == "missing":
        raise ConfigError(f"{where}: the key {key} is missing")
    raise ConfigError(f"{where}: {key}: {first['msg']}, not {first['input']!r}")
