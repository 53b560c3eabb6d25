"""Statistics of NC3 over the networks of each seed, and what they say against a criterion."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

FEWEST = 3  # networks of a rank correlation or a fit
LEVEL = 0.95  # of intervals over seeds
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
SUMMARY = ("seeds", "value", "low", "high", "same")
JUDGED = ["criterion", *SUMMARY, "at_least", "at_most", "outcome"]


def fitting(runs: pd.DataFrame, trained: float) -> pd.DataFrame:
    """The networks with decay that fit ``trained`` of the training images and have an NC3."""
    sound = runs[(runs["decay"] > 0) & np.isfinite(runs["nc3"])]
    return sound[sound["train_accuracy"] >= trained]


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
    mean, half, same = float(np.mean(values)) if values else math.nan, math.nan, False
    if len(values) > 1:
        same = bool(np.allclose(values, values[0], rtol=1e-9, atol=1e-12))
        if not same:
            half = float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * stats.sem(values))
    low, high = max(mean - half, bounds[0]), min(mean + half, bounds[1])
    if math.isnan(half):
        low = high = math.nan
    return {"seeds": len(values), "value": mean, "low": low, "high": high, "same": int(same)}


def rank_correlation(rows: pd.DataFrame, against: str) -> float:
    """Spearman's of NC3; nan for fewer than `FEWEST` networks, or where one side is constant."""
    if len(rows) < FEWEST or rows[against].nunique() < 2:
        return math.nan
    return float(rows["nc3"].corr(rows[against], method="spearman"))


def strongest(rows: pd.DataFrame, against: str) -> float:
    """Size of the rank correlation of NC3 if it fell, or rose, strictly; ties keep it below 1."""
    return abs(rank_correlation(rows.assign(nc3=rows[against].rank(method="first")), against))


def outcome_of(summary: Mapping[str, float], least: float, most: float) -> str:
    """Whether an interval lies between two thresholds, outside them, or neither.

    Of a value that is the same in all seeds, its own place decides: inside, outside, or on a
    threshold. The upper threshold is not inside, as the lower one is.
    """
    if summary["same"]:
        low = high = summary["value"]
    else:
        low, high = summary["low"], summary["high"]
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
        Each statement: statement, outcome, refuted_by (the first criterion that fails, or none).
    """
    known = judged.set_index("criterion")["outcome"].to_dict()
    rows = []
    for statement, criteria in statements.items():
        outcomes = [known.get(criterion, UNDECIDED) for criterion in criteria]
        outcome = HOLDS if set(outcomes) == {HOLDS} else UNDECIDED
        refuted_by = "none"
        if FAILS in outcomes:
            outcome, refuted_by = FAILS, criteria[outcomes.index(FAILS)]
        rows.append({"statement": statement, "outcome": outcome, "refuted_by": refuted_by})
    return pd.DataFrame(rows)
