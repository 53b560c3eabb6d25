"""A table of numbers that appear only in a paper's text, ours and the paper's."""

from collections.abc import Mapping
from math import nan
from typing import Any

import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.records import fields
from finitewidth.tables.numbers import plain, uncertain
from finitewidth.tables.typeset import Typeset, left_out, marked, not_trained

FIELDS = {
    "what": fields.text("what the number is"),
    "data": fields.text(
        "images of the number: ours with what they stand in for; the paper's name its dataset"
    ),
    "source": fields.text("ours, or paper (as printed)"),
    "mean": fields.number(
        "the paper's number, or our mean over runs; a gain is in percentage points", "percent"
    ),
    "standard_deviation": fields.number(
        "sample standard deviation over our runs; NaN for a single run and for the paper", "percent"
    ),
    "runs": fields.number("number of runs that are averaged; NaN for the paper"),
    "diverged": fields.number("number of runs that diverged and are left out; NaN for the paper"),
    "epoch": fields.text(
        "epoch of our accuracy: best epoch (highest test accuracy), cross-fitted (chosen on the "
        "other half of the test images) or last epoch; none for the paper"
    ),
    "trained": fields.number(
        "1 if every run reached the train accuracy that counts as trained, 0 if not, NaN if the "
        "table does not say it or for the paper"
    ),
    "place": fields.text("where the number stands in the paper"),
}
SELECTIONS = {
    "best_test": "best epoch",
    "cross_fitted": "cross-fitted",
    "last": "last epoch",
    "train_last": "last epoch",
}


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row of ours and one of the paper's per number of the table ``rows``.

    Numbers with one title are the ends of a range that the paper prints; ours is one number.

    ``settings["numbers"]`` has for each number its quantity, row and column, a title, and the role
    of its dataset or ``all``. A title may name a network of ``settings["gates"]``, which has slope
    ``beta`` and ``eps`` of its gates. ``settings["datasets"]`` maps each role to the title of the
    dataset that was used. The table says which networks are not trained if there is
    ``settings["trained"]``.
    """
    datasets = settings["datasets"]
    gates = {
        name: f"ε = {gate['eps']:g}, β = {gate['beta']:g}"
        for name, gate in settings.get("gates", {}).items()
    }
    numbers = {
        (quantity, row, column): (
            title.format(**gates),
            list(datasets) if role == "all" else [role],
        )
        for quantity, row, column, title, role in settings["numbers"]
    }
    lines: list[dict[str, Any]] = []
    for row in tables["rows"].to_dict("records"):
        title, roles = numbers[row["quantity"], row["row"], row["column"]]
        shared = {"what": title, "place": row["place"]}
        images, printed = (", ".join(names[role] for role in roles) for names in (datasets, ROLES))
        ours = {name: row[name] for name in ("mean", "runs", "diverged")}
        if all(one["what"] != title for one in lines):
            lines.append(
                {
                    **shared,
                    **ours,
                    "source": "ours",
                    "data": images,
                    "standard_deviation": row["spread"] if row["runs"] > 1 else nan,
                    "epoch": SELECTIONS[row["select"]],
                    "trained": row["trained"] if "trained" in settings else nan,
                }
            )
        lines.append(
            {**shared, "source": "paper", "data": printed, "mean": row["reported"], "epoch": "none"}
        )
    return pd.DataFrame(lines, columns=list(FIELDS))


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per number.

    ``settings["trained"]`` maps each training to the accuracy from which a run counts as trained.
    """
    mine = rows[rows["source"] == "ours"]
    printed = rows[rows["source"] == "paper"].groupby("what")["mean"]
    printed = printed.agg(lambda ends: "–".join(map(plain, sorted(ends))))
    lines = [
        {
            "what": row["what"],
            "data": row["data"],
            "ours (%)": marked(uncertain(row["mean"], row["standard_deviation"]), row["trained"]),
            "epoch": row["epoch"],
            "runs": f"{row['runs']:.0f}",
            "paper (%)": printed[row["what"]],
            "where": row["place"],
        }
        for row in mine.to_dict("records")
    ]
    title = (
        "Numbers that stand only in the text, trained networks: mean ± sample standard deviation "
        "over runs"
    )
    thresholds = settings.get("trained", {}).values()
    notes = not_trained(mine["trained"], list(thresholds)) + left_out(mine["what"], mine)
    return Typeset(pd.DataFrame(lines), title, notes, spans=("data",))
