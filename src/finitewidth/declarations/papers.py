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
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from finitewidth.common.errors import ConfigError
from finitewidth.settings.yaml_files import read_yaml

FOLDER = "workflow/papers"
# names behind `<paper>_`
_ARTIFACT = r"(?P<kind>fig|table)(?P<number>[1-9]\d*(_[1-9]\d*)?)|extra_(?P<extra>[a-z][a-z0-9]*)"


def _reference(text: str) -> str:
    """Check a reference to a table, a file of a training, a dataset or printed numbers."""
    table, training = r"[a-z0-9]+_[a-z0-9_]+\*?\.[a-z_]+", "[A-Za-z0-9_.{}-]+/(history|weights)"
    if not re.fullmatch(rf"{table}|trainings?/{training}|data/\S+|reported/[a-z0-9]+", text):
        raise ValueError(
            f"{text!r} is not a reference; write <job>.<table>, training/<name>/history, "
            "trainings/<family>/history, data/{<setting>} or reported/<paper>"
        )
    return text


Told = Literal["datasets", "comparable", "device"]
References = dict[str, Annotated[str, AfterValidator(_reference)]]


class _Declaration(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Experiment(_Declaration):
    """The declaration of an experiment, which computes tables from tables, arrays and settings."""

    name: str  # `<paper>_<name>`, the name of the rule and of the result files
    paper: str
    module: str  # with the function `measure(inputs, settings)`
    # Name of an input -> reference to it, such as `npf_regimes.runs`. A star at the end of the job,
    # as in `collapse_training_*.history`, stands for all experiments whose names begin so; their
    # tables are read as one, in the order of their declarations. A setting in braces is looked up:
    # `training/{stages.network}_adam-relu/history`.
    reads: References = {}
    settings: Any = None  # that it receives (see `finitewidth.pipeline.jobs.chosen`)
    makes: tuple[str, ...] = ()  # its tables; what is called `weights` are arrays by name
    # table -> sections of the settings that contain its number of `runs` or `draws`, if that is not
    # the section with the name of the experiment
    counts: dict[str, tuple[str, ...]] = {}
    # table -> settings on which this table does not depend: footers and grades of what reads no
    # other table leave them out
    independent: dict[str, tuple[str, ...]] = {}
    # facts that are added to the settings: by the plan, except `device`, which is told at run time
    # because another device reruns nothing
    tell: tuple[Told, ...] = ()
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
    of: References  # name of an input -> reference to a table
    module: str  # of the renderer
    show: dict[str, Any] = {}  # settings of the drawing
    settings: Any = None  # scientific settings that the renderer receives, as for an experiment
    tell: tuple[Told, ...] = ()  # as for an experiment
    shown: str | int = ""  # runs shown, or path of the setting with their number; empty for all
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
    known = {f"{e.name}.{table}" for p in papers for e in p.experiments for table in e.makes}
    for paper in papers:
        for owner in (*paper.experiments, *paper.artifacts):
            reads = owner.reads if isinstance(owner, Experiment) else owner.of
            for reference in reads.values():
                if "." in reference.split("/")[0] and not fnmatch.filter(known, reference):
                    raise ConfigError(
                        f"{folder / paper.name}.yaml: {reference!r} is read, but no "
                        "experiment makes it"
                    )
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
    return _declared(
        Paper,
        str(file),
        {
            **content,
            "name": name,
            "experiments": tuple(_experiment(file, name, key, e) for key, e in experiments),
            "artifacts": tuple(_artifact(file, name, key, a) for key, a in artifacts),
        },
    )


def _matched(file: Path, pattern: str, paper: str, name: str, wanted: str) -> re.Match[str]:
    if matched := re.fullmatch(f"{paper}_({pattern})", name):
        return matched
    raise ConfigError(f"{file}: {name!r} is not a name of an {wanted}")


def _experiment(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Experiment:
    wanted = f"experiment; write a name like {paper}_theory"
    short = _matched(file, "[a-z][a-z0-9_]*", paper, name, wanted)[1]
    return _declared(
        Experiment,
        f"{file}: {name}",
        {
            **values,
            "name": name,
            "paper": paper,
            "module": f"finitewidth.papers.{paper}.experiments.{values.get('module', short)}",
        },
    )


def _artifact(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Artifact:
    wanted = f"artifact; write a name like {paper}_fig3, {paper}_table2 or {paper}_extra_theory"
    matched = _matched(file, _ARTIFACT, paper, name, wanted)
    values, extra = dict(values), matched["extra"]
    kind = {"fig": "figure"}.get(matched["kind"], matched["kind"]) or values.get("kind")
    of = values.get("of", {})
    if not isinstance(of, Mapping):
        of = {reference.split(".")[-1]: reference for reference in of}
    renderer = values.pop("renderer", f"{paper}/{name.removeprefix(f'{paper}_')}")
    owner, _, module = renderer.rpartition("/")  # `trust/heat` of a paper, `equations` of all
    folder = f"finitewidth.papers.{owner}" if owner else "finitewidth"
    return _declared(
        Artifact,
        f"{file}: {name}",
        {
            **values,
            "artifact": name,
            "paper": paper,
            "kind": kind,
            "extra": extra is not None,
            "number": extra or matched["number"].replace("_", "."),
            "of": of,
            "module": f"{folder}.{kind}s.{module}",
        },
    )


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
