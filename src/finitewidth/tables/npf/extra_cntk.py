"""Extra table of npf: the CNTK and the gate regimes on the same images."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.npf.table2 import REGIMES, untrained
from finitewidth.tables.numbers import fixed, scientific, uncertain, whole
from finitewidth.tables.trained import marked
from finitewidth.tables.typeset import Typeset

NOTES = (
    "Standard error: of the kernel over test images, of the networks over test images and runs",
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows: the kernel by number of images, the networks, the printed number."""
    return tables["rows"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per row, with the networks ordered from random to learnt gates.

    ``settings["datasets"]`` maps each role to the title of the dataset that was used.
    """
    order = ["cntk", *REGIMES["npf"]]
    rows = rows.sort_values("regime", key=lambda names: names.map(order.index), kind="stable")
    lines = [
        {
            "": _title(row),
            "training images": whole(row["train"]),
            "runs": whole(row["runs"]),
            "accuracy ± standard error": marked(
                uncertain(row["accuracy"], row["standard_error"]), row["trained"]
            ),
            "best epoch": fixed(row["best_test"]),
            "train": fixed(row["train_accuracy"]),
            "ridge": scientific(row["ridge"]),
            "condition number": scientific(row["condition_number"]),
        }
        for row in rows.to_dict("records")
    ]
    images = settings["datasets"]["cifar10"]
    title = f"CNTK and GCONV on the same images of {images}: test accuracy (%)"
    networks = rows[rows["kind"] == "network"]
    notes = NOTES + untrained(networks, [REGIMES["npf"][name] for name in networks["regime"]])
    return Typeset(pd.DataFrame(lines), title, notes)


def _title(row: Mapping[str, Any]) -> str:
    if row["kind"] == "network":
        return REGIMES["npf"][row["regime"]]
    return "CNTK" if row["kind"] == "kernel" else "CNTK on all of CIFAR-10, as printed"
