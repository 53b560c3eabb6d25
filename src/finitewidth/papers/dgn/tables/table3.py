"""dgn Table 3: the gated networks that are compared."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.papers.dgn import columns
from finitewidth.records.tables import Table
from finitewidth.tables.latex_text import escaped
from finitewidth.tables.typeset import Typeset

TABLE = Table(
    columns.NAME,
    columns.NOTATION_TEXT_SHOWN,
    columns.NOTATION_LATEX_SHOWN,
    columns.GATES_FROM,
    columns.GATE_TEXT,
    columns.GATE_LATEX,
    columns.NETWORKS,
    columns.NETWORKS_TRAINED_SHOWN,
)
NOTES = (
    "N(weights that make the gates, slope of the gates; weights of the network). †: as "
    "initialised; dₙₑₜ: number of weights of one network",
    "‡ (0, 1) in the paper's table, which is the case ε = 0; (0, 1 + ε) in item 3 of its section "
    "3. The last network is not in that table",
)
NOTES_LATEX = (
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
    networks = rows.to_dict("records")
    text = pd.DataFrame([_line_of_text(network) for network in networks])
    latex = pd.DataFrame([_line_of_latex(network) for network in networks])
    title = "Gated networks, by what makes their gates and what learns"
    return Typeset(text, title, NOTES, (latex, NOTES_LATEX))


def _line_of_text(network: Mapping[str, Any]) -> dict[str, str]:
    gate = network["gate_text"]
    if _has_soft_gates(network):
        gate += " ‡"
    return {
        "network": network["network"],
        "notation": network["notation_text"],
        "gates made by": network["gates_from"],
        "gates in": gate,
        "weights trained": _trained(network, "dₙₑₜ"),
    }


def _line_of_latex(network: Mapping[str, Any]) -> dict[str, str]:
    gate = f"${network['gate_latex']}$"
    if _has_soft_gates(network):
        gate += escaped(" ‡")
    return {
        "network": escaped(network["network"]),
        "notation": f"${network['notation_latex']}$",
        "gates made by": escaped(network["gates_from"]),
        "gates in": gate,
        "weights trained": _trained(network, r"d_{\mathrm{net}}", "$"),
    }


def _has_soft_gates(network: Mapping[str, Any]) -> bool:
    return "ε" in network["gate_text"]


def _trained(network: Mapping[str, Any], size: str, mark: str = "") -> str:
    """``size of 2 size``: weights that are trained, of all weights, each between two marks."""
    trained = _times(network["networks_trained"], size)
    networks = _times(network["networks"], size)
    return f"{mark}{trained}{mark} of {mark}{networks}{mark}"


def _times(count: int, size: str) -> str:
    return size if count == 1 else f"{count} {size}"
