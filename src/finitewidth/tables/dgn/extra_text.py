"""Numbers of trained networks that appear only in the text of dgn, ours and the paper's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.text_numbers import FIELDS, text_rows, text_table
from finitewidth.tables.typeset import Typeset

__all__ = ["FIELDS", "TITLES", "select", "typeset"]
TITLES = {
    ("test_accuracy", "cifar10", "gates_only"): "test accuracy, only the gates learn",
    ("test_accuracy", "cifar10", "soft_relu"): "test accuracy, soft-ReLU of moderately large β",
    ("test_accuracy", "mnist", "galu"): "test accuracy, GaLU",
    ("test_accuracy", "mnist", "relu"): "test accuracy, ReLU",
    ("train_accuracy", "mnist", "all"): "train accuracy, both, random labels and pixels too",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return ours and the paper's number of each row of the table ``rows``.

    ``settings["datasets"]`` maps each role to the title of the dataset that was used.
    """
    data = {key: [key[1]] for key in TITLES}
    return text_rows(tables["rows"], TITLES, data, settings["datasets"], told=True)


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per number.

    ``settings["trained"]`` maps each training to the accuracy from which a run counts as trained.
    """
    return text_table(rows, tuple(settings["trained"].values()))
