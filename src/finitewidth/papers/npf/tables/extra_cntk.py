"""Extra table of npf: the CNTK and the gate regimes on the same images."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.papers.npf.tables.table2 import REGIMES, untrained
from finitewidth.records import fields
from finitewidth.tables.numbers import fixed, scientific, uncertain, whole
from finitewidth.tables.typeset import Typeset, marked

FIELDS = {
    "method": fields.text("cntk, or the gate regime of a trained network, such as relu"),
    "data": fields.text(
        "images of the accuracy: ours with what they stand in for; the paper's name its dataset, "
        "of which it uses all"
    ),
    "source": fields.text("ours, or paper (as printed)"),
    "training_images": fields.number("number of training images; NaN for the paper"),
    "runs": fields.number("number of runs that are averaged; NaN for a kernel and for the paper"),
    "accuracy": fields.number(
        "test accuracy; of networks the mean over runs, with the epoch chosen on the other half of "
        "the test images",
        "percent",
    ),
    "standard_error": fields.number(
        "standard error of our accuracy, over test images and, for networks, runs", "percent"
    ),
    "best_epoch_accuracy": fields.number(
        "highest test accuracy of any epoch, mean over runs; NaN for a kernel", "percent"
    ),
    "train_accuracy": fields.number(
        "highest train accuracy of any epoch, mean over runs; NaN for a kernel", "percent"
    ),
    "train_accuracy_lowest": fields.number("the same of the run with the lowest one", "percent"),
    "trained_from": fields.number(
        "train accuracy from which a run counts as trained; NaN for a kernel", "percent"
    ),
    "trained": fields.number("1 if every run is trained, 0 if not; NaN for a kernel"),
    "ridge": fields.number("ridge of the kernel, in units of its mean diagonal; NaN for a network"),
    "condition_number": fields.number("condition number of the kernel with the ridge"),
}
ROLE = "cifar10"  # of the images
NOTE = "Standard error: of the kernel over test images, of the networks over test images and runs"


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the kernel by number of images, the printed number, and the networks.

    The networks are ordered from random to learnt gates. ``settings["datasets"]`` maps each role
    to the title of the dataset that was used.
    """
    order = ["cntk", *REGIMES["npf"]]
    rows = tables["rows"].sort_values(
        "regime", key=lambda names: names.map(order.index), kind="stable"
    )
    rows = rows.rename(
        columns={"regime": "method", "train": "training_images", "best_test": "best_epoch_accuracy"}
    )
    ours = rows["kind"] != "printed"
    return rows.assign(
        source=ours.map({True: "ours", False: "paper"}),
        data=ours.map({True: settings["datasets"][ROLE], False: ROLES[ROLE]}),
        trained_from=rows["trained_from"].where(rows["kind"] == "network"),
    )


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per row."""
    lines = [_line(row) for row in rows.to_dict("records")]
    images = rows["data"][rows["source"] == "ours"].iloc[0]
    title = f"CNTK and GCONV on the same images of {images}: test accuracy (%)"
    networks = rows[rows["method"] != "cntk"]
    names = [REGIMES["npf"][regime] for regime in networks["method"]]
    notes = untrained(networks, names)
    return Typeset(pd.DataFrame(lines), title, (NOTE, *notes))


def _line(row: Mapping[str, Any]) -> dict[str, str]:
    """Header of a column -> text of its cell; a network that is not trained has a dagger."""
    accuracy = uncertain(row["accuracy"], row["standard_error"])
    return {
        "": _name(row),
        "training images": whole(row["training_images"]),
        "runs": whole(row["runs"]),
        "accuracy ± standard error": marked(accuracy, row["trained"]),
        "best epoch": fixed(row["best_epoch_accuracy"]),
        "train": fixed(row["train_accuracy"]),
        "ridge": scientific(row["ridge"]),
        "condition number": scientific(row["condition_number"]),
    }


def _name(row: Mapping[str, Any]) -> str:
    """The network's gate regime; of a kernel, that it is one, and whether its number is printed."""
    if row["method"] != "cntk":
        return REGIMES["npf"][row["method"]]
    if row["source"] == "paper":
        return f"CNTK on all of {ROLES[ROLE]}, as printed"
    return "CNTK"
