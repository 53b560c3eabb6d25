"""The explanatory figures and tables of dgn, computed without random numbers.

These are the equations (Tables 1, 2, 5), the networks compared (Table 3), and the circular
convolution whose paths share their strengths (Figure 9, Lemma 4.1).
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.experiments.equations import equation_rows
from finitewidth.networks.regimes import Regime, regime
from finitewidth.papers.dgn.experiments import circular
from finitewidth.papers.dgn.experiments.equations import EQUATIONS


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute all tables.

    Args:
        inputs: none.
        settings: ``convolution``: ``inputs``, ``kernel``, ``layers``, ``examples``.

    Returns:
        ``equations``, ``variants``, ``connections``, ``paths`` and ``kernel``.
    """
    convolution = settings["convolution"]
    sizes = (convolution[key] for key in ("inputs", "kernel", "layers"))
    net = circular.Circular(*sizes)
    return {
        "equations": equation_rows(EQUATIONS),
        "variants": pd.DataFrame([variant(*named) for named in regimes().items()]),
        "connections": circular.connections(net),
        "paths": circular.paths(net),
        "kernel": circular.kernels(net, convolution["examples"]),
    }


def regimes() -> dict[str, Regime]:
    """The networks of Table 3 by name, followed by one network described below the table.

    Item 5 of section 3 gives this last network a finite slope beta. Experiment 6, which trains it,
    states an infinite one.
    """
    soft = {"beta": 1.0}  # the table does not depend on the slope
    return {
        "ReLU": regime("relu"),
        "GaLU (frozen)": regime("galu"),
        "Soft-ReLU": regime("soft_relu", **soft),
        "Soft-GaLU": regime("soft_galu", **soft),
        "Gates only (section 3, item 5)": regime("gates_only", **soft),
    }


def variant(name: str, network: Regime) -> dict[str, str]:
    """One row of Table 3.

    Returns:
        The network as N(gating weights, slope; weights), where † marks weights that keep their
        initial values, in text and in LaTeX, and its properties.
    """
    soft = network.gating.beta is not None
    decoupled = network.gating.source == "feature"
    weights = gates = ("Θₜ", r"\Theta_t")
    if decoupled:
        gates = _weights("g", "feature" in network.learns)
        weights = _weights("w", "value" in network.learns)
    slope = ("β", r"\beta") if soft else ("∞", r"\infty")
    return {
        "network": name,
        "text": f"N({gates[0]}, {slope[0]}; {weights[0]})",
        "latex": rf"\mathcal{{N}}({gates[1]}, {slope[1]}; {weights[1]})",
        "gates_from": "a network of their own" if decoupled else "the network itself",
        "gate_text": "(0, 1 + ε)" if soft else "{0, 1}",
        "gate_latex": r"(0, 1 + \epsilon)" if soft else r"\{0, 1\}",
        "networks": 1 + decoupled,
        "trained": len(network.learns),
    }


def _weights(letter: str, learns: bool) -> tuple[str, str]:
    raised = {"g": "ᵍ", "w": "ʷ"}[letter]
    mark = ("ₜ", "t") if learns else ("†", r"\dagger")
    return f"Θ{raised}{mark[0]}", rf"\Theta^{letter}_{mark[1]}"
