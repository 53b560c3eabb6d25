"""Renderers draw the rows that they are given, and equal rows give equal files."""

import numpy as np
import pandas as pd
import pytest

from finitewidth.common import result_files
from finitewidth.figures.job import render_figure
from finitewidth.figures.npf import fig3
from finitewidth.tables.job import render_table
from finitewidth.tables.npf import table2
from finitewidth.tables.typeset import Typeset, latex, markdown, plus_minus

PERCENT = {"unit": "percent", "decoupled": "DLNPF"}
FRACTION = {"unit": "fraction", "decoupled": "DNPFL"}


def curve(panel, series, x, y):
    return pd.DataFrame(
        {"panel": panel, "series": series, "x": x, "y": y, "spread": 0.01, "runs": 3, "failed": 0}
    )


def tables():
    stages = [curve("stages", "FLNPF", [0, 1, 2], [0.5, 0.6, 0.7])]
    stages += [curve("stages", name, [None], [0.65]) for name in fig3.REFERENCES]
    kvf = [curve("kvf", name, [0, 5], [3.0, 40.0]) for name in fig3.SIZES]
    nu = curve("nu", "nu", [0, 2], [9.0, 4.0]).assign(ridged=0, condition_number=1e9)
    return {"stages": pd.concat(stages), "nu": nu, "kvf": pd.concat(kvf)}


def render(folder, settings=None, footer="preset test · stand-in"):
    inputs = {}
    for name, rows in tables().items():
        inputs[name] = folder / f"in_{name}.csv"
        result_files.write_table(inputs[name], rows)
    outputs = {kind: str(folder / f"fig.{kind}") for kind in ("pdf", "png", "svg", "csv")}
    settings = settings or PERCENT
    render_figure("finitewidth.figures.npf.fig3", inputs, outputs, settings, footer)
    return {kind: (folder / f"fig.{kind}").read_bytes() for kind in outputs}


