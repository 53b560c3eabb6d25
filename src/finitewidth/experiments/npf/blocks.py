"""Block diagrams of gated networks as nodes and arrows, from the description of their regimes."""

import pandas as pd

from finitewidth.networks.equations import Term
from finitewidth.networks.notation import LATEX, Notation, symbol, theta
from finitewidth.networks.regimes import Regime

LETTERS = {"feature": "f", "value": "v"}
SHOWN = ("1", "l", "d-1")  # hidden layers drawn, the others are dots


def blocks(regime: Regime, notation: Notation) -> pd.DataFrame:
    """Networks, gates and gradients of a regime.

    Returns:
        Rows of kind ``node`` (name, network, layer, label) or ``arrow`` (``forward``, ``gate`` or
        ``gradient``; start, end, network, label). A network that exists has a row of nodes; gates
        go from where they are made to where they are used; a gradient goes to each network that
        learns.
    """
    gated = regime.gating.source == "feature"
    networks = ("feature", "value") if gated else ("value",)
    rows = [_node("x", "", "0", "x")]
    for network in networks:
        rows += _chain(network, notation)
    rows.append(_node("y", "value", "d", symbol(Term("y"), notation, LATEX)))
    rows.append(_arrow("forward", "value d-1", "y", "value", theta("v", notation, LATEX) + "(d)"))
    for layer in SHOWN:
        gate = symbol(Term("G"), notation, LATEX) + f"({layer})"
        source = "feature" if gated else "value"
        rows.append(_arrow("gate", f"{source} {layer}", f"value {layer}", source, gate))
    parts = {"feature": r"\langle \partial \phi,\, v \rangle",
             "value": r"\langle \phi,\, \partial v \rangle"}  # fmt: skip
    rows += [_arrow("gradient", "y", network, network, parts[network])
             for network in networks if network in regime.learns]  # fmt: skip
    return pd.DataFrame(rows)


def _chain(network: str, notation: Notation) -> list[dict[str, str]]:
    """The hidden layers of one network, one after the other."""
    rows, before = [], "x"
    letter = LETTERS[network]
    for layer in SHOWN:
        name = f"{network} {layer}"
        label = symbol(Term("z", letter), notation, LATEX) + f"({layer})"
        rows.append(_node(name, network, layer, label))
        weights = theta(letter, notation, LATEX) + f"({layer})"
        rows.append(_arrow("forward", before, name, network, weights))
        before = name
    return rows


def _node(name: str, network: str, layer: str, label: str) -> dict[str, str]:
    return {"kind": "node", "name": name, "network": network, "layer": layer, "label": label}


def _arrow(kind: str, start: str, end: str, network: str, label: str) -> dict[str, str]:
    return {"kind": kind, "start": start, "end": end, "network": network, "label": label}


def regime_rows(regimes: dict[str, Regime]) -> list[dict[str, str]]:
    """Title -> regime as rows of kind ``regime``: gates, start of the feature network, learning."""
    starts = {"independent": "at random", "value": "as the value network",
              "pretrained": "from a trained ReLU network"}  # fmt: skip
    return [
        {
            "kind": "regime", "name": title, "start": starts[regime.feature_start],
            "label": "hard" if regime.gating.beta is None else "soft",
            "network": " and ".join(n for n in ("feature", "value") if n in regime.learns),
        }
        for title, regime in regimes.items()
    ]  # fmt: skip
