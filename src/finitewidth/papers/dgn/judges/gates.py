"""Claims of dgn on experiment 1: networks of fixed random gates that memorise."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.verdicts import CannotDecideError, Part
from finitewidth.papers.npf.judges.memorisation import DEPTHS, NARROW, WIDE, log_ratios

if TYPE_CHECKING:
    import pandas as pd

# Deeper, mu^(d-1) falls by less than the mean of 20 runs is known to.
FALLING = (2, 4, 6, 8)
RELATIVE = 0.25
TILL_A_POINT = "the paper's theory says that depth helps till a point, without a number"
# of the ideal entry at d = 2, the largest in Figure 2
OF_THE_PLOT = 0.05
BY_EYE = "follows, in a plot; the mean of 20 runs is known to a tenth at d = 20"
BY_SCALE = "follows, in a plot whose axis must reach 1/2: a twentieth of that"


def d04(tables: Tables) -> list[Part]:
    """At w = 500 one diagonal and one off-diagonal entry of K_0/d follow the ideal ones."""
    diagonal, off = ({depth: _entry(tables, column, depth) for depth in DEPTHS}
                     for column in ("diagonal", "off_diagonal"))  # fmt: skip
    parts = [
        samples.difference(
            f"off-diagonal entry of K_0/d at d = {depth} minus at d = {deeper}",
            off[depth][0], off[deeper][0], low=0, paper=True,
        )
        for depth, deeper in pairwise(FALLING)
    ]  # fmt: skip
    scale = off[DEPTHS[0]][1]
    for depth in DEPTHS:
        for name, (entry, ideal) in (("diagonal", diagonal[depth]), ("off-diagonal", off[depth])):
            relative = RELATIVE * ideal >= OF_THE_PLOT * scale
            allowed = RELATIVE * ideal if relative else OF_THE_PLOT * scale
            parts.append(samples.mean(
                f"d = {depth}: {name} entry of K_0/d minus ideal", entry - ideal,
                low=-allowed, high=allowed, ours=BY_EYE if relative else BY_SCALE, late=True,
            ))  # fmt: skip
    return parts


def _entry(tables: Tables, column: str, depth: int) -> tuple[np.ndarray, float]:
    """An entry of K_0/d of all runs at w = 500, and the ideal one."""
    kernels, entries = (
        rows[(rows["width"] == WIDE) & (rows["depth"] == depth)]
        for rows in (tables["kernels"], tables["entries"])
    )
    if kernels.empty or entries.empty:
        raise CannotDecideError(f"no kernels at w = {WIDE}, d = {depth}")
    return kernels[column].to_numpy(float), float(entries[f"{column}_ideal"].iloc[0])


def d05(tables: Tables) -> list[Part]:
    """The spectrum of wide networks is closer to the ideal one, at every depth."""
    kernels = tables["kernels"]

    def distances(width: int, depth: int) -> "pd.Series":
        return kernels[(kernels["width"] == width) & (kernels["depth"] == depth)]["distance"]

    return [
        samples.difference(
            f"d = {depth}: distance to the ideal spectrum, w = {NARROW} minus w = {WIDE}",
            distances(NARROW, depth), distances(WIDE, depth), low=0, paper=True,
        )
        for depth in DEPTHS
    ]  # fmt: skip


def d06(tables: Tables) -> list[Part]:
    """The error of gradient descent after 100 steps falls from each depth to the next.

    The paper's theory says that depth helps till a point. Only the first step in depth must help.
    Error ratios of single runs differ by powers of ten, so that their logarithms are compared.
    """
    errors = tables["errors"]
    return [
        samples.difference(
            f"w = {width}: log10 error at d = {deeper} minus at d = {depth}",
            log_ratios(errors, width, deeper, 100), log_ratios(errors, width, depth, 100),
            high=0, paper=True, cut="" if depth == DEPTHS[0] else TILL_A_POINT,
        )
        for width in (NARROW, WIDE)
        for depth, deeper in pairwise(DEPTHS)
    ]  # fmt: skip
