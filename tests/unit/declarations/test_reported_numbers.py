"""The papers' printed numbers parse, and every mistake is named with its place."""

import pytest
from tests.helpers.project import ROOT

from finitewidth.common.errors import ConfigError
from finitewidth.declarations.papers import read_papers
from finitewidth.declarations.reported_numbers import REPORTED_COLUMNS, read_reported

REPORTED = ROOT / "config/reported"
PAPERS = sorted(path.stem for path in REPORTED.glob("*.csv"))
NAMES = {
    paper.name: {entry.artifact for entry in paper.artifacts}
    for paper in read_papers(ROOT / "workflow/papers")
}

GOOD_NUMBER = (
    "npf_table2,test_accuracy,fc_sgd,relu,97.85,0.09,std_population,5,percent,1.18,Table 2,"
    "printed,,"
)


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
