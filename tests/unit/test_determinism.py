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
def differences():
    return runpy.run_path(str(SCRIPT))["differences"]


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
    assert table == "npf/experiments/nu.csv: largest difference 0.05, relative 0.25"
    assert figure.startswith("npf/figures/fig.svg: only in ")
