"""Accuracies for the numbers that stand only in the text of npf, job `npf_text`."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from finitewidth.measures import text_numbers
from finitewidth.measures.text_numbers import printed_in_text, text_row
from finitewidth.papers.npf.settings import Regimes

# rows of Table 2
ADAM = "gconv_adam"
GCONV = ("gconv_sgd", "gconv_adam")
# regimes whose gates are random, and learnt
RANDOM = ("frnpf_ii", "frnpf_di")
LEARNT = ("dlnpf", "flnpf", "relu")
# test accuracy at an epoch chosen on other test images, and train accuracy at the last epoch
HONEST = "cross_fitted"
TRAINED = "train_last"
TABLES = {"rows": text_numbers.TABLE}
# (quantity, row, column) -> values by seed, and how the epoch was selected
Numbers = dict[tuple[str, str, str], tuple[pd.Series, str]]


def measure(inputs: Mapping[str, Any], settings: Regimes) -> dict[str, pd.DataFrame]:
    """Compute our accuracies, in percent, for the printed numbers.

    A number that combines several networks is computed for each seed; one with a diverged network
    counts in ``diverged`` alone.
    """
    printed = printed_in_text(inputs["reported_npf"], "npf")
    rows = [
        text_row(key, 100 * values, select, printed)
        for key, (values, select) in _numbers(inputs, settings.select).items()
    ]
    return {"rows": pd.DataFrame(rows)}


def _numbers(inputs: Mapping[str, Any], select: str) -> Numbers:
    """Values of each number by seed, as fractions, and how the epoch of a run was selected.

    The keys are those of `finitewidth.measures.text_numbers.KEYS`.
    """
    runs = inputs["regimes"]
    runs = runs[runs["chosen"] == 1]
    stages = inputs["stages"]
    numbers: Numbers = {}
    random = _cells(runs, [(ADAM, RANDOM[0])], select)
    numbers["test_accuracy", ADAM, "frnpf"] = (random, select)
    for stage in (1, 6):
        values = _sound(stages[stages["stage"] == stage], select)
        numbers["test_accuracy", f"stage{stage}", "flnpf"] = (values, select)
    every_random = _cells(runs, product(GCONV, RANDOM), select)
    numbers["test_accuracy", "cifar10", "frnpf"] = (every_random, select)
    numbers["accuracy_gain", "npf_learning", "over_frnpf"] = (_least_gain(runs, select), select)
    over_cntk = _gain_over_cntk(inputs["cntk"], inputs["cntk_runs"])
    numbers["accuracy_gain", "finite_cnn_low", "over_cntk"] = (over_cntk, HONEST)
    numbers["accuracy_gain", "finite_cnn_high", "over_cntk"] = (over_cntk, HONEST)
    everything = product(runs["row"].unique(), (*RANDOM, *LEARNT))
    numbers["train_accuracy", "all", "all"] = (_cells(runs, everything, TRAINED), TRAINED)
    return numbers


def _least_gain(runs: pd.DataFrame, select: str) -> pd.Series:
    """Gain over random gates by seed, of the learnt regime that gains least on average.

    The networks are GCONV trained with Adam.
    """
    random = _cells(runs, [(ADAM, RANDOM[0])], select)
    gains = [_cells(runs, [(ADAM, regime)], select) - random for regime in LEARNT]
    return min(gains, key=lambda gain: gain.mean())


def _gain_over_cntk(kernels: pd.DataFrame, networks: pd.DataFrame) -> pd.Series:
    """ReLU minus the CNTK of the most training images, by seed, on the same images.

    The epoch of a network is chosen on other test images.
    """
    relu = networks[networks["regime"] == "relu"]
    largest = kernels[kernels["kind"] == "kernel"].sort_values("train").iloc[-1]
    return _sound(relu, HONEST) - largest["accuracy"] / 100


def _sound(runs: pd.DataFrame, column: str) -> pd.Series:
    """Values by seed; missing for diverged runs."""
    return runs[column].where(runs["diverged"] == 0).set_axis(runs["seed"])


def _cells(runs: pd.DataFrame, cells: Iterable[tuple[str, str]], column: str) -> pd.Series:
    """Mean over cells of Table 2 for each seed; missing if one of its runs diverged."""
    parts = [
        _sound(runs[(runs["row"] == row) & (runs["regime"] == regime)], column)
        for row, regime in cells
    ]
    return pd.concat(parts, axis=1).mean(axis=1, skipna=False)
