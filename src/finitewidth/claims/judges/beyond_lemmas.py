"""Claims of beyond that no figure shows: one gradient step, lemmas on norms, the estimator."""

from typing import TYPE_CHECKING

from finitewidth.claims.judges.estimates import Estimate, estimates, required
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

# quantity -> allowed relative distance from the printed value; larger for higher moments
MARGINS = {
    "forward": 0.02, "backward": 0.02, "forward_square": 0.02, "backward_square": 0.02,
    "product": 0.02, "chain_backward": 0.02, "chain_backward_square": 0.06, "chain_product": 0.05,
}  # fmt: skip
NAMES = {
    "forward": "E[N_x]", "backward": "E[N_d]", "forward_square": "E[N_x^2]",
    "backward_square": "E[N_d^2]", "product": "E[N_x N_d]", "chain_backward": "E[prod N_d]",
    "chain_backward_square": "E[prod N_d^2]", "chain_product": "E[prod N_x N_d]",
}  # fmt: skip
BIAS = 0.005


def b16(tables: Tables) -> list[Part]:
    """From the shallowest to the deepest network the relative change rises, or falls."""
    parts = []
    rows = tables["steps"]
    for (phase, change), line in rows[rows["phase"] != "critical"].groupby(["phase", "change"]):
        found = estimates(line.sort_values("depth"), "value", "error")
        if len(found) < 2:
            raise CannotDecideError(f"one depth in the {phase} phase")
        growth = found[-1].log().minus(found[0].log())
        name = f"{phase}, {change}: log relative change at L = {line['depth'].max()} - at "
        bound = {"low": 0.0} if phase == "chaotic" else {"high": 0.0}
        parts.append(growth.part(f"{name}{line['depth'].min()}", **bound))
    if not {"ordered", "chaotic"} <= set(rows["phase"]):
        raise CannotDecideError("not both phases")
    return parts


def _moment(rows: "pd.DataFrame", quantity: str, weights: str) -> "pd.Series":
    here = rows[(rows["quantity"] == quantity) & (rows["weights"] == weights)]
    return required(here, f"the moment {quantity}").iloc[0]


def b18(tables: Tables) -> list[Part]:
    """Moments over the printed ones, and another product with independent backward weights."""
    rows, parts = tables["moments"], []
    for quantity, margin in MARGINS.items():
        row = _moment(rows, quantity, "tied")
        found = Estimate(row["value"], row["error"]).scaled(1 / row["printed"])
        name = f"n = {row['width']}, {row['layers']} layers: {NAMES[quantity]} over the printed one"
        parts.append(found.part(name, low=1 - margin, high=1 + margin))
    row = _moment(rows, "chain_product", "difference")
    apart = Estimate(row["value"], row["error"])
    return [*parts, apart.part("E[prod N_x N_d]: tied - untied weights", low=0)]


def b22(tables: Tables) -> list[Part]:
    """Means of the estimator over the truth, with both prefactors, at the paper's 500 draws."""
    rows = tables["estimators"]
    rows = required(rows[rows["size"] == 500], "samples of 500")
    names = {"printed_leave_one_out": "prefactor 1/(N-2), as printed",
             "leave_one_out": "prefactor 1/N"}  # fmt: skip
    parts = []
    for name, label in names.items():
        for row in rows[rows["estimator"] == name].itertuples():
            found = Estimate(float(row.value), float(row.error))
            text = f"{label}, r = {row.truth:g}: mean over 500 draws' samples, over r"
            parts.append(found.part(text, low=1 - BIAS, high=1 + BIAS))
    return parts
