"""Printed numbers beside ours: reproduced, off, or not comparable."""

from pathlib import Path

import pytest

from finitewidth.claims import reported
from finitewidth.claims.reported import Ours, compare, half_unit
from finitewidth.common.declarations import read_papers
from finitewidth.common.reported_numbers import Reported, read_reported

ROOT = Path(__file__).parents[2]
TABLES = {
    f"{experiment.name}.{table}"
    for paper in read_papers(ROOT / "workflow/papers")
    for experiment in paper.experiments
    for table in experiment.makes
}


def printed(value="80.32", spread="0.35", tolerance=None, **changes):
    fields = {
        "artifact": "npf_table2", "quantity": "q", "row": "r", "column": "c",
        "value": float(value), "printed": value, "spread": float(spread) if spread else None,
        "printed_spread": spread, "spread_kind": "std_population" if spread else "",
        "runs": 5 if spread else None, "unit": "percent", "tolerance": tolerance,
        "place": "Table 2", "read_method": "printed", "note": "",
    }  # fmt: skip
    return Reported(**fields | changes)


def outcome(theirs, value, error=0.0, comparable=True):
    ours = {("npf_table2", "q"): [Ours(row="r", column="c", value=value, standard_error=error)]}
    (row,) = compare([theirs], ours, {("npf_table2", "q"): comparable})
    return row


def test_within_twice_the_combined_uncertainty_is_reproduced():
    # standard error .35 / sqrt(4) = .175, rounding .005
    assert outcome(printed(), 80.66)["outcome"] == "reproduced"
    assert outcome(printed(), 80.68)["outcome"] == "off"
    assert outcome(printed(), 80.68, error=0.2)["outcome"] == "reproduced"
    assert outcome(printed(), 80.67 + 0.35)["difference_se"] == pytest.approx(4, abs=0.01)


def test_whole_percentages_are_rounded_and_whole_constants_are_not():
    whole = printed(value="72", spread="", runs=None)
    assert outcome(whole, 72.9)["outcome"] == "reproduced"
    assert outcome(whole, 73.1)["outcome"] == "off"
    assert outcome(printed(value="5", spread="", unit="over_width"), 5.1)["outcome"] == "off"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_run(value):
    assert outcome(printed(), value)["outcome"] == "not run"


def test_a_tolerance_set_beforehand_counts_alone():
    assert outcome(printed(tolerance=1.7), 78.7)["outcome"] == "reproduced"
    assert outcome(printed(tolerance=1.7), 78.6)["outcome"] == "off"


def test_a_reduced_scale_earns_no_reproduction_however_close():
    row = outcome(printed(), 80.32, comparable=False)
    assert row["outcome"] == "not comparable"
    assert row["ours"] == 80.32


def test_a_number_nobody_computed_is_not_run():
    (row,) = compare([printed()], {}, {})
    assert (row["outcome"], row["ours"]) == ("not run", None)


@pytest.mark.parametrize(
    ("text", "half"), [("80.32", 0.005), ("72", 0.0), ("2e-4", 0.5e-4), ("1.5e2", 5), ("1/4", 0)]
)
def test_rounding(text, half):
    assert half_unit(text) == pytest.approx(half)


@pytest.mark.parametrize("paper", [path.stem for path in (ROOT / "config/reported").glob("*.csv")])
def test_finders_belong_to_printed_numbers(paper):
    known = {
        (number.artifact, number.quantity)
        for number in read_reported(ROOT / "config/reported", paper)
    }
    for numbers in reported.numbers_of(paper):
        assert (numbers.artifact, numbers.quantity) in known
        assert set(numbers.reads.values()) <= TABLES
