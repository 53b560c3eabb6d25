"""The content of every page; the HTML is in ``templates``."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from PIL import Image

from finitewidth.claims import verdicts
from finitewidth.claims.sentences import decisive_sentence
from finitewidth.common import number_words
from finitewidth.common.errors import ResultError
from finitewidth.records.provenance import environment as this_environment
from finitewidth.records.usage import Usage, total
from finitewidth.report import formatting, formulas, summary
from finitewidth.report.build import Page, Section
from finitewidth.report.downloads import Download, Downloads
from finitewidth.report.findings import Artifact, Findings, Paper
from finitewidth.report.jobs import Job, all_upstream, upstream
from finitewidth.report.statements import checked_statements

DPI = 300  # of the pictures
COLUMN = 3.5  # inches; wider figures have several panels beside each other
SUMMARY = "summary.md"


def all_pages(findings: Findings, downloads: Downloads) -> list[Page]:
    """Return the overview, the claims, the errata, the runs and the papers."""
    return [
        overview(findings, downloads),
        claims_page(findings, downloads),
        errata_page(findings, downloads),
        runs_page(findings, downloads),
        *(paper_page(paper, findings, downloads) for paper in findings.papers),
    ]


def _pictures(artifacts: Sequence[Artifact], downloads: Downloads) -> dict[str, Download]:
    """Artifact -> its picture, for all figures that were made."""
    pictures = {}
    for artifact in artifacts:
        if "png" in artifact.files:
            picture = downloads.put(artifact.files["png"])
            if picture:
                pictures[artifact.artifact] = picture
    return pictures


def overview(findings: Findings, downloads: Downloads) -> Page:
    """Return the first page: counts, findings, verdicts, papers, grades, what does not hold."""
    artifacts = [artifact for paper in findings.papers for artifact in paper.artifacts]
    pictures = _pictures(artifacts, downloads)
    sections = [
        Section(_rendered("overview.html", **summary.overview(findings))),
        *_first_figures(artifacts, pictures),
        Section(
            html=_rendered("strongest.html", **summary.strongest(findings)),
            title="Clearest verdicts",
            anchor="clearest",
        ),
        Section(
            html=_rendered("scores.html", findings=findings, pictures=pictures),
            title="Papers",
            anchor="papers",
        ),
        Section(
            html=_rendered("evidence.html", **summary.evidence(findings)),
            title="What was computed, and what it is evidence of",
            anchor="evidence",
        ),
        Section(
            html=_rendered("news.html", **summary.news(findings)),
            title="What does not hold",
            anchor="news",
        ),
        *_open_claims(findings),
        Section(html=_rendered("legend.html"), title="Meaning of the words", anchor="legend"),
    ]
    return Page(
        name="index",
        title="Which results of the papers are reproduced?",
        label="Overview",
        # a template may have nothing to say
        sections=tuple(section for section in sections if section.html),
    )


def _first_figures(
    artifacts: Sequence[Artifact], pictures: Mapping[str, Download]
) -> list[Section]:
    """Return the section of the figures of the first page; none if none of them was made."""
    chosen = [artifact for artifact in artifacts if artifact.first_page]
    chosen.sort(key=lambda artifact: artifact.first_page)
    figures = []
    for artifact in chosen:
        if artifact.artifact in pictures:
            figures.append((artifact, pictures[artifact.artifact]))
    if not figures:
        return []
    html = _rendered("findings.html", shown=figures)
    return [Section(html=html, title="Findings", anchor="findings")]


def _open_claims(findings: Findings) -> list[Section]:
    """Return the sections of claims that were not decided, or not without a caveat."""
    groups = (
        (
            (verdicts.CAVEAT, verdicts.NOT_SEEN),
            "What holds with a caveat, or was not seen on a stand-in",
            "caveats",
        ),
        ((verdicts.INCONCLUSIVE,), "Inconclusive claims", "inconclusive"),
        (
            (verdicts.NO_THRESHOLD, verdicts.NEEDS_MORE),
            "Claims that this run does not decide",
            "undecided",
        ),
    )
    sections = []
    for words, title, anchor in groups:
        claims = []
        for word in words:
            claims += [claim for claim in findings.claims if claim["verdict"] == word]
        html = _rendered("open.html", listed=claims)
        sections.append(Section(html=html, title=title, anchor=anchor))
    return sections


def claims_page(findings: Findings, downloads: Downloads) -> Page:
    """Return the page of all claims: a table, and below it the details of each verdict."""
    sections = [Section(html=_rendered("claims_table.html", findings=findings))]
    for paper in findings.papers:
        if not paper.claims:
            continue
        claims = []
        for claim in paper.claims:
            files = [f"{findings.results}/{table}" for table in claim["tables"]]
            jobs = [job for job in upstream(files, findings.jobs) if not job.is_training]
            claims.append({**claim, "data": _put_all(files, downloads), "jobs": jobs})
        section = Section(
            html=_rendered("claims.html", claims=claims),
            title=f"Claims of {paper.short}",
            anchor=f"claims-{paper.name}",
        )
        sections.append(section)
    title = f"All {len(findings.claims)} claims"
    return Page(name="claims", title=title, label="Claims", sections=tuple(sections))


def _put_all(files: Iterable[str], downloads: Downloads) -> list[Download]:
    """Copy files; return the copies of those that may be shown."""
    copies = [downloads.put(file) for file in files]
    return [copy for copy in copies if copy]


def paper_page(paper: Paper, findings: Findings, downloads: Downloads) -> Page:
    """Return the page of a paper: its results, numbers in the text, statements, and jobs."""
    name = paper.name
    head = _rendered("paper.html", paper=paper, pictures=_pictures(paper.artifacts, downloads))
    sections = [Section(html=head)]
    for artifact in paper.artifacts:
        sections.append(_artifact_section(artifact, findings, downloads))
    in_text = [number for number in paper.numbers if number["artifact"] == f"{name}_text"]
    if in_text:
        html = _rendered("numbers.html", numbers=in_text)
        sections.append(Section(html=html, title="Numbers in the text", anchor=f"{name}-text"))
    sections += _statements(name, findings)
    sections += _experiments(name, findings, downloads)
    return Page(name=name, title=paper.title, label=paper.short, sections=tuple(sections))


def _statements(paper: str, findings: Findings) -> list[Section]:
    """Return the section of the numbered statements of a paper; none if none is listed."""
    rows = checked_statements(paper, findings)
    if not rows:
        return []
    html = _rendered("statements.html", rows=rows)
    return [Section(html=html, title="Numbered statements", anchor=f"{paper}-statements")]


def errata_page(findings: Findings, downloads: Downloads) -> Page:
    """Return the page of errata: printed and corrected text, sources, and the check of both."""
    data = downloads.put(findings.errata_file)
    jobs = upstream((findings.errata_file,), findings.jobs)
    kinds = Counter(row["kind"] for row in findings.errata)
    html = _rendered("errata.html", findings=findings, kinds=kinds, data=data, jobs=jobs)
    sections = [Section(html=html)]
    for paper in findings.papers:
        if paper.errata:
            section = Section(
                html=_rendered("errata_cards.html", errata=paper.errata),
                title=f"Errata of {paper.short}",
                anchor=f"errata-{paper.name}",
            )
            sections.append(section)
    return Page(name="errata", title="Errata", label="Errata", sections=tuple(sections))


def runs_page(findings: Findings, downloads: Downloads) -> Page:
    """Return the page of versions, machines and commits, and of time and memory of every job."""
    stamps = [{"who": "this report", **this_environment()}]
    stamps += [{"who": name, **stamp} for name, stamp in findings.stamps.items()]
    facts = {
        "findings": findings,
        "environments": environments(stamps),
        "total": total(findings.usage.values()),
        "costs": sorted(findings.usage.items(), key=lambda item: -item[1].cpu),
        "longest": max((usage.cpu for usage in findings.usage.values()), default=0),
    }
    sections = (
        Section(html=_rendered("runs.html", **facts)),
        Section(html=_rendered("environments.html", **facts), title="Environment", anchor="env"),
        Section(html=_rendered("costs.html", **facts), title="Time and memory", anchor="costs"),
        *_experiments("runs", findings, downloads),
    )
    return Page(name="runs", title="Runs and provenance", label="Runs", sections=sections)


def environments(stamps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Group provenances by code, versions and machine.

    Each provenance has the name of its job as ``who``; each group has the names of its ``jobs``.
    """
    groups: dict[str, dict[str, Any]] = {}
    for stamp in stamps:
        environment = {key: stamp.get(key) for key in ("git", "python", "versions", "machine")}
        key = yaml.safe_dump(environment)
        group = groups.setdefault(key, {**environment, "jobs": []})
        group["jobs"].append(stamp["who"])
    return list(groups.values())


