"""Columns and tables: what they refuse, what they write, and their schema."""

import math

import pandas as pd
import pytest

from finitewidth.common.errors import ResultError
from finitewidth.records import tables
from finitewidth.records.tables import Table, flag, integer, number, text

TABLE = Table(
    text("series", "name of the curve"),
    integer("step", "number of steps", "step"),
    number("loss", "squared error", missing="the run diverged"),
    number("rate", "step size"),
    flag("best", "whether it is the best run"),
)
ROWS = pd.DataFrame(
    {"best": [True], "series": ["a"], "step": [3], "loss": [math.nan], "rate": [1], "more": [1]}
)


def test_a_table_is_written_and_read_with_its_columns_order_and_types(tmp_path):
    file = tmp_path / "rows.csv"
    tables.write(file, ROWS, TABLE)
    assert file.read_text() == "series,step,loss,rate,best\na,3,NaN,1.0,True\n"
    pd.testing.assert_frame_equal(tables.read(file, TABLE), TABLE.checked(ROWS))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("series", "", "'series' has an empty word"),
        ("series", 3, "'series' has an empty word or a value that is no text"),
        ("series", None, "'series' has a missing value"),
        ("step", 1.5, "'step' has a value that is no whole number"),
        ("step", math.nan, "'step' has a missing value"),
        ("loss", "x", "'loss' has a value that is not a number"),
        ("rate", math.nan, "'rate' has a missing value; its definition does not say"),
        ("best", 2, "'best' has a value that is neither True nor False"),
        ("best", "True", "'best' has a value that is neither True nor False"),
    ],
)
def test_a_column_refuses_what_its_definition_does_not_allow(column, value, message):
    with pytest.raises(ResultError, match=message):
        TABLE.checked(ROWS.assign(**{column: [value]}))


def test_a_table_refuses_rows_without_a_column_and_the_tables_of_experiments_one_more():
    with pytest.raises(ResultError, match="lack the column 'loss'"):
        TABLE.checked(ROWS.drop(columns="loss"))
    with pytest.raises(ResultError, match=r"does not define: \['more'\]"):
        TABLE.checked_all(ROWS)
    assert list(TABLE.checked_all(ROWS.drop(columns="more"))) == TABLE.names


def test_numbers_of_an_experiment_that_are_all_integers_stay_integers():
    rows = ROWS.drop(columns="more")
    assert TABLE.checked_all(rows)["rate"].tolist() == [1]
    assert TABLE.checked_all(rows)["rate"].dtype == int
    assert TABLE.checked_all(rows.assign(rate=1.0))["rate"].dtype == float


def test_dictionaries_are_rows_of_a_table_too():
    row = {"series": "a", "step": 3, "loss": math.nan, "rate": 1, "best": True}
    TABLE.check_rows([row, row | {"loss": None, "rate": 0.5}])
    for wrong in ({"rate": math.nan}, {"step": 3.5}, {"series": 1}, {"best": 1}, {"more": 1}):
        with pytest.raises(ResultError, match=next(iter(wrong))):
            TABLE.check_rows([row, row | wrong])


def test_rows_may_lack_optional_columns_but_no_others():
    table = Table(integer("a", "one"), optional=(integer("b", "another"), integer("c", "a third")))
    assert list(table.checked_all(pd.DataFrame({"a": [1], "b": [2]}))) == ["a", "b"]
    assert table.with_columns_of(["a", "b"]).names == ["a", "b"]
    with pytest.raises(ResultError, match="lack the column 'a'"):
        table.checked_all(pd.DataFrame({"b": [1], "c": [2]}))


def test_a_table_contains_the_names_of_its_columns():
    assert "loss" in TABLE
    assert "gain" not in TABLE


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="one name"):
        Table(text("a", "one"), integer("a", "another"))


def test_the_schema_has_types_units_and_what_missing_values_mean():
    schema = TABLE.schema("NaN")
    assert schema["missingValues"] == ["NaN"]
    described = {field["name"]: field for field in schema["fields"]}
    assert list(described) == TABLE.names
    assert described["step"]["unit"] == "step"
    assert described["step"]["constraints"] == {"required": True}
    assert described["loss"]["missing"] == "the run diverged"
    assert "constraints" not in described["loss"]
    types = [field["type"] for field in schema["fields"]]
    assert types == ["string", "integer", "number", "number", "boolean"]
