"""Our counterparts of printed numbers, and some statistics, from made-up rows."""

import pandas as pd
import pytest
from tests.claims.synthetic import beyond, dgn
from tests.claims.synthetic.dgn import variances
from tests.claims.synthetic.npf import stages_beside_table2, table2_runs

from finitewidth.papers.beyond.judges import lemmas, pairs
from finitewidth.papers.dgn.judges import theory
from finitewidth.papers.dgn.judges.training import d16
from finitewidth.papers.npf.judges import numbers


def by_place(found):
    return {(ours.row, ours.column): ours for ours in found}


def test_figure_3_and_the_text_are_means_over_runs():
    tables = stages_beside_table2(0.671, 0.723, 0.744, 0.771, 0.784, 0.787, 0.794)
    drawn = by_place(numbers.fig3_numbers(tables))
    assert set(drawn) == {
        *((f"stage{i}", "flnpf") for i in range(7)),
        ("reference", "relu"),
        ("reference", "frnpf"),
    }
    assert drawn["reference", "relu"].value == pytest.approx(80.3)
    assert drawn["stage0", "flnpf"].value == pytest.approx(67.1)
    said = by_place(numbers.text_numbers(tables))
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
    (gain,) = numbers.gain_numbers(table2_runs())
    assert gain.value == pytest.approx(10.1)
    (train,) = numbers.train_numbers(table2_runs())
    assert train.value == pytest.approx(99)


def test_one_gain_over_the_cntk_stands_beside_both_ends_of_the_printed_range():
    kernels = [
        {"kind": "kernel", "train": size, "accuracy": accuracy, "standard_error": 3.0}
        for size, accuracy in ((400, 40.0), (200, 30.0))
    ]
    relu = {
        "kind": "network",
        "regime": "relu",
        "accuracy": 45.5,
        "standard_error": 4.0,
        "runs": 3,
        "trained": 0,
        "train_accuracy_lowest": 40.0,
    }
    tables = {**table2_runs(), "cntk": pd.DataFrame([*kernels, relu])}
    found = by_place(numbers.cntk_gain_numbers(tables))
    assert len(found) == 3
    for end in ("finite_cnn_low", "finite_cnn_high"):
        gain = found[end, "over_cntk"]
        assert (gain.value, gain.standard_error, gain.runs) == (5.5, 5.0, 3)
        assert gain.untrained == "ReLU is not trained: 40.0 % in a run"
    tables["cntk"] = tables["cntk"][tables["cntk"]["kind"] == "kernel"]
    assert len(numbers.cntk_gain_numbers(tables)) == 1


def test_runs_that_diverged_leave_no_number():
    tables = stages_beside_table2()
    tables["runs"]["diverged"] = tables["stages"]["diverged"] = 1
    for find in (
        numbers.fig3_numbers,
        numbers.text_numbers,
        numbers.gain_numbers,
        numbers.train_numbers,
    ):
        assert find(tables) == []


def test_numbers_of_the_lemmas_follow_from_their_moments():
    moments = [
        ("backward", "tied", 0.5, 0.01),
        ("forward_square", "tied", 1.3, 0.02),
        ("forward_square", "independent", 9.0, 0.02),
    ]
    columns = ["quantity", "weights", "value", "error"]
    tables = {"moments": pd.DataFrame(moments, columns=columns).assign(width=10)}
    variance, deviation = lemmas.edge_of_chaos(tables)
    assert (variance.value, variance.standard_error) == pytest.approx((4.0, 0.08))
    assert (deviation.value, deviation.standard_error) == pytest.approx((2.0, 0.02))
    (constant,) = lemmas.lemma_constant(tables)
    assert (constant.value, constant.standard_error) == pytest.approx((3.0, 0.2))


def test_the_rise_of_a_ratio_is_that_from_the_smallest_depth_to_the_largest():
    parts = [part for part in pairs.b13(beyond.ratios()) if "smallest depth" in part.name]
    assert len(parts) == 4
    for part in parts:
        assert part.value == pytest.approx(0.5 - 0.5 * (100 / 3) ** -0.9)


def test_a_variance_that_is_the_sum_of_the_cases_has_the_ratio_of_the_first_alone():
    """32 d^2/w + 128 d^2/w^2 + 16 d^3/w^2, over which only the first cases are multiplied."""
    rows = variances(2)["variance"]
    width = theory.WIDE[0]
    depth = theory.VARIANCE_DEPTHS[-1]
    here = (rows["form"] == "exact") & (rows["entry"] == "open") & (rows["width"] == width)
    rows.loc[here & (rows["depth"] == depth), "per_d2"] = 32 + (128 + 16 * depth) / width
    part = theory._beside_the_proof({"variance": rows}, width)
    assert part.value == pytest.approx(1 - 4 * depth / width**2)


def test_train_accuracies_that_are_alike_are_known_to_half_an_image():
    tables = dgn.mnist()
    tables["runs"] = tables["runs"].assign(best_train=1.0, train_images=800)
    parts = d16(tables)
    runs = tables["runs"]["seed"].nunique()
    error = 1 / 800 / 2 / runs**0.5
    assert [part.standard_error for part in parts] == pytest.approx([error] * len(parts))
    assert {part.interval[1] for part in parts} == {1}
