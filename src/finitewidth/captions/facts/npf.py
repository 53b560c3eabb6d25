"""Facts of the captions of ``npf``; those of ``npf0`` use some of them."""

from typing import Any

import numpy as np
import pandas as pd

from finitewidth.captions.facts import Tables, memorisation
from finitewidth.captions.facts.rows import (
    ERRORS,
    falls,
    only,
    rises,
    span,
    values_of,
    where,
)
from finitewidth.captions.render import listed

ROWS = {"fc": "FC", "vconv": "VCONV", "gconv": "GCONV"}
OPTIMISERS = {"sgd": "SGD", "adam": "Adam"}
REGIMES = {"frnpf_ii": "FRNPF (II)", "frnpf_di": "FRNPF (DI)", "dlnpf": "DLNPF",
           "flnpf": "FLNPF", "relu": "ReLU"}  # fmt: skip
CHANCE = "by chance"
TOP = 10  # eigenvectors whose share of the labels is told
LITTLE, MOST = 0.1, 0.5  # shares of the labels
PERCENT = 100  # accuracies of tables are in percent
ALIKE = 0.01  # difference up to which correlations count as the same


def npf_fig1(tables: Tables) -> dict[str, Any]:
    """Sizes of the toy network, and the paths that the first examples share."""
    toy, paths, overlap = tables["toy"], tables["paths"], tables["overlap"]
    nodes = where(toy, kind="node")
    sizes = nodes.groupby("layer").size()
    shared = where(overlap, s=1, s_prime=2)["shared"].dropna()
    return {
        "inputs": int(sizes.iloc[0]),
        "hidden": len(sizes) - 2,
        "width": int(sizes.iloc[1]),
        "paths": len(paths),
        "examples": sum(name.startswith("active_") for name in paths),
        "shared": listed(str(shared.iloc[0]).split()) if len(shared) else None,
    }


def npf_fig4(tables: Tables) -> dict[str, Any]:
    """Numbers of paths, layouts and nodes of which all ways were listed."""
    layouts = tables["layouts"]
    return {
        "paths": int(layouts["path"].max()),
        "layouts": int(layouts["layout"].nunique()),
        "nodes": int(layouts["nodes"].iloc[0]),
    }


npf_table3 = npf_fig4


def npf_table4(tables: Tables) -> dict[str, Any]:
    """How many equations are printed otherwise than they stand in the table."""
    rows = where(tables["equations"], artifact="npf_table4")
    return {"misprints": int(rows["printed_text"].notna().sum())}


def npf_table2(tables: Tables) -> dict[str, Any]:
    """Numbers of regimes and of networks with their optimisers."""
    rows = where(tables["rows"], paper="npf")
    return {"regimes": int(rows["regime"].nunique()), "rows": int(rows["row"].nunique())}


def differing_cells(rows: pd.DataFrame) -> dict[str, Any]:
    """Which of the printed numbers of Table 2 differ between the versions of the paper."""
    table = rows.pivot_table(index=["row", "regime"], columns="paper", values="reported_mean")
    other = table.index[(table["npf"] != table["npf0"]).to_numpy()]
    names = [f"{_row_name(row)}, {REGIMES[regime]}" for row, regime in other]
    return {"cells": len(table), "same": len(table) - len(other), "other": names}


def _row_name(row: str) -> str:
    network, _, optimiser = row.partition("_")
    return f"{ROWS[network]} with {OPTIMISERS[optimiser]}"


def nu_over_time(nu: pd.DataFrame) -> dict[str, Any]:
    """The mean of nu at the first and at the last kept epoch that have one."""
    nu = nu.dropna(subset=["x", "y"]).sort_values("x")
    known = len(nu) > 1
    return {
        "first_nu": float(nu["y"].iloc[0]) if known else None,
        "last_nu": float(nu["y"].iloc[-1]) if known else None,
        "last_epoch": int(nu["x"].iloc[-1]) if known else None,
        "nu_falls": known and bool(nu["y"].iloc[-1] < nu["y"].iloc[0]),
    }


