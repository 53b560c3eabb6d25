"""Write the table of docs/reliability.md from the results of the fault tests."""

import ast
import re
from collections import defaultdict
from pathlib import Path

HEAD = """# Reliability

This page lists what happens if a run is killed, if its files are damaged, or if it runs out of disk
space. Every case is a real run of two trainings at preset `smoke`. At the time of the fault one
training is finished and the other is in progress. A second start must then finish with the same
bytes as an undisturbed run, and it must not repeat finished work. The table is written by

    pytest tests/faults --full --reliability docs/reliability.md

Cases that are not run keep their rows. If a file is damaged, the message names the file to delete.
Messages are quoted without folder names.

| Case | Repetitions | Lost | Message |
|---|---|---|---|
"""
UNKNOWN = ("0", "not run yet", "")
AFTER = "\n## Determinism"  # benchmarks/determinism.py writes the page from here on


def cases() -> list[str]:
    """The titles of all cases, in the order of the tests."""
    found = []
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.case":
                found.append(node.args[0].value)
    return found


def said(pattern: str, text: str) -> str:
    """The first match of ``pattern``, on one line, without folders and checkpoint numbers.

    Fails if nothing matches.
    """
    found = re.search(pattern, text, re.S)
    assert found, f"the output does not match {pattern}:\n{text}"
    line = re.sub(r"\s+", " ", found.group()).strip().replace("|", "\\|")
    return re.sub(r"\b\d{12}\b", "…", re.sub(r"[^\s:]*/(?=[^/\s])", "", line))


def read_table(file: Path) -> dict[str, tuple[str, ...]]:
    """Case -> repetitions, loss and message."""
    table, _ = _parts(file)
    rows = [line[2:].removesuffix(" |").split(" | ")
            for line in table.splitlines() if line.startswith("| ")]  # fmt: skip
    return {row[0]: tuple(row[1:]) for row in rows if row[0] != "Case"}


def _parts(file: Path) -> tuple[str, str]:
    """The table with the text before it, and the text after it."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    table, heading, after = text.partition(AFTER)
    return table, heading + after


def write_table(file: Path, reports: list) -> None:
    """Write one row per case. Cases without a report keep their rows; the text below is kept.

    Args:
        file: the document.
        reports: of pytest, for tests with a property ``case``, of any outcome and phase.
    """
    rows = read_table(file)
    for title, repetitions in _by_case(reports).items():
        failed = sum(repetition is None for repetition in repetitions)
        count = f"{failed} of {len(repetitions)} FAILED" if failed else str(len(repetitions))
        words = zip(*filter(None, repetitions), strict=True)
        message, lost = [" / ".join(dict.fromkeys(word)) for word in words] or ["", ""]
        rows[title] = (count, lost, message)
    lines = [f"| {' | '.join((title, *rows.get(title, UNKNOWN)))} |" for title in cases()]
    _, after = _parts(file)
    file.write_text(HEAD + "\n".join(lines) + "\n" + after, encoding="utf-8")


def _by_case(reports: list) -> dict[str, list[tuple[str, str] | None]]:
    """Case -> message and loss of each repetition, or None for a repetition that failed."""
    found = defaultdict(dict)
    for report in reports:
        facts = dict(report.user_properties)
        if "case" not in facts or report.outcome == "skipped":
            continue
        repetitions = found[facts["case"]]
        if report.outcome == "failed":
            repetitions[report.nodeid] = None  # in any phase
        elif report.when == "call":
            repetitions.setdefault(report.nodeid, tuple(facts["reliability"]))
    return {title: list(repetitions.values()) for title, repetitions in found.items()}
