"""Numbers of trained networks that appear only in the text of npf, ours and the paper's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.text_numbers import FIELDS, text_rows, text_table
from finitewidth.tables.typeset import Typeset

__all__ = ["FIELDS", "TITLES", "select", "typeset"]
GAIN_OVER_CNTK = "gain of ReLU over the CNTK, points"  # the paper prints a range
TITLES = {
    ("test_accuracy", "gconv_adam", "frnpf"): "test accuracy, random gates, GCONV with Adam",
    ("test_accuracy", "stage1", "flnpf"): "test accuracy, gates of stage 1",
    ("test_accuracy", "stage6", "flnpf"): "test accuracy, gates of stage 6",
    ("test_accuracy", "cifar10", "frnpf"): "test accuracy, random gates, GCONV, all four cells",
    ("accuracy_gain", "npf_learning", "over_frnpf"): (
        "least gain of learnt over random gates, GCONV with Adam, points"
    ),
    ("accuracy_gain", "finite_cnn_low", "over_cntk"): GAIN_OVER_CNTK,
    ("accuracy_gain", "finite_cnn_high", "over_cntk"): GAIN_OVER_CNTK,
    ("train_accuracy", "all", "all"): "train accuracy, all cells of Table 2",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return ours and the paper's number of each row of the table ``rows``.

    ``settings["datasets"]`` maps each role to the title of the dataset that was used.
    """
    both = list(settings["datasets"])
    data = {key: both if key[1] == "all" else ["cifar10"] for key in TITLES}
    return text_rows(tables["rows"], TITLES, data, settings["datasets"])


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per number."""
    return text_table(rows)
