"""Facts of the captions of ``dgn``."""

from typing import Any

import numpy as np
import pandas as pd

from finitewidth.captions.facts import Tables, memorisation
from finitewidth.captions.facts.npf import nu_over_time
from finitewidth.captions.facts.rows import CLEAR, ERRORS, falls, only, rises, span, where

KINDS = {"mnist": "images", "labels": "random labels", "pixels": "random pixels"}
HUNDREDTH = 0.01  # of the squared error: how far convergence is followed


def dgn_fig1(tables: Tables) -> dict[str, Any]:
    """Cumulative spectra of fixed random gates against the expected one."""
    found = memorisation.of_figure(tables, "dgn_fig1")
    spectra = found["spectra"]
    return memorisation.sizes(spectra) | memorisation.shortfalls(found["ideal"], spectra)


def dgn_fig2(tables: Tables) -> dict[str, Any]:
    """Entries of K_0/d of wide networks against their expected values, in standard errors."""
    rows = where(memorisation.of_figure(tables, "dgn_fig2")["entries"], network="wide")
    rows = rows.sort_values("depth")
    found: dict[str, Any] = {"errors": ERRORS, "depths": len(rows)}
    found["diagonal_ideal"] = only(rows, "diagonal_ideal") or 1.0
    off = {}
    for entry in ("diagonal", "off_diagonal"):
        gap = (rows[entry] - rows[f"{entry}_ideal"]).abs()
        off[entry] = gap > ERRORS * rows[f"{entry}_error"]
        found[f"{entry}_agree"] = int((~off[entry]).sum())
    found["agree"] = len(rows) > 0 and not any(gap.any() for gap in off.values())
    error = rows["diagonal_error"]
    found["errors_grow"] = len(rows) > 1 and bool(error.iloc[0] < error.iloc[-1])
    found["error_ends"] = (float(error.iloc[0]), float(error.iloc[-1])) if len(rows) else None
    found["depth_ends"] = [int(rows["depth"].min()), int(rows["depth"].max())] if len(rows) else []
    return found


def dgn_fig3(tables: Tables) -> dict[str, Any]:
    """Convergence and evenness of the spectra by depth, narrow and wide."""
    found = memorisation.of_figure(tables, "dgn_fig3")
    facts = memorisation.sizes(found["spectra"]) | memorisation.convergence(found["errors"])
    even = memorisation.evenness(found["spectra"])
    for network in memorisation.NETWORKS:
        own = {depth: value for (name, depth), value in even.items() if name == network}
        facts[f"{network}_turn"] = memorisation.turning(own)
    facts["sooner"] = bool(facts["narrow_inner"] and facts["wide_inner"]) and (
        facts["narrow_best"] < facts["wide_best"]
    )
    return facts


def dgn_fig4(tables: Tables) -> dict[str, Any]:
    """GaLU against ReLU networks by depth: last errors of gradient descent, and spectra."""
    errors, spectra = tables["errors"], tables["spectra"]
    last = {name: memorisation.last_step(where(errors, network=name)) for name in ("galu", "relu")}
    ratio = {name: rows.set_index("depth")["ratio"] for name, rows in last.items()}
    even = memorisation.evenness(spectra)
    trained = sorted(set(ratio["galu"].index) & set(ratio["relu"].index))
    drawn = sorted({d for name, d in even if name == "galu"} & {d for name, d in even
                                                                if name == "relu"})  # fmt: skip
    faster = [d for d in trained if ratio["galu"][d] < ratio["relu"][d]]
    more_even = [d for d in drawn if even["galu", d] > even["relu", d]]
    exceptions = [d for d in trained if d not in faster]
    return {
        "step": int(last["galu"]["time"].iloc[0]) if len(last["galu"]) else None,
        "depths": len(trained), "spectra": len(drawn),
        "faster": len(faster), "even": len(more_even),
        "exceptions": exceptions if faster and faster == more_even else [],
        "deepest": trained[-1] if trained else None,
        "galu_error": float(ratio["galu"][trained[-1]]) if trained else None,
        "relu_error": float(ratio["relu"][trained[-1]]) if trained else None,
    }  # fmt: skip


def dgn_fig6(tables: Tables) -> dict[str, Any]:
    """The mean of nu at the first and at the last epoch."""
    return nu_over_time(tables["nu"])


