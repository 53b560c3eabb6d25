"""The page of the numbered statements of the papers: in our words, and how each is checked."""

from pathlib import Path

from finitewidth.declarations.papers import Paper, read_papers
from finitewidth.declarations.statements import (
    CLAIM,
    ERRATUM,
    TEST,
    Check,
    Statement,
    statements_of,
)
from finitewidth.errata.table import Erratum, errata_of
from finitewidth.report.formulas import in_markdown

INTRODUCTION = """# Statements of the papers

The theorems, lemmas, propositions and corollaries of the papers, and the definitions, remarks and
numbered equations that state something of their own: each in our words, with what checks it. Steps
of derivations and plain notation are left out. The rows are
`src/finitewidth/papers/*/statements.yaml`.

- A *claim* is judged by every run; the report has its verdict, also beside the statement on the
  page of its paper.
- An [erratum](/errata.md) says what is wrong in the printed statement or its proof.
  It is *confirmed* if the corrected value agrees with a third computation and the printed one does
  not; `tests/agreement/test_errata.py` recomputes all of these.
- A *test* checks the statement itself, or the code that computes it by another route.
- *Missing* names the reason why a statement, or a part of it, is not checked.
"""


def write(root: Path, folder: Path) -> None:
    """Write the page ``statements``."""
    papers = []
    for paper in read_papers(root / "workflow/papers"):
        if statements_of(paper.name):
            papers.append(paper)
    lines = [INTRODUCTION, *_counts(papers)]
    for paper in papers:
        lines += _part(paper)
    (folder / "statements.md").write_text("\n".join(lines), encoding="utf-8")


def _counts(papers: list[Paper]) -> list[str]:
    """How many statements of each paper have a check of each kind."""
    lines = [
        "A statement may have several checks.",
        "",
        "| paper | statements | claim | erratum | test | checked in part | not checked |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for paper in papers:
        statements = statements_of(paper.name)
        counts = [len(statements)]
        for kind in (CLAIM, ERRATUM, TEST):
            counts.append(sum(bool(each.checks_of(kind)) for each in statements))
        counts.append(sum(each.lacks_a_part for each in statements))
        counts.append(sum(not each.is_checked for each in statements))
        cells = " | ".join(str(count) for count in counts)
        lines.append(f"| `{paper.name}` | {cells} |")
    return [*lines, ""]


def _part(paper: Paper) -> list[str]:
    """The table of one paper."""
    errata = {erratum.id: erratum for erratum in errata_of([paper.name])}
    lines = [
        f"## `{paper.name}`: {paper.title}",
        "",
        "| place | statement | check and result |",
        "|---|---|---|",
    ]
    lines += [_row(statement, errata) for statement in statements_of(paper.name)]
    return [*lines, ""]


def _row(statement: Statement, errata: dict[str, Erratum]) -> str:
    place = f"{in_markdown(statement.place)} ({in_markdown(statement.printed_in)})"
    checks = "; ".join(_result(check, errata) for check in statement.checks)
    return f"| {place} | {in_markdown(statement.statement)} | {checks} |"


def _result(check: Check, errata: dict[str, Erratum]) -> str:
    if check.kind == CLAIM:
        return f"claim {check.value}"
    if check.kind == ERRATUM:
        erratum = errata[check.value]
        confirmed = ", confirmed" if erratum.check else ""
        return f"erratum {check.value}: {erratum.kind}{confirmed}"
    if check.kind == TEST:
        file = Path(check.value.partition("::")[0]).name
        return f"test “{check.words}” holds (`{file}`)"
    return f"*missing*: {in_markdown(check.value)}"
