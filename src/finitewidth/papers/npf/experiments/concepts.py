"""The explanatory figures and tables of npf, computed without random numbers.

These are the toy network and its paths (Figure 1), the deep gated network (Figure 2), the layouts
of four paths (Figure 4, Table 3), the padded network (Figure 5) and the equations (Tables 1, 4, 5).
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.experiments.equations import equation_rows
from finitewidth.networks.regimes import regime
from finitewidth.papers.npf.experiments.equations import EQUATIONS, PRINTED

# names of the compared regimes in each version of the paper
REGIMES = {
    "npf": {"DLNPF": "dlnpf", "FLNPF": "flnpf", "FRNPF-II": "frnpf_ii", "FRNPF-DI": "frnpf_di"},
    "npf0": {"DNPFL": "dlnpf", "FLNPF": "flnpf", "FRNPF (II)": "frnpf_ii",
             "FRNPF (DI)": "frnpf_di"},
}  # fmt: skip
# their symbols in Figure 2: letters of the networks, units, weights, gates and output
SYMBOLS = {
    "npf": ("fv", "z^{}_x", r"\Theta^{}", "G_x", r"\hat{y}_{\Theta^\mathrm{DGN}}(x)"),
    "npf0": ("FV", "z^{}_{{x,t}}", r"\Theta^{}_t", "G_{x,t}", r"\hat{y}_t(x)"),
}
SHOWN = ("1", "l", "d-1")  # hidden layers drawn; dots stand for the others
STARTS = {"independent": "at random", "value": "as the value network",
          "pretrained": "from a trained ReLU network"}  # fmt: skip
PATHS = 4
NODES = 4  # per layer; four paths use at most four
Way = tuple[tuple[int, ...], tuple[int, ...]]  # start and end nodes of the paths through a layer


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute all tables; each is described where it is made."""
    toy, ways = settings["toy"], weight_pairings()
    paths, letters = toy_paths(toy), layouts(ways)
    blocks = [
        pd.DataFrame(_blocks(paper, settings["beta"])).assign(paper=paper) for paper in SYMBOLS
    ]
    return {
        "toy": toy_rows(toy),
        "paths": paths,
        "overlap": overlaps(paths, len(toy["gates"]), toy["inputs"]),
        "blocks": pd.concat(blocks, ignore_index=True),
        "layouts": _examples(ways, letters),
        "successors": _successors(ways, letters),
        "padding": padding(settings["padding"]),
        "equations": equation_rows(EQUATIONS, PRINTED),
    }


def toy_paths(toy: Mapping[str, Any]) -> pd.DataFrame:
    """All paths of the toy network in lexicographic order.

    ``layer_<l>`` is the unit in each layer; ``active_<s>`` says whether all gates on the path are
    open for example s.
    """
    hidden = len(toy["gates"][0])
    sizes = [toy["inputs"], *[toy["width"]] * hidden]
    rows = []
    for number, units in enumerate(itertools.product(*map(range, sizes)), start=1):
        row = {"path": number} | {f"layer_{layer}": unit + 1 for layer, unit in enumerate(units)}
        for example, gates in enumerate(toy["gates"], start=1):
            on = [layer[unit] for layer, unit in zip(gates, units[1:], strict=True)]
            row[f"active_{example}"] = int(all(on))
        rows.append(row)
    return pd.DataFrame(rows)


def overlaps(paths: pd.DataFrame, examples: int, inputs: int) -> pd.DataFrame:
    """Lambda(s, s'), the number of shared active paths divided by the number of inputs.

    Source: npf Definition 2.2.
    """
    rows = []
    for s, other in itertools.product(range(1, examples + 1), repeat=2):
        shared = paths[(paths[f"active_{s}"] == 1) & (paths[f"active_{other}"] == 1)]["path"]
        rows.append({"s": s, "s_prime": other, "overlap": len(shared) / inputs,
                     "shared": " ".join(map(str, shared))})  # fmt: skip
    return pd.DataFrame(rows)


def toy_rows(toy: Mapping[str, Any]) -> pd.DataFrame:
    """Nodes (layer, unit) and edges (layer, start, end) of the toy network.

    The column ``active_<s>`` is the gate of a node, or whether an edge lies on an active path, for
    example s.
    """
    sizes = [toy["inputs"], *[toy["width"]] * len(toy["gates"][0]), 1]
    # input and output nodes have no gate and count as open
    opened = [[[1] * sizes[0], *gates, [1]] for gates in toy["gates"]]
    passable = [int(all(any(layer) for layer in gates)) for gates in opened]
    rows = []
    for layer, size in enumerate(sizes):
        for unit in range(size):
            gate = {f"active_{s}": on[layer][unit] for s, on in enumerate(opened, start=1)}
            rows.append({"kind": "node", "layer": layer, "end": unit + 1, **gate})
    for layer, (below, above) in enumerate(itertools.pairwise(sizes), start=1):
        for start, end in itertools.product(range(below), range(above)):
            gate = {
                f"active_{s}": on[layer - 1][start] * on[layer][end] * through
                for s, (on, through) in enumerate(zip(opened, passable, strict=True), start=1)
            }
            place = {"layer": layer, "start": start + 1, "end": end + 1}
            rows.append({"kind": "edge", **place, **gate})
    return pd.DataFrame(rows)


