"""docs/reliability.md lists exactly the cases of tests/faults."""

from pathlib import Path
from types import SimpleNamespace

from tests.faults.reliability import cases, read_table, write_table

FILE = Path(__file__).parents[2] / "docs/reliability.md"


def test_the_document_lists_exactly_the_cases_of_the_suite():
    assert list(read_table(FILE)) == cases()
    assert len(set(cases())) == len(cases())


def test_what_ran_is_written_and_what_did_not_stays(tmp_path):
    file, (first, second, *_) = tmp_path / "table.md", cases()
    for title in (first, second):
        row = ("reliability", [title, "a message", "nothing"])
        report = SimpleNamespace(when="call", user_properties=[row])
        write_table(file, [report, report])
    rows = read_table(file)
    assert list(rows) == cases()
    assert rows[first] == rows[second] == ("2", "nothing", "a message")
    assert rows[cases()[-1]][0] == "0"
