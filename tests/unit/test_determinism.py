"""The comparison of two results folders sees what differs, and only that."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/determinism.py"
FILES = {
    "npf/experiments/nu.csv": b"epoch,nu\n1,0.5\n2,0.25\n",
    "npf/figures/fig.svg": b"<svg/>",
    "logs/npf/nu.log": b"12:00",
    "npf/experiments/nu_provenance.json": b"{}",
}


@pytest.fixture
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def differences(script):
    return script["differences"]


@pytest.fixture
def folders(tmp_path):
    for side in ("a", "b"):
        for name, content in FILES.items():
            path = tmp_path / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return tmp_path / "a", tmp_path / "b"


def test_equal_folders_do_not_differ_nor_do_logs_count(differences, folders):
    (folders[1] / "logs/npf/nu.log").write_bytes(b"13:00")
    assert list(differences(*folders)) == []


def test_what_differs_is_named_with_its_size(differences, folders):
    (folders[1] / "npf/experiments/nu.csv").write_text("epoch,nu\n1,0.5\n2,0.2\n")
    (folders[1] / "npf/figures/fig.svg").unlink()
    table, figure = differences(*folders)
    assert table == "npf/experiments/nu.csv: largest difference 0.05, relative 0.1"
    assert figure.startswith("npf/figures/fig.svg: only in ")


def test_a_row_is_added_replaced_and_keeps_what_stands_above(script, tmp_path):
    document = tmp_path / "reliability.md"
    document.write_text("# Reliability\n\n| Case |\n")
    found = ["a.csv: largest difference 3, relative 0.5", "b.csv: largest difference 1, relative 2"]
    script["write_row"](document, "two kinds of processor", 9, found)
    script["write_row"](document, "one core and two", 9, found)
    script["write_row"](document, "one core and two", 9, [])
    text = document.read_text()
    assert text.startswith("# Reliability\n\n| Case |\n\n## Determinism")
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert rows == [
        "| two kinds of processor | 9 | 2 | 2 tables; largest difference in each, relative to "
        "its column's largest: median 1, at most 2 (b.csv) |",
        "| one core and two | 9 | 0 |  |",
    ]
