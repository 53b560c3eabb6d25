"""Renderers of tables typeset the rows that they are given."""

from importlib import import_module

import pandas as pd
import pytest
from tests.helpers import table_rows

from finitewidth.common.errors import ResultError
from finitewidth.papers.npf.experiments import limits
from finitewidth.papers.npf.tables import table2
from finitewidth.records import result_files
from finitewidth.records.tables import read
from finitewidth.settings.typed import settings_for
from finitewidth.tables.job import render_table
from finitewidth.tables.typeset import markdown

MODULES = {a.artifact: a.module for a in table_rows.declared()}
OTHER = {
    "trained": lambda flag: 1 - flag,
    "bold": lambda flag: 1 - flag,
    "compared": lambda flag: 0 * flag,
}
CIFAR = {"datasets": {"cifar10": "CIFAR-10"}, "trained": 0.95}


def cells():
    """Rows of Table 2 that are all alike."""
    same = {"runs": 3, "diverged": 0, "difference": -1.25, "difference_se": -2.5, "trained": 1}
    for name in (*table2.OURS, "reported"):
        same |= {f"{name}_mean": 97.0, f"{name}_spread": 0.125}
    return table_rows.accuracies("npf").assign(**same)


SETTINGS = {
    "paper": "npf",
    "beta": 4,
    "datasets": {"mnist": "digits (stand-in for MNIST)", "cifar10": "P"},
    "comparable": {"mnist": True, "cifar10": True},
}
LEARNT = ["DLNPF (β\u00a0=\u00a04)", "FLNPF", "ReLU"]  # as they are named in the header


def typeset(module, rows, settings=None, table="rows"):
    """The table of these rows, as from its data file."""
    return drawn(module, selected(module, {table: rows}, settings or {}), settings or {})


def selected(module, tables, settings):
    """The rows of a renderer, as its data file has them."""
    rows = module.select(tables, settings_for(module.select, settings))
    return module.TABLE.checked(rows)


def drawn(module, rows, settings):
    """The table of the rows of a data file."""
    return module.typeset(rows, settings_for(module.typeset, settings))


@pytest.mark.parametrize("artifact", sorted(MODULES))
def test_a_table_is_typeset_from_its_data_file(tmp_path, artifact):
    tables, settings = table_rows.cases()[artifact]
    module = import_module(MODULES[artifact])
    inputs = {key: tmp_path / f"{key}.csv" for key in tables if tables[key] is not None}
    for key, file in inputs.items():
        result_files.write_table(file, tables[key])
    outputs = {kind: str(tmp_path / f"t.{kind}") for kind in ("csv", "md", "tex")}
    render_table(MODULES[artifact], inputs, outputs, settings, "f")
    cells = pd.read_csv(outputs["csv"], dtype=str, keep_default_na=False)
    assert list(cells.columns) == module.TABLE.names
    assert not (cells == "").any(axis=None)
    constant = []
    for name, column in module.TABLE.columns.items():
        if column.type == "number" and (cells[name] == "NaN").all():
            constant.append(name)
    assert constant in ([], ["trained"]), "a column without a number"
    read_tables = {key: result_files.read_table(file) for key, file in inputs.items()}
    rows = module.select(read_tables, settings_for(module.select, settings))
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    assert markdown(drawn(module, rows, settings), "f") == text
    damaged = cells.drop(columns=cells.columns[0])
    result_files.write_table(outputs["csv"], damaged)
    with pytest.raises(ResultError):
        read(outputs["csv"], module.TABLE)


def test_a_number_of_the_paper_is_of_the_paper_s_images():
    found = set()
    for artifact, (tables, settings) in table_rows.cases().items():
        module = import_module(MODULES[artifact])
        if {"source", "data"} <= set(module.TABLE.names):
            rows = selected(module, tables, settings)
            assert set(rows["source"]) == {"ours", "paper"}
            told = rows["data"].str.contains("stand-in for")
            assert (told == (rows["source"] == "ours")).all()
            found.add(artifact)
    assert found == {
        "npf_table2",
        "npf0_table2",
        "dgn_table4",
        "npf_extra_cntk",
        "npf_extra_text",
        "dgn_extra_text",
    }


