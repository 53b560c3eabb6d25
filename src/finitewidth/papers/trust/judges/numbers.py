"""Our counterparts of the numbers that trust prints."""

import math
from itertools import pairwise

import numpy as np

from finitewidth.claims.estimates import at, in_the_limit
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError
from finitewidth.papers.trust.judges.descent import maps, near_border, ordered
from finitewidth.papers.trust.judges.phases import ours

KEPT, MOST = 0.9, 0.5  # of the loss of the best constant output; share of networks


def dispersion(tables: Tables) -> list[Ours]:
    """The limit of r at (1.5, 1) and the largest common depth, from the two largest widths."""
    rows = ours(tables["curves"])
    rows = rows[np.isclose(rows["sigma_w2"], 1.5)]
    widths = sorted(rows["width"].unique())[-2:]
    if len(widths) < 2:
        return []
    curves = [rows[rows["width"] == width] for width in widths]
    depth = min(curve["depth"].max() for curve in curves)
    try:
        found = [at(curve, "depth", depth, "dispersion", "error") for curve in curves]
    except CannotDecideError:
        return []
    limit = in_the_limit(widths, found)
    return [Ours(row="ordered", column="limit", value=limit.value, standard_error=limit.error)]


def kappa_ratio(tables: Tables) -> list[Ours]:
    """The largest ratio in the ordered phase at the largest depth."""
    rows = tables["kappa"]
    rows = rows[(rows["phase"] == "ordered") & (rows["depth"] == rows["depth"].max())]
    if rows.empty:
        return []
    value = math.exp(float(rows["log_ratio"].max()))
    return [Ours(row="ordered", column="limit", value=value)]


def edge_of_chaos(tables: Tables) -> list[Ours]:
    """The sigma_w of ReLU networks at which chi_1 = 1; the paper's 2 is sigma_w^2."""
    rows = tables["borders"]
    found = sorted(rows.loc[rows["activation"] == "relu", "sigma_w2"].unique())
    if not found or any(after - before > 1e-9 for before, after in pairwise(found)):
        return []
    return [Ours(row="relu", column="sigma_w", value=math.sqrt(found[0]))]


def untrainable_depth(tables: Tables) -> list[Ours]:
    """The smallest L at which most ordered networks keep 90 % of a constant's loss, over seeds."""
    found: dict[int, list[float]] = {}
    for each in maps(tables):
        if not each.outside:
            for seed, own in ordered(each.ends).groupby("seed"):
                kept = (own["loss"] >= KEPT).groupby(own["depth"]).mean()
                deep = [depth for depth, share in kept.items() if share > MOST]
                found.setdefault(seed, []).append(min(deep, default=math.nan))
    depths = np.array([np.mean(values) for values in found.values()])
    if len(depths) < 2 or not np.isfinite(depths).all():
        return []
    error = float(depths.std(ddof=1) / math.sqrt(len(depths)))
    return [Ours(row="ordered", column="depth", value=float(depths.mean()), standard_error=error,
                 runs=len(depths))]  # fmt: skip


def relative_ntk_change(tables: Tables) -> list[Ours]:
    """The largest change of deep networks nearest to the border, as of T12; mean over seeds."""
    found: dict[int, list[float]] = {}
    for each in (one.flat for one in maps(tables)):
        if not each.outside:
            for seed, own in near_border(each.ends).groupby("seed"):
                found.setdefault(seed, []).append(float(own["change"].max(skipna=False)))
    changes = np.array([np.max(values) for values in found.values()])
    if len(changes) < 2 or not np.isfinite(changes).all():
        return []
    error = float(changes.std(ddof=1) / math.sqrt(len(changes)))
    return [Ours(row="edge_of_chaos", column="upper_bound", value=float(changes.mean()),
                 standard_error=error, runs=len(changes), bounded=True)]  # fmt: skip
