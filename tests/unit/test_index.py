"""The index is complete, the reported numbers parse, and every mistake is named where it stands."""

from collections import Counter
from pathlib import Path

import pytest

from finitewidth.common.errors import ConfigError
from finitewidth.common.index import (
    INDEX_COLUMNS,
    PAPERS,
    REPORTED_COLUMNS,
    done,
    read_extras,
    read_index,
    read_reported,
)

CONFIG = Path(__file__).resolve().parents[2] / "config"
NPF_ROWS = ("fc_sgd", "fc_adam", "vconv_sgd", "vconv_adam", "gconv_sgd", "gconv_adam")
NPF_COLUMNS = ("frnpf_ii", "frnpf_di", "dlnpf", "flnpf", "relu")
SOFT_RELU = [
    f"soft_relu_eps{eps}_beta{beta}"
    for eps in ("0.1", "0.4")
    for beta in (1, 2, 4, 8, 12, 16, 20, 24)
]

GOOD_ENTRY = "npf_table2\tnpf\t2\ttable\tAccuracies\tdone"
GOOD_NUMBER = (
    "npf_table2,test_accuracy,fc_sgd,relu,97.85,0.09,std_population,5,percent,1.18,Table 2,printed,"
)


@pytest.fixture(scope="module")
def index():
    return read_index(CONFIG / "artifacts.tsv")


@pytest.fixture(scope="module")
def table2(index):
    """Cells of Table 2 by paper, row and column."""
    return {
        paper: {
            (number.row, number.column): number
            for number in read_reported(CONFIG / "reported", paper, index)
            if number.artifact == f"{paper}_table2"
        }
        for paper in ("npf", "npf0")
    }


def write_index(folder, *entries):
    path = folder / "artifacts.tsv"
    path.write_text("\n".join(["\t".join(INDEX_COLUMNS), *entries]) + "\n", encoding="utf-8")
    return path


def write_reported(folder, *numbers, paper="npf"):
    write_index(folder, GOOD_ENTRY)
    (folder / "reported").mkdir()
    text = "\n".join([",".join(REPORTED_COLUMNS), *numbers]) + "\n"
    (folder / "reported" / f"{paper}.csv").write_text(text, encoding="utf-8")
    return folder / "reported"


def with_cell(line, column, text, columns, delimiter):
    cells = line.split(delimiter)
    cells[columns.index(column)] = text
    return delimiter.join(cells)


def test_the_index_counts_what_the_papers_number(index):
    assert len(index) == 80
    assert Counter((entry.paper, entry.kind) for entry in index) == {
        ("npf", "table"): 5,
        ("npf", "figure"): 7,
        ("npf0", "table"): 2,
        ("npf0", "figure"): 3,
        ("dgn", "table"): 5,
        ("dgn", "figure"): 10,
        ("trust", "figure"): 11,
        ("thesis", "figure"): 5,
        ("beyond", "figure"): 11,
        ("collapse", "table"): 1,
        ("collapse", "figure"): 20,
    }


def test_the_index_is_ordered_by_paper_kind_and_number(index):
    def place(entry):
        numbers = tuple(int(part) for part in entry.number.split("."))
        return PAPERS.index(entry.paper), entry.kind != "table", numbers

    assert index == sorted(index, key=place)


def test_titles_are_short_and_differ_within_a_paper(index):
    assert max(len(entry.title) for entry in index) <= 85
    assert len({(entry.paper, entry.title) for entry in index}) == 80


def test_done_selects_by_paper(index):
    ready = done(index)
    assert {"npf_table2", "npf_fig3"} <= {entry.artifact for entry in ready}
    assert {entry.paper for entry in done(index, "npf0")} == {"npf0"}
    assert set(done(index, "npf")) < set(ready)


def test_done_refuses_an_unknown_paper(index):
    with pytest.raises(ConfigError, match="'gpt' is not one of npf, npf0"):
        done(index, "gpt")


@pytest.mark.parametrize("paper", PAPERS)
def test_reported_numbers_parse(index, paper):
    numbers = read_reported(CONFIG / "reported", paper, index)
    assert numbers or paper == "thesis"


@pytest.mark.parametrize("paper", ["npf", "npf0"])
def test_table2_has_every_cell_with_its_spread(table2, paper):
    assert set(table2[paper]) == {(row, column) for row in NPF_ROWS for column in NPF_COLUMNS}
    for cell in table2[paper].values():
        assert (cell.unit, cell.spread_kind, cell.runs) == ("percent", "std_population", 5)
        assert cell.tolerance == pytest.approx(2 * cell.spread + 1.0, abs=1e-9)


def test_the_two_versions_of_table2_differ_in_one_cell(table2):
    final, earlier = table2["npf"], table2["npf0"]
    assert [key for key in final if final[key].value != earlier[key].value] == [
        ("gconv_adam", "relu")
    ]
    assert final["gconv_adam", "relu"].printed == "80.32"
    assert earlier["gconv_adam", "relu"].printed == "80.43"
    assert {key: cell.printed_spread for key, cell in final.items()} == {
        key: cell.printed_spread for key, cell in earlier.items()
    }


def test_numbers_keep_the_text_as_printed(table2):
    assert table2["npf"]["vconv_adam", "flnpf"].printed == "71.40"
    assert table2["npf0"]["vconv_adam", "flnpf"].printed == "71.4"


def test_stages_run_from_random_to_learnt_gates(index):
    numbers = read_reported(CONFIG / "reported", "npf", index)
    figure = {(n.row, n.column): n.value for n in numbers if n.artifact == "npf_fig3"}
    stages = [figure[f"stage{stage}", "flnpf"] for stage in range(7)]
    assert stages == sorted(stages)
    assert figure["reference", "frnpf"] == stages[0]
    assert figure["reference", "cntk"] == 77.43