def dgn_fig9(tables: Tables) -> dict[str, Any]:
    """Sizes of the circular convolution network and of its bundles of paths."""
    connections, paths = tables["connections"], tables["paths"]
    bundles = paths.groupby("bundle").size()
    return {
        "inputs": int(connections["start"].max()),
        "layers": int(connections["layer"].max()),
        "weights": int(connections["tap"].max()),
        "paths": len(paths),
        "strengths": len(bundles),
        "shared": span(bundles),
        "one_from_each": all(
            sorted(rows["unit_0"]) == sorted(connections["start"].unique())
            for _, rows in paths.groupby("bundle")
        ),
    }


def dgn_fig10(tables: Tables) -> dict[str, Any]:
    """Deep linear networks by depth: first step, steps to a hundredth, growth of the kernel."""
    curves = tables["curves"]
    own = where(curves, dynamics=memorisation.DESCENT)
    error, kernel = where(own, quantity="error"), where(own, quantity="kernel")
    ideal = where(curves, dynamics="ideal", quantity="error").drop_duplicates("time")
    first, ideal_steps = only(where(ideal, time=1), "value"), _steps(ideal)
    steps = {depth: _steps(curve) for depth, curve in error.groupby("depth")}
    growth = kernel[kernel["time"] == kernel["time"].max()].sort_values("depth")["value"]
    known = [value for value in steps.values() if value is not None]
    depths = [float(depth) for depth in steps]
    return {
        "first": first,
        "rate": 1 - float(np.sqrt(first)) if first is not None else None,
        "first_step": span(where(error, time=1)["value"]),
        "level": HUNDREDTH,
        "reached": len(known) == len(steps) > 1,
        "depths": depths,
        "steps": [float(value) for value in known],
        "faster_than_ideal": len(known) == len(steps) > 0
        and ideal_steps is not None
        and max(known) < ideal_steps,
        "ideal_steps": ideal_steps,
        "faster": len(known) == len(steps) and falls(known),
        "deepest_faster": len(known) == len(steps) > 1 and known[-1] < known[0],
        "growth": span(growth),
        "grows_more": rises(list(growth)),
    }


def _steps(curve: pd.DataFrame) -> int | None:
    """The first step at which a mean error is at most `HUNDREDTH` of the first one."""
    below = curve[curve["value"] <= HUNDREDTH]
    return int(below["time"].min()) if len(below) else None


def _untrained(rows: pd.DataFrame, *names: str) -> dict[str, str]:
    """The networks of which some run is not trained, named by the columns ``names``."""
    told = rows.loc[rows["trained"] == 0, list(names)].drop_duplicates()
    return {"untrained_text": "; ".join(", ".join(map(str, row)) for row in told.to_numpy())}


def dgn_fig5(tables: Tables) -> dict[str, Any]:
    """Networks that are not trained, by the kind of their images."""
    curves = tables["curves"]
    return _untrained(
        curves[curves["panel"] != "test"].replace({"panel": KINDS}), "series", "panel"
    )


def dgn_fig7(tables: Tables) -> dict[str, Any]:
    """Networks that are not trained."""
    return _untrained(tables["curves"], "series")


def dgn_fig8(tables: Tables) -> dict[str, Any]:
    """Networks that are not trained; the lines of first values are of the same networks."""
    curves = tables["curves"]
    return _untrained(curves[curves["x"].notna()], "series")


def dgn_extra_text(tables: Tables) -> dict[str, Any]:
    """Whether some number is of networks that are not trained."""
    return {"untrained": bool((tables["rows"]["trained"] == 0).any())}


def dgn_table4(tables: Tables) -> dict[str, Any]:
    """Which networks there are, and which of them are not trained."""
    rows = tables["rows"]
    soft = where(rows, regime="soft_relu")
    others = rows[rows["regime"] != "linear"]
    named = others.assign(name=[_named(row) for row in others.to_dict("records")])
    return {
        "untrained": bool((rows["trained"] == 0).any()),
        **_untrained(named, "name"),
        "soft": len(soft),
        "betas": len(soft["beta"].unique()),
        "epsilons": [float(value) for value in sorted(soft["eps"].dropna().unique())],
    }


def _named(row: dict[str, Any]) -> str:
    """A network of Table 4 with its gate."""
    if row["regime"] != "soft_relu":
        return "ReLU"
    return f"soft-ReLU of epsilon {row['eps']:g} and beta {row['beta']:g}"


def dgn_extra_identities(tables: Tables) -> dict[str, Any]:
    """How far the means drawn lie from those stated, in standard errors."""
    rows = tables["identities"]
    off = (rows["value"] - rows["expected"]).abs() / rows["standard_error"]
    off = off[np.isfinite(off)]
    return {
        "lines": len(rows),
        "furthest": float(off.max()) if len(off) else None,
        "agree": bool(len(off)) and bool((off <= CLEAR).all()),
    }
