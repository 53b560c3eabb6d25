"""What is declared of each paper: its trainings, its experiments and its artifacts.

``workflow/papers/<paper>.yaml`` is the only place that names them. Rules, files, logs, footers and
the report follow from it (`finitewidth.pipeline.jobs`). The papers are those that have a file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import read_yaml

FIGURE_FORMATS = ("pdf", "png", "svg", "csv")
TABLE_FORMATS = ("csv", "md", "tex")
KINDS = {"fig": "figure", "table": "table"}
TOLD = ("datasets", "comparable")
FOLDER = "workflow/papers"

_ARTIFACT = re.compile(r"(?P<paper>[a-z0-9]+)_(?P<kind>fig|table)(?P<number>[1-9]\d*(_[1-9]\d*)?)")
_EXTRA = re.compile(r"(?P<paper>[a-z0-9]+)_extra_(?P<name>[a-z][a-z0-9]*)")
_EXPERIMENT = re.compile(r"(?P<paper>[a-z0-9]+)_(?P<name>[a-z][a-z0-9_]*)")
_REFERENCE = re.compile(
    r"(?P<job>[a-z0-9]+_[a-z0-9_]+)\.(?P<table>[a-z_]+)"
    r"|(trainings|training)/[A-Za-z0-9_-]+/(history|weights)|data/\S+|reported/[a-z0-9]+"
)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment: a pure function of tables, arrays and settings to tables.

    Attributes:
        name: ``<paper>_<name>``: the rule, the settings section, the module and the files.
        paper: whose experiment it is.
        module: dotted name of the module with ``measure(inputs, settings)``.
        reads: name of an input -> reference (see `reads_of`).
        settings: which settings it sees (see `finitewidth.pipeline.jobs.chosen`).
        makes: names of its tables.
        counts: table -> sections of the paper's settings whose ``runs`` or ``draws`` it averages,
            where that is not the section of the experiment's own name.
        tell: facts that the plan adds to the settings, of `TOLD`.
    """

    name: str
    paper: str
    module: str
    reads: Mapping[str, str] = field(default_factory=dict)
    settings: Any = None
    makes: tuple[str, ...] = ()
    counts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tell: tuple[str, ...] = ()

    @property
    def section(self) -> str:
        """The settings section that bears the experiment's name."""
        return self.name.removeprefix(f"{self.paper}_")


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One table or figure: of the paper's own, numbered, or an extra.

    Attributes:
        artifact: ``<paper>_fig<number>``, ``<paper>_table<number>`` (``.`` as ``_``) or
            ``<paper>_extra_<name>``: the rule, the target, the files and the caption.
        paper, kind, title: ``kind`` is ``figure`` or ``table``.
        number: as the paper prints it, such as ``2.5``; the name of an extra.
        extra: whether it stands beside the paper's own.
        of: name of an input -> reference to a table; empty as long as the artifact is planned.
        module: dotted name of the renderer.
        show: settings of the drawing.
        settings: scientific settings that the renderer sees, as of an experiment.
        tell: facts that the plan adds to the settings, of `TOLD`.
        shown: path of the setting that says how many of the runs are shown.
        also: further formats.
    """

    artifact: str
    paper: str
    kind: str
    number: str
    title: str
    extra: bool = False
    of: Mapping[str, str] = field(default_factory=dict)
    module: str = ""
    show: Mapping[str, Any] = field(default_factory=dict)
    settings: Any = None
    tell: tuple[str, ...] = ()
    shown: str = ""
    also: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether a rule makes it."""
        return bool(self.of)

    @property
    def status(self) -> str:
        """``done`` or ``planned``."""
        return "done" if self.done else "planned"

    @property
    def label(self) -> str:
        """How the paper calls it: ``Figure 3``, ``Table 2``, ``Extra: theorem31``."""
        return f"Extra: {self.number}" if self.extra else f"{self.kind.capitalize()} {self.number}"

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats in which it is written."""
        return (FIGURE_FORMATS if self.kind == "figure" else TABLE_FORMATS) + self.also


@dataclass(frozen=True, kw_only=True)
class Paper:
    """All declarations of one paper, in the order of its file."""

    name: str
    order: int
    title: str
    trainings: Mapping[str, tuple[str, ...]]
    experiments: tuple[Experiment, ...]
    artifacts: tuple[Artifact, ...]


def read_papers(folder: str | Path = FOLDER) -> tuple[Paper, ...]:
    """All papers of ``folder``, by their ``order``.

    Raises:
        ConfigError: a file is damaged, a name or reference is malformed, an unknown key, or
            something is declared twice.
    """
    return _read_papers(Path(folder).resolve())


@cache
def _read_papers(folder: Path) -> tuple[Paper, ...]:
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise ConfigError(f"{folder} declares no paper; it belongs to the project, restore it")
    papers = sorted((_paper(file) for file in files), key=lambda paper: paper.order)
    known = {f"{e.name}.{table}" for p in papers for e in p.experiments for table in e.makes}
    for paper in papers:
        for owner in (*paper.experiments, *paper.artifacts):
            reads = owner.reads if isinstance(owner, Experiment) else owner.of
            for reference in reads.values():
                if "." in reference.split("/")[0] and reference not in known:
                    raise ConfigError(f"{folder / paper.name}.yaml: {reference!r} is read, but no "
                                      "experiment makes it")  # fmt: skip
    return tuple(papers)


def paper_names(folder: str | Path = FOLDER) -> tuple[str, ...]:
    """The keys of all papers, in their order."""
    return tuple(paper.name for paper in read_papers(folder))


def artifacts_of(papers: Iterable[Paper]) -> list[Artifact]:
    """All artifacts: the papers' own first, then the extras."""
    every = [artifact for paper in papers for artifact in paper.artifacts]
    return [a for a in every if not a.extra] + [a for a in every if a.extra]


