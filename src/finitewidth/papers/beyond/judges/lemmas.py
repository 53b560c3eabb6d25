"""Claims and printed numbers of beyond without a figure: a gradient step, norms, the estimator."""

import itertools
import math
from collections.abc import Iterator

import pandas as pd

from finitewidth.claims.estimates import (
    ABOVE,
    Estimate,
    estimates,
    over_printed,
    power_of,
    required,
)
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.papers.beyond.judges.diagonal import doubled_widths

NAMES = {
    "forward": "E[N_x]",
    "backward": "E[N_d]",
    "forward_square": "E[N_x^2]",
    "backward_square": "E[N_d^2]",
    "product": "E[N_x N_d]",
    "chain_backward": "E[prod N_d]",
    "chain_backward_square": "E[prod N_d^2]",
    "chain_product": "E[prod N_x N_d]",
}
# printed without a remainder: 1 within what the draws resolve
PRINTED = {
    "low": 0.98,
    "high": 1.02,
    "paper": True,
    "tolerance": "the means of the draws are known to less than 2 %",
}
# printed with a remainder of order n^(-3/2) for each layer; wider for the fourth powers of (30)
REMAINDER = {
    "low": 0.95,
    "high": 1.05,
    "late": True,
    "ours": "the paper gives no constant for its remainder of n^(-3/2); that of 4 layers is 6 %",
}
WITH_REMAINDER = {
    "chain_product": REMAINDER,
    "chain_backward_square": REMAINDER | {"low": 0.94, "high": 1.06},
}
# quantity of the table -> row and column of the printed number
LEMMAS = {
    "forward_square": ("forward_norm_ratio", "second_moment"),
    "backward_square": ("backward_norm_ratio", "second_moment"),
    "product": ("forward_times_backward", "mean"),
}
SUMMANDS = {"part": "mean", "part_variance": "variance"}
NOT_BOTH = "the step of the paper changes weights and biases"
BIAS = 0.005  # what means over the samples resolve


def b16(tables: Tables) -> Iterator[Part]:
    """The relative change rises, or falls, from depth to depth; where it rises it is above 0."""
    rows = tables["steps"]
    for (phase, change), line in rows[rows["phase"] != "critical"].groupby(["phase", "change"]):
        found = estimates(line.sort_values("depth"), "value", "error")
        if len(found) < 2:
            raise CannotDecideError(f"one depth in the {phase} phase")
        growth = found[-1].log().minus(found[0].log())
        depths = f"L = {line['depth'].max()} - at {line['depth'].min()}"
        name = f"{phase}, {change}: log relative change at {depths}"
        bound = {"low": 0.0} if phase == "chaotic" else {"high": 0.0}
        outside = NOT_BOTH if change == "step_of_weights" else ""
        yield growth.part(name, **bound, paper=True, outside=outside)
    if not {"ordered", "chaotic"} <= set(rows["phase"]):
        raise CannotDecideError("not both phases")
    yield from _signs(rows[rows["phase"] == "chaotic"])


def _signs(rows: pd.DataFrame) -> Iterator[Part]:
    """Whether the mean change of the deepest chaotic network has the printed sign."""
    depth = rows["depth"].max()
    deepest = rows[rows["depth"] == depth]
    name = f"mean change over mean kernel at L = {depth}"
    first_order = required(deepest[deepest["change"] == "derivative"], "the derivative").iloc[0]
    exact = Estimate(float(first_order["exact_with_sign"]))
    yield exact.part(f"chaotic, derivative, exact: {name}", **ABOVE)
    step = required(deepest[deepest["change"] == "step"], "the step").iloc[0]
    drawn = Estimate(float(step["with_sign"]), float(step["with_sign_error"]))
    yield drawn.part(f"chaotic, step: {name}", **ABOVE)


def _moment(rows: pd.DataFrame, quantity: str, weights: str) -> pd.Series:
    here = rows[(rows["quantity"] == quantity) & (rows["weights"] == weights)]
    return required(here, f"the moment {quantity}").iloc[0]


