"""Statistics of NC3 over the networks of each seed, and what they say against a criterion."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

FEWEST = 3  # networks of a rank correlation or a fit
LEVEL = 0.95  # of intervals over seeds
# outcomes of a criterion
HOLDS = "holds"
FAILS = "fails"
UNDECIDED = "undecided"


def fitting(runs: pd.DataFrame, trained: float) -> pd.DataFrame:
    """The networks with decay that fit ``trained`` of the training images and have an NC3."""
    decayed = runs["decay"] > 0
    finite = np.isfinite(runs["nc3"])
    return runs[decayed & finite & (runs["train_accuracy"] >= trained)]


def over_seeds(
    rows: pd.DataFrame,
    statistic: Callable[[pd.DataFrame], float],
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> dict[str, float]:
    """Mean of a statistic of the networks of each seed, and its interval by Student's t.

    Seeds where the statistic does not exist are left out. The ends of the interval are cut at the
    ``bounds`` of the statistic.

    Returns:
        seeds (that have the statistic), value, low, high, and same: 1 if all of at least two seeds
        have the same value, up to rounding, else 0. Then, and for fewer than two seeds, low and
        high are nan: equal values, as rank correlations of a few networks often are, have no
        spread that an interval could be made of. The value is nan without a seed.
    """
    values = [statistic(networks) for _, networks in rows.groupby("seed")]
    values = [value for value in values if math.isfinite(value)]
    count = len(values)
    mean = float(np.mean(values)) if values else math.nan
    same = count > 1 and bool(np.allclose(values, values[0], rtol=1e-9, atol=1e-12))
    low = high = math.nan
    if count > 1 and not same:
        half = float(stats.t.ppf((1 + LEVEL) / 2, count - 1) * stats.sem(values))
        low = max(mean - half, bounds[0])
        high = min(mean + half, bounds[1])
    return {"seeds": count, "value": mean, "low": low, "high": high, "same": int(same)}


def rank_correlation(rows: pd.DataFrame, against: str) -> float:
    """Spearman's rank correlation of NC3 and the column ``against``.

    It is nan for fewer than `FEWEST` networks, or if one of the two is constant.
    """
    if len(rows) < FEWEST or rows[against].nunique() < 2:
        return math.nan
    return float(rows["nc3"].corr(rows[against], method="spearman"))


def strongest(rows: pd.DataFrame, against: str) -> float:
    """Size of the rank correlation that NC3 would have if it fell, or rose, strictly.

    It is below 1 if the column ``against`` has ties.
    """
    in_order = rows.assign(nc3=rows[against].rank(method="first"))
    return abs(rank_correlation(in_order, against))


def outcome_of(summary: Mapping[str, float], least: float, most: float) -> str:
    """Whether an interval lies between two thresholds, outside them, or neither.

    If all seeds have the same value, that value decides in place of an interval. The lower
    threshold is inside, the upper one is not.

    Returns:
        `HOLDS`, `FAILS` or `UNDECIDED`.
    """
    low = summary["low"]
    high = summary["high"]
    if summary["same"]:
        low = high = summary["value"]
    if least <= low and high < most:
        return HOLDS
    if high < least or low > most:
        return FAILS
    return UNDECIDED


def judged_row(
    criterion: str, summary: Mapping[str, float], least: float, most: float
) -> dict[str, Any]:
    """A row of the table ``judged``."""
    outcome = outcome_of(summary, least, most)
    return {
        "criterion": criterion,
        **summary,
        "at_least": least,
        "at_most": most,
        "outcome": outcome,
    }


def outcomes_of_statements(
    judged: pd.DataFrame, statements: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """What rows of a table ``judged`` say of statements of docs/findings.md.

    ``statements`` has the criteria that each of them rests on. A statement fails if one of its
    criteria fails, and holds if all of them hold. It is undecided otherwise, as where the networks
    of a criterion are missing.

    Returns:
        A row for each statement.
    """
    known = judged.set_index("criterion")["outcome"].to_dict()
    rows = []
    for statement, criteria in statements.items():
        outcomes = [known.get(criterion, UNDECIDED) for criterion in criteria]
        refuted_by = "none"
        if FAILS in outcomes:
            outcome = FAILS
            refuted_by = criteria[outcomes.index(FAILS)]
        elif set(outcomes) == {HOLDS}:
            outcome = HOLDS
        else:
            outcome = UNDECIDED
        rows.append({"statement": statement, "outcome": outcome, "refuted_by": refuted_by})
    return pd.DataFrame(rows)