def done(artifacts: Iterable[Artifact], paper: str | None = None) -> list[Artifact]:
    """The artifacts that a rule makes, of one paper or of all."""
    return [a for a in artifacts if a.done and paper in (None, a.paper)]


def _paper(file: Path) -> Paper:
    found = read_yaml(file)
    allowed = {"paper", "order", "title", "trainings", "experiments", "artifacts"}
    _refuse_unknown(file, "the file", found, allowed)
    name = found["paper"]
    if name != file.stem:
        raise ConfigError(f"{file}: paper is {name!r}; it must be {file.stem!r}, as the file")
    experiments = found.get("experiments") or {}
    return Paper(
        name=name,
        order=found["order"],
        title=found["title"],
        trainings={k: tuple(v) for k, v in (found.get("trainings") or {}).items()},
        experiments=tuple(_experiment(file, name, key, e) for key, e in experiments.items()),
        artifacts=tuple(_artifact(file, name, key, a) for key, a in found["artifacts"].items()),
    )


def _experiment(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Experiment:
    allowed = {"module", "reads", "settings", "makes", "counts", "tell"}
    _refuse_unknown(file, name, values, allowed)
    matched = _EXPERIMENT.fullmatch(name)
    if not matched or matched["paper"] != paper:
        raise ConfigError(f"{file}: {name!r} is no name of an experiment like {paper}_theory")
    own = matched["name"]
    module = values.get("module", own)
    if not own.startswith(module):
        raise ConfigError(f"{file}: {name}: the name must begin with that of its module, {module}")
    return Experiment(
        name=name,
        paper=paper,
        module=f"finitewidth.experiments.{paper}.{module}",
        reads=dict(_references(file, name, values.get("reads", {}))),
        settings=values.get("settings"),
        makes=tuple(values["makes"]),
        counts={table: tuple(s) for table, s in values.get("counts", {}).items()},
        tell=_told(file, name, values),
    )


def _artifact(file: Path, paper: str, name: str, values: Mapping[str, Any]) -> Artifact:
    allowed = {"title", "kind", "of", "renderer", "show", "settings", "tell", "shown", "also"}
    _refuse_unknown(file, name, values, allowed)
    own, extra = _ARTIFACT.fullmatch(name), _EXTRA.fullmatch(name)
    matched = own or extra
    if not matched or matched["paper"] != paper:
        wanted = f"{paper}_fig3, {paper}_table2 or {paper}_extra_theory"
        raise ConfigError(f"{file}: {name!r} is no name of an artifact like {wanted}")
    kind = KINDS[own["kind"]] if own else values.get("kind")
    if kind not in KINDS.values():
        raise ConfigError(f"{file}: {name}: kind must be figure or table")
    of = values.get("of", {})
    if not isinstance(of, Mapping):
        of = {reference.split(".")[-1]: reference for reference in of}
    renderer = values.get("renderer", f"{paper}/{name.removeprefix(f'{paper}_')}")
    return Artifact(
        artifact=name,
        paper=paper,
        kind=kind,
        number=own["number"].replace("_", ".") if own else extra["name"],
        title=values["title"],
        extra=extra is not None,
        of=dict(_references(file, name, of)),
        module=f"finitewidth.{kind}s.{renderer.replace('/', '.')}",
        show=values.get("show", {}),
        settings=values.get("settings"),
        tell=_told(file, name, values),
        shown=values.get("shown", ""),
        also=tuple(values.get("also", ())),
    )


def _references(file: Path, owner: str, reads: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, reference in reads.items():
        if not _REFERENCE.fullmatch(reference):
            raise ConfigError(
                f"{file}: {owner}: {reference!r} is no reference; write <job>.<table>, "
                "training/<name>/history, trainings/<family>/history, data/{<setting>} or "
                "reported/<paper>"
            )
        yield name, reference


def _told(file: Path, owner: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    told = tuple(values.get("tell", ()))
    if unknown := set(told) - set(TOLD):
        raise ConfigError(f"{file}: {owner}: tell: {sorted(unknown)} is refused; "
                          f"allowed are {', '.join(TOLD)}")  # fmt: skip
    return told


def _refuse_unknown(file: Path, owner: str, values: Mapping[str, Any], allowed: set[str]) -> None:
    if unknown := set(values) - allowed:
        raise ConfigError(f"{file}: {owner}: unknown key {', '.join(sorted(unknown))}; known are "
                          f"{', '.join(sorted(allowed))}")  # fmt: skip
