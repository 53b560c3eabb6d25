"""Facts of the captions of ``collapse`` on block kernels: Table 1 and the flow."""

import math
from typing import Any

import pandas as pd

from finitewidth.captions.facts import Tables
from finitewidth.captions.facts.rows import span, values_of, where

START, FREE, RANDOM = "zero_invariant", "free_biases", "random_weights"
FACTOR = 4  # the last factor in time over which a power is told
NEAR = 0.05  # by how much a power may differ from -1/2, which it has at leading order
APART = 5  # how many times larger NC3 is where there is no collapse
SMALL = 1e-3  # global mean, relative, from which on it counts as one
RIGHT, WRONG = 1e-6, 1e-2  # differences of gamma and theta


def table1(tables: Tables) -> dict[str, Any]:
    """Whether the printed eigenvectors, multiplicities and inner products are right."""
    rows, products = tables["rows"], tables["products"]
    right = rows[(rows["symbolic"] == 0) & (rows["residual"] == 0)]
    same = (rows["rank"] == rows["multiplicity"]) & (rows["power"] == rows["small_stated"])
    return {
        "printed": int(rows["vectors"].sum()),
        "right": int(right["vectors"].sum()),
        "vectors_right": len(rows) > 0 and len(right) == len(rows),
        "multiplicities_right": len(rows) > 0 and bool(same.all()),
        "products_right": len(products) > 0 and bool((products["differing"] == 0).all()),
    }


def flow(tables: Tables) -> dict[str, Any]:
    """How the three kinds of starts end, and which formulas of gamma and theta are right."""
    curves = tables["curves"]
    ends = curves[curves["time"] == curves["time"].max()]
    zero, free, random = (where(ends, start=name) for name in (START, FREE, RANDOM))
    powers = _powers(where(curves, start=START))
    first = where(curves, start=RANDOM)
    first = first[first["time"] == first["time"].min()]
    kept = random.set_index(["case", "run"])["h2"] / first.set_index(["case", "run"])["h2"]
    largest, smallest = zero["nc3"].max(), random["nc3"].min()
    return {
        "runs": int(curves["run"].nunique()),
        "scales": [float(case.split()[-1]) for case in random["case"].unique()],
        "factor": FACTOR,
        "powers": span(powers),
        "power_law": len(powers) > 0 and all(abs(power + 0.5) <= NEAR for power in powers),
        "random_nc3": span(random["nc3"]),
        "random_h2": span(kept),
        "stays": len(random) > 0 and bool(smallest > APART * largest),
        "free_mean": span(free["mean"]),
        "free_nc3": span(free["nc3"]),
        "zero_nc3": span(zero["nc3"]),
        "mean_stays": len(free) > 0
        and bool(free["mean"].min() > SMALL > zero["mean"].max())
        and bool(free["nc3"].min() > largest),
        "others": values_of(tables["frozen"], "kappa_n"),
        **_angles(tables),
    }


def _powers(rows: pd.DataFrame) -> list[float]:
    """Powers of the time in NC3 and |H2| over the last factor in time, of all runs."""
    last = rows["time"].max()
    found = []
    for _, run in rows.groupby(["case", "run"]):
        curve = run.set_index("time")
        early = [time for time in curve.index if math.isclose(time * FACTOR, last)]
        for quantity in ("nc3", "h2") if early else ():
            ratio = curve[quantity][last] / curve[quantity][early[0]]
            found.append(float(math.log(ratio) / math.log(FACTOR)))
    return found


def _angles(tables: Tables) -> dict[str, Any]:
    """Largest differences of the fitted gamma and theta from both forms of their formulas."""
    joined = tables["frozen"].merge(tables["formulas"], on=["case", "quantity"])
    joined["off"] = (joined["value_x"] - joined["value_y"]).abs()
    largest = joined.groupby(["quantity", "form"])["off"].max().to_dict()
    corrected = [largest.get((name, "corrected"), math.inf) for name in ("gamma", "theta")]
    printed = [largest.get((name, "printed"), 0.0) for name in ("gamma", "theta")]
    return {
        "corrected_off": float(max(corrected)) if math.isfinite(max(corrected)) else None,
        "corrected_right": bool(max(corrected) <= RIGHT),
        "gamma_off": float(printed[0]), "theta_off": float(printed[1]),
        "printed_wrong": bool(min(printed) >= WRONG),
    }  # fmt: skip
