"""``finitewidth list --short``: what is made, and how far it differs from the papers' sizes."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from finitewidth.claims import grades
from finitewidth.cli.names import file_of
from finitewidth.cli.options import Results
from finitewidth.declarations.papers import Artifact

WORDS = {grades.DRAWN: "drawings or equations"}


def of_papers(artifacts: Sequence[Artifact], results: Results) -> str:
    """Return a line for each paper, one for all of them, and the place of the report."""
    from finitewidth.cli.running import configuration
    from finitewidth.pipeline.plan import Plan

    status_of = Plan(configuration(results, ()), ".").evidence.status
    groups: dict[str, list[Artifact]] = {}
    for artifact in artifacts:
        groups.setdefault(artifact.paper, []).append(artifact)
    if len(groups) > 1:
        groups["all"] = [*artifacts]
    lines = [_line(name, group, results.folder, status_of) for name, group in groups.items()]
    report = Path(results.folder, "report/index.html")
    if report.is_file():
        lines.append(f"report: {report} (open it in a browser)")
    else:
        lines.append("report: not made yet")
    return "\n".join(lines)


def _line(
    name: str, artifacts: Sequence[Artifact], folder: str, status_of: Callable[[str], str]
) -> str:
    """``npf       10 of 17 made: 4 at the paper's sizes, 6 on a stand-in``."""
    existing = [artifact for artifact in artifacts if file_of(artifact, folder).is_file()]
    line = f"{name:<9} {len(existing):>2} of {len(artifacts):>2} made"
    if not existing:
        return line
    counts = Counter(status_of(artifact.artifact) for artifact in existing)
    words = []
    for status in grades.STATUSES:
        if counts[status]:
            words.append(f"{counts[status]} {WORDS.get(status, status)}")
    return f"{line}: {', '.join(words)}"
