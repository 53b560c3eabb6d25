"""What the sentences of result of trust share: numbers, ranges, phases, spreads of networks."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from finitewidth.common.number_words import listed, number
from finitewidth.papers.trust.figures.descent_maps import STEEP
from finitewidth.papers.trust.figures.looks import NAMES

PHASES = ("ordered", "chaotic")
CONSTANT = "the loss of the best constant output"


def short(value: float) -> str:
    """A number with two significant digits: ``0.022``, ``1.1``, ``240``."""
    return number(f"{value:.2g}") if np.isfinite(value) else number(value)


def span(values: Iterable[float]) -> str:
    """The range of some numbers, such as ``0.022 to 0.19``; one number if both ends read alike."""
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return "an unknown number"
    low = short(min(known))
    high = short(max(known))
    return low if low == high else f"{low} to {high}"


def percent(values: Iterable[float]) -> str:
    """The range of some shares in percent, such as ``0.9 to 125 %``."""
    percents = [100 * value for value in values]
    low, high = (round(value, 1 if value < 10 else 0) for value in (min(percents), max(percents)))
    return f"{low:g} %" if low == high else f"{low:g} to {high:g} %"


def names(activations: Iterable[str]) -> str:
    """Activations in words."""
    return listed(NAMES[activation] for activation in activations)


def known_cells(rows: pd.DataFrame, quantity: str = "change") -> pd.DataFrame:
    """The cells of maps of a quantity in which some network did not diverge."""
    is_cell = (rows["series"] == "cell") & (rows["quantity"] == quantity)
    return rows[is_cell & rows["value"].notna()]


def of_phase(cells: pd.DataFrame, phase: str) -> pd.Series:
    """The values of the cells of a phase."""
    return cells.loc[cells["phase"] == phase, "value"]


def deepest(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells at the largest depth that has cells of both phases; none if no depth has."""
    for depth in sorted(cells["depth"].unique(), reverse=True):
        at_depth = cells[cells["depth"] == depth]
        if set(PHASES) <= set(at_depth["phase"]):
            return at_depth
    return cells.iloc[:0]


def sure(changes: pd.DataFrame) -> str:
    """How sure the changes of some cells are, in brackets: their networks and steep rates."""
    steep = int((changes["eta_lambda"] > STEEP).sum())
    if not steep:
        return f"({networks(changes)})"
    rate = f"the rate of {steep} of {len(changes)} cells is above the largest stable one"
    return f"({networks(changes)}; {rate})"


def networks(changes: pd.DataFrame) -> str:
    """How many networks the changes are means of, and by which factor those of a cell differ."""
    known = changes["seeds"] - changes["diverged"]
    count = span(known)
    if count == "1":
        return "1 network a cell"
    several = changes[(known > 1) & (changes["lowest"] > 0)]
    factors = (several["highest"] / several["lowest"]).dropna()
    if factors.empty:
        return f"means of {count} networks"
    median = short(factors.median())
    largest = short(factors.max())
    return (
        f"means of {count} networks, which differ by a factor of {median} in the median and of "
        f"{largest} at most"
    )


def overlap(first: pd.Series, second: pd.Series) -> bool:
    """Whether the ranges of two sets of numbers have something in common."""
    return first.min() <= second.max() and second.min() <= first.max()
