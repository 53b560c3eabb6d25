"""Numbers of trained networks that appear only in the text of dgn, ours and the paper's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.text_numbers import FIELDS, text_rows, text_table
from finitewidth.tables.typeset import Typeset

__all__ = ["FIELDS", "TITLES", "select", "typeset"]
TITLES = {
    ("test_accuracy", "cifar10", "gates_only"): "test accuracy, only the gates learn, {gates_only}",
    ("test_accuracy", "cifar10", "soft_relu"): "test accuracy, soft-ReLU, {soft_relu}",
    ("test_accuracy", "mnist", "galu"): "test accuracy, GaLU",
    ("test_accuracy", "mnist", "relu"): "test accuracy, ReLU",
    ("train_accuracy", "mnist", "all"): "train accuracy, GaLU and ReLU",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return ours and the paper's number of each row of the table ``rows``.

    ``settings["gates"]`` has slope ``beta`` and ``eps`` of ``gates_only`` and ``soft_relu``.
    """
    data = {key: [key[1]] for key in TITLES}
    gates = {name: f"ε = {gate['eps']:g}, β = {gate['beta']:g}"
             for name, gate in settings["gates"].items()}  # fmt: skip
    titles = {key: title.format(**gates) for key, title in TITLES.items()}
    return text_rows(tables["rows"], titles, data, settings["datasets"], told=True)


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per number.

    ``settings["trained"]`` maps each training to the accuracy from which a run counts as trained.
    """
    return text_table(rows, tuple(settings["trained"].values()))
