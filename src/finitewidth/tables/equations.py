"""A table of equations: those of the forward pass of a network, in the notation of a paper."""

from collections.abc import Mapping

import pandas as pd

from finitewidth.records.tables import Table, text
from finitewidth.settings.sections import Section
from finitewidth.tables.latex_text import escaped
from finitewidth.tables.typeset import Typeset

TABLE = Table(
    text("kind", "equation, or note (a line below the table)"),
    text("label", "what an equation computes, the name of its line; none for a note"),
    text(
        "network",
        "the network that an equation belongs to, the name of its column; equation if the table "
        "has one column or the equation belongs to both networks; none for a note",
    ),
    text("text", "equation or note as plain text"),
    text("latex", "equation in LaTeX's mathematics, or note in LaTeX"),
    text(
        "printed_text",
        "right-hand side as the paper prints it, as plain text; none if it is printed as here",
    ),
    text(
        "printed_latex",
        "right-hand side as the paper prints it, in LaTeX; none if it is printed as here",
    ),
)
NONE = "none"


class Look(Section):
    """Which table it is, and its title."""

    artifact: str
    title: str


def select(tables: Mapping[str, pd.DataFrame], settings: Look) -> pd.DataFrame:
    """Return the equations and notes of a table."""
    rows = tables["equations"]
    rows = rows[rows["artifact"] == settings.artifact].astype(object)
    rows = rows.rename(columns={"row": "label", "column": "network"})
    note = rows["label"] == "note"
    rows["kind"] = note.map({True: "note", False: "equation"})
    rows["network"] = rows["network"].fillna("").replace("", "equation")
    rows.loc[note, ["label", "network"]] = NONE
    return rows.fillna(NONE)


def typeset(rows: pd.DataFrame, settings: Look) -> Typeset:
    """Typeset one line per label and one column per network.

    A dagger marks a formula that the paper prints differently.
    """
    cells = _cells(rows, "text")
    notes = _notes(rows, "text")
    formulas = (_cells(rows, "latex"), _notes(rows, "latex"))
    return Typeset(cells, settings.title, notes, formulas, variables=("m",))


def _cells(rows: pd.DataFrame, form: str) -> pd.DataFrame:
    """The cells of the table, in the form ``text`` or ``latex``."""
    equations = rows[rows["kind"] == "equation"]
    networks = list(dict.fromkeys(equations["network"]))
    lines = []
    for label, group in equations.groupby("label", sort=False):
        line = {"": label if form == "text" else escaped(label)}
        for network in networks:
            cell = ""
            for equation in group[group["network"] == network].to_dict("records"):
                formula = _mathematics(equation[form], form)
                if equation["printed_text"] != NONE:
                    formula += _dagger(form)
                cell += formula
            line[network] = cell
        lines.append(line)
    return pd.DataFrame(lines)


def _notes(rows: pd.DataFrame, form: str) -> tuple[str, ...]:
    """The lines below the table: misprints, and the notes among the rows."""
    corrected = rows[(rows["kind"] == "equation") & (rows["printed_text"] != NONE)]
    notes = rows[rows["kind"] == "note"][form]
    if corrected.empty:
        return tuple(notes)
    mark = "†" if form == "text" else escaped("†")
    printed = [_mathematics(formula, form) for formula in corrected[f"printed_{form}"]]
    return (f"{mark} Corrected; the paper prints {'; '.join(printed)}", *notes)


def _mathematics(formula: str, form: str) -> str:
    return formula if form == "text" else f"${formula}$"


def _dagger(form: str) -> str:
    return " †" if form == "text" else rf"~{escaped('†')}"
