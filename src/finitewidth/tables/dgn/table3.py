"""dgn Table 3: the gated networks that are compared."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.tables.typeset import Typeset

NOTES = (
    "N(weights that make the gates, slope of the gates; weights of the network). †: as "
    "initialised; dₙₑₜ: number of weights of one network",
    r"$\mathcal{N}$(weights that make the gates, slope of the gates; weights of the network). "
    r"$\dagger$: as initialised; $d_{\mathrm{net}}$: number of weights of one network",
)


def select(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return all rows of the table ``variants``."""
    return tables["variants"]


def typeset(rows: pd.DataFrame, settings: Mapping[str, Any]) -> Typeset:
    """Typeset one line per network."""
    text = [_line(row, row["text"], row["gate_text"], "dₙₑₜ") for row in rows.to_dict("records")]
    latex = [
        _line(row, f"${row['latex']}$", f"${row['gate_latex']}$", r"$d_{\mathrm{net}}$")
        for row in rows.to_dict("records")
    ]
    return Typeset(
        pd.DataFrame(text),
        "Gated networks, by what makes their gates and what learns",
        NOTES[:1],
        (pd.DataFrame(latex), NOTES[1:]),
    )


def _line(row: Mapping[str, Any], notation: str, gate: str, size: str) -> dict[str, str]:
    def times(count: int) -> str:
        return size if count == 1 else f"{count} {size}"

    return {
        "network": row["network"],
        "notation": notation,
        "gates made by": row["gates_from"],
        "gates in": gate,
        "weights trained": f"{times(row['trained'])} of {times(row['networks'])}",
    }
