"""Our counterparts of the numbers that beyond prints."""

import math

from finitewidth.claims.estimates import Estimate, estimates, in_the_limit
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.papers.beyond.judges.diagonal import drawn, ends

# quantity of the table -> row and column of the printed number
LEMMAS = {
    "forward_square": ("forward_norm_ratio", "second_moment"),
    "backward_square": ("backward_norm_ratio", "second_moment"),
    "product": ("forward_times_backward", "mean"),
}
SUMMANDS = {
    "forward_part": ("forward_norm_ratio", "mean"),
    "forward_part_variance": ("forward_norm_ratio", "variance"),
    "backward_part": ("backward_norm_ratio", "mean"),
    "backward_part_variance": ("backward_norm_ratio", "variance"),
}


def _ours(row: str, column: str, found: Estimate) -> Ours:
    return Ours(row=row, column=column, value=found.value, standard_error=found.error)


def _moments(tables: Tables) -> dict[str, tuple[Estimate, int]]:
    """Quantity -> its estimate and the width, tied weights."""
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
        for name, place in LEMMAS.items() if name in found
    ]  # fmt: skip


def summand_moment(tables: Tables) -> list[Ours]:
    """Means and variances of the summands in the lemmas' proofs."""
    found = _moments(tables)
    return [_ours(*place, found[name][0]) for name, place in SUMMANDS.items() if name in found]


def edge_of_chaos(tables: Tables) -> list[Ours]:
    """The sigma_w^2 at which errors keep their norm, E[N_d] = 1, and its root sigma_w."""
    found = _moments(tables).get("backward")
    if found is None:
        return []
    # the table has E[N_d] / (sigma_w2 / 2)
    variance = Estimate(2.0).over(found[0])
    root = math.sqrt(variance.value)
    return [
        _ours("relu", "sigma_w2", variance),
        _ours("relu", "sigma_w", Estimate(root, variance.error / (2 * root))),
    ]


def dispersion(tables: Tables) -> list[Ours]:
    """The limit at the largest sigma_w2 up to 1.5 and L/M = 0.5, from the two largest widths."""
    rows = drawn(tables["estimates"], "phases")
    rows = rows[rows["sigma_w2"] <= 1.5]
    rows = ends(rows[rows["sigma_w2"] == rows["sigma_w2"].max()]).sort_values("width")
    if len(rows) < 2:
        return []
    limit = in_the_limit(rows["width"].tolist(), estimates(rows, "y", "spread"))
    return [_ours("ordered", "limit", limit)]


def off_diagonal_over_diagonal(tables: Tables) -> list[Ours]:
    """The smallest and the largest mean-field ratio at the largest depth."""
    theory = tables["theory"]
    rows = theory[(theory["group"] == "ratio") & (theory["curve"] == "infinite_width")]
    rows = rows.loc[rows["depth"] == rows["depth"].max(), "y"]
    if rows.empty:
        return []
    return [
        Ours(row="limit", column="lower_bound", value=float(rows.min())),
        Ours(row="limit", column="upper_bound", value=float(rows.max())),
    ]


def relative_ntk_change(tables: Tables) -> list[Ours]:
    """The change in one gradient step in the ordered phase, for the deepest networks drawn."""
    rows = tables["steps"]
    rows = rows[(rows["phase"] == "ordered") & (rows["change"] == "step")]
    if rows.empty:
        return []
    last = rows.sort_values("depth").iloc[-1]
    return [_ours("ordered", "limit", Estimate(float(last["value"]), float(last["error"])))]
