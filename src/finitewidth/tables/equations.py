"""Tables of equations: npf Tables 1, 4, 5, npf0 Table 1, dgn Tables 1, 2, 5."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.latex_text import escaped
from finitewidth.tables.typeset import Typeset

FORMS = ("text", "latex")


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the equations and notes of the table ``settings["artifact"]``."""
    rows = tables["equations"]
    rows = rows[rows["artifact"] == settings["artifact"]].astype(object)
    return rows.where(rows.notna(), "")


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per label and one column per network.

    A dagger marks a formula that the paper prints differently. ``settings["title"]`` is the title.
    """
    (cells, notes), formulas = (_cells(rows, form) for form in FORMS)
    return Typeset(cells, settings["title"], notes, formulas)


def _cells(rows: pd.DataFrame, form: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    equations = rows[rows["row"] != "note"]
    lines = []
    for label, group in equations.groupby("row", sort=False):
        line = {"": label if form == "text" else escaped(label)}
        for column in dict.fromkeys(equations["column"]):
            found = group[group["column"] == column].to_dict("records")
            line[column or "equation"] = "".join(
                _mathematics(equation[form], form, bool(equation["printed_text"]))
                for equation in found
            )
        lines.append(line)
    return pd.DataFrame(lines), (*_misprints(equations, form), *rows[rows["row"] == "note"][form])


def _misprints(equations: pd.DataFrame, form: str) -> list[str]:
    corrected = equations[equations["printed_text"] != ""]
    if corrected.empty:
        return []
    mark = "†" if form == "text" else escaped("†")
    printed = [_mathematics(formula, form) for formula in corrected[f"printed_{form}"]]
    return [f"{mark} Corrected; the paper prints {'; '.join(printed)}"]


def _mathematics(formula: str, form: str, corrected: bool = False) -> str:
    if form == "text":
        return formula + " †" * corrected
    return f"${formula}$" + rf"~{escaped('†')}" * corrected
