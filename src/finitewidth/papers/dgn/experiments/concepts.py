"""The explanatory figures and tables of dgn, computed without random numbers.

These are the equations (Tables 1, 2, 5), the networks compared (Table 3), and the circular
convolution whose paths share their strengths (Figure 9, Lemma 4.1).
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.measures.equations import Rows, as_text, equation_rows
from finitewidth.networks.regimes import Regime, regime

GATING, WEIGHT = "Gating network", "Weight network"
# numbers of ``inputs``, weights of the ``kernel`` and ``layers`` of the circular convolution
Net = Mapping[str, Any]
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


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute all tables; each is described where it is made."""
    net = settings["convolution"]
    return {
        "equations": equation_rows(EQUATIONS),
        "variants": pd.DataFrame([variant(*named) for named in regimes().items()]),
        "connections": connections(net),
        "paths": paths(net),
        "kernel": kernels(net, net["examples"]),
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
    """One row of Table 3: a network as N(gating weights, slope; weights), and its properties.

    A † marks weights that keep their initial values.
    """
    soft = network.gating.beta is not None
    decoupled = network.gating.source == "feature"
    gates, weights = (
        rf"\Theta^{letter}_" + ("t" if part in network.learns else r"\dagger")
        if decoupled
        else r"\Theta_t"
        for letter, part in (("g", "feature"), ("w", "value"))
    )
    slope, gate = (r"\beta", r"(0, 1 + \epsilon)") if soft else (r"\infty", r"\{0, 1\}")
    notation = rf"\mathcal{{N}}({gates}, {slope}; {weights})"
    return {
        "network": name,
        "text": as_text(notation),
        "latex": notation,
        "gates_from": "a network of their own" if decoupled else "the network itself",
        "gate_text": as_text(gate),
        "gate_latex": gate,
        "networks": 1 + decoupled,
        "trained": len(network.learns),
    }


def _tap(net: Net, below: int, unit: int) -> int | None:
    """The tap (from 0) that connects ``unit`` to the unit ``below``; None if there is none."""
    tap = (below - unit) % net["inputs"]
    return tap if tap < net["kernel"] else None


def connections(net: Net) -> pd.DataFrame:
    """Connections between units: ``layer``, ``start``, ``end``, ``tap``, all counted from 1."""
    units = range(net["inputs"])
    rows = [
        (layer, start + 1, end + 1, tap + 1)
        for layer, start, end in itertools.product(range(1, net["layers"] + 1), units, units)
        if (tap := _tap(net, start, end)) is not None
    ]
    return pd.DataFrame(rows, columns=["layer", "start", "end", "tap"])


def paths(net: Net) -> pd.DataFrame:
    """Every path from an input to the last layer, and the bundle of paths that share its weights.

    ``path`` and ``bundle`` are counted from 1, bundles in the order of their weights. ``taps`` are
    those of the layers, e.g. ``1 2 1``; a column ``unit_0``, ``unit_1``, … per layer has the units.
    """
    walks = []
    for units in itertools.product(range(net["inputs"]), repeat=net["layers"] + 1):
        taps = [_tap(net, *pair) for pair in itertools.pairwise(units)]
        if None not in taps:
            walks.append((tuple(taps), units))
    bundles = {taps: number for number, taps in enumerate(sorted({w[0] for w in walks}), start=1)}
    return pd.DataFrame(
        [
            {
                "path": number,
                "bundle": bundles[taps],
                "taps": " ".join(str(tap + 1) for tap in taps),
                **{f"unit_{layer}": unit + 1 for layer, unit in enumerate(units)},
            }
            for number, (taps, units) in enumerate(sorted(walks), start=1)
        ]
    )


def kernels(net: Net, examples: Sequence[Sequence[int]]) -> pd.DataFrame:
    """The expected output kernel of all pairs of examples, the second one shifted circularly.

    Weights are ±1 with all signs equally likely. Expectations are means over all signs and are
    exact if the examples are integers. The hard gates come from a gating network of the same form,
    number ``gating``; all signs of its weights are enumerated too. ``pooled`` is E[ŷ(x) ŷ(x')],
    ``lemma`` the sum over bundles of Lemma 4.1, ``unpooled`` E<x(L), x'(L)> without the average.
    """
    flat = list(itertools.product((-1.0, 1.0), repeat=net["layers"] * net["kernel"]))
    signs = np.array(flat).reshape(-1, net["layers"], net["kernel"])  # all weights
    shifts = range(net["inputs"])
    inputs = np.array([np.roll(x, shift) for x in examples for shift in shifts], float)
    pairs = list(itertools.combinations_with_replacement(range(len(examples)), 2))
    walks, rows = paths(net), []
    for number, gating in enumerate(signs):
        _, gates = _forward(gating, inputs)
        outputs = np.stack([_forward(weights, inputs, gates)[0] for weights in signs])
        means = outputs.mean(axis=2)
        pooled = means.T @ means / len(signs)
        unpooled = np.einsum("wsi,wti->st", outputs, outputs) / len(signs)
        lemma = _by_bundles(net, walks, inputs, gates)
        for (a, b), shift in itertools.product(pairs, shifts):
            at = a * net["inputs"], b * net["inputs"] + shift
            rows.append(
                {
                    "gating": number,
                    "s": a + 1,
                    "s_prime": b + 1,
                    "shift": shift,
                    "pooled": pooled[at],
                    "lemma": lemma[at],
                    "unpooled": unpooled[at],
                }
            )
    return pd.DataFrame(rows)


def _forward(
    weights: np.ndarray, x: np.ndarray, gates: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Outputs (S, inputs) and gates (layers, S, inputs); without ``gates`` those of ReLU."""
    z, opened = x, []
    for layer, taps in enumerate(weights):
        # unit i adds unit i + k times tap k
        q = sum(tap * np.roll(z, -k, axis=1) for k, tap in enumerate(taps))
        opened.append((q > 0).astype(float) if gates is None else gates[layer])
        z = q * opened[-1]
    return z, np.stack(opened)


def _by_bundles(net: Net, walks: pd.DataFrame, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """The sum over bundles of Lemma 4.1: the squared sum of input times activity of its paths."""
    units = walks[[f"unit_{layer}" for layer in range(net["layers"] + 1)]].to_numpy() - 1
    features = x[:, units[:, 0]]
    for layer in range(net["layers"]):
        features = features * gates[layer][:, units[:, layer + 1]]
    bundles = walks["bundle"].to_numpy()
    sums = np.stack([features[:, bundles == b].sum(axis=1) for b in np.unique(bundles)])
    return sums.T @ sums / net["inputs"] ** 2