def npf_fig3(tables: Tables) -> dict[str, Any]:
    """Accuracy with gates of the first and the last stage, and nu over time."""
    stages = where(tables["stages"], series="FLNPF").dropna(subset=["x"]).sort_values("x")
    untrained = stages[stages["trained"] == 0] if "trained" in stages else stages.iloc[:0]
    return nu_over_time(tables["nu"]) | {
        "untrained": listed([f"{stage:.0f}" for stage in untrained["x"]]),
        "random": only(stages.iloc[:1], "y"),
        "last_stage": only(stages.iloc[-1:], "y"),
        "gains": len(stages) > 1 and bool(stages["y"].iloc[-1] > stages["y"].iloc[0]),
    }


def npf_fig6(tables: Tables) -> dict[str, Any]:
    """The largest eigenvalue as a share of the trace, at the smallest and the largest depth."""
    found = {}
    for depth, curve in tables["ideal"].groupby("depth"):
        curve = curve.sort_values("index")["cumulative"].to_numpy()
        found[int(depth)] = float(1 - curve[-2] / curve[-1])
    depths, examples = sorted(found), int(tables["ideal"]["index"].max())
    return {
        "examples": examples,
        "shallow": depths[0], "deep": depths[-1],
        "shallow_share": found[depths[0]], "deep_share": found[depths[-1]],
        "even_share": 1 / examples,
        "falls": falls([found[depth] for depth in depths]),
    }  # fmt: skip


def npf_fig7(tables: Tables) -> dict[str, Any]:
    """Convergence by depth of narrow and wide networks, against a constant kernel."""
    found = memorisation.of_figure(tables, "npf_fig7")
    facts = memorisation.sizes(found["spectra"]) | memorisation.convergence(found["errors"])
    error, recursion = facts["wide_error"], facts["wide_recursion"]
    known = error is not None and recursion is not None
    facts["wide_beats_recursion"] = known and error < recursion
    return facts


def npf_extra_limits(tables: Tables) -> dict[str, Any]:
    """Factors of ReLU networks' kernels against limits that belong to them, and against others."""
    rows = tables["rows"]
    own, other = rows[rows["expected"].notna()], rows[rows["expected"].isna()]
    off = (own["scale"] - own["expected"]).abs()
    halved = where(own, limit="halved")["output_variance"]
    correlations = [span(part["correlation"]) for part in (own, other)]
    alike = other[(other["scale"] - 1).abs() <= ERRORS * other["scale_error"]]
    return {
        "own": span(own["scale"]),
        "furthest": float((off / own["scale_error"]).max()) if len(own) else None,
        "other": span(other["scale"].drop(alike.index)),
        "alike": len(alike),
        "others": len(other),
        "errors": ERRORS,
        "expected": only(own, "expected"),
        "halved_variance": str(halved.iloc[0]) if len(halved) else "1/w",
        "own_correlation": correlations[0],
        "other_correlation": correlations[1],
        "correlations_alike": None not in correlations
        and bool(np.allclose(*correlations, atol=ALIKE, rtol=0)),
    }


def npf_extra_theory(tables: Tables) -> dict[str, Any]:
    """Slopes of errors over width and copies; errors with own gates; growth of variances."""
    curves = tables["curves"]
    found: dict[str, Any] = {"errors": ERRORS}
    for grows in ("width", "copies"):
        own = where(curves, grows=grows, gates="independent")
        found[f"{grows}_slope"] = span(
            _slope(line) for _, line in where(own, curve="drawn").groupby("depth")
        )
    slopes = (found["width_slope"], found["copies_slope"])
    found["falls"] = None not in slopes and all(high < 0 for _, high in slopes)
    return found | _own_gates(curves) | _variances(tables["variance"])


def _slope(line: pd.DataFrame) -> float:
    """Of log error over log x; NaN for a single point."""
    if len(line) < 2:
        return float("nan")
    return float(np.polyfit(np.log(line["x"]), np.log(line["y"]), 1)[0])