def job_href(job: Job) -> str:
    """Return the address of the settings of a job, on the page of its paper, or on ``runs``."""
    return f"{job.paper or 'runs'}.html#{job_anchor(job)}"


def job_anchor(job: Job) -> str:
    """Return the anchor of a job on its page."""
    return "job-" + re.sub("[ /_]", "-", job.name)


def artifact_anchor(artifact: str) -> str:
    """Return the anchor of an artifact on the page of its paper."""
    return artifact.replace("_", "-")


def artifact_href(artifact: str) -> str:
    """Return the address of an artifact, or of the numbers in the text: ``npf_text``."""
    return f"{artifact.split('_')[0]}.html#{artifact_anchor(artifact)}"


def _pixels(file: str) -> tuple[int, int]:
    """Width and height of a picture."""
    try:
        with Image.open(file) as picture:
            return picture.size
    except OSError as error:
        raise ResultError(f"{file} is no picture ({error}); delete it and run again") from error


def _artifact_section(artifact: Artifact, findings: Findings, downloads: Downloads) -> Section:
    """Return the section of one table or figure."""
    pixels = None
    inches = 0.0
    if "png" in artifact.files:
        pixels = _pixels(artifact.files["png"])
        inches = pixels[0] / DPI
    html = _rendered(
        "artifact.html",
        artifact=artifact,
        downloads=_copies(artifact, downloads),
        caption=_caption(artifact),
        alt=f"{artifact.label}: {formulas.as_text(formulas.first_sentence(artifact.caption)[0])}",
        pixels=pixels,
        inches=inches,
        wide=inches > COLUMN,
        package=downloads.put(f"{findings.results}/{artifact.paper}/datapackage.json"),
        table=_typeset_table(artifact),
        command=_command(artifact, findings),
        usage=findings.usage.get(artifact.artifact),
        log=downloads.put(artifact.log),
        benchmark=downloads.put(artifact.benchmark),
    )
    anchor = artifact_anchor(artifact.artifact)
    return Section(html=html, title=f"{artifact.label}: {artifact.title}", anchor=anchor)


