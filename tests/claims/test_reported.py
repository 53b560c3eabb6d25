"""Printed numbers beside ours: reproduced or off, close or different, or not comparable."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.claims.synthetic import npf
from tests.claims.synthetic.trust import trained
from tests.helpers.project import ROOT

from finitewidth.claims.columns import NUMBERS
from finitewidth.claims.ledger import numbers_of
from finitewidth.claims.reported import Basis, Ours, compare, half_unit
from finitewidth.declarations.papers import read_papers
from finitewidth.declarations.reported_numbers import Reported, read_reported
from finitewidth.papers.dgn.judges import training as dgn_training
from finitewidth.papers.npf.judges import numbers as npf_numbers
from finitewidth.papers.trust.judges import descent as trust_descent

TABLES = {
    f"{experiment.name}.{table}"
    for paper in read_papers(ROOT / "workflow/papers")
    for experiment in paper.experiments
    for table in experiment.output
}


def printed(value="80.32", spread="0.35", tolerance=None, **changes):
    fields = {
        "artifact": "npf_table2",
        "quantity": "q",
        "row": "r",
        "column": "c",
        "value": float(value),
        "printed": value,
        "spread": float(spread) if spread else None,
        "printed_spread": spread,
        "spread_kind": "std_population" if spread else "",
        "runs": 5 if spread else None,
        "unit": "percent",
        "tolerance": tolerance,
        "place": "Table 2",
        "read_method": "printed",
        "reading_error": None,
        "note": "",
    }
    return Reported(**fields | changes)


def outcome(theirs, value, error=0.0, runs=None, bounded=False, **basis):
    """The row of one number; at the paper's own scale unless ``basis`` says otherwise."""
    number = Ours(
        row="r", column="c", value=value, standard_error=error, runs=runs, bounded=bounded
    )
    bases = {("npf_table2", "q"): {"": Basis(**{"papers": True} | basis)}}
    (row,) = compare([theirs], {("npf_table2", "q"): [number]}, bases)
    return row


def test_rows_have_the_columns_of_the_table_whether_there_is_a_counterpart_or_not():
    number = printed()
    ours = Ours(row="r", column="c", value=80.0, standard_error=0.1, runs=5)
    key = ("npf_table2", "q")
    for found in ({}, {key: [ours]}):
        (row,) = compare([number], found, {key: {"": Basis()}})
        assert set(row) == set(NUMBERS.names)


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


def test_a_reduced_scale_earns_words_of_its_own():
    close = outcome(printed(), 80.32, papers=False, differs="epochs 30 of 300", grade="g")
    assert (close["outcome"], close["ours"]) == ("close at reduced scale", 80.32)
    assert (close["differs"], close["grade"]) == ("epochs 30 of 300", "g")
    # the same allowance as at the paper's scale
    assert outcome(printed(), 80.66, papers=False)["outcome"] == "close at reduced scale"
    assert outcome(printed(), 80.68, papers=False)["outcome"] == "differs at reduced scale"
    assert outcome(printed(tolerance=1.7), 78.6, papers=False)["outcome"].startswith("differs")


def test_another_dataset_is_not_comparable_however_close():
    row = outcome(printed(), 80.32, papers=False, stand_in=True, differs="digits 8×8")
    assert (row["outcome"], row["differs"]) == ("not comparable", "digits 8×8")


def test_a_single_run_has_no_error_and_no_interval():
    row = outcome(printed(), 80.32, runs=1)
    assert (row["outcome"], row["why"]) == ("not comparable", "a single run has no standard error")
    assert row["difference_low"] is row["difference_se"] is row["allowed"] is None
    row = outcome(printed(tolerance=1.7), 80.4, error=float("nan"), runs=1)
    assert (row["outcome"], row["difference_low"]) == ("reproduced", None)


def test_the_interval_is_that_of_welch():
    rng = np.random.default_rng(5)
    ours = rng.normal(80, 1, 3)
    theirs = rng.normal(79, 2, 5)
    number = printed(value=str(theirs.mean()), spread=str(theirs.std()))  # all digits: no rounding
    row = outcome(number, ours.mean(), error=ours.std(ddof=1) / 3**0.5, runs=3)
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx((low, high), abs=1e-6)


def test_intervals_cover_the_true_difference():
    """Three of our runs, five of the paper, which prints no spread: 95 % of the intervals do.

    With 4,000 samples the share has a standard error of .0034.
    """
    rng = np.random.default_rng(6)
    covered = 0
    for ours, theirs in zip(
        rng.normal(80, 1, (4000, 3)), rng.normal(79, 1, (4000, 5)), strict=True
    ):
        number = printed(value=str(theirs.mean()), spread="", runs=5)
        row = outcome(number, ours.mean(), error=ours.std(ddof=1) / 3**0.5, runs=3)
        covered += row["difference_low"] <= 1 <= row["difference_high"]
    assert covered / 4000 == pytest.approx(0.95, abs=0.015)