def _own_gates(curves: pd.DataFrame) -> dict[str, Any]:
    """Errors of ReLU networks at the largest width, by depth, and at infinite width."""
    own = where(curves, grows="width", gates="own")
    drawn = where(own, curve="drawn")
    wide = drawn[drawn["x"] == drawn["x"].max()].sort_values("depth")
    limit = where(own, curve="limit").drop_duplicates("depth").sort_values("depth")
    return {
        "own_width": int(drawn["x"].max()) if len(drawn) else None,
        "own_depths": values_of(wide, "depth"),
        "own_errors": [f"{value:.2f}" for value in wide["y"]],
        "limit_errors": [f"{value:.2f}" for value in limit["y"]],
        "own_stays": len(wide) > 0 and bool(
            (wide["y"].to_numpy() > 0.5 * limit["y"].to_numpy()).all()
        ),
    }  # fmt: skip


def _variances(variance: pd.DataFrame) -> dict[str, Any]:
    """Exact Var w over d^3 and over d^2, all gates open: growth over the last doubling of depth."""
    exact = where(variance, entry="open", form="exact")
    widest = where(exact, width=exact["width"].max()).set_index("depth").sort_index()
    deep = widest.index.max()
    found: dict[str, Any] = {
        "variance_width": int(exact["width"].max()), "deep": int(deep), "shallow": None,
        "d3_growth": None, "d2_growth": None, "levels_off": False,
        "d2_grows": all(rises(list(own.sort_values("depth")["per_d2"]))
                        for _, own in exact.groupby("width")),
    }  # fmt: skip
    if deep / 2 in widest.index:
        cube, square = (
            float(widest.loc[deep, name] / widest.loc[deep / 2, name])
            for name in ("per_d3", "per_d2")
        )
        found |= {"shallow": int(deep / 2), "d3_growth": cube, "d2_growth": square}
        if deep / 4 in widest.index:
            earlier = float(widest.loc[deep / 2, "per_d3"] / widest.loc[deep / 4, "per_d3"])
            found["levels_off"] = cube < earlier
    return found


def npf_extra_energy(tables: Tables) -> dict[str, Any]:
    """Share of the labels in the first eigenvectors before and after training, and nu."""
    energy = tables["energy"]
    ranks = where(energy, panel="energy")
    names = ranks.loc[ranks["series"] != CHANCE, "series"].unique()
    before, after = (pick(names, key=_epoch) for pick in (min, max))
    examples = int(ranks["x"].max())
    rank = min(TOP, examples)
    held = {name: where(ranks, series=name).set_index("x")["y"] for name in (before, after)}
    alone, with_next = (_finite(held[after].get(count)) for count in (1, 2))
    found: dict[str, Any] = {
        "examples": examples, "rank": rank, "by_chance": rank / examples,
        "before": _finite(held[before].get(rank)), "after": _finite(held[after].get(rank)),
        "alone": alone, "next": with_next - alone if alone and with_next else None,
    }  # fmt: skip
    for place, name in (("nu_before", before), ("nu_after", after)):
        nu = where(energy, panel="nu", series=name).dropna(subset=["y"])
        found[place] = only(nu[nu["x"] == nu["x"].max()], "y")
    found["moves"] = _smaller(found["before"], found["after"])
    found["nu_falls"] = _smaller(found["nu_after"], found["nu_before"])
    found["mostly_next"] = _smaller(alone, LITTLE) and _smaller(MOST, found["next"])
    return found


def _epoch(series: str) -> int:
    return int(series.removeprefix("epoch "))


def _finite(value: float | None) -> float | None:
    """The number, None for a missing one."""
    return None if value is None or not np.isfinite(value) else float(value)


def _smaller(low: float | None, high: float | None) -> bool:
    """Whether both are known and the first is smaller."""
    return low is not None and high is not None and low < high


def npf_extra_cntk(tables: Tables) -> dict[str, Any]:
    """The kernel and the best network on the same images."""
    rows = tables["rows"]
    kernel = where(rows, kind="kernel").sort_values("train")
    networks = where(rows, kind="network").dropna(subset=["accuracy"])
    last = kernel.iloc[-1:]
    own = networks[networks["train"] == only(last, "train")] if len(last) else networks
    accuracy = only(last, "accuracy")
    above = own[own["accuracy"] > (np.inf if accuracy is None else accuracy)]
    order = [name for name in REGIMES if name in set(above["regime"])] if len(above) else []
    return {
        "images": int(last["train"].iloc[0]) if len(last) else None,
        "kernel": accuracy / PERCENT if accuracy is not None else None,
        "above": [REGIMES[name] for name in order],
        "networks": len(own),
    }
