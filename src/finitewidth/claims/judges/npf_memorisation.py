"""Claims on networks of fixed random gates that memorise: npf appendix D, dgn experiment 1.

Both papers make statements about gradient descent. They are judged by gradient descent itself, not
by its linear recursion. Error ratios of single runs differ by powers of ten, so that their
logarithms are compared.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

DEPTHS = (2, 4, 6, 8, 12, 16, 20)
NARROW, WIDE = 25, 500
DESCENT = "gradient descent"
DIAGONAL_TOLERANCE, OFF_DIAGONAL_TOLERANCE = 0.25, 0.05
BEST = {NARROW: 8, WIDE: 12}  # depths that npf names


def log_ratios(errors: "pd.DataFrame", width: int, depth: int, time: int) -> np.ndarray:
    """log10 of |e_t|^2/|e_0|^2 of every run that descended.

    Raises:
        CannotDecideError: there is none.
    """
    rows = errors[
        (errors["dynamics"] == DESCENT) & (errors["width"] == width)
        & (errors["depth"] == depth) & (errors["time"] == time)
    ]  # fmt: skip
    if rows.empty:
        raise CannotDecideError(f"no descent at w = {width}, d = {depth} of {time} steps")
    return np.log10(rows["ratio"].to_numpy(float))


def _best_at(errors: "pd.DataFrame", width: int, time: int) -> list[Part]:
    """Each depth is better than the one before up to the one that npf names; deeper is worse."""
    best = BEST[width]
    pairs = [(worse, better) for worse, better in pairwise(DEPTHS) if better <= best]
    pairs += [(depth, best) for depth in DEPTHS if depth > best]
    return [
        samples.difference(
            f"w = {width}, t = {time}: log10 error at d = {worse} minus at d = {better}",
            log_ratios(errors, width, worse, time), log_ratios(errors, width, better, time),
            low=0, paper=True,
        )
        for worse, better in pairs
    ]  # fmt: skip


def n12(tables: Tables) -> list[Part]:
    """At w = 25 depth helps up to 8 and then hurts, after 100 and after 1000 steps."""
    return [part for time in (100, 1000) for part in _best_at(tables["errors"], NARROW, time)]


def n13(tables: Tables) -> list[Part]:
    """At w = 500 depth helps up to 12 and then hurts, after 100 steps."""
    return _best_at(tables["errors"], WIDE, 100)


def d04(tables: Tables) -> list[Part]:
    """At w = 500 one diagonal and one off-diagonal entry of K_0/d are close to the ideal ones."""
    kernels, entries = (tables[name][tables[name]["width"] == WIDE]
                        for name in ("kernels", "entries"))  # fmt: skip
    parts = []
    for depth in DEPTHS:
        runs, ideal = kernels[kernels["depth"] == depth], entries[entries["depth"] == depth]
        if runs.empty or ideal.empty:
            raise CannotDecideError(f"no kernels at w = {WIDE}, d = {depth}")
        for entry, allowed in (
            ("diagonal", DIAGONAL_TOLERANCE), ("off_diagonal", OFF_DIAGONAL_TOLERANCE),
        ):  # fmt: skip
            parts.append(samples.mean(
                f"d = {depth}: {entry.replace('_', '-')} entry of K_0/d minus ideal",
                runs[entry] - ideal[f"{entry}_ideal"].iloc[0], low=-allowed, high=allowed,
            ))  # fmt: skip
    return parts


def d05(tables: Tables) -> list[Part]:
    """The spectrum of wide networks is closer to the ideal one, at every depth."""
    kernels = tables["kernels"]

    def distances(width: int, depth: int) -> "pd.Series":
        return kernels[(kernels["width"] == width) & (kernels["depth"] == depth)]["distance"]

    return [
        samples.difference(
            f"d = {depth}: distance to the ideal spectrum, w = {NARROW} minus w = {WIDE}",
            distances(NARROW, depth), distances(WIDE, depth), low=0,
        )
        for depth in DEPTHS
    ]  # fmt: skip


def d06(tables: Tables) -> list[Part]:
    """The error after 100 steps falls from each depth to the next, at both widths."""
    errors = tables["errors"]
    return [
        samples.difference(
            f"w = {width}: log10 error at d = {deeper} minus at d = {depth}",
            log_ratios(errors, width, deeper, 100), log_ratios(errors, width, depth, 100), high=0,
        )
        for width in (NARROW, WIDE)
        for depth, deeper in pairwise(DEPTHS)
    ]  # fmt: skip


def best_depths(tables: Tables) -> list[Ours]:
    """The depth of the smallest mean log error after 100 steps, of either width."""
    found = []
    for width in (NARROW, WIDE):
        try:
            ratios = {depth: log_ratios(tables["errors"], width, depth, 100) for depth in DEPTHS}
        except CannotDecideError:
            continue
        means: Sequence[float] = [values.mean() for values in ratios.values()]
        best = DEPTHS[int(np.argmin(means))]
        found.append(Ours(row=f"width{width}", column="memorisation", value=best,
                          runs=len(ratios[best])))  # fmt: skip
    return found
