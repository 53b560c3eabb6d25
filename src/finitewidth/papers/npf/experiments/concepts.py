"""The explanatory figures and tables of npf, computed without random numbers.

These are the toy network and its paths (Figure 1), the deep gated network (Figure 2), the layouts
of four paths (Figure 4, Table 3), the padded network (Figure 5) and the equations (Tables 1, 4, 5).
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from string import ascii_lowercase
from typing import Any

import pandas as pd

from finitewidth.measures import equations
from finitewidth.measures.equations import Rows, equation_rows
from finitewidth.networks.regimes import regime
from finitewidth.papers.npf.columns import concepts as columns
from finitewidth.papers.npf.columns.networks import PAPER
from finitewidth.papers.npf.settings import Concepts, DrawnPadding, Toy
from finitewidth.records.tables import Table

# names of the compared regimes in each version of the paper
REGIMES = {
    "npf": {"DLNPF": "dlnpf", "FLNPF": "flnpf", "FRNPF-II": "frnpf_ii", "FRNPF-DI": "frnpf_di"},
    "npf0": {
        "DNPFL": "dlnpf",
        "FLNPF": "flnpf",
        "FRNPF (II)": "frnpf_ii",
        "FRNPF (DI)": "frnpf_di",
    },
}
# their symbols in Figure 2: letters of the networks, units, weights, gates and output
SYMBOLS = {
    "npf": ("fv", "z^{}_x", r"\Theta^{}", "G_x", r"\hat{y}_{\Theta^\mathrm{DGN}}(x)"),
    "npf0": ("FV", "z^{}_{{x,t}}", r"\Theta^{}_t", "G_{x,t}", r"\hat{y}_t(x)"),
}
SHOWN = ("1", "l", "d-1")  # hidden layers drawn; dots stand for the others
STARTS: dict[str | None, str] = {
    "independent": "at random",
    "value": "as the value network",
    "pretrained": "from a trained ReLU network",
}
PATHS = 4
NODES = 4  # per layer; four paths use at most four
TABLES = {
    "toy": Table(
        columns.KIND,
        columns.LAYER,
        columns.END,
        *columns.ACTIVE,
        columns.START,
    ),
    "paths": Table(
        columns.PATH,
        *columns.LAYERS_OF_PATH,
        *columns.ACTIVE_PATHS,
    ),
    "overlap": Table(
        columns.S,
        columns.S_PRIME,
        columns.OVERLAP,
        columns.SHARED,
    ),
    "blocks": Table(
        columns.BLOCK,
        columns.BLOCK_NAME,
        columns.BLOCK_NETWORK,
        columns.BLOCK_LAYER,
        columns.LABEL,
        columns.BLOCK_START,
        columns.BLOCK_END,
        PAPER,
    ),
    "layouts": Table(
        columns.LAYOUT,
        columns.STARTS,
        columns.ENDS,
        columns.WEIGHTS,
        columns.WAYS,
        columns.NODES,
        columns.PATH_OF_FOUR,
        columns.PATH_START,
        columns.PATH_END,
    ),
    "successors": Table(
        columns.LAYOUT,
        columns.NEXT,
        columns.SUCCESSIONS,
    ),
    "padding": Table(
        columns.PADDED_LAYER,
        columns.PADDED_UNIT,
        columns.COPY,
        columns.GATE,
    ),
    "equations": equations.TABLE,
}
Way = tuple[tuple[int, ...], tuple[int, ...]]  # start and end nodes of the paths through a layer
# each row: the quantity that an equation defines, its network (empty if there is only one), LaTeX
FEATURE, VALUE = "Feature network (NPF)", "Value network (NPV)"
_DECOUPLED = [
    ("Input", FEATURE, "z^f_x(0) = x"),
    ("Pre-activation", FEATURE, r"q^f_x(i, l) = \sum_j \Theta^f(i, j, l) \cdot z^f_x(j, l-1)"),
    ("Input", VALUE, "z^v_x(0) = x"),
    ("Pre-activation", VALUE, r"q^v_x(i, l) = \sum_j \Theta^v(i, j, l) \cdot z^v_x(j, l-1)"),
    ("Hard gate", FEATURE, r"G_x(i, l) = \mathbf{1}_{\{q^f_x(i, l) > 0\}}"),
    ("Soft gate", FEATURE, r"G_x(i, l) = \frac{1}{1 + \exp(-\beta \cdot q^f_x(i, l))}"),
    ("Hidden output", FEATURE, r"z^f_x(i, l) = q^f_x(i, l) \cdot \mathbf{1}_{\{q^f_x(i, l) > 0\}}"),
    ("Hidden output", VALUE, r"z^v_x(i, l) = q^v_x(i, l) \cdot G_x(i, l)"),
    (
        "Output",
        VALUE,
        r"\hat{y}_{\Theta^\mathrm{DGN}}(x) = \sum_j \Theta^v(1, j, d) \cdot z^v_x(j, d-1)",
    ),
]
EQUATIONS: dict[str, Rows] = {
    "npf_table1": [
        ("Input", "", r"z_{x,\Theta}(0) = x"),
        (
            "Pre-activation",
            "",
            r"q_{x,\Theta}(i, l) = \sum_j \Theta(i, j, l) \cdot z_{x,\Theta}(j, l-1)",
        ),
        ("Gate", "", r"G_{x,\Theta}(i, l) = \mathbf{1}_{\{q_{x,\Theta}(i, l) > 0\}}"),
        ("Hidden output", "", r"z_{x,\Theta}(i, l) = q_{x,\Theta}(i, l) \cdot G_{x,\Theta}(i, l)"),
        ("Output", "", r"\hat{y}_\Theta(x) = \sum_j \Theta(1, j, d) \cdot z_{x,\Theta}(j, d-1)"),
        (
            "note",
            "",
            r"$l \in [d-1]$ and $i \in [w]$; $j \in [d_\mathrm{in}]$ for $l = 1$, else $j \in [w]$",
        ),
    ],
    "npf0_table1": [
        ("Input", "", r"z_{x,\Theta}(0) = x"),
        ("Pre-activation", "", r"q_{x,\Theta}(l, i) = \Theta(l, \cdot, i)^\top z_{x,\Theta}(l-1)"),
        (
            "Gate",
            "",
            r"G_{x,\Theta}(l, i) = \gamma_r(q_{x,\Theta}(l, i)) = "
            r"\mathbf{1}_{\{q_{x,\Theta}(l, i) > 0\}}",
        ),
        (
            "Hidden output",
            "",
            r"z_{x,\Theta}(l, i) = \chi_r(q_{x,\Theta}(l, i)) = "
            r"q_{x,\Theta}(l, i) \cdot G_{x,\Theta}(l, i)",
        ),
        ("Output", "", r"\hat{y}_\Theta(x) = \Theta(d)^\top z_{x,\Theta}(d-1)"),
        ("note", "", r"$l \in [d-1]$ and $i \in [w]$"),
    ],
    "npf_fig2": _DECOUPLED,
    "npf0_fig2": [
        ("Input", FEATURE, "z^F_{x,t}(0) = x"),
        (
            "Pre-activation",
            FEATURE,
            r"q^F_{x,t}(l, i) = \Theta^F_t(l, \cdot, i)^\top z^F_{x,t}(l-1)",
        ),
        ("Input", VALUE, "z^V_{x,t}(0) = x"),
        ("Pre-activation", VALUE, r"q^V_{x,t}(l, i) = \Theta^V_t(l, \cdot, i)^\top z^V_{x,t}(l-1)"),
        ("Hard gate", FEATURE, r"G_{x,t}(l, i) = \mathbf{1}_{\{q^F_{x,t}(l, i) > 0\}}"),
        ("Soft gate", FEATURE, r"G_{x,t}(l, i) = \frac{1}{1 + \exp(-\beta \cdot q^F_{x,t}(l, i))}"),
        (
            "Hidden output",
            FEATURE,
            r"z^F_{x,t}(l, i) = q^F_{x,t}(l, i) \cdot \mathbf{1}_{\{q^F_{x,t}(l, i) > 0\}}",
        ),
        ("Hidden output", VALUE, r"z^V_{x,t}(l, i) = q^V_{x,t}(l, i) \cdot G_{x,t}(l, i)"),
        ("Output", VALUE, r"\hat{y}_t(x) = \Theta^V_t(d)^\top z^V_{x,t}(d-1)"),
    ],
    "npf_table4": [
        *_DECOUPLED[:6],
        ("Padding", VALUE, r"G_x(kw + i, l) = G_x(i, l),\quad\allowbreak {k = 0, \dots, m-1}"),
        *_DECOUPLED[6:8],
        (
            "Output",
            VALUE,
            r"\hat{y}_{\Theta^{\mathrm{DGN}^{(m)}}}(x) = "
            r"\sum_j \Theta^v(1, j, d) \cdot z^v_x(j, d-1)",
        ),
        (
            "note",
            "",
            r"$l \in [d-1]$. Gates and feature network: $i \in [w]$; value network: $i \in [mw]$; "
            "$j$ runs over the layer below",
        ),
    ],
    "npf_table5": [
        ("Input", "", r"z_{s,\Theta}(0) = 1"),
        (
            "Pre-activation",
            "",
            r"q_{s,\Theta}(i, l) = \sum_j \Theta(i, j, l) \cdot z_{s,\Theta}(j, l-1)",
        ),
        ("Hidden output", "", r"z_{s,\Theta}(i, l) = q_{s,\Theta}(i, l) \cdot G_s(i, l)"),
        ("Output", "", r"\hat{y}_\Theta(s) = \sum_j \Theta(1, j, d) \cdot z_{s,\Theta}(j, d-1)"),
        (
            "note",
            "",
            r"$l \in [d-1]$ and $i \in [w]$; $j = 1$ for $l = 1$, else $j \in [w]$. Gates are "
            r"given: $G_s(i, l) \sim \mathrm{Ber}(\mu)$, independent and fixed",
        ),
    ],
}
# right-hand sides that the paper prints differently, by table, equation and network
PRINTED = {
    ("npf_table1", "Output", ""): r"\sum_j \Theta(1, j, d-1) \cdot z_{x,\Theta}(j, d-1)",
    ("npf_table4", "Pre-activation", FEATURE): r"\sum_j \Theta^f(i, j, l) \cdot z_x(j, l-1)",
    ("npf_table4", "Soft gate", FEATURE): r"\frac{1}{1 + \exp(-\beta \cdot q^f_x(i, l) > 0)}",
    ("npf_table4", "Output", VALUE): r"\sum_j \Theta^v(1, j, l) \cdot z^v_x(j, d-1)",
}


def measure(inputs: Mapping[str, Any], settings: Concepts) -> dict[str, pd.DataFrame]:
    """Compute all tables, see `TABLES`."""
    toy = settings.toy
    paths = toy_paths(toy)
    ways = weight_pairings()
    letters = layouts(ways)
    blocks = [pd.DataFrame(_blocks(paper, settings.beta)).assign(paper=paper) for paper in SYMBOLS]
    return {
        "toy": toy_rows(toy),
        "paths": paths,
        "overlap": overlaps(paths, len(toy.gates), toy.inputs),
        "blocks": pd.concat(blocks, ignore_index=True),
        "layouts": _examples(ways, letters),
        "successors": _successors(ways, letters),
        "padding": padding(settings.padding),
        "equations": equation_rows(EQUATIONS, PRINTED),
    }


def _numbered_gates(toy: Toy) -> Iterator[tuple[int, list[list[int]]]]:
    """Number of each example, from 1, and its gates of the hidden layers."""
    yield from enumerate(toy.gates, start=1)


def toy_paths(toy: Toy) -> pd.DataFrame:
    """All paths of the toy network in lexicographic order."""
    hidden_layers = len(toy.gates[0])
    sizes = [toy.inputs, *[toy.width] * hidden_layers]
    rows = []
    for number, units in enumerate(itertools.product(*map(range, sizes)), start=1):
        row = {"path": number}
        for layer, unit in enumerate(units):
            row[f"layer_{layer}"] = unit + 1
        for example, gates in _numbered_gates(toy):
            is_open = [layer[unit] for layer, unit in zip(gates, units[1:], strict=True)]
            row[f"active_{example}"] = int(all(is_open))
        rows.append(row)
    return pd.DataFrame(rows)


def overlaps(paths: pd.DataFrame, examples: int, inputs: int) -> pd.DataFrame:
    """Lambda(s, s'), the shared active paths over the number of inputs (npf Definition 2.2)."""
    rows = []
    for s, other in itertools.product(range(1, examples + 1), repeat=2):
        are_active = (paths[f"active_{s}"] == 1) & (paths[f"active_{other}"] == 1)
        shared = paths.loc[are_active, "path"]
        rows.append(
            {
                "s": s,
                "s_prime": other,
                "overlap": len(shared) / inputs,
                "shared": " ".join(map(str, shared)) or None,
            }
        )
    return pd.DataFrame(rows)


def toy_rows(toy: Toy) -> pd.DataFrame:
    """Nodes (layer, unit) and edges (layer, start, end) of the toy network."""
    hidden_layers = len(toy.gates[0])
    sizes = [toy.inputs, *[toy.width] * hidden_layers, 1]
    # example -> gates of all layers; input and output nodes have no gate and count as open
    opened = {s: [[1] * sizes[0], *gates, [1]] for s, gates in _numbered_gates(toy)}
    rows = []
    for layer, size in enumerate(sizes):
        for unit in range(size):
            row = {"kind": "node", "layer": layer, "end": unit + 1}
            for s, gates in opened.items():
                row[f"active_{s}"] = gates[layer][unit]
            rows.append(row)
    for layer, (below, above) in enumerate(itertools.pairwise(sizes), start=1):
        for start, end in itertools.product(range(below), range(above)):
            row = {"kind": "edge", "layer": layer, "start": start + 1, "end": end + 1}
            for s, gates in opened.items():
                both_open = gates[layer - 1][start] * gates[layer][end]
                row[f"active_{s}"] = both_open * _some_path_is_open(gates)
            rows.append(row)
    return pd.DataFrame(rows)


def _some_path_is_open(gates: list[list[int]]) -> int:
    return int(all(any(layer) for layer in gates))


def padding(sizes: DrawnPadding) -> pd.DataFrame:
    """The unit whose gate i each hidden unit k w + i of copy k uses (npf Definition C.1)."""
    width = sizes.width
    rows = []
    for layer in range(1, sizes.hidden + 1):
        for copy, i in itertools.product(range(sizes.copies), range(1, width + 1)):
            rows.append({"layer": layer, "unit": copy * width + i, "copy": copy, "gate": i})
    return pd.DataFrame(rows)


Block = dict[str, str | None]


def _node(name: str, network: str | None, layer: str, label: str) -> Block:
    return {"kind": "node", "name": name, "network": network, "layer": layer, "label": label}


def _arrow(kind: str, start: str, end: str, network: str, label: str) -> Block:
    return {"kind": kind, "start": start, "end": end, "network": network, "label": label}


def _blocks(paper: str, beta: float) -> Iterator[Block]:
    """The block diagram of decoupled learning, and a row for each regime that is compared.

    Gates point from the feature network, which makes them, to the value network. A gradient points
    to each network that learns. A regime has its gates as the label, the start of the feature
    network, and the networks that learn.
    """
    letters, unit, weight, gate, output = SYMBOLS[paper]
    yield _node("x", None, "0", "x")
    for network, letter in zip(("feature", "value"), letters, strict=True):
        below = "x"
        for layer in SHOWN:
            name = f"{network} {layer}"
            yield _node(name, network, layer, f"{unit.format(letter)}({layer})")
            yield _arrow("forward", below, name, network, f"{weight.format(letter)}({layer})")
            below = name
    yield _node("y", "value", "d", output)
    yield _arrow("forward", "value d-1", "y", "value", f"{weight.format(letters[1])}(d)")
    for layer in SHOWN:
        yield _arrow("gate", f"feature {layer}", f"value {layer}", "feature", f"{gate}({layer})")
    yield _arrow("gradient", "y", "feature", "feature", r"\langle \partial \phi,\, v \rangle")
    yield _arrow("gradient", "y", "value", "value", r"\langle \phi,\, \partial v \rangle")
    for title, name in REGIMES[paper].items():
        learnt = regime(name, beta)
        networks = [network for network in ("feature", "value") if network in learnt.learns]
        yield {
            "kind": "regime",
            "name": title,
            "start": STARTS[learnt.feature_start],
            "label": "hard" if learnt.gating.beta is None else "soft",
            "network": " and ".join(networks) or None,
        }


def weight_pairings() -> list[Way]:
    """All ways of four paths through a layer that use every weight an even number of times.

    For weights ±sigma the mean of a product over four paths is not zero only for these (npf
    appendix B, Lemma B.2).
    """
    weights = list(itertools.product(range(NODES), repeat=2))  # (start, end)
    ways = []
    for taken in itertools.product(weights, repeat=PATHS):
        if all(count % 2 == 0 for count in Counter(taken).values()):
            starts, ends = zip(*taken, strict=True)
            ways.append((starts, ends))
    return ways


def layouts(ways: list[Way]) -> list[str]:
    """The letter of the layout of each way: ways that differ only by names of nodes and paths."""
    # numbers of weights, start nodes and end nodes: (a) one weight; then by the number of start
    # nodes: paths that split, merge, stay apart
    kinds = []
    for starts, ends in ways:
        weights = set(zip(starts, ends, strict=True))
        kinds.append((len(weights), len(set(starts)), len(set(ends))))
    letters = dict(zip(sorted(set(kinds)), ascii_lowercase, strict=False))
    return [letters[kind] for kind in kinds]


def _examples(ways: list[Way], letters: list[str]) -> pd.DataFrame:
    """Each layout: numbers of nodes, weights and ways, and the paths of its first way."""
    rows = []
    for letter in sorted(set(letters)):
        same = [way for way, other in zip(ways, letters, strict=True) if other == letter]
        starts, ends = min(same)
        weights = list(zip(starts, ends, strict=True))  # one for each path
        layout = {
            "layout": letter,
            "starts": len(set(starts)),
            "ends": len(set(ends)),
            "weights": len(set(weights)),
            "ways": len(same),
            "nodes": NODES,
        }
        for path, (start, end) in enumerate(weights, start=1):
            rows.append(layout | {"path": path, "start": start + 1, "end": end + 1})
    return pd.DataFrame(rows)


def _successors(ways: list[Way], letters: list[str]) -> pd.DataFrame:
    """Number of pairs of ways in consecutive layers, by the letters of their layouts.

    Every path starts where it ended in the layer before.
    """
    table = pd.DataFrame(ways, columns=["starts", "ends"]).assign(layout=letters)
    following = table.rename(columns={"layout": "next"})
    pairs = table.merge(following, left_on="ends", right_on="starts")
    return pairs.groupby(["layout", "next"]).size().reset_index(name="pairs")
