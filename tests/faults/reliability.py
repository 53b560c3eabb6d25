"""Write the tables of docs/reliability.md from the results of the fault tests."""

import ast
import re
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .matrix import FAULTS, STAGES

ROOT = Path(__file__).parents[2]
HEAD = """# Reliability

This page lists what happens if a run is killed, if its files are damaged, or if it runs out of disk
space. Every case is a real run at preset `smoke`. Both tables are written by

    pytest tests/faults --full --reliability docs/reliability.md

The last column says with which version of the project, and when, the row was run last. Rows marked
**not in the last full run** keep the outcome of an earlier one. If a file is damaged, the message
names the file to delete. Messages are quoted without folder names.

Last full run: {full}

## Faults by stage

The project of these runs is a small one: a dataset from a folder of pictures, a training with an
experiment on it, and chapter 2 of the thesis up to claims, captions and report, 17 jobs in all. A
fault hits the job of a stage while it writes its first file, the training at its fourth checkpoint.
The jobs before are finished. What is checked in every cell: the user sees one message and no
traceback; a second start finishes; it runs the job that was hit and no other, by a count of all its
jobs, and no file of another job is touched; then all files but logs, benchmarks and Snakemake's
records have the bytes of an undisturbed run. In a provenance, times are left out, and so are the
pages of the report where a job that they show was repeated, since they tell its time.

"Disk full" and "no free inodes" concern the disk of the whole project, and a start is tried while
the disk is still full. "TMPDIR full" needs no repetition: a job that is at work ends well, and the
next start is refused. "Input damaged" and "output damaged" are finished files that are cut, or of
which one bit is changed. The jobs that make and read such a file are then repeated. The report
shows everything else and names such a file in its place; `finitewidth verify` names all of them.

A cell says what is made again after the fault.

"""
STEPS = """
## Further cases

Unless a row says otherwise, one of two trainings is finished at the time of the fault, and the
other is in progress. The rows about the surroundings of a run, and about several runs at once, make
one figure, `thesis_fig2_4`.

"""
REPORT = """
## The report during a run

Snakemake deletes the outputs of a rule before it starts the job. While a run makes the report anew,
there is none, and none is left if the run is killed at that moment. All results that it shows are
kept: the next run makes the report again, and so does `finitewidth report` within seconds. The
command `finitewidth report` replaces an earlier report only after the new one is complete.
"""
UNKNOWN = ("0", "not run yet", "", "")
AFTER = "\n## Determinism"  # benchmarks/determinism.py writes the page from here on
MARK = "**not in the last full run**"
FAILED, NONE = "FAILED", "–"
COLUMNS = ("Case", "Repetitions", "Lost", "Message", "Last run")
MATRIX = ("Fault", *(stage.name for stage in STAGES), "Message", "Last run")


@dataclass(frozen=True)
class Run:
    """A run of the suite: version and date, and whether it was asked to run everything."""

    stamp: str
    full: bool = False

    @classmethod
    def now(cls, full: bool) -> "Run":
        """The present one."""
        version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
        words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
        answer = subprocess.run(words, capture_output=True, text=True, check=False)
        commit = f" ({answer.stdout.strip()})" if answer.returncode == 0 else ""
        return cls(f"{version}{commit}, {datetime.now(UTC):%Y-%m-%d}", full)


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
    line = re.sub(r"\b\d+ s\b", "… s", line)
    return re.sub(r"\b\d{12}\b", "…", re.sub(r"[^\s:]*/(?=[^/\s])", "", line))


def read_table(file: Path, columns: Sequence[str] = COLUMNS) -> dict[str, tuple[str, ...]]:
    """First cell -> the other cells of each row, of the table with these columns."""
    text, _ = _parts(file)
    _, _, rows = text.partition(_heading(columns))
    found = {}
    for line in rows.splitlines():
        if not line.startswith("| "):
            break
        first, *others = re.split(r" (?<!\\)\| ", line[2:].removesuffix(" |"))
        found[first] = tuple(others)
    return found


