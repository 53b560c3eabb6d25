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
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import read_yaml

FIGURE_FORMATS = ("pdf", "png", "svg", "csv")
TABLE_FORMATS = ("csv", "md", "tex")
KINDS = {"fig": "figure", "table": "table"}
Told = Literal["datasets", "comparable", "device"]
FOLDER = "workflow/papers"

_ARTIFACT = re.compile(r"(?P<paper>[a-z0-9]+)_(?P<kind>fig|table)(?P<number>[1-9]\d*(_[1-9]\d*)?)")
_EXTRA = re.compile(r"(?P<paper>[a-z0-9]+)_extra_(?P<name>[a-z][a-z0-9]*)")
_EXPERIMENT = re.compile(r"(?P<paper>[a-z0-9]+)_(?P<name>[a-z][a-z0-9_]*)")
_REFERENCE = re.compile(
    r"(?P<job>[a-z0-9]+_[a-z0-9_]+\*?)\.(?P<table>[a-z_]+)"
    r"|(trainings|training)/[A-Za-z0-9_.{}-]+/(history|weights)|data/\S+|reported/[a-z0-9]+"
)


class _Declaration(BaseModel):
    """A declaration; unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Experiment(_Declaration):
    """The declaration of an experiment, which computes tables from tables, arrays and settings.

    Attributes:
        name: ``<paper>_<name>``, the name of the rule and of the result files.
        paper: key of the paper.
        module: dotted name of the module with the function ``measure(inputs, settings)``.
        reads: name of an input -> reference to it, such as ``npf_regimes.runs``. A star at the end
            of the job, as in ``collapse_training_*.history``, stands for all experiments whose
            names begin so; their tables are read as one, in the order of their declarations.
            A setting in braces is looked up: ``training/{stages.network}_adam-relu/history``.
        settings: the settings that it receives (see `finitewidth.pipeline.jobs.chosen`).
        makes: names of its tables. What is called ``weights`` are arrays by name.
        counts: table -> sections of the settings that contain its number of ``runs`` or ``draws``,
            if that is not the section with the name of the experiment.
        independent: table -> paths of settings on which this table does not depend. Footers and
            grades of what reads no other table leave them out.
        tell: facts that are added to the settings, from `Told`: by the plan, except ``device``,
            which is told at run time because another device reruns nothing.
        explains: whether its tables only explain the paper (notation, equations, small examples).
            A figure or table that shows nothing else is a drawing, without a result.
        resumes: whether it continues from checkpoints after it was interrupted. Its ``measure``
            then takes `finitewidth.training.checkpoints.Checkpoints` as a third argument.
    """

    name: str
    paper: str
    module: str
    reads: dict[str, str] = {}
    settings: Any = None
    makes: tuple[str, ...] = ()
    counts: dict[str, tuple[str, ...]] = {}
    independent: dict[str, tuple[str, ...]] = {}
    tell: tuple[Told, ...] = ()
    explains: bool = False
    resumes: bool = False

    @property
    def section(self) -> str:
        """Name of the settings section that has the same name as the experiment."""
        return self.name.removeprefix(f"{self.paper}_")


class Artifact(_Declaration):
    """The declaration of a figure or table.

    Attributes:
        artifact: ``<paper>_fig<number>``, ``<paper>_table<number>`` (with ``_`` for ``.``) or
            ``<paper>_extra_<name>``. It is the name of the rule, the target, the files and the
            caption.
        paper: key of the paper.
        kind: ``figure`` or ``table``.
        number: the number that the paper prints, such as ``2.5``, or the name of an extra.
        title: one line that says what is shown.
        extra: True if the paper has no such figure or table.
        of: name of an input -> reference to a table.
        module: dotted name of the renderer.
        show: settings of the drawing.
        settings: scientific settings that the renderer receives, as for an experiment.
        tell: facts that are added to the settings, as for an experiment.
        shown: number of runs that are shown, or path of the setting with it; empty for all runs.
        panels: name of an input -> letter of the panel that shows it, where panels show different
            numbers of runs.
        first_page: position among the pictures of the report's first page, whose results
            docs/findings.md describes; 0 if it is not there.
    """

    artifact: str
    paper: str
    kind: Literal["figure", "table"]
    number: str
    title: str
    extra: bool = False
    of: dict[str, str]
    module: str
    show: dict[str, Any] = {}
    settings: Any = None
    tell: tuple[Told, ...] = ()
    shown: str | int = ""
    panels: dict[str, str] = {}
    first_page: int = 0

    @property
    def label(self) -> str:
        """The name in the paper, ``Figure 3`` or ``Table 2``, or ``Extra: theorem31``."""
        return f"Extra: {self.number}" if self.extra else f"{self.kind.capitalize()} {self.number}"

    @property
    def formats(self) -> tuple[str, ...]:
        """All formats in which it is written."""
        return FIGURE_FORMATS if self.kind == "figure" else TABLE_FORMATS


class Paper(_Declaration):
    """All declarations of one paper, in the order of its file.

    Attributes:
        name: key of the paper.
        order: position among the papers.
        title: title of the paper.
        version_of: key of the paper of which it is an earlier version; mostly empty.
        trainings: family of trainings -> sections of the settings from which they are made.
        experiments: its experiments.
        artifacts: its figures and tables.
    """

    name: str
    order: int
    title: str
    trainings: dict[str, tuple[str, ...]] = {}
    experiments: tuple[Experiment, ...]
    artifacts: tuple[Artifact, ...]
    version_of: str = ""


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
    known = {f"{e.name}.{table}" for p in papers for e in p.experiments for table in e.makes}
    for paper in papers:
        for owner in (*paper.experiments, *paper.artifacts):
            reads = owner.reads if isinstance(owner, Experiment) else owner.of
            for reference in reads.values():
                if "." in reference.split("/")[0] and not fnmatch.filter(known, reference):
                    raise ConfigError(f"{folder / paper.name}.yaml: {reference!r} is read, but no "
                                      "experiment makes it")  # fmt: skip
    return tuple(papers)


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
    experiments = content.pop("experiments", {}).items()
    artifacts = content.pop("artifacts").items()
    return _declared(Paper, str(file), {
        **content, "name": name,
        "experiments": tuple(_experiment(file, name, key, e) for key, e in experiments),
        "artifacts": tuple(_artifact(file, name, key, a) for key, a in artifacts),
    })  # fmt: skip


def _experiment(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Experiment:
    matched = _EXPERIMENT.fullmatch(name)
    if not matched or matched["paper"] != paper:
        raise ConfigError(
            f"{file}: {name!r} is not a name of an experiment; write a name like {paper}_theory"
        )
    short = matched["name"]
    module = values.get("module", short)
    if not short.startswith(module):
        raise ConfigError(
            f"{file}: {name}: after {paper}_ the name must begin with that of its module, {module}"
        )
    _check_references(file, name, values.get("reads", {}))
    return _declared(Experiment, f"{file}: {name}", {
        **values, "name": name, "paper": paper,
        "module": f"finitewidth.papers.{paper}.experiments.{module}",
    })  # fmt: skip


def _artifact(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Artifact:
    numbered, extra = _ARTIFACT.fullmatch(name), _EXTRA.fullmatch(name)
    matched = numbered or extra
    if not matched or matched["paper"] != paper:
        wanted = f"{paper}_fig3, {paper}_table2 or {paper}_extra_theory"
        raise ConfigError(
            f"{file}: {name!r} is not a name of an artifact; write a name like {wanted}"
        )
    values = dict(values)
    kind = KINDS[numbered["kind"]] if numbered else values.get("kind")
    of = values.get("of", {})
    if not isinstance(of, Mapping):
        of = {reference.split(".")[-1]: reference for reference in of}
    _check_references(file, name, of)
    renderer = values.pop("renderer", f"{paper}/{name.removeprefix(f'{paper}_')}")
    owner, _, module = renderer.rpartition("/")  # `trust/heat` of a paper, `equations` of all
    folder = f"finitewidth.papers.{owner}" if owner else "finitewidth"
    number = numbered["number"].replace("_", ".") if numbered else extra["name"]
    return _declared(Artifact, f"{file}: {name}", {
        **values, "artifact": name, "paper": paper, "kind": kind, "number": number,
        "extra": extra is not None, "of": of, "module": f"{folder}.{kind}s.{module}",
    })  # fmt: skip


def _declared(kind: type[_Declaration], where: str, values: Mapping[str, Any]) -> Any:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            known = ", ".join(kind.model_fields)
            raise ConfigError(f"{where}: unknown key {key}; known keys are {known}") from None
        raise ConfigError(f"{where}: {key}: {first['msg']}, not {first['input']!r}") from None


def _check_references(file: Path, owner: str, reads: Mapping[str, str]) -> None:
    for reference in reads.values():
        if not _REFERENCE.fullmatch(reference):
            raise ConfigError(
                f"{file}: {owner}: {reference!r} is not a reference; write <job>.<table>, "
                "training/<name>/history, trainings/<family>/history, data/{<setting>} or "
                "reported/<paper>"
            )