def b18(tables: Tables) -> Iterator[Part]:
    """Moments over the printed ones, tied minus untied weights, and products at many widths."""
    rows = tables["moments"]
    for quantity, label in NAMES.items():
        row = _moment(rows, quantity, "tied")
        found = Estimate(row["value"], row["error"]).scaled(1 / row["printed"])
        name = f"n = {row['width']}, {row['layers']} layers: {label} over the printed one"
        yield found.part(name, **WITH_REMAINDER.get(quantity, PRINTED))
    row = _moment(rows, "chain_product", "difference")
    apart = Estimate(row["value"], row["error"])
    yield apart.part("E[prod N_x N_d]: tied - untied weights", low=0, paper=True)
    # exact over printed products at doubled widths: a remainder of order n^(-3/2) for each of
    # lambda n layers is one of n^(-1/2) for their product
    rows = doubled_widths(required(tables["products"], "products"))
    widths = rows["width"].tolist()
    if len(widths) < 3:
        raise CannotDecideError("products need three or more doubled widths")
    ratios = (rows["exact"] / rows["printed"]).tolist()
    lam = rows["layers"].iloc[-1] / widths[-1]
    case = f"L/n = {lam:g}, exact E[prod N_x N_d] over the printed one"
    for width, ratio in zip(widths[:3], ratios[:3], strict=True):
        yield Part(name=f"{case}: at n = {width}", value=ratio, **REMAINDER)
    away = [Estimate(abs(ratio - 1)) for ratio in ratios]
    power = power_of(widths, away) if any(one.value for one in away) else Estimate(-math.inf)
    name = f"{case}: power of n with which its distance from 1 changes"
    yield power.part(f"{name}, n = {widths[0]} to {widths[-1]}", high=-0.5, paper=True)
    yield over_printed(ratios, 1.0, f"{case}: limit from n up to {widths[-1]}")


def b22(tables: Tables) -> Iterator[Part]:
    """Means of the estimator over the truth, at the paper's 500 draws and at the smallest number.

    The estimator with the prefactor 1/N, which repairs the printed one, is not the paper's.
    """
    rows = tables["estimators"]
    sizes = sorted({500, rows["size"].min()} if len(rows) else {500})
    required(rows[rows["size"] == 500], "samples of 500")
    names = {
        "printed_leave_one_out": ("prefactor 1/(N-2), as printed", ""),
        "leave_one_out": ("prefactor 1/N", "the paper prints the prefactor 1/(N-2)"),
    }
    for name, (label, outside) in names.items():
        inside = rows[(rows["estimator"] == name) & rows["size"].isin(sizes)]
        for row in inside.sort_values("size", ascending=False).itertuples():
            found = Estimate(float(row.value), float(row.error))
            text = f"{label}, r = {row.truth:g}: mean over samples of N = {row.size}, over r"
            bounds = {
                "low": 1 - BIAS,
                "high": 1 + BIAS,
                "paper": True,
                "outside": outside,
                "tolerance": "what means over the samples resolve",
            }
            yield found.part(text, **bounds)


def _ours(row: str, column: str, found: Estimate) -> Ours:
    return Ours(row=row, column=column, value=found.value, standard_error=found.error)


def _moments(tables: Tables) -> dict[str, tuple[Estimate, int]]:
    rows = tables["moments"]
    return {
        row.quantity: (Estimate(float(row.value), float(row.error)), int(row.width))
        for row in rows[rows["weights"] == "tied"].itertuples()
    }


def lemma_constant(tables: Tables) -> list[Ours]:
    """The k of the factors 1 + k / n of one layer."""
    found = _moments(tables)
    return [
        _ours(*place, found[name][0].shifted(-1).scaled(found[name][1]))
        for name, place in LEMMAS.items()
        if name in found
    ]


def summand_moment(tables: Tables) -> list[Ours]:
    """Means and variances of the summands in the lemmas' proofs."""
    found = _moments(tables)
    keys = itertools.product(("forward", "backward"), SUMMANDS.items())
    names = [(f"{way}_norm_ratio", column, f"{way}_{name}") for way, (name, column) in keys]
    return [_ours(row, column, found[name][0]) for row, column, name in names if name in found]


def edge_of_chaos(tables: Tables) -> list[Ours]:
    """The sigma_w^2 at which errors keep their norm, E[N_d] = 1, and its root sigma_w."""
    found = _moments(tables).get("backward")
    if found is None:
        return []
    # the table has E[N_d] / (sigma_w2 / 2)
    variance = Estimate(2.0).over(found[0])
    root = math.sqrt(variance.value)
    deviation = Estimate(root, variance.error / (2 * root))
    return [_ours("relu", "sigma_w2", variance), _ours("relu", "sigma_w", deviation)]


def relative_ntk_change(tables: Tables) -> list[Ours]:
    """The change in one gradient step in the ordered phase, for the deepest networks drawn."""
    rows = tables["steps"]
    rows = required(rows[(rows["phase"] == "ordered") & (rows["change"] == "step")], "ordered")
    last = estimates(rows.sort_values("depth"), "value", "error")[-1]
    return [_ours("ordered", "limit", last)]
