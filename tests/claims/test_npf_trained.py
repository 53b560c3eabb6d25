"""Networks of npf that are not trained decide nothing, and their claims say so."""

import math
from pathlib import Path

import pytest
from tests.claims.synthetic import npf as synthetic

from finitewidth.claims.verdicts import CannotDecideError, decide
from finitewidth.declarations.reported_numbers import read_reported
from finitewidth.papers.npf.judges import training

REPORTED = Path(__file__).parents[2] / "config/reported"


def with_untrained(table, where, accuracy=0.9):
    """A copy of a table in which the first run that meets ``where`` is not trained."""
    table = table.copy()
    index = table.index[(table[list(where)] == list(where.values())).all(axis=1)][0]
    table.loc[index, ["trained", "best_train"]] = [0, accuracy]
    return table


def outcomes(parts):
    return {row["part"]: row["outcome"] for row in decide(parts).parts}


@pytest.mark.parametrize("judge", [training.n14, training.n15, training.n18])
def test_a_row_with_an_untrained_run_is_undecided_and_the_others_are_judged(judge):
    where = {"row": "gconv_sgd", "regime": "frnpf_di"}
    tables = synthetic.table2_runs()
    before = outcomes(judge(tables))
    runs = with_untrained(tables["runs"], where, accuracy=0.888)
    parts = judge({"runs": runs})
    after = outcomes(parts)
    changed = {name for name in before if before[name] != after[name]}
    assert changed
    assert all(name.startswith("gconv_sgd") for name in changed)
    assert {after[name] for name in changed} == {"undecided"}
    said = {part.outside for part in parts if part.outside}
    assert said == {"FRNPF (DI) is not trained: 88.8 % in a run, in the paper close to 100 %"}
    assert not any(part.binding for part in parts if part.outside)


def test_a_contradicting_cell_that_is_not_trained_does_not_contradict():
    tables = synthetic.table2_runs(dlnpf=0.66)
    runs = tables["runs"]
    for row in synthetic.ROWS_OF_TABLE2[1:]:
        runs = with_untrained(runs, {"row": row, "regime": "dlnpf"})
    failing = []
    for name, outcome in outcomes(training.n15({"runs": runs})).items():
        if outcome == "fails":
            failing.append(name)
    assert failing
    assert all(name.startswith("fc_sgd") for name in failing)


def test_a_diverged_run_makes_a_cell_untrained_even_if_no_run_is_left():
    runs = synthetic.table2_runs()["runs"]
    cell = (runs["row"] == "fc_sgd") & (runs["regime"] == "dlnpf")
    runs.loc[cell, ["diverged", "trained"]] = [1, 0]
    assert "a run diverged" in training.untrained(runs, "fc_sgd", "relu", "dlnpf")
    first = []
    for part in training.n25(synthetic.cells() | {"runs": runs}):
        if part.name.startswith("fc_sgd, dlnpf"):
            first.append(part)
    assert [math.isnan(part.value) for part in first] == [True]


def test_nothing_is_decided_if_no_comparison_rests_on_trained_networks():
    runs = synthetic.table2_runs()["runs"].assign(trained=0, best_train=0.5)
    for judge in (training.n14, training.n15, training.n18):
        with pytest.raises(CannotDecideError, match=r"^not trained: .* is not trained: 50\.0 %"):
            judge({"runs": runs})
    stages = synthetic.stage_runs()["stages"].assign(trained=0, best_train=0.5)
    with pytest.raises(CannotDecideError, match=r"^not trained: stage 1 is not trained"):
        training.n19({"stages": stages})


def test_steps_to_and_from_an_untrained_stage_are_undecided():
    stages = with_untrained(synthetic.stage_runs()["stages"], {"stage": 3})
    found = outcomes(training.n19({"stages": stages}))
    assert [name for name, outcome in found.items() if outcome == "undecided"] == [
        "stage 3 - stage 2, points",
        "stage 4 - stage 3, points",
    ]


def test_an_untrained_network_beside_the_cntk_is_undecided():
    tables = synthetic.beside_the_cntk()
    changes = {"trained": 0, "train_accuracy_lowest": 80.0}
    rows = tables["cntk"].copy()
    rows.loc[rows["regime"] == "relu", list(changes)] = list(changes.values())
    parts = training.n16(tables | {"cntk": rows})
    undecided = [part for part in parts if part.undefined]
    assert [part.outside for part in undecided] == ["ReLU is not trained: 80.0 % in a run"]


def test_the_number_of_the_cntk_is_the_printed_one():
    printed = {number.value for number in read_reported(REPORTED, "npf") if number.column == "cntk"}
    assert training.CNTK in printed