def padding(sizes: Mapping[str, int]) -> pd.DataFrame:
    """The unit whose gate i each hidden unit k w + i of copy k uses (npf Definition C.1).

    Units are counted from 1, copies from 0.
    """
    layers, copies, units = (range(sizes[key]) for key in ("hidden", "copies", "width"))
    return pd.DataFrame([
        {"layer": layer + 1, "unit": k * len(units) + i + 1, "copy": k, "gate": i + 1}
        for layer, k, i in itertools.product(layers, copies, units)
    ])  # fmt: skip


def _blocks(paper: str, beta: float) -> Iterator[dict[str, str]]:
    """The block diagram of decoupled learning, and a row for each regime that is compared.

    Gates point from the feature network, which makes them, to the value network. A gradient points
    to each network that learns. A regime has its gates as the label, the start of the feature
    network, and the networks that learn.
    """
    letters, unit, weight, gate, output = SYMBOLS[paper]

    def node(name: str, network: str, layer: str, label: str) -> dict[str, str]:
        return {"kind": "node", "name": name, "network": network, "layer": layer, "label": label}

    def arrow(kind: str, start: str, end: str, network: str, label: str) -> dict[str, str]:
        return {"kind": kind, "start": start, "end": end, "network": network, "label": label}

    yield node("x", "", "0", "x")
    for network, letter in zip(("feature", "value"), letters, strict=True):
        for before, layer in zip(("x", *SHOWN), SHOWN, strict=False):
            start = before if before == "x" else f"{network} {before}"
            yield node(f"{network} {layer}", network, layer, f"{unit.format(letter)}({layer})")
            label = f"{weight.format(letter)}({layer})"
            yield arrow("forward", start, f"{network} {layer}", network, label)
    yield node("y", "value", "d", output)
    yield arrow("forward", "value d-1", "y", "value", f"{weight.format(letters[1])}(d)")
    for layer in SHOWN:
        yield arrow("gate", f"feature {layer}", f"value {layer}", "feature", f"{gate}({layer})")
    yield arrow("gradient", "y", "feature", "feature", r"\langle \partial \phi,\, v \rangle")
    yield arrow("gradient", "y", "value", "value", r"\langle \phi,\, \partial v \rangle")
    for title, name in REGIMES[paper].items():
        own = regime(name, beta)
        learns = " and ".join(part for part in ("feature", "value") if part in own.learns)
        gates = "hard" if own.gating.beta is None else "soft"
        yield {"kind": "regime", "name": title, "start": STARTS[own.feature_start],
               "label": gates, "network": learns}  # fmt: skip


def weight_pairings() -> list[Way]:
    """All ways of four paths through a layer that use every weight an even number of times.

    For weights ±sigma the mean of a product over four paths is not zero only for these (npf
    appendix B, Lemma B.2).
    """
    weights = list(itertools.product(range(NODES), repeat=2))
    return [
        tuple(zip(*taken, strict=True))
        for taken in itertools.product(weights, repeat=PATHS)
        if all(count % 2 == 0 for count in Counter(taken).values())
    ]


def layouts(ways: list[Way]) -> list[str]:
    """The letter of the layout of each way: ways that differ only by names of nodes and paths."""
    # (a) one weight; then by the number of start nodes: paths that split, merge, stay apart
    kinds = [
        (len(set(zip(starts, ends, strict=True))), len(set(starts)), len(set(ends)))
        for starts, ends in ways
    ]
    letters = {kind: chr(ord("a") + number) for number, kind in enumerate(sorted(set(kinds)))}
    return [letters[kind] for kind in kinds]


def _examples(ways: list[Way], letters: list[str]) -> pd.DataFrame:
    """Each layout: numbers of nodes, weights and ways, and the paths of its first way."""
    rows = []
    for letter in sorted(set(letters)):
        same = [way for way, other in zip(ways, letters, strict=True) if other == letter]
        starts, ends = min(same)
        taken = list(zip(starts, ends, strict=True))
        common = {"layout": letter, "starts": len(set(starts)), "ends": len(set(ends)),
                  "weights": len(set(taken)), "ways": len(same), "nodes": NODES}  # fmt: skip
        for path, (start, end) in enumerate(taken, start=1):
            rows.append({**common, "path": path, "start": start + 1, "end": end + 1})
    return pd.DataFrame(rows)


def _successors(ways: list[Way], letters: list[str]) -> pd.DataFrame:
    """Number of pairs of ways in consecutive layers, by the letters of their layouts.

    Every path starts where it ended in the layer before.
    """
    starting: dict[tuple[int, ...], Counter] = {}
    for (starts, _), letter in zip(ways, letters, strict=True):
        starting.setdefault(starts, Counter())[letter] += 1
    pairs: Counter = Counter()
    for (_, ends), letter in zip(ways, letters, strict=True):
        for following, count in starting.get(ends, Counter()).items():
            pairs[letter, following] += count
    rows = [{"layout": a, "next": b, "pairs": pairs[a, b]} for a, b in sorted(pairs)]
    return pd.DataFrame(rows, columns=["layout", "next", "pairs"]).astype({"pairs": np.int64})