def _copies(artifact: Artifact, downloads: Downloads) -> dict[str, Download]:
    """Format -> the copy of the file of an artifact, without files that may not be shown."""
    copies = {}
    for kind, file in artifact.files.items():
        # a data package names its files, so they keep their names
        copy = downloads.put(file, compress=kind != "csv")
        if copy:
            copies[kind] = copy
    return copies


def _caption(artifact: Artifact) -> dict[str, Markup]:
    """The first sentence of a caption and the rest, as HTML."""
    first, rest = formulas.first_sentence(artifact.caption)
    return {
        "first": formulas.as_html(first),
        "rest": formulas.as_html(rest) if rest else Markup(),
    }


def _typeset_table(artifact: Artifact) -> Markup | str | None:
    """The table of an artifact as HTML; none of a figure."""
    file = artifact.files.get("md")
    return formulas.markdown_in_html(file) if file else None


def _command(artifact: Artifact, findings: Findings) -> str:
    """The command that makes an artifact with the settings of the report."""
    settings = shlex.join([f"preset={findings.preset}", *findings.overrides])
    return f"snakemake --cores 1 {artifact.artifact} --config {settings}"


def _experiments(page: str, findings: Findings, downloads: Downloads) -> list[Section]:
    """Return the section of the jobs of a page; empty if there are none."""
    jobs = []
    for job in findings.jobs.values():
        if not job.stamp or (job.paper or "runs") != page:
            continue
        stamp = findings.stamps.get(job.name)
        files = [file for file in (job.stamp, job.log, job.benchmark) if file]
        jobs.append(
            {
                "job": job,
                "anchor": job_anchor(job),
                "stamp": stamp,
                "settings": _settings(stamp) if stamp else "",
                "files": _put_all(files, downloads),
            }
        )
    if not jobs:
        return []
    html = _rendered("jobs.html", page=page, jobs=jobs)
    return [Section(html=html, title="Experiments and settings", anchor=f"{page}-experiments")]


