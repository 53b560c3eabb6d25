"""Extra table of npf: the CNTK and the gate regimes on the same images."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.tables.table2 import REGIMES, untrained
from finitewidth.records.tables import Table
from finitewidth.settings.sections import Section
from finitewidth.tables.numbers import fixed, scientific, uncertain, whole
from finitewidth.tables.typeset import Typeset, marked

TABLE = Table(
    columns.METHOD_SHOWN,
    columns.CNTK_IMAGES,
    columns.SOURCE,
    columns.TRAIN_IMAGES_SHOWN,
    columns.CNTK_RUNS,
    columns.CNTK_ACCURACY,
    columns.CNTK_STANDARD_ERROR,
    columns.BEST_EPOCH_ACCURACY,
    columns.CNTK_TRAIN_ACCURACY,
    columns.CNTK_LOWEST_TRAIN,
    columns.CNTK_TRAINED_FROM,
    columns.CNTK_TRAINED,
    columns.RIDGE_SHOWN,
    columns.CONDITION_SHOWN,
)
ROLE = "cifar10"  # of the images
NOTE = "Standard error: of the kernel over test images, of the networks over test images and runs"


class Look(Section):
    """What the numbers rest on."""

    artifact: str
    datasets: dict[str, str]  # role of a dataset -> title of what was used
    comparable: dict[str, bool]  # role of a dataset -> whether numbers may be compared


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return the kernel by number of images, the printed number, and the networks.

    The networks are ordered from random to learnt gates.
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
        data=ours.map({True: settings.datasets[ROLE], False: ROLES[ROLE]}),
        trained_from=rows["trained_from"].where(rows["kind"] == "network"),
    )


def typeset(rows: pd.DataFrame, settings: Look) -> Typeset:
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