def test_a_measured_mean_without_a_spread_varies_as_ours_does():
    bare = printed(spread="", runs=5)
    # 2 √(.1² + .1²·3/5 + .005²) = .2532
    assert outcome(bare, 80.57, error=0.1, runs=3)["outcome"] == "reproduced"
    assert outcome(bare, 80.58, error=0.1, runs=3)["outcome"] == "off"
    # a constant is exact: 2 √(.1² + .005²) = .2002
    assert outcome(bare, 80.53, error=0.1, runs=3, kind="constant")["outcome"] == "off"


def test_an_upper_bound_is_met_from_below_only():
    bound = printed(value="1", spread="", unit="ratio")
    below = outcome(bound, 0.4, error=0.05, runs=3, bounded=True)
    assert (below["outcome"], below["difference"]) == ("reproduced", -0.6)
    # 2 √2 · .05 = .141
    assert outcome(bound, 1.14, error=0.05, runs=3, bounded=True)["outcome"] == "reproduced"
    assert outcome(bound, 1.15, error=0.05, runs=3, bounded=True)["outcome"] == "off"
    assert outcome(bound, 0.4, error=0.05, runs=3)["outcome"] == "off"
    stand_in = outcome(bound, 0.4, error=0.05, runs=3, bounded=True, stand_in=True)
    assert stand_in["outcome"] == "not comparable"


def test_an_error_above_a_tenth_of_the_number_leaves_it_open():
    theirs = printed(value="0.99", spread="", unit="fraction", runs=None)
    row = outcome(theirs, 0.371, error=0.27, runs=3, papers=False)
    assert (row["outcome"], row["why"]) == (
        "not comparable",
        "our standard error is 27 % of the larger of both numbers",
    )
    assert outcome(theirs, 0.95, error=0.029, runs=3, papers=False)["outcome"].startswith("close")
    # a number that is too far off in spite of its error differs
    assert outcome(theirs, 0.371, error=0.12, runs=3)["outcome"] == "off"
    assert outcome(theirs, 0.01, error=0.005, runs=3)["outcome"] == "off"
    # nor is a tolerance, or an upper bound, a matter of our error
    assert outcome(printed(tolerance=9), 80, error=9, runs=3)["outcome"] == "reproduced"


def test_losses_are_compared_by_their_logarithms():
    loss = printed(
        value="1e-2",
        spread="",
        unit="loss",
        runs=None,
        read_method="read_off_figure",
        reading_error=0.0025,
    )
    far = outcome(loss, 1.05e-5, error=1e-7, runs=3)
    assert far["outcome"] == "off"
    assert far["difference"] == pytest.approx(np.log(1.05e-3))
    # 2 √(.25² + 2·.05²) = .52
    assert outcome(loss, 1.6e-2, error=0.8e-3, runs=3)["outcome"] == "reproduced"
    assert outcome(loss, 1.8e-2, error=0.8e-3, runs=3)["outcome"] == "off"
    wild = outcome(loss, 6e-3, error=4.5e-3, runs=3)
    assert (wild["outcome"], wild["why"]) == (
        "not comparable",
        "our standard error is 75 % of our value",
    )
    assert outcome(loss, 1.05e-5, error=1.1e-5, runs=3)["outcome"] == "off"
    assert outcome(loss, 0.0, runs=3)["why"] == "a loss that is not above 0"


def test_the_error_of_reading_a_figure_takes_the_place_of_the_rounding():
    read = printed(
        value="0.97",
        spread="",
        unit="ratio",
        runs=None,
        read_method="read_off_figure",
        reading_error=0.03,
    )
    assert outcome(read, 0.92)["allowed"] == pytest.approx(0.06)
    bare = printed(value="1e-2", spread="", unit="ratio", runs=None)
    assert outcome(bare, 0.011)["outcome"] == "off"


def test_networks_that_are_not_trained_are_counted_apart():
    number = Ours(row="r", column="c", value=80.3, runs=3, standard_error=0.1, untrained="36 %")
    for basis, expected in (
        (Basis(papers=True), ("not trained", "36 %")),
        (Basis(), ("not trained", "36 %")),
        (Basis(stand_in=True), ("not comparable", "another dataset")),
    ):
        (row,) = compare(
            [printed()], {("npf_table2", "q"): [number]}, {("npf_table2", "q"): {"": basis}}
        )
        assert (row["outcome"], row["why"]) == expected


