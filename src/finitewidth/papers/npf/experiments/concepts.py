"""The explanatory figures and tables of npf, computed without random numbers.

These are the toy network and its paths (Figure 1), the deep gated network (Figure 2), the layouts
of four paths (Figure 4, Table 3), the padded network (Figure 5) and the equations (Tables 1, 4, 5).
"""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.networks.notation import rows_of
from finitewidth.networks.regimes import regime
from finitewidth.papers.npf.experiments import blocks, layouts
from finitewidth.papers.npf.experiments.notations import TABLES

# names of the compared regimes in each version of the paper
REGIMES = {
    "npf": {"DLNPF": "dlnpf", "FLNPF": "flnpf", "FRNPF-II": "frnpf_ii", "FRNPF-DI": "frnpf_di"},
    "npf0": {"DNPFL": "dlnpf", "FLNPF": "flnpf", "FRNPF (II)": "frnpf_ii",
             "FRNPF (DI)": "frnpf_di"},
}  # fmt: skip


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute all tables.

    Args:
        inputs: none.
        settings: ``toy`` (``inputs``, ``width``, ``gates`` by example, layer and unit), ``padding``
            (``width``, ``hidden``, ``copies``), ``beta`` of the soft gates.

    Returns:
        ``toy``, ``paths``, ``overlap``, ``blocks``, ``layouts``, ``successors``, ``padding`` and
        ``equations``.
    """
    four, successors = layouts.listed()
    toy = settings["toy"]
    paths = toy_paths(toy)
    equations = [row for named in TABLES.items() for row in rows_of(*named)]
    return {
        "toy": toy_rows(toy),
        "paths": paths,
        "overlap": overlaps(paths, len(toy["gates"]), toy["inputs"]),
        "blocks": _blocks(settings["beta"]),
        "layouts": four,
        "successors": successors,
        "padding": padding(settings["padding"]),
        "equations": pd.DataFrame(equations),
    }


def toy_paths(toy: Mapping[str, Any]) -> pd.DataFrame:
    """All paths of the toy network in lexicographic order.

    Returns:
        ``path``, its number; ``layer_<l>``, its unit in each layer; ``active_<s>``, whether all
        gates on the path are open for example s.
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
    """The unit whose gate each hidden unit of the wide value network uses (npf Definition C.1).

    Returns:
        ``layer``, ``unit`` (k w + i), ``copy`` (k), ``gate`` (i). Units are counted from 1, copies
        from 0.
    """
    layers, copies, units = (range(sizes[key]) for key in ("hidden", "copies", "width"))
    return pd.DataFrame([
        {"layer": layer + 1, "unit": k * len(units) + i + 1, "copy": k, "gate": i + 1}
        for layer, k, i in itertools.product(layers, copies, units)
    ])  # fmt: skip


def _blocks(beta: float) -> pd.DataFrame:
    """The block diagram of decoupled learning and the regimes, for both versions of the paper."""
    parts = []
    for paper, names in REGIMES.items():
        regimes = {title: regime(name, beta) for title, name in names.items()}
        drawn = blocks.blocks(regime("dlnpf", beta), TABLES[f"{paper}_fig2"].notation)
        rows = pd.DataFrame(blocks.regime_rows(regimes))
        parts.append(pd.concat([drawn, rows]).assign(paper=paper))
    return pd.concat(parts, ignore_index=True)
