"""A run in one Markdown file: its times, its verdicts, and its numbers beside the papers'.

The report has it as ``summary.md``, to be kept or cited where the report itself is too large.
Everything in it is read from results.
"""

import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from finitewidth.claims.reported import NOT_RUN
from finitewidth.claims.reported import OUTCOMES as NUMBER_OUTCOMES
from finitewidth.claims.rollup import counted
from finitewidth.claims.verdicts import VERDICTS
from finitewidth.common.recorded import provenance_of
from finitewidth.common.result_files import read_json
from finitewidth.report import formatting
from finitewidth.report.findings import MADE, ArtifactFindings, Findings, Paper
from finitewidth.report.sources import Job

FILE = "summary.md"
OF_REPORT = ("report", "report_now")  # rules
LONGEST = 12  # jobs in the table of the longest
_SPECIAL = re.compile(r"([\\`*_|<>$\[\]#~])")


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Wall and CPU time in seconds, of a number of jobs."""

    jobs: int = 0
    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            jobs=self.jobs + other.jobs, wall=self.wall + other.wall, cpu=self.cpu + other.cpu
        )


def markdown(findings: Findings, stamps: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page.

    Args:
        findings: all results of the run.
        stamps: job -> its provenance, as `read_stamps` returns them.
    """
    environment = Environment(
        loader=PackageLoader("finitewidth.report"), undefined=StrictUndefined,
        trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "duration": duration, "number": formatting.number, "md": escaped,
        "name_of": formatting.name_of, "threshold": formatting.threshold,
    }  # fmt: skip
    spent = {name: spent_by(stamp) for name, stamp in stamps.items()}
    longest = sorted(spent.items(), key=lambda item: -item[1].wall)[:LONGEST]
    words = ["snakemake", "--cores", "all", "--config", f"preset={findings.preset}"]
    return environment.get_template("summary.md").render(
        findings=findings,
        command=shlex.join([*words, *findings.overrides]),
        total=total(spent.values()),
        longest=longest,
        costs={
            artifact.artifact: cost_of(artifact, findings.jobs, spent)
            for paper in findings.papers
            for artifact in paper.artifacts
        },
        made=MADE,
        own=[artifact for paper in findings.papers for artifact in paper.own],
        verdicts=counted([claim["verdict"] for claim in findings.claims], VERDICTS),
        outcomes=counted([number["outcome"] for number in findings.numbers], NUMBER_OUTCOMES),
        compared=compared,
        machines=machines(stamps.values()),
    )


def read_stamps(jobs: Mapping[str, Job]) -> dict[str, dict[str, Any]]:
    """Read the provenance of every job that has one; job -> provenance.

    The report is left out, since the page is a part of it.

    Raises:
        ResultError: a file is damaged.
    """
    files = {name: job.stamp or provenance_of({}, job.log) for name, job in jobs.items()
             if (job.stamp or job.log) and name not in OF_REPORT}  # fmt: skip
    return {name: read_json(file) for name, file in files.items() if Path(file).is_file()}


def spent_by(stamp: Mapping[str, Any]) -> Spent:
    """The time of one job, since its last start; nan if an earlier version did not record it."""
    wall, cpu = (stamp.get(key, math.nan) for key in ("wall_seconds", "cpu_seconds"))
    return Spent(jobs=1, wall=wall, cpu=cpu)


def duration(seconds: float) -> str:
    """Return a time in words."""
    return "not recorded" if math.isnan(seconds) else formatting.duration(seconds)


def total(parts: Iterable[Spent]) -> Spent:
    """The sum of the times of some jobs."""
    return sum(parts, Spent())


def cost_of(
    artifact: ArtifactFindings, jobs: Mapping[str, Job], spent: Mapping[str, Spent]
) -> Spent:
    """The time of an artifact with all jobs that it needs, from the datasets on."""
    makers = {file: job for job in jobs.values() for file in job.outputs}
    found: dict[str, Job] = {}
    waiting = [job for job in (jobs.get(artifact.artifact),) if job]
    while waiting:
        job = waiting.pop()
        if job.name not in found:
            found[job.name] = job
            waiting += [makers[file] for file in job.inputs if file in makers]
    return total(spent[name] for name in found if name in spent)


def compared(paper: Paper) -> list[Mapping[str, str]]:
    """The printed numbers of a paper that the run has a counterpart of."""
    return [number for number in paper.numbers if number["outcome"] != NOT_RUN]


def machines(stamps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Processor, cores and versions of the jobs, each combination once."""
    found = {}
    for stamp in stamps:
        machine, versions = stamp.get("machine") or {}, stamp.get("versions") or {}
        words = (
            f"{machine.get('processor')}, {machine.get('cores')} cores; Python "
            f"{stamp.get('python')}, torch {versions.get('torch')}, numpy {versions.get('numpy')}"
        )
        found[words] = None
    return list(found)


def escaped(text: Any) -> str:
    """Return text on one line, such that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