def test_table4_of_dgn_has_every_network(index):
    numbers = read_reported(CONFIG / "reported", "dgn", index)
    table = {(n.row, n.column): n.value for n in numbers if n.artifact == "dgn_table4"}
    networks = ["dln", "relu", *SOFT_RELU]
    assert set(table) == {(row, column) for row in networks for column in ("train", "test")}
    assert table["dln", "test"] == 0.3939


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("artifact", "npf_tab2", "'npf_tab2' must be 'npf_table2'"),
        ("artifact", "dgn_table2", "must be 'npf_table2'"),
        ("paper", "gpt", "'gpt' is not one of"),
        ("kind", "plot", "'plot' is not one of 'figure', 'table'"),
        ("number", "two", "'two' is not a number like 3 or 2.5"),
        ("number", "02", "'02' is not a number"),
        ("title", " ", "is empty"),
        ("status", "soon", "'soon' is not one of 'planned', 'done'"),
    ],
)
def test_a_wrong_entry_is_named_by_file_line_and_column(tmp_path, column, text, message):
    path = write_index(tmp_path, with_cell(GOOD_ENTRY, column, text, INDEX_COLUMNS, "\t"))
    with pytest.raises(ConfigError, match=rf"artifacts\.tsv, line 2, column {column}: .*{message}"):
        read_index(path)


def test_an_entry_may_stand_only_once(tmp_path):
    path = write_index(tmp_path, GOOD_ENTRY, GOOD_ENTRY)
    with pytest.raises(ConfigError, match="line 3, column artifact: npf_table2 stands in the inde"):
        read_index(path)


def test_a_dot_in_the_number_is_an_underscore_in_the_id(tmp_path):
    path = write_index(tmp_path, "thesis_fig2_5\tthesis\t2.5\tfigure\tHeat maps\tplanned")
    assert read_index(path)[0].number == "2.5"


def test_a_missing_file_a_wrong_header_and_a_short_line_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"artifacts\.tsv is missing"):
        read_index(tmp_path / "artifacts.tsv")
    path = write_index(tmp_path, "npf_table2\tnpf")
    with pytest.raises(ConfigError, match="line 2, column paper: 2 cells, wanted 6"):
        read_index(path)
    path.write_text("artifact\tpaper\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 1: columns are"):
        read_index(path)


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("artifact", "npf_table9", "'npf_table9' is neither in the index"),
        ("artifact", "dgn_text", "'dgn_text' is neither in the index"),
        ("quantity", "Test accuracy", "is not a key"),
        ("row", "", "is not a key"),
        ("value", "97,85", "is not a number like 80.32"),
        ("value", "", "'' is not a number"),
        ("value", "nan", "'nan' is not a number"),
        ("value", "1/0", "'1/0' is not a number"),
        ("spread", "-0.09", "'-0.09' is not above zero"),
        ("spread_kind", "", "a spread and its kind go together"),
        ("spread_kind", "sigma", "'sigma' is not one of"),
        ("runs", "4.5", "'4.5' is not a whole number"),
        ("tolerance", "about one", "'about one' is not a number"),
        ("place", "", "is empty"),
        ("read_method", "guessed", "'guessed' is not one of"),
    ],
)
def test_a_wrong_number_is_named_by_file_line_and_column(tmp_path, column, text, message):
    quoted = f'"{text}"'
    folder = write_reported(
        tmp_path, with_cell(GOOD_NUMBER, column, "\0", REPORTED_COLUMNS, ",").replace("\0", quoted)
    )
    with pytest.raises(ConfigError, match=rf"npf\.csv, line 2, column {column}: .*{message}"):
        read_reported(folder, "npf")


def test_a_number_may_stand_only_once(tmp_path):
    folder = write_reported(tmp_path, GOOD_NUMBER, GOOD_NUMBER)
    with pytest.raises(ConfigError, match="line 3, column artifact: npf_table2/test_accuracy"):
        read_reported(folder, "npf")


def test_the_index_beside_the_folder_is_the_default(tmp_path):
    (number,) = read_reported(write_reported(tmp_path, GOOD_NUMBER), "npf")
    assert (number.value, number.printed, number.spread, number.runs) == (97.85, "97.85", 0.09, 5)
    assert number.key == ("npf_table2", "test_accuracy", "fc_sgd", "relu")


def test_fractions_and_empty_cells_are_read(tmp_path):
    folder = write_reported(tmp_path, "npf_text,bound,limit,low,1/4,,,,ratio,,Theorem 1,printed,")
    (number,) = read_reported(folder, "npf")
    assert (number.value, number.printed) == (0.25, "1/4")
    assert number.spread is number.runs is number.tolerance is None


def test_reported_numbers_of_an_unknown_or_absent_paper_are_refused(tmp_path):
    folder = write_reported(tmp_path)
    with pytest.raises(ConfigError, match="'gpt' is not one of"):
        read_reported(folder, "gpt")
    with pytest.raises(ConfigError, match=r"dgn\.csv is missing"):
        read_reported(folder, "dgn")


def test_extras_have_names_and_stay_out_of_the_index(index, tmp_path):
    extras = read_extras(CONFIG / "extras.tsv")
    assert not {e.artifact for e in extras} & {a.artifact for a in index}
    path = write_index(tmp_path, "beyond_extra_limits\tbeyond\tlimits\tfigure\tLimits\tdone")
    assert read_extras(path)[0].artifact == "beyond_extra_limits"
    with pytest.raises(ConfigError, match="'limits' is not a number like 3"):
        read_index(path)
    with pytest.raises(ConfigError, match="is not a name like theorem31"):
        read_extras(write_index(tmp_path, GOOD_ENTRY))
