"""The counts and the list of papers of the start page, a page for each paper, and the gallery."""

from pathlib import Path

import gallery
from sphinx.util.logging import getLogger

from finitewidth.declarations.papers import Experiment, Paper, artifacts_of, read_papers
from finitewidth.report.findings import Citation, read_citations

LOGGER = getLogger(__name__)


def write(root: Path, folder: Path) -> None:
    """Write the parts ``count`` and ``papers``, the gallery, and one page per paper."""
    papers = read_papers(root / "workflow/papers")
    citations = read_citations(root / "CITATION.cff", [paper.name for paper in papers])
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    (parts / "count.md").write_text(_count(papers), encoding="utf-8")
    (parts / "papers.md").write_text(_listed(papers, citations), encoding="utf-8")
    run = gallery.run_of(root)
    gallery.write(run, papers, folder)
    for problem in gallery.stale(run, root / "docs"):
        LOGGER.warning(problem)
    (folder / "papers").mkdir(exist_ok=True)
    (folder / "papers/index.md").write_text(_index(papers), encoding="utf-8")
    for paper in papers:
        text = "\n".join(_page(paper, citations[paper.name], run))
        (folder / "papers" / f"{paper.name}.md").write_text(text, encoding="utf-8")


def _count(papers: tuple[Paper, ...]) -> str:
    number = sum(not artifact.extra for artifact in artifacts_of(papers))
    return (
        f"**finitewidth regenerates all {number} numbered tables and figures of five papers on "
        "neural networks of finite width, judges the papers' claims by them, and offers the same "
        "kernels as a Python library.**\n"
    )


def _listed(papers: tuple[Paper, ...], citations: dict[str, Citation]) -> str:
    lines = [
        "| short name | paper | tables and figures |",
        "|---|---|---|",
    ]
    for paper in papers:
        own = [artifact for artifact in paper.artifacts if not artifact.extra]
        lines.append(
            f"| [`{paper.name}`](/generated/papers/{paper.name}.md) "
            f"| {cited(citations[paper.name], paper)} | {len(own)} |"
        )
    return "\n".join([*lines, ""])


def _index(papers: tuple[Paper, ...]) -> str:
    """The page that leads to the gallery and to the papers."""
    lines = ["# Papers", "", "```{toctree}", ":maxdepth: 1", "", "/generated/gallery"]
    lines += [f"{paper.name}: {paper.title} <{paper.name}>" for paper in papers]
    return "\n".join([*lines, "```", ""])


def cited(citation: Citation, paper: Paper) -> str:
    """Return title, authors and year of a paper as Markdown, with a link where there is one."""
    earlier = ", earlier version" if paper.title.endswith("earlier version") else ""
    title = f"[{citation.title}]({citation.url})" if citation.url else f"*{citation.title}*"
    return f"{title}{earlier}. {citation.authors}, {citation.year}"


def _page(paper: Paper, citation: Citation, run: gallery.Run) -> list[str]:
    lines = [
        f"# {paper.name}",
        "",
        f"{cited(citation, paper)}.",
        "",
        f"Everything of this paper is made by `finitewidth run {paper.name}`. The declarations are "
        f"in `workflow/papers/{paper.name}.yaml`, the settings in "
        f"`config/papers/{paper.name}.yaml`.",
        "",
        f"{run.described} The report of a run has the claims and the data of each.",
        "",
        "## Tables and figures",
        "",
    ]
    for artifact in paper.artifacts:
        lines += gallery.shown(artifact, run)
    if paper.experiments:
        lines += [
            "",
            "## Experiments",
            "",
            "| name | stage | input | output |",
            "|---|---|---|---|",
        ]
        lines += [_experiment(experiment) for experiment in paper.experiments]
    return [*lines, ""]


def _experiment(experiment: Experiment) -> str:
    sources = ", ".join(f"`{source}`" for source in experiment.input.values()) or "settings only"
    tables = ", ".join(f"`{name}`" for name in experiment.output)
    return f"| `{experiment.name}` | {experiment.stage} | {sources} | {tables} |"