def read_matrix(file: Path) -> dict[str, tuple[str, ...]]:
    """Fault -> a cell per stage, message and last run."""
    return read_table(file, MATRIX)


def _heading(columns: Sequence[str]) -> str:
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"


def _parts(file: Path) -> tuple[str, str]:
    """The tables with the text around them, and the text after it."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    table, heading, after = text.partition(AFTER)
    return table, heading + after


def write_table(file: Path, reports: list, run: Run) -> None:
    """Write one row per case and fault. What has no report keeps its row; the text below is kept.

    Args:
        file: the document.
        reports: of pytest, for tests with a property ``case`` or ``cell``, of any outcome and
            phase.
        run: of the suite.
    """
    before, after = _parts(file)
    full = re.search(r"^Last full run: (.*)$", before, re.M)
    text = HEAD.format(full=run.stamp if run.full else full[1] if full else "none")
    text += _table(MATRIX, _matrix(read_matrix(file), reports, run)) + STEPS
    text += _table(COLUMNS, _cases(read_table(file), reports, run)) + REPORT
    file.write_text(text + after, encoding="utf-8")


def _table(columns: Sequence[str], rows: dict[str, tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join((title, *cells))} |\n" for title, cells in rows.items()]
    return _heading(columns) + "".join(lines)


def _cases(rows: dict, reports: list, run: Run) -> dict[str, tuple[str, ...]]:
    """Title of a case -> the other cells of its row."""
    found = {}
    outcomes = _by(reports, "case")
    for title in cases():
        if title not in outcomes:
            found[title] = _kept(rows.get(title, UNKNOWN), run)
            continue
        repetitions = outcomes[title]
        failed = sum(repetition is None for repetition in repetitions)
        count = f"{failed} of {len(repetitions)} {FAILED}" if failed else str(len(repetitions))
        words = zip(*filter(None, repetitions), strict=True)
        message, lost = [" / ".join(dict.fromkeys(word)) for word in words] or ["", ""]
        found[title] = (count, lost, message, run.stamp)
    return found


def _matrix(rows: dict, reports: list, run: Run) -> dict[str, tuple[str, ...]]:
    """Fault -> what each stage lost, the message, and the last run in which every stage was run.

    If only some stages were run, the row says so.
    """
    found, outcomes = {}, _by(reports, "cell")
    for fault in FAULTS:
        *cells, message, stamp = rows.get(fault, (*[NONE] * len(STAGES), "", ""))
        seen = {stage.name: outcomes.get((fault, stage.name)) for stage in STAGES}
        ran = [name for name, outcome in seen.items() if outcome is not None]
        if not ran:
            found[fault] = _kept((*cells, message, stamp), run)
            continue
        told = []
        for place, (name, outcome) in enumerate(seen.items()):
            if name in ran:
                cells[place] = FAILED if None in outcome else outcome[0][1]
                told += [words for words, _ in filter(None, outcome)]
        part = "" if len(ran) == len(STAGES) else f" ({', '.join(ran)} only)"
        found[fault] = (*cells, told[0] if told else "", run.stamp + part)
    return found


def _kept(row: tuple[str, ...], run: Run) -> tuple[str, ...]:
    """A row of an earlier run; marked, if all rows should have been run."""
    stamp = row[-1].replace(MARK, "").strip()
    marked = run.full or MARK in row[-1] or not stamp
    return (*row[:-1], f"{stamp} {MARK}".strip() if marked else stamp)


def _by(reports: list, key: str) -> dict:
    """Value of a property -> message and loss of each test with it, or None for one that failed."""
    found = defaultdict(dict)
    for report in reports:
        facts = dict(report.user_properties)
        if key not in facts or report.outcome == "skipped":
            continue
        value = facts[key]
        repetitions = found[tuple(value) if isinstance(value, list) else value]
        if report.outcome == "failed":
            repetitions[report.nodeid] = None  # in any phase
        elif report.when == "call":
            repetitions.setdefault(report.nodeid, tuple(facts["reliability"]))
    return {value: list(repetitions.values()) for value, repetitions in found.items()}
