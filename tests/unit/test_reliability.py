"""docs/reliability.md lists exactly the cases of tests/faults."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.faults.reliability import cases, read_table, said, write_table

FILE = Path(__file__).parents[2] / "docs/reliability.md"


def test_the_document_lists_exactly_the_cases_of_the_suite():
    assert list(read_table(FILE)) == cases()
    assert len(set(cases())) == len(cases())


def report(title, outcome="passed", when="call", test="a", message="a message"):
    facts = [("case", title)]
    if (outcome, when) == ("passed", "call"):
        facts.append(("reliability", [message, "nothing"]))
    return SimpleNamespace(outcome=outcome, when=when, nodeid=test, user_properties=facts)


def test_what_ran_is_written_and_what_did_not_stays(tmp_path):
    file, (first, second, *_) = tmp_path / "table.md", cases()
    for title in (first, second):
        write_table(file, [report(title, test="a"), report(title, test="b")])
    rows = read_table(file)
    assert list(rows) == cases()
    assert rows[first] == rows[second] == ("2", "nothing", "a message")
    assert rows[cases()[-1]][0] == "0"


def test_what_failed_is_seen(tmp_path):
    file, (first, second, third, *_) = tmp_path / "table.md", cases()
    reports = [report(first, test="a"), report(first, "failed", test="b"),
               report(second, "failed", "setup"),
               report(third), report(third, "failed", "teardown")]  # fmt: skip
    write_table(file, reports)
    rows = read_table(file)
    assert rows[first] == ("1 of 2 FAILED", "nothing", "a message")
    assert rows[second] == rows[third] == ("1 of 1 FAILED", "", "")
    write_table(file, [report(second, message="another")])
    assert read_table(file)[second] == ("1", "nothing", "another")
    write_table(file, [report(second, "skipped", "setup")])
    assert read_table(file)[second] == ("1", "nothing", "another")


def test_what_stands_below_the_table_stays(tmp_path):
    file, below = tmp_path / "table.md", "\n## Determinism\n\n| Case of | another |\n|---|---|\n"
    write_table(file, [])
    file.write_text(file.read_text() + below)
    write_table(file, [report(cases()[0])])
    assert list(read_table(file)) == cases()
    assert file.read_text().endswith(" |\n" + below)
    assert file.read_text().count("## Determinism") == 1


def test_a_message_is_what_was_said():
    text = "INFO\nerror: /tmp/a/results/x.csv is\n damaged (a | b); delete it\nmore"
    assert said(r"\S+ is\s+damaged.*?it", text) == "x.csv is damaged (a \\| b); delete it"
    line = "checkpoint results/.checkpoints/0a/000000000017.pt is damaged"
    assert said("checkpoint .*", line) == "checkpoint ….pt is damaged"
    with pytest.raises(AssertionError, match="does not match lost"):
        said("lost", text)
