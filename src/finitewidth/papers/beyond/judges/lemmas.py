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
from finitewidth.claims.verdicts import CannotDecideError, Part, PartFacts
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
PRINTED: PartFacts = {
    "low": 0.98,
    "high": 1.02,
    "paper": True,
    "tolerance": "the means of the draws are known to less than 2 %",
}
# printed with a remainder of order n^(-3/2) for each layer; wider for the fourth powers of (30)
REMAINDER: PartFacts = {
    "low": 0.95,
    "high": 1.05,
    "late": True,
    "ours": "the paper gives no constant for its remainder of n^(-3/2); that of 4 layers is 6 %",
}
WITH_REMAINDER: dict[str, PartFacts] = {
    "chain_product": REMAINDER,
    "chain_backward_square": {**REMAINDER, "low": 0.94, "high": 1.06},
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
        changes = estimates(line.sort_values("depth"), "value", "error")
        if len(changes) < 2:
            raise CannotDecideError(f"one depth in the {phase} phase")
        growth = changes[-1].log().minus(changes[0].log())
        depths = f"L = {line['depth'].max()} - at {line['depth'].min()}"
        name = f"{phase}, {change}: log relative change at {depths}"
        outside = NOT_BOTH if change == "step_of_weights" else ""
        rises: PartFacts = {"low": 0.0, "paper": True, "outside": outside}
        falls: PartFacts = {"high": 0.0, "paper": True, "outside": outside}
        yield growth.part(name, **(rises if phase == "chaotic" else falls))
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
    matching = rows[(rows["quantity"] == quantity) & (rows["weights"] == weights)]
    return required(matching, f"the moment {quantity}").iloc[0]


def b18(tables: Tables) -> Iterator[Part]:
    """Moments over the printed ones, tied minus untied weights, and products at many widths."""
    rows = tables["moments"]
    for quantity, label in NAMES.items():
        row = _moment(rows, quantity, "tied")
        ratio = Estimate(row["value"], row["error"]).scaled(1 / row["printed"])
        name = f"n = {row['width']}, {row['layers']} layers: {label} over the printed one"
        yield ratio.part(name, **WITH_REMAINDER.get(quantity, PRINTED))
    row = _moment(rows, "chain_product", "difference")
    difference = Estimate(row["value"], row["error"])
    yield difference.part("E[prod N_x N_d]: tied - untied weights", low=0, paper=True)
    yield from _products(tables["products"])


def _products(rows: pd.DataFrame) -> Iterator[Part]:
    """Exact over printed products at doubled widths.

    A remainder of order n^(-3/2) for each of lambda n layers is one of n^(-1/2) for their product.
    """
    rows = doubled_widths(required(rows, "products"))
    widths = rows["width"].tolist()
    if len(widths) < 3:
        raise CannotDecideError("products need three or more doubled widths")
    ratios = (rows["exact"] / rows["printed"]).tolist()
    lam = rows["layers"].iloc[-1] / widths[-1]
    case = f"L/n = {lam:g}, exact E[prod N_x N_d] over the printed one"
    for width, ratio in zip(widths[:3], ratios[:3], strict=True):
        yield Part(name=f"{case}: at n = {width}", value=ratio, **REMAINDER)
    distances = [Estimate(abs(ratio - 1)) for ratio in ratios]
    power = Estimate(-math.inf)  # if all ratios are 1
    if any(distance.value for distance in distances):
        power = power_of(widths, distances)
    name = f"{case}: power of n with which its distance from 1 changes"
    yield power.part(f"{name}, n = {widths[0]} to {widths[-1]}", high=-0.5, paper=True)
    yield over_printed(ratios, 1.0, f"{case}: limit from n up to {widths[-1]}")


def b22(tables: Tables) -> Iterator[Part]:
    """Means of the estimator over the truth, at the paper's 500 draws and at the smallest number.

    The estimator with the prefactor 1/N, which repairs the printed one, is not the paper's.
    """
    rows = tables["estimators"]
    required(rows[rows["size"] == 500], "samples of 500")
    sizes = sorted({500, rows["size"].min()})
    names = {
        "printed_leave_one_out": ("prefactor 1/(N-2), as printed", ""),
        "leave_one_out": ("prefactor 1/N", "the paper prints the prefactor 1/(N-2)"),
    }
    for name, (label, outside) in names.items():
        chosen = rows[(rows["estimator"] == name) & rows["size"].isin(sizes)]
        for row in chosen.sort_values("size", ascending=False).itertuples():
            ratio = Estimate(float(row.value), float(row.error))
            yield ratio.part(
                f"{label}, r = {row.truth:g}: mean over samples of N = {row.size}, over r",
                low=1 - BIAS,
                high=1 + BIAS,
                paper=True,
                outside=outside,
                tolerance="what means over the samples resolve",
            )


def _ours(row: str, column: str, estimate: Estimate) -> Ours:
    return Ours(row=row, column=column, value=estimate.value, standard_error=estimate.error)


def _tied_moments(tables: Tables) -> dict[str, tuple[Estimate, int]]:
    """Quantity -> its mean with tied weights, and the width of the networks."""
    rows = tables["moments"]
    return {
        row.quantity: (Estimate(float(row.value), float(row.error)), int(row.width))
        for row in rows[rows["weights"] == "tied"].itertuples()
    }


def lemma_constant(tables: Tables) -> list[Ours]:
    """The k of the factors 1 + k / n of one layer."""
    moments = _tied_moments(tables)
    numbers = []
    for quantity, (row, column) in LEMMAS.items():
        if quantity in moments:
            factor, width = moments[quantity]
            numbers.append(_ours(row, column, factor.shifted(-1).scaled(width)))
    return numbers


def summand_moment(tables: Tables) -> list[Ours]:
    """Means and variances of the summands in the lemmas' proofs."""
    moments = _tied_moments(tables)
    numbers = []
    for way, (name, column) in itertools.product(("forward", "backward"), SUMMANDS.items()):
        if f"{way}_{name}" in moments:
            moment, _ = moments[f"{way}_{name}"]
            numbers.append(_ours(f"{way}_norm_ratio", column, moment))
    return numbers


def edge_of_chaos(tables: Tables) -> list[Ours]:
    """The sigma_w^2 at which errors keep their norm, E[N_d] = 1, and its root sigma_w."""
    moments = _tied_moments(tables)
    if "backward" not in moments:
        return []
    norm_ratio, _ = moments["backward"]  # E[N_d] / (sigma_w2 / 2)
    variance = Estimate(2.0).over(norm_ratio)
    root = math.sqrt(variance.value)
    deviation = Estimate(root, variance.error / (2 * root))
    return [_ours("relu", "sigma_w2", variance), _ours("relu", "sigma_w", deviation)]


def relative_ntk_change(tables: Tables) -> list[Ours]:
    """The change in one gradient step in the ordered phase, for the deepest networks drawn."""
    rows = tables["steps"]
    rows = required(rows[(rows["phase"] == "ordered") & (rows["change"] == "step")], "ordered")
    last = estimates(rows.sort_values("depth"), "value", "error")[-1]
    return [_ours("ordered", "limit", last)]
