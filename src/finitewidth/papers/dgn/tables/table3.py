"""dgn Table 3: the gated networks that are compared."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.records import fields
from finitewidth.tables.latex_text import escaped
from finitewidth.tables.typeset import Typeset

FIELDS = {
    "network": fields.text("name of the network"),
    "notation_text": fields.text(
        "the network as N(weights that make the gates, slope of the gates; weights), as plain text"
    ),
    "notation_latex": fields.text("the same in LaTeX's mathematics"),
    "gates_from": fields.text("what makes the gates"),
    "gate_text": fields.text("set of the values of a gate, as plain text"),
    "gate_latex": fields.text("the same in LaTeX's mathematics"),
    "networks": fields.integer("number of networks, each with dₙₑₜ weights"),
    "networks_trained": fields.integer("number of networks whose weights are trained"),
}
NOTES = (
    "N(weights that make the gates, slope of the gates; weights of the network). †: as "
    "initialised; dₙₑₜ: number of weights of one network",
    "‡ (0, 1) in the paper's table, which is the case ε = 0; (0, 1 + ε) in item 3 of its section "
    "3. The last network is not in that table",
    r"$\mathcal{N}$(weights that make the gates, slope of the gates; weights of the network). "
    r"$\dagger$: as initialised; $d_{\mathrm{net}}$: number of weights of one network",
    r"$^\ddagger$ $(0, 1)$ in the paper's table, which is the case $\epsilon = 0$; "
    r"$(0, 1 + \epsilon)$ in item 3 of its section 3. The last network is not in that table",
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``variants``."""
    names = {"text": "notation_text", "latex": "notation_latex", "trained": "networks_trained"}
    return tables["variants"].rename(columns=names)


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per network."""
    text, latex = (
        pd.DataFrame([_line(row, form) for row in rows.to_dict("records")])
        for form in ("text", "latex")
    )
    title = "Gated networks, by what makes their gates and what learns"
    return Typeset(text, title, NOTES[:2], (latex, NOTES[2:]))


def _line(row: Mapping[str, Any], form: str) -> dict[str, str]:
    words, size, sign = str, "dₙₑₜ", ""
    if form == "latex":
        words, size, sign = escaped, r"$d_{\mathrm{net}}$", "$"
    numbers = (row["networks_trained"], row["networks"])
    return {
        "network": words(row["network"]),
        "notation": f"{sign}{row[f'notation_{form}']}{sign}",
        "gates made by": words(row["gates_from"]),
        "gates in": f"{sign}{row[f'gate_{form}']}{sign}" + words(" ‡" * ("ε" in row["gate_text"])),
        "weights trained": " of ".join(size if n == 1 else f"{n} {size}" for n in numbers),
    }
