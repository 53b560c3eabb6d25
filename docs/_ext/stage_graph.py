"""The job graph at the level of papers and stages, drawn from the declarations."""

import re
from collections import Counter
from pathlib import Path

from finitewidth.common.declarations import Paper, read_papers

STAGES = ("datasets", "trainings", "experiments", "figures", "tables", "claims", "report")
BOX = (1.14, 0.56)
COLOURS = ("#DDE3EA", "#F6E3C5", "#D5E8D4", "#DAE8FC", "#DAE8FC", "#E8DAEF", "#F2F2F2")


def boxes(papers: tuple[Paper, ...], claims: dict[str, int]) -> dict[tuple[str, str], int]:
    """Return (paper, stage) -> number of things there; stages without any are left out.

    Args:
        papers: the declarations.
        claims: paper -> number of its claims.
    """
    found: Counter[tuple[str, str]] = Counter()
    for paper in papers:
        found[paper.name, "trainings"] = len(paper.trainings)
        found[paper.name, "experiments"] = len(paper.experiments)
        for artifact in paper.artifacts:
            found[paper.name, f"{artifact.kind}s"] += artifact.done
        found[paper.name, "claims"] = claims.get(paper.name, 0)
    return {place: count for place, count in found.items() if count}


def edges(
    papers: tuple[Paper, ...], present: dict[tuple[str, str], int]
) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    """Return the pairs (from, to) of boxes of which the second reads something of the first.

    What a paper reads of its own earlier experiments is left out, and so are printed numbers.
    """
    owners = {e.name: paper.name for paper in papers for e in paper.experiments}
    found = set()
    for paper in papers:
        readers = [((paper.name, "experiments"), e.reads.values()) for e in paper.experiments]
        readers += [((paper.name, f"{a.kind}s"), a.of.values()) for a in paper.artifacts]
        for reader, references in readers:
            for reference in references:
                source = _source(reference, paper.name, owners)
                if source and source != reader:
                    found.add((source, reader))
        # every training reads images, and the claims read tables of experiments
        if (paper.name, "trainings") in present:
            found.add((("", "datasets"), (paper.name, "trainings")))
        maker = (paper.name, "experiments")
        if (paper.name, "claims") in present and maker in present:
            found.add((maker, (paper.name, "claims")))
        last = [stage for stage in STAGES if (paper.name, stage) in present][-1]
        found.add(((paper.name, last), ("", "report")))  # it reads the whole row
    return found


def _source(reference: str, paper: str, owners: dict[str, str]) -> tuple[str, str] | None:
    if reference.startswith("data/"):
        return "", "datasets"
    if reference.startswith(("training/", "trainings/")):
        return paper, "trainings"
    if reference.startswith("reported/"):
        return None
    job = reference.split(".")[0]
    if job.endswith("*"):
        return paper, "experiments"
    return (owners[job], "experiments") if job in owners else None


def write(root: Path, folder: Path) -> None:
    """Draw ``stages.svg`` and write the words that replace it, ``parts/stages.md``."""
    from finitewidth.claims import ledger

    papers = read_papers(root / "workflow/papers")
    present = boxes(papers, {p.name: len(ledger.claims_of(p.name)) for p in papers})
    datasets = {
        name
        for file in (root / "config/papers").glob("*.yaml")
        for name in re.findall(r"^\s*dataset: (\w+)", file.read_text(encoding="utf-8"), re.M)
    }
    present |= {("", "datasets"): len(datasets), ("", "report"): 1}
    links = edges(papers, present)
    _draw(papers, present, links, folder / "stages.svg")
    rows = [f"| `{p.name}` | " + " | ".join(
        str(present.get((p.name, stage), "–")) for stage in STAGES[1:-1]) + " |" for p in papers
    ]  # fmt: skip
    head = "| paper | families of trainings | " + " | ".join(STAGES[2:-1]) + " |"
    text = "\n".join([head, "|---|" + "---:|" * (len(STAGES) - 2), *rows, ""])
    (folder / "parts" / "stages.md").write_text(text, encoding="utf-8")


def _draw(papers: tuple[Paper, ...], present: dict, links: set, file: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    height = len(papers) * 0.85 + 0.7
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "stages", "font.size": 8.5,
                         "font.family": "sans-serif"}):  # fmt: skip
        figure = Figure(figsize=(9.2, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.95, len(STAGES) * 1.5 - 0.2), ylim=(-len(papers) * 1.0 + 0.35, 1.05))
        axes.axis("off")
        places = {paper.name: -row for row, paper in enumerate(papers)}
        middle = -(len(papers) - 1) / 2
        at = {
            place: (STAGES.index(place[1]) * 1.5 + 0.65, places.get(place[0], middle))
            for place in present
        }
        for source, reader in sorted(links):
            _arrow(axes, at[source], at[reader])
        for place, count in present.items():
            _box(axes, at[place], place[1], count)
        for name, y in places.items():
            axes.text(-0.85, y, name, va="center", ha="left", fontweight="bold")
        for column, stage in enumerate(STAGES):
            axes.text(column * 1.5 + 0.65, 0.72, stage, ha="center", fontweight="bold")
        figure.savefig(file, format="svg", metadata={"Date": None})


def _arrow(axes: object, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow from the right side of a box to the left side of another."""
    from matplotlib.patches import FancyArrowPatch

    x0, x1 = start[0] + BOX[0] / 2, end[0] - BOX[0] / 2
    over = x1 - x0 > 1  # passes a column: bend around what stands there
    bend = "arc3,rad=-0.28" if over and start[1] == end[1] else "arc3,rad=0"
    y0 = start[1] + (BOX[1] / 2 - 0.06 if over and start[1] == end[1] else 0)
    y1 = end[1] + (BOX[1] / 2 - 0.06 if over and start[1] == end[1] else 0)
    axes.add_patch(FancyArrowPatch(
        (x0, y0), (x1, y1), arrowstyle="-|>", mutation_scale=7, connectionstyle=bend,
        color="#6B7480", linewidth=0.8, shrinkA=0, shrinkB=0, zorder=1,
    ))  # fmt: skip


def _box(axes: object, at: tuple[float, float], stage: str, count: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(FancyBboxPatch(
        (at[0] - BOX[0] / 2, at[1] - BOX[1] / 2), *BOX, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=COLOURS[STAGES.index(stage)], edgecolor="#3C4650", linewidth=0.8, zorder=2,
    ))  # fmt: skip
    text = "HTML" if stage == "report" else str(count)
    axes.text(*at, text, ha="center", va="center", zorder=3)
