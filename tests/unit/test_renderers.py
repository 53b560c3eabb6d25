"""Renderers draw the rows that they are given, and equal rows give equal files."""

import pandas as pd

from finitewidth.common import result_files
from finitewidth.figures.job import render_figure
from finitewidth.figures.npf import fig3

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
