"""Read all results that the report shows; missing results are marked as not made yet."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import yaml

from finitewidth.claims import facts, grades, ledger, reported, verdicts
from finitewidth.claims.captions import result_below, what_is_drawn
from finitewidth.claims.facts import CONFIRMED, counted
from finitewidth.claims.verdicts import NOT_RUN, VERDICTS, Verdict
from finitewidth.common.errors import ConfigError
from finitewidth.declarations import reported_numbers
from finitewidth.records import result_files
from finitewidth.records.usage import Usage, usage_in
from finitewidth.records.verification import REMEDY, Provenances
from finitewidth.report.jobs import Job, upstream

# states of an artifact
MADE = "made"
NOT_MADE = "not made yet"
REPORT = "report"  # the job that shows all others
ALTERED = "altered"  # a file is not what its job wrote, so nothing of the artifact is shown
OTHER_SETTINGS = "made with other settings"  # than those of the report
OTHER_RUN = "of another run"  # its job had other code, or read other files than those of now
STATUSES = (*grades.STATUSES, OTHER_SETTINGS, OTHER_RUN, NOT_MADE, ALTERED)


class _Results(Protocol):
    @property
    def claims(self) -> Sequence[dict[str, Any]]: ...
    @property
    def numbers(self) -> Sequence[dict[str, str]]: ...


class _Judged:
    """Anything with ``claims`` and ``numbers``, whose verdicts and outcomes can be counted."""

    @cached_property
    def rollup(self: _Results) -> dict[str, dict[str, int]]:
        """The counts of verdicts and of outcomes."""
        judged = [claim["verdict"] for claim in self.claims]
        compared = [number["outcome"] for number in self.numbers]
        return {
            "claims": counted(judged, verdicts.VERDICTS),
            "numbers": counted(compared, reported.OUTCOMES),
        }


@dataclass(frozen=True, kw_only=True)
class Artifact(_Judged):
    """One table or figure: its declaration, its files, and what they show."""

    artifact: str
    paper: str
    kind: str
    label: str
    title: str
    extra: bool
    first_page: int
    claims: tuple[dict[str, Any], ...]  # that it carries, of any paper
    numbers: tuple[dict[str, str], ...]  # that are printed in it
    state: str = NOT_MADE  # or `MADE` or `ALTERED`
    files: Mapping[str, str] = field(default_factory=dict)  # format -> file; none if altered
    problems: Mapping[str, str] = field(default_factory=dict)  # file -> what is wrong with it
    caption: str = ""  # what is drawn, as reStructuredText
    result: str = ""  # the sentence on what it shows, formulas between dollar signs
    footer: str = ""  # the line below it
    scale: str = ""  # one of `grades.STATUSES`, `OTHER_SETTINGS` if ``footer`` is, or `OTHER_RUN`
    outdated: tuple[str, ...] = ()  # why its files are not those of the settings of the report
    grade: str = ""  # how good the evidence is (`finitewidth.claims.grades`)
    jobs: tuple[Job, ...] = ()  # the experiments and trainings that it is computed from
    log: str = ""
    benchmark: str = ""

    @property
    def status(self) -> str:
        """The scale of an artifact that was made, the state of another one."""
        return self.scale if self.state == MADE else self.state


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The reference of a paper."""

    title: str
    authors: str
    year: int
    url: str


@dataclass(frozen=True, kw_only=True)
class Paper(_Judged):
    """One paper with its artifacts, claims, printed numbers and errata.

    ``version_of`` is the key of the paper of which it is an earlier version, with the same title.
    """

    name: str
    citation: Citation
    artifacts: tuple[Artifact, ...]
    claims: tuple[dict[str, Any], ...]
    numbers: tuple[dict[str, str], ...]
    errata: tuple[Mapping[str, str], ...]
    version_of: str = ""

    @property
    def originals(self) -> list[Artifact]:
        """The tables and figures of the paper itself, without our additions."""
        return [artifact for artifact in self.artifacts if not artifact.extra]

    @property
    def states(self) -> dict[str, int]:
        """Status of the original tables and figures -> count, without those that do not occur."""
        return counted([artifact.status for artifact in self.originals], STATUSES)

    @property
    def title(self) -> str:
        """The title of the paper."""
        return self.citation.title + (", earlier version" if self.version_of else "")

    @property
    def short(self) -> str:
        """The title up to its colon, for lists."""
        return self.citation.title.split(":")[0] + (", earlier" if self.version_of else "")

    @property
    def confirmed(self) -> int:
        """Number of its errata that the run confirms."""
        return sum(erratum["outcome"] == CONFIRMED for erratum in self.errata)


