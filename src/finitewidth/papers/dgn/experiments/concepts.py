"""The explanatory figures and tables of dgn, computed without random numbers.

These are the equations (Tables 1, 2, 5), the networks compared (Table 3), and the circular
convolution whose paths share their strengths (Figure 9, Lemma 4.1).
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.measures import equations
from finitewidth.measures.equations import Rows, as_text, equation_rows
from finitewidth.networks.regimes import Regime, regime
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.settings import Concepts, Convolution
from finitewidth.records.tables import Table

GATING = "Gating network"
WEIGHT = "Weight network"
# each row: what an equation computes, the network that it belongs to (empty if there is one), and
# its LaTeX
EQUATIONS: dict[str, Rows] = {
    "dgn_table1": [
        ("Input", "", r"z_{x_s,\Theta_t}(0) = x_s"),
        ("Pre-activation", "", r"q_{x_s,\Theta_t}(l) = \Theta_t(l)^\top z_{x_s,\Theta_t}(l-1)"),
        ("Hidden output", "", r"z_{x_s,\Theta_t}(l) = q_{x_s,\Theta_t}(l) \odot G_{x_s,t}(l)"),
        ("Output", "", r"\hat{y}_t(x_s) = \Theta_t(d)^\top z_{x_s,\Theta_t}(d-1)"),
        ("note", "", r"$l \in [d-1]$; gates $G_{x_s,t}(l) \in [0, 1]^w$ are given"),
    ],
    "dgn_table2": [
        ("Input", GATING, r"z_{x,\Theta^g_t}(0) = x"),
        (
            "Pre-activation",
            GATING,
            r"q_{x,\Theta^g_t}(l) = \Theta^g_t(l)^\top z_{x,\Theta^g_t}(l-1)",
        ),
        ("Input", WEIGHT, r"z_{x,\Theta^w_t}(0) = x"),
        (
            "Pre-activation",
            WEIGHT,
            r"q_{x,\Theta^w_t}(l) = \Theta^w_t(l)^\top z_{x,\Theta^w_t}(l-1)",
        ),
        (
            "Soft gate, β > 0",
            GATING,
            r"G_{x,\Theta^g_t}(l, i) = \chi_\epsilon(-\beta q_{x,\Theta^g_t}(l, i)) = "
            r"\frac{1+\epsilon}{1 + \exp(-\beta q_{x,\Theta^g_t}(l, i))}",
        ),
        (
            "Hard gate, β = ∞",
            GATING,
            r"G_{x,\Theta^g_t}(l, i) = \mathbf{1}_{\{q_{x,\Theta^g_t}(l, i) > 0\}}",
        ),
        (
            "Hidden output",
            GATING,
            r"z_{x,\Theta^g_t}(l) = q_{x,\Theta^g_t}(l) \odot G_{x,\Theta^g_t}(l)",
        ),
        (
            "Hidden output",
            WEIGHT,
            r"z_{x,\Theta^w_t}(l) = q_{x,\Theta^w_t}(l) \odot G_{x,\Theta^g_t}(l)",
        ),
        ("Output", WEIGHT, r"\hat{y}_t(x) = \Theta^w_t(d)^\top z_{x,\Theta^w_t}(d-1)"),
        ("note", "", r"$l \in [d-1]$ and $i \in [w]$; $\epsilon \geq 0$"),
    ],
    "dgn_table5": [
        ("Input", "", "x_t(s, i, 0) = x(i, s)"),
        ("Pre-activation", "", r"q_t(s, i, l) = \Theta_t(l, \cdot, i)^\top x_t(s, \cdot, l-1)"),
        ("Hidden output", "", r"x_t(s, i, l) = q_t(s, i, l) \cdot G_t(s, i, l)"),
        ("Output", "", r"\hat{y}_t(s) = \Theta_t(d, \cdot, 1)^\top x_t(s, \cdot, d-1)"),
        ("note", "", r"$l \in [d-1]$"),
    ],
}
TABLES = {
    "equations": Table(
        *equations.TABLE,
    ),
    "variants": Table(
        columns.NAME,
        columns.NOTATION_TEXT,
        columns.NOTATION_LATEX,
        columns.GATES_FROM,
        columns.GATE_TEXT,
        columns.GATE_LATEX,
        columns.NETWORKS,
        columns.NETWORKS_TRAINED,
    ),
    "connections": Table(
        columns.LAYER,
        columns.START,
        columns.END,
        columns.TAP,
    ),
    "paths": Table(
        columns.PATH,
        columns.BUNDLE,
        columns.TAPS,
        *columns.UNITS[:2],
        optional=columns.UNITS[2:],
    ),
    "kernel": Table(
        columns.GATING,
        columns.S,
        columns.S_PRIME,
        columns.SHIFT,
        columns.POOLED,
        columns.LEMMA,
        columns.UNPOOLED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Concepts) -> dict[str, pd.DataFrame]:
    """Compute all tables.

    Returns:
        ``equations``, ``variants``, ``connections``, ``paths`` and ``kernel``, see `TABLES`.
    """
    net = settings.convolution
    return {
        "equations": equation_rows(EQUATIONS),
        "variants": pd.DataFrame([variant(*named) for named in regimes().items()]),
        "connections": connections(net),
        "paths": paths(net),
        "kernel": kernels(net),
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


def variant(name: str, network: Regime) -> dict[str, str | int]:
    """One row of Table 3: a network as N(gating weights, slope; weights), and its properties.

    A † marks weights that keep their initial values.
    """
    if network.gating.source == "feature":
        gating_weights = r"\Theta^g_" + _time_or_dagger("feature" in network.learns)
        weights = r"\Theta^w_" + _time_or_dagger("value" in network.learns)
        gates_from = "a network of their own"
        networks = 2
    else:
        gating_weights = r"\Theta_t"
        weights = r"\Theta_t"
        gates_from = "the network itself"
        networks = 1
    if network.gating.beta is None:
        slope = r"\infty"
        gate = r"\{0, 1\}"
    else:
        slope = r"\beta"
        gate = r"(0, 1 + \epsilon)"
    notation = rf"\mathcal{{N}}({gating_weights}, {slope}; {weights})"
    return {
        "network": name,
        "text": as_text(notation),
        "latex": notation,
        "gates_from": gates_from,
        "gate_text": as_text(gate),
        "gate_latex": gate,
        "networks": networks,
        "trained": len(network.learns),
    }


def _time_or_dagger(learns: bool) -> str:
    return "t" if learns else r"\dagger"


def _tap(net: Convolution, below: int, unit: int) -> int | None:
    """The tap (from 0) that connects ``unit`` to the unit ``below``; None if there is none."""
    tap = (below - unit) % net.inputs
    return tap if tap < net.kernel else None


def connections(net: Convolution) -> pd.DataFrame:
    """Connections between units."""
    units = range(net.inputs)
    rows = []
    for layer in range(1, net.layers + 1):
        for start, end in itertools.product(units, units):
            tap = _tap(net, start, end)
            if tap is not None:
                rows.append((layer, start + 1, end + 1, tap + 1))
    return pd.DataFrame(rows, columns=["layer", "start", "end", "tap"])


def paths(net: Convolution) -> pd.DataFrame:
    """Every path from an input to the last layer, and the bundle of paths that share its weights.

    There is a column of units for each layer.
    """
    paths_found = []  # (taps, units) of each
    for units in itertools.product(range(net.inputs), repeat=net.layers + 1):
        found = [_tap(net, below, unit) for below, unit in itertools.pairwise(units)]
        taps = tuple(tap for tap in found if tap is not None)
        if len(taps) == net.layers:
            paths_found.append((taps, units))
    paths_found.sort()

    bundles: dict[tuple[int, ...], int] = {}  # taps -> number
    rows = []
    for number, (taps, units) in enumerate(paths_found, start=1):
        bundle = bundles.setdefault(taps, len(bundles) + 1)
        row = {"path": number, "bundle": bundle, "taps": " ".join(str(tap + 1) for tap in taps)}
        for layer, unit in enumerate(units):
            row[f"unit_{layer}"] = unit + 1
        rows.append(row)
    return pd.DataFrame(rows)


def kernels(net: Convolution) -> pd.DataFrame:
    """The expected output kernel of all pairs of examples, the second one shifted circularly.

    Weights are ±1 with all signs equally likely. Expectations are means over all signs and are
    exact if the examples are integers. The hard gates come from a gating network of the same form;
    all signs of its weights are enumerated too.
    """
    signs = _all_signs(net.layers, net.kernel)  # (W, layers, kernel)
    shifts = range(net.inputs)
    shifted = [np.roll(x, shift) for x in net.examples for shift in shifts]
    inputs = np.array(shifted, float)  # (S, inputs)
    pairs = list(itertools.combinations_with_replacement(range(len(net.examples)), 2))
    network_paths = paths(net)
    rows = []
    for number, gating in enumerate(signs):
        _, gates = _forward(gating, inputs)
        outputs = np.stack([_forward(weights, inputs, gates)[0] for weights in signs])
        means = outputs.mean(axis=2)  # (W, S), ŷ
        pooled = means.T @ means / len(signs)  # (S, S)
        unpooled = np.einsum("wsi,wti->st", outputs, outputs) / len(signs)
        lemma = _by_bundles(net, network_paths, inputs, gates)
        for (first, second), shift in itertools.product(pairs, shifts):
            entry = (first * net.inputs, second * net.inputs + shift)
            row = {
                "gating": number,
                "s": first + 1,
                "s_prime": second + 1,
                "shift": shift,
                "pooled": pooled[entry],
                "lemma": lemma[entry],
                "unpooled": unpooled[entry],
            }
            rows.append(row)
    return pd.DataFrame(rows)


def _all_signs(layers: int, kernel: int) -> np.ndarray:
    """All weights ±1 of a network, (2^(layers kernel), layers, kernel)."""
    flat = list(itertools.product((-1.0, 1.0), repeat=layers * kernel))
    return np.array(flat).reshape(-1, layers, kernel)


def _forward(
    weights: np.ndarray, x: np.ndarray, gates: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Outputs (S, inputs) and gates (layers, S, inputs); without ``gates`` those of ReLU."""
    z = x
    gates_of_layers = []
    for layer, taps in enumerate(weights):
        # q_i = sum_k tap_k z_{i + k}
        q = sum(tap * np.roll(z, -k, axis=1) for k, tap in enumerate(taps))
        gate = (q > 0).astype(float) if gates is None else gates[layer]
        gates_of_layers.append(gate)
        z = q * gate
    return z, np.stack(gates_of_layers)


def _by_bundles(
    net: Convolution, network_paths: pd.DataFrame, x: np.ndarray, gates: np.ndarray
) -> np.ndarray:
    """The sum over bundles of Lemma 4.1: the squared sum of input times activity of its paths."""
    of_layers = [f"unit_{layer}" for layer in range(net.layers + 1)]
    units = network_paths[of_layers].to_numpy() - 1  # (paths, layers + 1)
    features = x[:, units[:, 0]]  # (S, paths)
    for layer in range(net.layers):
        features = features * gates[layer][:, units[:, layer + 1]]
    bundles = network_paths["bundle"].to_numpy()
    parts = []
    for bundle in np.unique(bundles):
        parts.append(features[:, bundles == bundle].sum(axis=1))
    sums = np.stack(parts)  # (bundles, S)
    return sums.T @ sums / net.inputs**2