def _settings(stamp: Mapping[str, Any]) -> str:
    """Return the settings of a job as YAML; the replicas of a training are only counted."""
    settings = dict(stamp["parameters"].get("settings", {}))
    if "replicas" in settings:
        settings["replicas"] = f"{len(settings['replicas'])}, listed in provenance.json"
    return yaml.safe_dump(settings, default_flow_style=None, sort_keys=False, width=100)


def summary_page(findings: Findings) -> str:
    """Return the run in one Markdown file: times, verdicts, and numbers beside the papers'.

    It can be kept or cited where the report itself is too large.
    """
    settings = [f"preset={findings.preset}", *findings.overrides]
    command = shlex.join(["snakemake", "--cores", "all", "--config", *settings])
    return _rendered(
        SUMMARY,
        findings=findings,
        open=verdicts.OPEN,
        command=command,
        total=total(findings.usage.values()),
        machines=machines(findings.records),
    )


def cost_of(artifact: Artifact, jobs: Mapping[str, Job], usage: Mapping[str, Usage]) -> Usage:
    """The time of an artifact with all jobs that it needs, from the datasets on."""
    job = jobs.get(artifact.artifact)
    if job is None:
        return total([])
    needed = all_upstream(job.outputs, jobs)
    return total(usage[job.name] for job in needed if job.name in usage)


def machines(stamps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Processor, cores, versions and commit of the jobs, each combination once.

    Each line ends with the number of its jobs. The names of the jobs follow on all lines but the
    one with most jobs.
    """
    jobs_of: dict[str, list[str]] = {}
    for stamp in stamps:
        jobs_of.setdefault(_environment_of(stamp), []).append(stamp["job"])
    most = max(jobs_of.values(), key=len, default=[])
    lines = []
    for environment, jobs in jobs_of.items():
        line = f"{environment}; 1 job" if len(jobs) == 1 else f"{environment}; {len(jobs)} jobs"
        if jobs is not most:
            line += f": {', '.join(sorted(jobs))}"
        lines.append(line)
    return lines


def _environment_of(stamp: Mapping[str, Any]) -> str:
    """Processor, cores, versions and commit of a provenance, in words."""
    machine = stamp.get("machine") or {}
    versions = stamp.get("versions") or {}
    git = stamp.get("git") or {}
    words = (
        f"{machine.get('processor')}, {machine.get('cores')} cores; Python "
        f"{stamp.get('python')}, torch {versions.get('torch')}, numpy {versions.get('numpy')}"
    )
    if git.get("commit"):
        words += f"; commit {git['commit'][:7]}"
        if git.get("dirty"):
            words += ", changed"
    return words


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("finitewidth.report"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number_words.number,
        "duration": number_words.duration,
        "size": formatting.size,
        "tone": formatting.tone,
        "sign": formatting.sign,
        "order": formatting.order,
        "thousands": formatting.thousands,
        "quotes": formatting.quotes,
        "threshold": number_words.threshold,
        "formulas": formulas.in_html,
        "label": formulas.label_in_html,
        "md": formulas.in_markdown,
        "decisive": decisive_sentence,
    }
    environment.globals |= {
        "artifact_href": artifact_href,
        "artifact_anchor": artifact_anchor,
        "job_href": job_href,
        "cost_of": cost_of,
    }
    return environment


def _rendered(template: str, **facts: Any) -> str:
    return _environment().get_template(template).render(**facts)
