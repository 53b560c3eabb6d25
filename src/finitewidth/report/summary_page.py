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
from finitewidth.report.sources import Job, makers_of

FILE = "summary.md"
REPORT = "report"  # the stem of its provenance
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


def markdown(findings: Findings) -> str:
    """Return the page on the results of a run, whose provenance is read.

    Raises:
        ResultError: a file is damaged.
    """
    every, stamps = read_all(findings.results), read_stamps(findings.jobs)
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
        total=total(map(spent_by, every)),
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
        machines=machines(every),
    )


def read_all(results: str | Path) -> list[dict[str, Any]]:
    """Read the provenance of all jobs but the report, of which the page is a part.

    Raises:
        ResultError: a file is damaged.
    """
    folder = Path(results)
    places = ("provenance/**/*.json", "*/experiments/*provenance.json", "*/training/*/*.json")
    files = sorted(file for place in places for file in folder.glob(place))
    return [read_json(file) for file in files if file.stem != REPORT]


def read_stamps(jobs: Mapping[str, Job]) -> dict[str, dict[str, Any]]:
    """Read the provenance of the jobs that the report knows by name; job -> provenance.

    Raises:
        ResultError: a file is damaged.
    """
    files = {name: Path(job.stamp or provenance_of({}, job.log)) for name, job in jobs.items()
             if job.stamp or job.log}  # fmt: skip
    return {name: read_json(file) for name, file in files.items()
            if file.is_file() and file.stem != REPORT}  # fmt: skip


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
    own = jobs.get(artifact.artifact)
    needed = makers_of(own.outputs, jobs) if own else []
    return total(spent[job.name] for job in needed if job.name in spent)


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
