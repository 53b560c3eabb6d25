"""Block diagrams of gated networks as nodes and arrows, derived from their regimes."""

import pandas as pd

from finitewidth.networks.equations import Term
from finitewidth.networks.notation import LATEX, Notation, symbol, theta
from finitewidth.networks.regimes import Regime

LETTERS = {"feature": "f", "value": "v"}
SHOWN = ("1", "l", "d-1")  # hidden layers drawn; dots stand for the others


def blocks(regime: Regime, notation: Notation) -> pd.DataFrame:
    """Nodes and arrows of the block diagram of one regime.

    Gates point from the network that makes them to the network that uses them. A gradient points
    to each network that learns.

    Args:
        regime: to draw.
        notation: symbols of the labels.

    Returns:
        Rows of kind ``node`` (name, network, layer, label), and arrows as rows of kind ``forward``,
        ``gate`` or ``gradient`` (start, end, network, label).
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
    """The hidden layers of one network, in order."""
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
    """One row of kind ``regime`` per regime: its gates, start of the feature network, what learns.

    Args:
        regimes: title -> regime.
    """
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