def test_every_number_of_a_network_that_is_not_trained_says_so():
    runs = npf.table2_runs()["runs"]
    cell = (runs["row"] == "gconv_adam") & (runs["regime"] == "relu")
    runs.loc[cell, ["trained", "best_train"]] = [0, 0.4]
    stages = npf.stage_runs()["stages"]
    stages.loc[stages["stage"] == 2, ["trained", "best_train"]] = [0, 0.37]
    tables = {"runs": runs, "stages": stages}
    said = {(n.row, n.column) for n in npf_numbers.fig3_numbers(tables) if n.untrained}
    assert said == {("stage2", "flnpf"), ("reference", "relu")}
    said = {(n.row, n.column) for n in npf_numbers.text_numbers(tables) if n.untrained}
    assert said == {("gconv", "relu"), ("fully_trained", "relu")}
    said = {(n.row, n.column) for n in npf_numbers.table2_numbers(tables) if n.untrained}
    assert said == {("gconv_adam", "relu")}
    assert [bool(n.untrained) for n in npf_numbers.gain_numbers(tables)] == [True]
    assert [bool(n.untrained) for n in npf_numbers.train_numbers(tables)] == [True]
    networks = pd.DataFrame(
        [
            {"network": name, "best_train": 0.5, "best_test": 0.4, "trained": 0, "diverged": 0}
            for name in ("dln", "relu")
            for _ in range(3)
        ]
    )
    said = {n.row: n.untrained for n in dgn_training.table4_numbers({"runs": networks})}
    assert said == {"dln": "", "relu": "train accuracy of 50.0 % in a run"}


def test_the_change_of_the_kernel_next_to_the_border_is_held_against_its_bound():
    tables = trained(at_border=0.3, power=0.0)
    (found,) = trust_descent.relative_ntk_change(tables)
    assert found.bounded
    assert found.runs == 6
    # the largest of eight networks whose changes vary by 5 %
    assert 0.3 < found.value < 0.36
    tables["relu_changes"]["change"] = np.nan
    assert trust_descent.relative_ntk_change(tables) == []


def test_every_row_says_whether_it_is_a_constant():
    assert outcome(printed(), 80.3)["kind"] == "measured"
    assert outcome(printed(), 80.3, kind="constant")["kind"] == "constant"
    (row,) = compare([printed()], {}, {("npf_table2", "q"): {"": Basis(kind="constant")}})
    assert (row["kind"], row["outcome"], row["grade"]) == ("constant", "not run", "")


def test_the_part_of_the_tables_decides():
    numbers = {("npf_table2", "q"): [Ours(row="r", column="c", value=80.32, part="fc_sgd")]}
    parts = {"fc_adam": Basis(stand_in=True), "fc_sgd": Basis(differs="epochs 30 of 300")}
    (row,) = compare([printed()], numbers, {("npf_table2", "q"): parts})
    assert (row["outcome"], row["differs"]) == ("close at reduced scale", "epochs 30 of 300")


def test_a_number_nobody_computed_is_not_run():
    (row,) = compare([printed()], {}, {})
    assert (row["outcome"], row["ours"]) == ("not run", None)


@pytest.mark.parametrize(
    ("text", "half"),
    [("80.32", 0.005), ("72", 0.0), ("2e-4", 0), ("1.5e2", 5), ("1.5e-2", 5e-4), ("1/4", 0)],
)
def test_rounding(text, half):
    assert half_unit(text) == pytest.approx(half)


@pytest.mark.parametrize("paper", [path.stem for path in (ROOT / "config/reported").glob("*.csv")])
def test_finders_belong_to_printed_numbers(paper):
    known = {
        (number.artifact, number.quantity)
        for number in read_reported(ROOT / "config/reported", paper)
    }
    for numbers in numbers_of(paper):
        assert (numbers.artifact, numbers.quantity) in known
        assert set(numbers.reads.values()) <= TABLES


def test_numbers_in_the_text_of_dgn_rest_on_their_own_trainings():
    keys = [("cifar10", "gates_only"), ("cifar10", "soft_relu"), ("mnist", "galu")]
    runs = pd.DataFrame(
        [
            {
                "row": row,
                "column": column,
                "quantity": "test_accuracy",
                "value": value,
                "diverged": 0,
                "trained": 1,
            }
            for row, column in keys
            for value in (55.0, 56.0)
        ]
    )
    found = dgn_training.accuracies_in_text({"runs": runs})
    parts = {(ours.row, ours.column): ours.part for ours in found}
    assert parts == dict(zip(keys, ("gates_only", "table4", "mnist"), strict=True))
