"""Facts of npf Figures 6 and 7 and of dgn Figures 1 to 3: fixed random gates that memorise.

Curves by depth: sums of ascending eigenvalues, and |e_t|^2 / |e_0|^2 under gradient descent and
under the recursion with the kernel of the start. A network all of whose runs diverged has no rows.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import only, span, where

NETWORKS = ("narrow", "wide")
DESCENT, RECURSION = "gradient descent", "linear recursion"


def of_figure(tables: Tables, figure: str) -> dict[str, pd.DataFrame]:
    """The rows that average this figure's runs."""
    return {name: where(rows, figure=figure) if "figure" in rows else rows
            for name, rows in tables.items()}  # fmt: skip


def sizes(spectra: pd.DataFrame) -> dict[str, Any]:
    """Width of the narrow and of the wide networks."""
    return {
        f"{network}_width": only(where(spectra, network=network), "width") for network in NETWORKS
    }


def convergence(errors: pd.DataFrame) -> dict[str, Any]:
    """By network: the depth with the smallest error at the last step of gradient descent.

    ``_inner``: neither the smallest nor the largest depth. ``_recursion``: the error that the
    recursion gives that depth at the same step.
    """
    found: dict[str, Any] = {}
    for network in NETWORKS:
        rows = where(errors, network=network)
        last = last_step(rows)
        found[f"{network}_step"] = int(last["time"].iloc[0]) if len(last) else None
        found[f"{network}_best"] = found[f"{network}_error"] = found[f"{network}_recursion"] = None
        found[f"{network}_inner"] = False
        if len(last) < 2:
            continue
        best = last.loc[last["ratio"].idxmin()]
        same = where(rows, dynamics=RECURSION, time=best["time"], depth=best["depth"])
        found |= {
            f"{network}_best": int(best["depth"]),
            f"{network}_error": float(best["ratio"]),
            f"{network}_recursion": only(same, "ratio"),
            f"{network}_inner": bool(last["depth"].min() < best["depth"] < last["depth"].max()),
            f"{network}_deepest": int(last["depth"].max()),
            f"{network}_deepest_error": only(last[last["depth"] == last["depth"].max()], "ratio"),
        }
    return found


def last_step(rows: pd.DataFrame) -> pd.DataFrame:
    """Gradient descent at the last step that all depths have, a row for each depth."""
    rows = where(rows, dynamics=DESCENT)
    if rows.empty:
        return rows
    time = rows.groupby("depth")["time"].max().min()
    return where(rows, time=time).sort_values("depth")


def shortfalls(ideal: pd.DataFrame, spectra: pd.DataFrame) -> dict[str, Any]:
    """The sum of the smaller half of the eigenvalues over the expected one, by network and depth.

    1 for a spectrum as even as the expected one, 0 where half of the eigenvalues are 0.
    """
    half = int(ideal["index"].max()) // 2
    expected = where(ideal, index=half).set_index("depth")["cumulative"]
    reached = {}
    for network in NETWORKS:
        rows = where(spectra, network=network, index=half)
        rows = rows[rows["depth"].isin(expected.index)].sort_values("depth")
        reached[network] = {int(row["depth"]): float(row["cumulative"] / expected[row["depth"]])
                            for row in rows.to_dict("records")}  # fmt: skip
    narrow, wide = (reached[network] for network in NETWORKS)
    shared = sorted(set(narrow) & set(wide))
    best = turning(wide)
    return {
        "half": half,
        "narrow": span(narrow.values()),
        "wide": span(wide.values()),
        "wide_closer": bool(shared)
        and all(abs(1 - wide[depth]) < abs(1 - narrow[depth]) for depth in shared),
        "best": best,
        "best_share": wide[best] if best else None,
        "ends": [int(depth) for depth in (min(wide), max(wide))] if wide else [],
        "end_shares": (wide[min(wide)], wide[max(wide)]) if wide else None,
    }


def evenness(spectra: pd.DataFrame) -> dict[tuple[str, int], float]:
    """(network, depth) -> sum of all eigenvalues over the largest: the more even, the larger."""
    ends = spectra[spectra["index"] == spectra["index"].max()]
    return {(row["network"], int(row["depth"])): float(row["scaled"])
            for row in ends.to_dict("records")}  # fmt: skip


def turning(values: Mapping[int, float]) -> int | None:
    """The depth of the largest value, if neither end has it."""
    depths = sorted(values)
    best = max(depths, key=values.__getitem__) if depths else None
    return best if depths and best not in (depths[0], depths[-1]) else None
