"""Claims of npf on networks of fixed random gates that memorise (appendix D).

They are about gradient descent, and so are those of dgn on the same networks (`dgn_gates`). They
are judged by gradient descent itself, not by its linear recursion. Error ratios of single runs
differ by powers of ten, so that their logarithms are compared.
"""

from itertools import pairwise

import numpy as np
import pandas as pd

from finitewidth.claims import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part

DEPTHS = (2, 4, 6, 8, 12, 16, 20)
NARROW = 25
WIDE = 500
DESCENT = "gradient descent"
BEST = {NARROW: 8, WIDE: 12}  # depths that npf names


def narrow_errors(tables: Tables) -> pd.DataFrame:
    """Errors of the networks drawn for claims on depth; those of the figures without any."""
    trend = tables["trend"]
    return tables["errors"] if trend.empty else trend


def log_ratios(errors: pd.DataFrame, width: int, depth: int, time: int) -> list[float]:
    """log10 of |e_t|^2/|e_0|^2 of every run that descended; an error if there is none."""
    rows = errors[(errors["dynamics"] == DESCENT) & (errors["time"] == time)]
    rows = rows[(rows["width"] == width) & (rows["depth"] == depth)]
    if rows.empty:
        raise CannotDecideError(f"no descent at w = {width}, d = {depth} of {time} steps")
    return np.log10(rows["ratio"].to_numpy(float)).tolist()


def _best_at(errors: pd.DataFrame, width: int, time: int) -> list[Part]:
    """Each depth is better than the one before up to the one that npf names; deeper is worse."""
    best = BEST[width]
    pairs = [(worse, better) for worse, better in pairwise(DEPTHS) if better <= best]
    pairs += [(depth, best) for depth in DEPTHS if depth > best]
    parts = []
    for worse, better in pairs:
        name = f"w = {width}, t = {time}: log10 error at d = {worse} minus at d = {better}"
        errors_of_worse = log_ratios(errors, width, worse, time)
        errors_of_better = log_ratios(errors, width, better, time)
        difference = samples.difference(name, errors_of_worse, errors_of_better, low=0, paper=True)
        parts.append(difference)
    return parts


def n12(tables: Tables) -> list[Part]:
    """At w = 25 depth helps up to 8 and then hurts, after 100 and after 1000 steps."""
    errors = narrow_errors(tables)
    return [*_best_at(errors, NARROW, 100), *_best_at(errors, NARROW, 1000)]


def n13(tables: Tables) -> list[Part]:
    """At w = 500 depth helps up to 12 and then hurts, after 100 steps."""
    return _best_at(tables["errors"], WIDE, 100)


def best_depths(tables: Tables) -> list[Ours]:
    """The depth of the smallest mean log error after 100 steps, of either width."""
    numbers = []
    for width in (NARROW, WIDE):
        try:
            ratios = {depth: log_ratios(tables["errors"], width, depth, 100) for depth in DEPTHS}
        except CannotDecideError:
            continue
        means = [np.mean(ratios[depth]) for depth in DEPTHS]
        best = DEPTHS[int(np.argmin(means))]
        runs = len(ratios[best])
        numbers.append(Ours(row=f"width{width}", column="memorisation", value=best, runs=runs))
    return numbers
