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

    Args:
        tables: ``rows`` has a row per number, with ours (mean, spread, runs, diverged, trained) and
            the printed one (reported, place).
        settings: ``numbers`` has for each number its quantity, row and column, a title, and the
            role of its dataset or ``all``. A title may name a network of ``gates``, which has slope
            ``beta`` and ``eps`` of its gates. ``datasets`` maps each role to the title of the
            dataset that was used. If there is ``trained``, the table says which networks are not.
    """
    datasets = settings["datasets"]
    gates = {}
    for name, gate in settings.get("gates", {}).items():
        gates[name] = f"ε = {gate['eps']:g}, β = {gate['beta']:g}"
    about = {}  # key of a number -> its title, and the roles of its datasets
    for quantity, row, column, title, role in settings["numbers"]:
        roles = list(datasets) if role == "all" else [role]
        about[quantity, row, column] = (title.format(**gates), roles)

    lines: list[dict[str, Any]] = []
    titles_of_ours = set()
    for number in tables["rows"].to_dict("records"):
        title, roles = about[number["quantity"], number["row"], number["column"]]
        if title not in titles_of_ours:
            titles_of_ours.add(title)
            images = ", ".join(datasets[role] for role in roles)
            lines.append(_our_line(number, title, images, "trained" in settings))
        paper = {
            "what": title,
            "place": number["place"],
            "source": "paper",
            "data": ", ".join(ROLES[role] for role in roles),
            "mean": number["reported"],
            "epoch": "none",
        }
        lines.append(paper)
    return pd.DataFrame(lines, columns=list(FIELDS))


def _our_line(number: Mapping[str, Any], title: str, images: str, trained: bool) -> dict[str, Any]:
    """The row of ours; ``trained``: whether the table says which networks are not trained."""
    return {
        "what": title,
        "place": number["place"],
        "source": "ours",
        "data": images,
        "mean": number["mean"],
        "standard_deviation": number["spread"] if number["runs"] > 1 else nan,
        "runs": number["runs"],
        "diverged": number["diverged"],
        "epoch": SELECTIONS[number["select"]],
        "trained": number["trained"] if trained else nan,
    }


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per number.

    ``settings["trained"]`` maps each training to the accuracy from which a run counts as trained.
    """
    ours = rows[rows["source"] == "ours"]
    printed = rows[rows["source"] == "paper"].groupby("what")["mean"]
    lines = []
    for number in ours.to_dict("records"):
        mean = uncertain(number["mean"], number["standard_deviation"])
        ends = sorted(printed.get_group(number["what"]))  # of the printed range, or one number
        line = {
            "what": number["what"],
            "data": number["data"],
            "ours (%)": marked(mean, number["trained"]),
            "epoch": number["epoch"],
            "runs": f"{number['runs']:.0f}",
            "paper (%)": "–".join(plain(end) for end in ends),
            "where": number["place"],
        }
        lines.append(line)
    title = (
        "Numbers that stand only in the text, trained networks: mean ± sample standard deviation "
        "over runs"
    )
    thresholds = list(settings.get("trained", {}).values())
    notes = not_trained(ours["trained"], thresholds) + left_out(ours["what"], ours)
    return Typeset(pd.DataFrame(lines), title, notes, spans=("data",))
