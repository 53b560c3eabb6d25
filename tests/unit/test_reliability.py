"""docs/reliability.md lists exactly the cases of tests/faults."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.faults.matrix import FAULTS, STAGES
from tests.faults.reliability import (
    MARK,
    REPORT,
    Run,
    cases,
    read_matrix,
    read_table,
    said,
    write_table,
)

FILE = Path(__file__).parents[2] / "docs/reliability.md"


def test_the_document_lists_exactly_the_cases_of_the_suite():
    assert list(read_table(FILE)) == cases()
    assert len(set(cases())) == len(cases())
    assert list(read_matrix(FILE)) == list(FAULTS)


PART, FULL = Run("0.1.0 (abc), 2026-01-01"), Run("0.1.0 (def), 2026-01-02", full=True)


def report(title, outcome="passed", when="call", test="a", message="a message"):
    facts = [("case", title)]
    if (outcome, when) == ("passed", "call"):
        facts.append(("reliability", [message, "nothing"]))
    return SimpleNamespace(outcome=outcome, when=when, nodeid=test, user_properties=facts)


def test_what_ran_is_written_and_what_did_not_stays(tmp_path):
    file, (first, second, *_) = tmp_path / "table.md", cases()
    for title in (first, second):
        write_table(file, [report(title, test="a"), report(title, test="b")], PART)
    rows = read_table(file)
    assert list(rows) == cases()
    assert rows[first] == rows[second] == ("2", "nothing", "a message", PART.stamp)
    assert rows[cases()[-1]] == ("0", "not run yet", "", MARK)


def test_what_failed_is_seen(tmp_path):
    file, (first, second, third, *_) = tmp_path / "table.md", cases()
    reports = [report(first, test="a"), report(first, "failed", test="b"),
               report(second, "failed", "setup"),
               report(third), report(third, "failed", "teardown")]  # fmt: skip
    write_table(file, reports, PART)
    rows = read_table(file)
    assert rows[first] == ("1 of 2 FAILED", "nothing", "a message", PART.stamp)
    assert rows[second] == rows[third] == ("1 of 1 FAILED", "", "", PART.stamp)
    write_table(file, [report(second, message="another")], PART)
    assert read_table(file)[second] == ("1", "nothing", "another", PART.stamp)
    write_table(file, [report(second, "skipped", "setup")], PART)
    assert read_table(file)[second] == ("1", "nothing", "another", PART.stamp)


def test_rows_that_a_full_run_left_out_are_marked(tmp_path):
    file, (first, second, *_) = tmp_path / "table.md", cases()
    write_table(file, [report(first), report(second)], PART)
    assert "Last full run: none" in file.read_text()
    write_table(file, [report(second)], FULL)
    assert read_table(file)[first][-1] == f"{PART.stamp} {MARK}"
    assert read_table(file)[second][-1] == FULL.stamp
    write_table(file, [], PART)
    assert read_table(file)[first][-1] == f"{PART.stamp} {MARK}"
    assert f"Last full run: {FULL.stamp}\n" in file.read_text()
    write_table(file, [report(first)], PART)
    assert read_table(file)[first][-1] == PART.stamp


def cell(fault, stage, outcome="passed", message="told", lost="the job"):
    facts = [("cell", [fault, stage.name])]
    if outcome == "passed":
        facts.append(("reliability", [message, lost]))
    return SimpleNamespace(
        outcome=outcome, when="call", nodeid=f"{fault}-{stage.name}", user_properties=facts
    )


def test_the_matrix_holds_a_cell_for_each_stage(tmp_path):
    file, (fault, other, *_) = tmp_path / "table.md", FAULTS
    reports = [cell(fault, stage) for stage in STAGES]
    write_table(file, [*reports[1:], cell(fault, STAGES[0], "failed")], FULL)
    row = read_matrix(file)[fault]
    assert row == ("FAILED", *["the job"] * (len(STAGES) - 1), "told", FULL.stamp)
    assert read_matrix(file)[other] == (*["–"] * len(STAGES), "", MARK)
    write_table(file, [cell(fault, STAGES[0], lost="nothing")], PART)
    row = read_matrix(file)[fault]
    assert row[0] == "nothing"
    assert row[-1] == f"{PART.stamp} ({STAGES[0].name} only)"
    assert list(read_table(file)) == cases()


def test_what_stands_below_the_table_stays(tmp_path):
    file, below = tmp_path / "table.md", "\n## Determinism\n\n| Case of | another |\n|---|---|\n"
    write_table(file, [], PART)
    file.write_text(file.read_text() + below)
    write_table(file, [report(cases()[0])], PART)
    assert list(read_table(file)) == cases()
    assert file.read_text().endswith(REPORT + below)
    assert file.read_text().count("## Determinism") == 1


def test_a_message_is_what_was_said():
    text = "INFO\nerror: /tmp/a/results/x.csv is\n damaged (a | b); delete it\nmore"
    assert said(r"\S+ is\s+damaged.*?it", text) == "x.csv is damaged (a \\| b); delete it"
    line = "checkpoint results/.checkpoints/0a/000000000017.pt is damaged"
    assert said("checkpoint .*", line) == "checkpoint ….pt is damaged"
    with pytest.raises(AssertionError, match="does not match lost"):
        said("lost", text)