@pytest.mark.parametrize("artifact", sorted(MODULES))
def test_every_number_shown_is_one_of_the_data_file(tmp_path, artifact):
    """Another value in any column of numbers changes the table, or the column is not needed."""
    tables, settings = table_rows.cases()[artifact]
    module = import_module(MODULES[artifact])
    rows = selected(module, tables, settings)

    def written(rows):
        table = drawn(module, module.TABLE.checked(rows), settings)
        return markdown(table, "f"), table.formulas and table.formulas[0].to_dict()

    before = written(rows)
    for name, column in module.TABLE.columns.items():
        if column.type != "text" and rows[name].notna().any():
            changed = rows.assign(
                **{name: OTHER.get(name, lambda value: 2 * value + 7)(rows[name])}
            )
            assert written(changed) != before, name


def test_no_difference_from_the_paper_where_data_or_sizes_are_others():
    settings = {**SETTINGS, "comparable": {"mnist": False, "cifar10": True}}
    rows = selected(table2, {"rows": cells()}, settings)
    differences = rows[["difference", "difference_standard_errors"]].notna().all(axis=1)
    assert differences.sum() == rows["compared"].sum() == 20
    assert set(rows.loc[differences, "epoch"]) == {"best_test"}
    table = drawn(table2, rows, settings)
    shown = table.cells[table.cells[""].str.startswith("Δ")]
    assert len(shown) == 4
    assert "–" not in shown.to_string()
    runs, difference, note, _ = table.notes
    assert difference.startswith("Δ: ours less the paper's")
    assert runs.startswith("The paper's numbers: over 5 runs, with the population form")
    assert note.startswith("Not comparable")
    assert note.endswith(": digits (stand-in for MNIST)")
    assert len(typeset(table2, cells(), SETTINGS).notes) == 3


def test_bold_are_the_best_regimes_of_a_line_within_a_standard_deviation():
    rows = cells()
    rows.loc[rows["regime"] == "flnpf", ["last_mean", "last_spread"]] = [98.0, 0.5]
    rows.loc[rows["regime"] == "relu", ["last_mean", "last_spread"]] = [97.2, 0.875]
    rows.loc[rows["regime"] == "dlnpf", ["last_mean", "last_spread"]] = [97.4, 0.5]
    table = typeset(table2, rows, SETTINGS)
    by_line = table.bold.assign(line=table.cells[""]).groupby("line").sum()
    assert by_line.loc["ours, last epoch"][LEARNT].tolist() == [0, 6, 6]
    # the final version prints none in bold
    assert not by_line.loc["paper"].any()
    assert table.notes[-1].startswith("Bold, in each of our lines: the best")
    rows["last_spread"] = float("nan")  # single runs
    bold = typeset(table2, rows, SETTINGS).bold.assign(line=table.cells[""]).groupby("line").sum()
    assert bold.loc["ours, last epoch"][LEARNT].tolist() == [0, 6, 0]


def test_a_spread_of_zero_is_explained():
    rows = cells()
    rows.loc[0, "cross_fitted_spread"] = 0.0
    assert "± 0.00: all runs have the same accuracy" in typeset(table2, rows, SETTINGS).notes


def test_a_limit_is_held_against_the_networks_it_belongs_to():
    networks = pd.MultiIndex.from_product(
        [("gaussian", "signed"), ("2/w", "1/w"), ("tangent", "halved", "signed"), range(3)],
        names=["weights", "output_variance", "limit", "run"],
    )
    runs = networks.to_frame(index=False).assign(depth=3, width=2048, correlation=0.99, error=0.1)
    runs["scale"] = 0.9 + 0.1 * runs["run"]
    rows = limits.measure({"limits": runs}, {})["rows"]
    assert len(rows) == 8  # two kinds of weights, two output variances, two limits each
    compared = rows[rows["expected"].notna()]
    compared = compared.sort_values(["weights", "output_variance"])
    assert compared["weights"].tolist() == ["gaussian", "gaussian", "signed"]
    assert compared["output_variance"].tolist() == ["1/w", "2/w", "2/w"]
    assert compared["limit"].tolist() == ["halved", "tangent", "signed"]
    assert rows["scale"].tolist() == pytest.approx([1.0] * 8)
    assert rows["scale_error"].tolist() == pytest.approx([0.1 / 3**0.5] * 8)
