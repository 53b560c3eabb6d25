"""Our counterparts of npf's printed numbers, from made-up rows; none where runs are missing."""

import pandas as pd
import pytest
from tests.claims.synthetic.npf import stages_beside_table2, table2_runs

from finitewidth.papers.npf.judges import training


def by_place(found):
    return {(ours.row, ours.column): ours for ours in found}


def test_figure_3_and_the_text_are_means_over_runs():
    tables = stages_beside_table2(0.671, 0.723, 0.744, 0.771, 0.784, 0.787, 0.794)
    drawn = by_place(training.fig3_numbers(tables))
    assert set(drawn) == {
        *((f"stage{i}", "flnpf") for i in range(7)), ("reference", "relu"), ("reference", "frnpf")
    }  # fmt: skip
    assert drawn["reference", "relu"].value == pytest.approx(80.3)
    assert drawn["stage0", "flnpf"].value == pytest.approx(67.1)
    said = by_place(training.text_numbers(tables))
    assert said["cifar10", "frnpf"].value == pytest.approx(67.0)
    # spread .15811 points of each of four cells of five runs
    assert said["cifar10", "frnpf"].standard_error == pytest.approx(0.0790569 * 5**-0.5, rel=1e-4)
    assert said["stage6", "flnpf"].runs == 5
    parts = {place: ours.part for place, ours in said.items()}
    assert parts["stage6", "flnpf"] == "stages"
    assert parts["gconv", "relu"] == "gconv_adam"
    assert parts["cifar10", "frnpf"] == "gconv_sgd gconv_adam"
    assert {ours.part for ours in (drawn | said).values()} == {
        "gconv_adam",
        "stages",
        "gconv_sgd gconv_adam",
    }


def test_gains_and_train_accuracy():
    (gain,) = training.gain_numbers(table2_runs())
    assert gain.value == pytest.approx(10.1)
    (train,) = training.train_numbers(table2_runs())
    assert train.value == pytest.approx(99)


def test_one_gain_over_the_cntk_stands_beside_both_ends_of_the_printed_range():
    kernels = [{"kind": "kernel", "train": size, "accuracy": accuracy, "standard_error": 3.0}
               for size, accuracy in ((400, 40.0), (200, 30.0))]  # fmt: skip
    relu = {"kind": "network", "regime": "relu", "accuracy": 45.5, "standard_error": 4.0, "runs": 3,
            "trained": 0, "train_accuracy_lowest": 40.0}  # fmt: skip
    tables = {**table2_runs(), "cntk": pd.DataFrame([*kernels, relu])}
    found = by_place(training.cntk_gain_numbers(tables))
    assert len(found) == 3
    for end in ("finite_cnn_low", "finite_cnn_high"):
        gain = found[end, "over_cntk"]
        assert (gain.value, gain.standard_error, gain.runs) == (5.5, 5.0, 3)
        assert gain.untrained == "ReLU is not trained: 40.0 % in a run"
    tables["cntk"] = tables["cntk"][tables["cntk"]["kind"] == "kernel"]
    assert len(training.cntk_gain_numbers(tables)) == 1


def test_runs_that_diverged_leave_no_number():
    tables = stages_beside_table2()
    tables["runs"]["diverged"] = tables["stages"]["diverged"] = 1
    for find in (training.fig3_numbers, training.text_numbers, training.gain_numbers,
                 training.train_numbers):  # fmt: skip
        assert find(tables) == []
