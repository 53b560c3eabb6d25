"""A run in one Markdown file: its times, its verdicts, and its numbers beside the papers'.

The report has it as ``summary.md``, to be kept or cited where the report itself is too large.
Everything in it is read from results.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from finitewidth.claims.facts import counted
from finitewidth.claims.reported import NOT_RUN
from finitewidth.claims.reported import OUTCOMES as NUMBER_OUTCOMES
from finitewidth.claims.verdicts import VERDICTS
from finitewidth.common import number_words
from finitewidth.common.usage import Usage, total
from finitewidth.report import formatting
from finitewidth.report.findings import MADE, ArtifactFindings, Findings, Job, makers_of
from finitewidth.report.formulas import FORMULA

FILE = "summary.md"
LONGEST = 12  # jobs in the table of the longest
_SPECIAL = re.compile(r"([\\`*_|<>$\[\]#~])")


def markdown(findings: Findings) -> str:
    """Return the page on the results of a run, whose provenance is read."""
    environment = Environment(
        loader=PackageLoader("finitewidth.report"), undefined=StrictUndefined,
        trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "duration": number_words.duration, "number": number_words.number, "md": escaped,
        "name_of": formatting.name_of, "threshold": number_words.threshold,
    }  # fmt: skip
    words = ["snakemake", "--cores", "all", "--config", f"preset={findings.preset}"]
    return environment.get_template("summary.md").render(
        findings=findings,
        command=shlex.join([*words, *findings.overrides]),
        total=total(findings.usage.values()),
        longest=list(findings.usage.items())[:LONGEST],
        costs={
            artifact.artifact: cost_of(artifact, findings.jobs, findings.usage)
            for paper in findings.papers
            for artifact in paper.artifacts
        },
        made=MADE,
        own=findings.own,
        verdicts=counted([claim["verdict"] for claim in findings.claims], VERDICTS),
        outcomes=counted([number["outcome"] for number in findings.numbers], NUMBER_OUTCOMES),
        compared=lambda paper: [number for number in paper.numbers if number["outcome"] != NOT_RUN],
        machines=machines(findings.records),
    )


def cost_of(
    artifact: ArtifactFindings, jobs: Mapping[str, Job], usage: Mapping[str, Usage]
) -> Usage:
    """The time of an artifact with all jobs that it needs, from the datasets on."""
    own = jobs.get(artifact.artifact)
    needed = makers_of(own.outputs, jobs) if own else []
    return total(usage[job.name] for job in needed if job.name in usage)


def machines(stamps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Processor, cores, versions and commit of the jobs, each combination once.

    The number of its jobs stands with each, and the names of the jobs with all but the one that
    has most.
    """
    found: dict[str, list[str]] = {}
    for stamp in stamps:
        machine, versions = stamp.get("machine") or {}, stamp.get("versions") or {}
        words = (
            f"{machine.get('processor')}, {machine.get('cores')} cores; Python "
            f"{stamp.get('python')}, torch {versions.get('torch')}, numpy {versions.get('numpy')}"
        )
        git = stamp.get("git") or {}
        if git.get("commit"):
            words += f"; commit {git['commit'][:7]}" + ", changed" * bool(git.get("dirty"))
        found.setdefault(words, []).append(stamp["job"])
    most = max(found.values(), key=len, default=[])
    return [
        f"{words}; {len(jobs)} job{'s' * (len(jobs) > 1)}"
        + ("" if jobs is most else f": {', '.join(sorted(jobs))}")
        for words, jobs in found.items()
    ]


def escaped(text: Any) -> str:
    """Return text on one line, such that Markdown shows it as it is, but for its formulas."""
    parts = FORMULA.split(" ".join(str(text).split()))
    parts[::2] = [_SPECIAL.sub(r"\\\1", part) for part in parts[::2]]
    # a bar would end the cell of a table
    parts[1::2] = ["$" + part.replace("|", r"\vert ") + "$" for part in parts[1::2]]
    return "".join(parts)