@dataclass(frozen=True, kw_only=True)
class Findings(_Judged):
    """All results of a preset that the pages show."""

    preset: str
    results: str  # the folder
    overrides: tuple[str, ...]  # settings changed on the command line
    papers: tuple[Paper, ...]
    jobs: Mapping[str, Job]  # of the workflow
    stamps: Mapping[str, dict[str, Any]]  # experiment or training -> its provenance
    records: tuple[dict[str, Any], ...]  # the provenance of all jobs but the report
    usage: Mapping[str, Usage]  # name of a job -> its usage, the longest wall time first
    errata_file: str
    errata_known: bool  # whether the errata were checked
    errata: tuple[Mapping[str, str], ...]
    datasets: tuple[str, ...]
    provenances: Provenances

    def whole(self, file: Path) -> bool:
        """Whether a file may be shown.

        It is as its job wrote it, or it is a provenance file that can be read. Logs and benchmarks
        are always shown: no provenance has a digest of them.
        """
        if file.suffix in (".log", ".tsv") or str(file) in self.provenances.stamps:
            return True
        return self.provenances.problem(file) is None

    @cached_property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of all papers."""
        return [claim for paper in self.papers for claim in paper.claims]

    @cached_property
    def numbers(self) -> list[dict[str, str]]:
        """The printed numbers of all papers."""
        return [number for paper in self.papers for number in paper.numbers]

    @cached_property
    def facts(self) -> list[facts.Fact]:
        """What does not hold, each fact once."""
        return facts.facts_of(self.claims, self.numbers, self.errata)

    @property
    def originals(self) -> list[Artifact]:
        """The tables and figures of the papers themselves, without our additions."""
        return [artifact for paper in self.papers for artifact in paper.originals]


def read_findings(settings: Mapping[str, Any], root: str | Path = ".") -> Findings:
    """Read all results of a preset that exist.

    Args:
        settings: as `finitewidth.pipeline.report_input.ReportInput.settings` returns them, and also
            ``overrides``, the settings changed on the command line; ``jobs``, the jobs of the
            workflow; ``outdated``, artifact -> why its files are not those of these settings.
        root: the folder of the project, with the printed numbers and the citations.
    """
    root = Path(root)
    results = settings["results"]
    provenances = Provenances(results)
    jobs = {}
    for name, attributes in settings["jobs"].items():
        jobs[name] = Job(name=name, **attributes)
    records = _records(provenances, results)
    evidence = _Evidence(
        jobs=jobs,
        provenances=provenances,
        records={_job_name(record): record for record in records},
        outdated=settings["outdated"],
    )
    errata = _optional(Path(settings["errata"]), provenances)
    return Findings(
        preset=settings["preset"],
        results=results,
        overrides=tuple(settings["overrides"]),
        papers=_papers(settings, root, evidence, errata or ()),
        jobs=jobs,
        stamps=_stamps(evidence),
        records=tuple(records),
        usage=_usage(evidence.records),
        errata_file=str(settings["errata"]),
        errata_known=errata is not None,
        errata=tuple(errata or ()),
        datasets=tuple(settings["datasets"]),
        provenances=provenances,
    )


@dataclass(frozen=True, kw_only=True)
class _Evidence:
    """What is known of the jobs of the workflow and of the files that they wrote."""

    jobs: Mapping[str, Job]
    provenances: Provenances
    records: Mapping[str, dict[str, Any]]  # name of a job -> its provenance
    outdated: Mapping[str, Sequence[str]]  # artifact -> why its files are not of these settings


def _records(provenances: Provenances, results: str) -> list[dict[str, Any]]:
    """The provenance of all jobs below ``results``, without that of the report."""
    records = []
    for name, record in provenances.stamps.items():
        file = Path(name)
        if file.is_relative_to(results) and file.stem != REPORT:
            records.append(record)
    return records


def _stamps(evidence: _Evidence) -> dict[str, dict[str, Any]]:
    """Experiment or training of the workflow -> its provenance."""
    stamps = {}
    for name, record in evidence.records.items():
        job = evidence.jobs.get(name)
        if job and job.stamp:
            stamps[name] = record
    return stamps


def _usage(records: Mapping[str, dict[str, Any]]) -> dict[str, Usage]:
    """Name of a job -> its usage, the longest wall time first."""
    usage = {name: usage_in(record) for name, record in records.items()}
    longest_first = sorted(usage, key=lambda name: -usage[name].wall)
    return {name: usage[name] for name in longest_first}


def _job_name(record: Mapping[str, Any]) -> str:
    """The name of the job of a provenance, as `Job` has it: only trainings have a slash."""
    name = record["job"]
    return f"train {name}" if "/" in name else name


def _papers(
    settings: Mapping[str, Any],
    root: Path,
    evidence: _Evidence,
    errata: Sequence[Mapping[str, str]],
) -> tuple[Paper, ...]:
    """Return all papers; an artifact may carry claims of any of them."""
    citations = read_citations(root / "CITATION.cff", settings["papers"])
    claims = {}
    for name in settings["papers"]:
        claims[name] = _claims(name, settings, errata, evidence.provenances)
    all_claims = [claim for claims_of_paper in claims.values() for claim in claims_of_paper]
    papers = []
    for name in settings["papers"]:
        numbers = _numbers(
            name, settings["results"], root / "config/reported", evidence.provenances
        )
        artifacts = []
        for entry in settings["artifacts"]:
            if entry["paper"] == name:
                artifacts.append(_read_artifact(entry, all_claims, numbers, evidence))
        paper = Paper(
            name=name,
            citation=citations[name],
            version_of=settings["versions"].get(name, ""),
            artifacts=tuple(artifacts),
            claims=tuple(claims[name]),
            numbers=tuple(numbers),
            errata=tuple(erratum for erratum in errata if erratum["paper"] == name),
        )
        papers.append(paper)
    return tuple(papers)


def read_citations(file: str | Path, papers: Collection[str]) -> dict[str, Citation]:
    """Return short name -> reference of each paper, whose ``notes`` must contain the name.

    Args:
        file: a CITATION.cff.
        papers: the short names.

    Raises:
        ConfigError: a paper has no reference.
    """
    whole = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    citations = {}
    for entry in whole["references"]:
        words = set(re.findall(r"\w+", entry.get("notes", "")))
        for name in words.intersection(papers):
            citations[name] = _citation(entry)
    missing = set(papers) - set(citations)
    if missing:
        raise ConfigError(f"{file}: no reference has {', '.join(sorted(missing))} in its notes")
    return citations


def _citation(entry: Mapping[str, Any]) -> Citation:
    """The citation of an entry of CITATION.cff; its address is that of arXiv if it has no other."""
    url = entry.get("url", "")
    identifiers = entry.get("identifiers", ())
    if not url and identifiers:
        arxiv = identifiers[0]["value"].removeprefix("arXiv:")
        url = f"https://arxiv.org/abs/{arxiv}"
    return Citation(
        title=" ".join(entry["title"].split()),
        authors=", ".join(author["family-names"] for author in entry["authors"]),
        year=entry["year"],
        url=url,
    )


def _optional(file: Path, provenances: Provenances) -> list[dict[str, str]] | None:
    """The rows of a table; None if it is not there or not what its job wrote."""
    if not file.is_file() or provenances.problem(file):
        return None
    return result_files.read_rows(file, empty=True)


def _claims(
    paper: str,
    settings: Mapping[str, Any],
    errata: Sequence[Mapping[str, str]],
    provenances: Provenances,
) -> list[dict[str, Any]]:
    """Return the claims of a paper with their comparisons, in the order of the ledger."""
    folder = Path(settings["results"], "claims")
    verdict_table = folder / f"{paper}_verdicts.csv"
    verdict_rows = _optional(verdict_table, provenances) or []
    parts = _optional(folder / f"{paper}_parts.csv", provenances) or []
    judged = {row["claim"]: row for row in verdict_rows if row["verdict"] in VERDICTS}
    reason = "the verdicts have not been computed yet"
    problem = provenances.problem(verdict_table) if verdict_table.is_file() else None
    if problem:
        reason = f"{verdict_table} {problem}; {REMEDY}"
    elif len(judged) < len(verdict_rows):
        reason = f"{verdict_table} has words of another version of finitewidth; {REMEDY}"
    not_run = Verdict(verdict=NOT_RUN, reason=reason)
    rows = []
    for claim in ledger.claims_of(paper):
        row = judged.get(claim.id)
        if row is None:
            row = ledger.verdict_row(claim, not_run, settings["preset"], ledger.Situation())
        additions = {
            "needs": [need.wording for need in claim.needs],
            "quotes": claim.quotes,
            "errata": _errata_about(claim.id, errata),
            "artifacts": row["artifacts"].split(),
            "tables": row["tables"].split(),
            "parts": [part for part in parts if part["claim"] == claim.id],
        }
        rows.append(row | additions)
    return rows


def _errata_about(claim: str, errata: Sequence[Mapping[str, str]]) -> list[str]:
    """The errata that refer to a claim."""
    return [erratum["id"] for erratum in errata if claim in erratum.get("claims", "").split()]


def _numbers(
    paper: str, results: str, folder: Path, provenances: Provenances
) -> list[dict[str, str]]:
    """Return the printed numbers of a paper and our counterparts."""
    compared = _optional(Path(results) / "claims" / f"{paper}_numbers.csv", provenances)
    if compared is not None:
        return compared
    if not (folder / f"{paper}.csv").is_file():
        return []
    rows = []
    for row in reported.compare(reported_numbers.read_reported(folder, paper), {}, {}):
        # as if read from a file
        rows.append({key: "" if value is None else str(value) for key, value in row.items()})
    return rows


def _read_artifact(
    entry: Mapping[str, Any],
    claims: Sequence[dict[str, Any]],
    numbers: Sequence[dict[str, str]],
    evidence: _Evidence,
) -> Artifact:
    """Return one table or figure of `finitewidth.pipeline.report_input.ReportInput.settings`.

    The ``claims`` are those of all papers, and the ``numbers`` those of its own.
    """
    name = entry["artifact"]
    declared = {
        "artifact": name,
        "paper": entry["paper"],
        "kind": entry["kind"],
        "label": entry["label"],
        "title": entry["title"],
        "extra": entry["extra"],
        "first_page": entry["first_page"],
        "claims": tuple(claim for claim in claims if name in claim["artifacts"]),
        "numbers": tuple(number for number in numbers if number["artifact"] == name),
    }
    job = evidence.jobs.get(name)
    if job is None:
        return Artifact(**declared)
    parameters = evidence.records.get(name, {}).get("parameters") or {}
    outdated = evidence.outdated.get(name, ())
    scale, grade = _scale_and_grade(entry, outdated)
    return Artifact(
        **declared,
        **_content(entry, evidence.provenances),
        footer=parameters.get("footer") or job.footer,
        scale=scale,
        grade=grade,
        outdated=tuple(outdated),
        jobs=tuple(upstream(job.inputs, evidence.jobs)),
        log=job.log,
        benchmark=job.benchmark,
    )


def _content(entry: Mapping[str, Any], provenances: Provenances) -> dict[str, Any]:
    """The fields ``state``, ``files``, ``problems`` and ``caption`` of an artifact.

    If one of its files or its caption is not what its job wrote, nothing of it is shown.
    """
    files = {kind: file for kind, file in entry["files"].items() if os.path.isfile(file)}
    checked = list(files.values())
    if os.path.isfile(entry["caption"]):
        checked.append(entry["caption"])
    problems = {}
    for file in checked:
        problem = provenances.problem(file)
        if problem:
            problems[file] = problem
    if problems:
        return {"state": ALTERED, "files": {}, "problems": problems, "caption": ""}
    complete = len(files) == len(entry["files"])
    return {
        "state": MADE if complete else NOT_MADE,
        "files": files,
        "problems": {},
        "caption": what_is_drawn(entry["caption"]),
        "result": result_below(entry["caption"]),
    }


def _scale_and_grade(entry: Mapping[str, Any], outdated: Sequence[str]) -> tuple[str, str]:
    """Scale and grade of an artifact.

    The workflow knows those of today's settings, which an outdated result was not made with.
    """
    if any(reason.startswith("settings") for reason in outdated):
        return OTHER_SETTINGS, ""
    if outdated:
        return OTHER_RUN, ""
    return entry["scale"], entry["grade"]
