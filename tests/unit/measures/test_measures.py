"""Accuracies of histories, and differences in standard errors."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.small_histories import history_row

from finitewidth.measures.accuracy import (
    averaged,
    scores_by_replica,
    train_accuracies,
)
from finitewidth.measures.compare import difference_in_standard_errors, standard_error


def history(first, second, **over):
    """A history of one replica from its accuracies on the two halves of the test images."""
    rows = []
    for number, (one, two) in enumerate(zip(first, second, strict=True)):
        rows.append(
            history_row(
                epoch=number + 1,
                test_accuracy=(one + two) / 2,
                test_accuracy_first=one,
                test_accuracy_second=two,
            )
        )
    return pd.DataFrame(rows).assign(**over)


def test_three_ways_to_choose_the_epoch():
    scores = scores_by_replica(history([0.5, 0.9, 0.6, 0.5], [0.5, 0.6, 0.8, 0.7]), 0.9).iloc[0]
    assert scores["best_test"] == pytest.approx(0.75)  # epoch 2, seen on all images
    # first half chooses epoch 2, the second scores it .6; the second chooses 3, scored .6
    assert scores["cross_fitted"] == pytest.approx(0.6)
    assert scores["last"] == pytest.approx(0.6)
    assert (scores["epochs"], scores["train_last"]) == (4, 1.0)


def test_a_value_that_is_missing_or_infinite_is_counted_and_averaged_nowhere():
    values = pd.Series([1.0, None, 3.0, np.inf], dtype=object)
    assert averaged(values) == {"y": 2.0, "spread": pytest.approx(2**0.5), "runs": 2, "failed": 2}
    lost = averaged(pd.Series([np.nan]))
    assert (lost["runs"], lost["failed"]) == (0, 1)
    assert math.isnan(lost["y"])
    assert math.isnan(lost["spread"])


accuracies = st.lists(st.integers(0, 100), min_size=1, max_size=8)


@given(st.data())
def test_the_published_choice_is_never_below_the_honest_ones(data):
    first = data.draw(accuracies)
    second = data.draw(st.lists(st.integers(0, 100), min_size=len(first), max_size=len(first)))
    scores = scores_by_replica(history(np.array(first) / 100, np.array(second) / 100), 0.9).iloc[0]
    assert scores["best_test"] >= scores["last"]
    assert scores["best_test"] >= scores["cross_fitted"] - 1e-12


def test_choosing_on_noise_gains_and_cross_fitting_does_not():
    """500 runs of 40 epochs of noise about 0.5: the best epoch flatters, cross-fitting is fair."""
    rng = np.random.default_rng(0)
    runs = [
        history(rng.normal(0.5, 0.02, 40), rng.normal(0.5, 0.02, 40), seed=seed)
        for seed in range(500)
    ]
    scores = scores_by_replica(pd.concat(runs), 0.9)
    assert scores["best_test"].mean() > 0.52
    # standard error .02/sqrt(2·500) = .0006; five of them
    assert scores["cross_fitted"].mean() == pytest.approx(0.5, abs=0.0032)


def test_replicas_are_kept_apart_and_divergence_is_counted():
    rows = pd.concat(
        [history([0.5], [0.7]), history([0.1], [0.1], seed=1, diverged=1, test_accuracy=0.1)]
    )
    scores = scores_by_replica(rows, 0.9)
    assert scores["seed"].tolist() == [0, 1]
    assert scores["diverged"].tolist() == [0, 1]


def test_a_network_is_trained_if_all_its_runs_are_in_some_epoch_and_none_diverged():
    """A late drop of a run does not undo what it reached."""
    runs = pd.concat([history([0.5] * 3, [0.5] * 3, seed=seed) for seed in range(2)])
    runs["train_accuracy"] = [0.5, 0.95, 0.1, 0.5, 0.6, 0.9]
    assert scores_by_replica(runs, 0.9)["trained"].tolist() == [1, 1]
    assert train_accuracies(scores_by_replica(runs, 0.92)) == {
        "train_accuracy": pytest.approx(0.925),
        "train_accuracy_lowest": 0.9,
        "trained": 0,
    }
    lost = train_accuracies(scores_by_replica(runs.assign(diverged=[0, 0, 0, 1, 1, 1]), 0.9))
    assert (lost["trained"], lost["train_accuracy"]) == (0, 0.95)


@pytest.mark.parametrize("ddof", [0, 1])
def test_standard_error_does_not_depend_on_the_form_of_the_spread(ddof):
    values = np.array([1.0, 2.0, 4.0, 7.0])
    expected = values.std(ddof=1) / math.sqrt(4)
    assert standard_error(values.std(ddof=ddof), 4, ddof) == pytest.approx(expected)


def test_difference_in_standard_errors():
    assert difference_in_standard_errors(5.0, 0.3, 4.0, 0.4) == pytest.approx(2.0)
    assert difference_in_standard_errors(3.0, 0.3, 4.0, 0.4) == pytest.approx(-2.0)
    assert math.isnan(difference_in_standard_errors(5.0, math.nan, 4.0, 0.4))
    assert math.isnan(difference_in_standard_errors(5.0, 0.0, 4.0, 0.0))
    assert math.isnan(standard_error(1.0, 1, 0))