def test_a_figure_is_the_same_to_the_byte_and_names_its_footer(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = render(tmp_path / "a"), render(tmp_path / "b")
    assert first == second
    assert b"preset test" in first["svg"]
    assert b"CreationDate" not in first["pdf"]


def test_the_csv_holds_exactly_what_is_drawn(tmp_path):
    render(tmp_path)
    drawn = pd.read_csv(tmp_path / "fig.csv")
    figure = fig3.draw(drawn, PERCENT)
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert lines["ReLU"].get_ydata()[0] == 0.65
    container = figure.axes[0].containers[0]
    assert container[0].get_ydata().tolist() == [0.5, 0.6, 0.7]
    assert figure.axes[1].containers[0][0].get_ydata().tolist() == [9.0, 4.0]
    assert len(figure.axes[2].containers) == 4


def test_percent_or_fraction(tmp_path):
    rows = fig3.select(tables(), PERCENT)
    assert "%" in fig3.draw(rows, PERCENT).axes[0].get_ylabel()
    axes = fig3.draw(rows, FRACTION).axes
    assert "%" not in axes[0].get_ylabel()
    assert "DNPFL" in axes[2].get_title()


def test_kernels_that_needed_a_ridge_are_named_and_no_others():
    given = tables()
    axis = fig3.draw(fig3.select(given, PERCENT), PERCENT).axes[1]
    assert not axis.texts
    given["nu"]["ridged"] = [0, 2]
    rows = fig3.select(given, PERCENT)
    assert rows["condition_number"].notna().sum() == 2
    axis = fig3.draw(rows, PERCENT).axes[1]
    assert [text.get_text() for text in axis.texts] == ["2 of 6 kernels: with a ridge"]


def cells():
    rows = []
    for row in table2.ROWS:
        for regime in table2.REGIMES["npf"]:
            values = {"paper": "npf", "row": row, "regime": regime, "select": "best_test",
                      "runs": 3, "diverged": 0, "difference": -1.25,
                      "difference_se": -2.5}  # fmt: skip
            for name in (*table2.OURS, "reported"):
                values |= {f"{name}_mean": 97.0, f"{name}_spread": 0.125}
            rows.append(values)
    return pd.DataFrame(rows)


SETTINGS = {
    "paper": "npf", "datasets": {"mnist": "digits (stand-in for MNIST)", "cifar10": "P"},
    "comparable": {"mnist": True, "cifar10": True},
}  # fmt: skip


def test_a_table_in_three_formats(tmp_path):
    result_files.write_table(tmp_path / "rows.csv", cells())
    outputs = {kind: str(tmp_path / f"t.{kind}") for kind in ("csv", "md", "tex")}
    render_table(
        "finitewidth.tables.npf.table2",
        {"rows": tmp_path / "rows.csv"},
        outputs,
        SETTINGS,
        "foot_er",
    )
    text = (tmp_path / "t.md").read_text()
    assert "97.00 ± 0.12" in text
    assert "-1.25 / 2.5 SE" in text
    assert "digits (stand-in for MNIST)" in text
    assert "_foot_er_" in text
    tex = (tmp_path / "t.tex").read_text()
    assert r"97.00 $\pm$ 0.12" in tex
    assert r"foot\_er" in tex
    assert tex.count(r"\\") == 1 + 30
    assert len(pd.read_csv(tmp_path / "t.csv")) == 30


def test_no_difference_from_the_paper_where_data_or_sizes_are_others():
    settings = {**SETTINGS, "comparable": {"mnist": False, "cifar10": True}}
    rows = table2.select({"rows": cells()}, settings)
    assert rows[["difference", "difference_se"]].isna().all(axis=1).sum() == 10
    table = table2.typeset(rows, settings)
    shown = table.cells[table.cells[""].str.startswith("Δ")]
    assert len(shown) == 4
    assert "–" not in shown.to_string()
    (note,) = table.notes
    assert note.startswith("Not comparable")
    assert note.endswith(": digits (stand-in for MNIST)")
    assert not table2.typeset(table2.select({"rows": cells()}, SETTINGS), SETTINGS).notes


def test_the_earlier_version_has_bold_cells_the_final_one_none():
    """Bold are our best regime of a line, and learnt gates in four of the paper's six rows."""
    rows = cells().assign(paper="npf0")
    rows.loc[rows["regime"] == "flnpf", "last_mean"] = 98.0
    settings = SETTINGS | {"paper": "npf0"}
    table = table2.typeset(table2.select({"rows": rows}, settings), settings)
    text, tex = markdown(table, "f"), latex(table, "f")
    by_line = table.bold.assign(line=table.cells[""]).groupby("line").sum()
    assert by_line.loc["ours, last epoch"][["DNPFL", "FLNPF", "ReLU"]].tolist() == [0, 6, 0]
    assert by_line.loc["paper"][["FRNPF (DI)", "DNPFL", "FLNPF", "ReLU"]].tolist() == [0, 4, 4, 4]
    assert text.count("**98.00 ± 0.12**") == 6
    assert tex.count(r"\textbf{98.00 $\pm$ 0.12}") == 6
    assert not table.bold.loc[:, ["network", "optimiser", "data", ""]].any(axis=None)
    assert r"\textbf" not in latex(
        table2.typeset(table2.select({"rows": cells()}, SETTINGS), SETTINGS), "f"
    )


def test_runs_that_diverged_are_named_below_a_table():
    rows = cells()
    rows.loc[2, ["runs", "diverged"]] = [1, 2]
    (note,) = table2.typeset(rows, SETTINGS).notes
    assert note == "Runs that diverged and are left out: FC/SGD DLNPF 2 of 3"


def test_missing_numbers_are_dashes():
    assert plus_minus(np.nan, 1.0) == "–"
    assert plus_minus(2.0, np.nan) == "2.00"


@pytest.mark.parametrize("text", ["50 % & more", "a_b", "back\\slash"])
def test_latex_escapes(text):
    tex = latex(Typeset(pd.DataFrame({"x": [text]}), "t"), "f")
    assert text not in tex
    assert text in markdown(Typeset(pd.DataFrame({"x": [text]}), "t"), "f")
