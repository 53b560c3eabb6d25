"""A table of numbers that appear only in a paper's text, ours and the paper's."""

from collections.abc import Mapping
from math import nan
from typing import Any

import pandas as pd

from finitewidth.data.catalogue import ROLES
from finitewidth.records.tables import Table, number, text
from finitewidth.settings.sections import Gate, Section
from finitewidth.tables.numbers import plain, uncertain
from finitewidth.tables.typeset import Typeset, left_out, marked, not_trained

TABLE = Table(
    text("what", "what the number is"),
    text(
        "data",
        "images of the number: ours with what they stand in for; the paper's name its dataset",
    ),
    text("source", "ours, or paper (as printed)"),
    number(
        "mean",
        "the paper's number, or our mean over runs; a gain is in percentage points",
        "percent",
        missing="all of our runs diverged",
    ),
    number(
        "standard_deviation",
        "sample standard deviation over our runs",
        "percent",
        missing="a single run, or the paper's number",
    ),
    number("runs", "number of runs that are averaged", missing="the paper's number"),
    number(
        "diverged", "number of runs that diverged and are left out", missing="the paper's number"
    ),
    text(
        "epoch",
        "epoch of our accuracy: best epoch (highest test accuracy), cross-fitted (chosen on the "
        "other half of the test images) or last epoch; none for the paper",
    ),
    number(
        "trained",
        "1 if every run reached the train accuracy that counts as trained, 0 if not",
        missing="the table does not say it, or the paper's number",
    ),
    text("place", "where the number stands in the paper"),
)
SELECTIONS = {
    "best_test": "best epoch",
    "cross_fitted": "cross-fitted",
    "last": "last epoch",
    "train_last": "last epoch",
}


class Look(Section):
    """The numbers of the table, and what they rest on."""

    artifact: str
    # of each its quantity, row and column, a title, and the role of its dataset or ``all``. A title
    # may name a network of ``gates``
    numbers: list[list[str]]
    datasets: dict[str, str]  # role of a dataset -> title of what was used
    # training -> accuracy from which a run counts as trained. With it, the table says which
    # networks are not trained
    trained: dict[str, float]
    gates: dict[str, Gate]  # name of a network -> its gates


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return a row of ours and one of the paper's per number of the table ``rows``.

    Numbers with one title are the ends of a range that the paper prints; ours is one number.
    """
    datasets = settings.datasets
    says_trained = hasattr(settings, "trained")
    gates = {}
    for name, gate in getattr(settings, "gates", {}).items():
        gates[name] = f"ε = {gate.eps:g}, β = {gate.beta:g}"
    about = {}  # key of a number -> its title, and the roles of its datasets
    for quantity, row, column, title, role in settings.numbers:
        roles = list(datasets) if role == "all" else [role]
        about[quantity, row, column] = (title.format(**gates), roles)

    lines: list[dict[str, Any]] = []
    titles_of_ours = set()
    for row in tables["rows"].to_dict("records"):
        title, roles = about[row["quantity"], row["row"], row["column"]]
        if title not in titles_of_ours:
            titles_of_ours.add(title)
            images = ", ".join(datasets[role] for role in roles)
            lines.append(_our_line(row, title, images, says_trained))
        paper = {
            "what": title,
            "place": row["place"],
            "source": "paper",
            "data": ", ".join(ROLES[role] for role in roles),
            "mean": row["reported"],
            "epoch": "none",
        }
        lines.append(paper)
    return pd.DataFrame(lines, columns=TABLE.names)


def _our_line(row: Mapping[str, Any], title: str, images: str, trained: bool) -> dict[str, Any]:
    """The row of ours; ``trained``: whether the table says which networks are not trained."""
    return {
        "what": title,
        "place": row["place"],
        "source": "ours",
        "data": images,
        "mean": row["mean"],
        "standard_deviation": row["spread"] if row["runs"] > 1 else nan,
        "runs": row["runs"],
        "diverged": row["diverged"],
        "epoch": SELECTIONS[row["select"]],
        "trained": row["trained"] if trained else nan,
    }


def typeset(rows: pd.DataFrame, settings: Look) -> Typeset:
    """Typeset one line per number."""
    ours = rows[rows["source"] == "ours"]
    printed = rows[rows["source"] == "paper"].groupby("what")["mean"]
    lines = []
    for row in ours.to_dict("records"):
        mean = uncertain(row["mean"], row["standard_deviation"])
        ends = sorted(printed.get_group(row["what"]))  # of the printed range, or one number
        line = {
            "what": row["what"],
            "data": row["data"],
            "ours (%)": marked(mean, row["trained"]),
            "epoch": row["epoch"],
            "runs": f"{row['runs']:.0f}",
            "paper (%)": "–".join(plain(end) for end in ends),
            "where": row["place"],
        }
        lines.append(line)
    title = (
        "Numbers that stand only in the text, trained networks: mean ± sample standard deviation "
        "over runs"
    )
    thresholds = list(getattr(settings, "trained", {}).values())
    notes = not_trained(ours["trained"], thresholds) + left_out(ours["what"], ours)
    return Typeset(pd.DataFrame(lines), title, notes, spans=("data",))
