"""Columns of data files: types are checked, and what is written reads back the same."""

import pandas as pd
import pytest

from finitewidth.common import fields
from finitewidth.common.errors import ResultError


def test_a_field_refuses_what_its_type_does_not_allow(tmp_path):
    declared = {"series": fields.text("name of the curve"), "step": fields.integer("step"),
                "loss": fields.number("loss")}  # fmt: skip
    rows = pd.DataFrame({"series": ["a"], "step": [3], "loss": [float("nan")], "more": [1]})
    fields.write(tmp_path / "rows.csv", rows, declared)
    assert (tmp_path / "rows.csv").read_text() == "series,step,loss\na,3,NaN\n"
    pd.testing.assert_frame_equal(
        fields.read(tmp_path / "rows.csv", declared), fields.checked(rows, declared)
    )
    for column, value, message in (
        ("series", "", "missing or empty word"),
        ("series", None, "missing or empty word"),
        ("step", 1.5, "no whole number"),
        ("loss", "x", "not a number"),
    ):
        with pytest.raises(ResultError, match=message):
            fields.checked(rows.assign(**{column: [value]}), declared)
    with pytest.raises(ResultError, match="lack the column 'loss'"):
        fields.checked(rows.drop(columns="loss"), declared)
