"""The papers' printed numbers parse, and every mistake is named with its place."""

from pathlib import Path

import pytest

from finitewidth.common.declarations import read_papers
from finitewidth.common.errors import ConfigError
from finitewidth.common.reported_numbers import REPORTED_COLUMNS, read_reported

ROOT = Path(__file__).resolve().parents[2]
REPORTED = ROOT / "config/reported"
PAPERS = sorted(path.stem for path in REPORTED.glob("*.csv"))
NAMES = {paper.name: {entry.artifact for entry in paper.artifacts}
         for paper in read_papers(ROOT / "workflow/papers")}  # fmt: skip
NPF_ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
NPF_COLUMNS = ("frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "relu")

GOOD_NUMBER = (
    "npf_table2,test_accuracy,fc_sgd,relu,97.85,0.09,std_population,5,percent,1.18,Table 2,"
    "printed,,"
)


@pytest.fixture(scope="module")
def table2():
    """Cells of Table 2 by paper, row and column."""
    return {
        paper: {
            (number.row, number.column): number
            for number in read_reported(REPORTED, paper)
            if number.artifact == f"{paper}_table2"
        }
        for paper in ("npf", "npf0")
    }


def write_reported(folder, *numbers, paper="npf"):
    (folder / "reported").mkdir()
    text = "\n".join([",".join(REPORTED_COLUMNS), *numbers]) + "\n"
    (folder / "reported" / f"{paper}.csv").write_text(text, encoding="utf-8")
    return folder / "reported"


def with_cell(line, column, text, columns, delimiter):
    cells = line.split(delimiter)
    cells[columns.index(column)] = text
    return delimiter.join(cells)


@pytest.mark.parametrize("paper", PAPERS)
def test_reported_numbers_parse(paper):
    numbers = read_reported(REPORTED, paper)
    assert numbers or paper == "thesis"
    assert {number.artifact for number in numbers} <= NAMES[paper] | {f"{paper}_text"}


@pytest.mark.parametrize("paper", ["npf", "npf0"])
def test_table2_has_every_cell_with_its_spread(table2, paper):
    assert set(table2[paper]) == {(row, column) for row in NPF_ROWS for column in NPF_COLUMNS}
    for cell in table2[paper].values():
        assert (cell.unit, cell.spread_kind, cell.runs) == ("percent", "std_population", 5)
        assert cell.tolerance == pytest.approx(2 * cell.spread + 1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("row", "", "column row: "),
        ("value", "97,85", "column value: .*'97,85' is not a number like 80.32"),
        ("value", "", "column value: "),
        ("value", "1/0", "column value: .*'1/0' is not a number"),
        ("spread", "-0.09", "column spread: .*greater than 0"),
        ("spread_kind", "", "a spread and its kind go together"),
        ("spread_kind", "sigma", "column spread_kind: "),
        ("runs", "4.5", "column runs: "),
        ("place", "", "column place: "),
        ("reading_error", "0.2", "goes with read_off_figure"),
    ],
)
def test_a_wrong_number_is_named_by_file_line_and_column(tmp_path, column, text, message):
    quoted = f'"{text}"'
    folder = write_reported(
        tmp_path, with_cell(GOOD_NUMBER, column, "\0", REPORTED_COLUMNS, ",").replace("\0", quoted)
    )
    with pytest.raises(ConfigError, match=rf"npf\.csv, line 2.*{message}"):
        read_reported(folder, "npf")


def test_a_number_may_stand_only_once(tmp_path):
    folder = write_reported(tmp_path, GOOD_NUMBER, GOOD_NUMBER)
    with pytest.raises(ConfigError, match="line 3: npf_table2/test_accuracy"):
        read_reported(folder, "npf")
