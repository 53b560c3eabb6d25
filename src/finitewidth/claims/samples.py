"""Comparisons made from samples: means, differences and slopes, with their standard errors.

Runs that are all alike, such as accuracies on few images, have no spread and thus no standard
error. Their mean is still not known exactly. Instead, a sign test is made for one sample and a
permutation test for two, so that two equal runs decide nothing. Too few runs, and a run without a
finite value, raise a `CannotDecideError`.
"""

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import LEVEL, CannotDecideError, Part, PartFacts
from finitewidth.measures.compare import standard_error

if TYPE_CHECKING:
    import pandas as pd


ORDERS = 20_000  # orders of ranks that a permutation test takes


def mean(
    name: str, sample: Sequence[float], resolution: float = 0.0, **thresholds: Unpack[PartFacts]
) -> Part:
    """The mean of independent runs against ``low`` and/or ``high``; Student's t.

    The test keeps its level for normal runs, and for differences of runs with one law, which are
    symmetric. Means of skewed runs err on the side of the many: of 5 log-normal runs whose
    logarithms have the standard deviation 1/4, 1/2 or 1, a true ``low`` equal to the mean fails in
    4.6, 8 or 18 % of cases instead of 2.5 %, and ``high`` in 1.3, 0.6 or 0.2 %. Take logarithms of
    such runs or, of 6 or more, the `median`.

    The ``resolution`` is the step in which values are known, such as one image in a thousand. The
    standard deviation of runs that are all alike is then taken as half a step.
    """
    values = _enough(name, sample)
    count = len(values)
    if _alike(values) and not resolution:
        return Part(name=name, value=float(values[0]), chance=0.5**count, **thresholds)
    error = max(float(values.std(ddof=1)), resolution / 2) / math.sqrt(count)
    return Part(
        name=name, value=float(values.mean()), standard_error=error, dof=count - 1, **thresholds
    )


def median(
    name: str,
    sample: Sequence[float],
    **facts: Unpack[PartFacts],
) -> Part:
    """The median of independent runs against ``low`` and/or ``high``, by a sign test.

    Each run lies above the true median with probability 1/2. The test counts runs on either side of
    a threshold, and keeps its level for laws of any shape. The interval lies between two of the
    runs (order statistics). Less than 6 runs have none, and decide nothing.
    """
    from scipy import special

    low = facts.get("low", -math.inf)
    high = facts.get("high", math.inf)
    values = np.sort(_enough(name, sample))
    count = len(values)
    value = float(np.median(values))
    if value > high:
        runs = int((values > high).sum())
    elif value < low:
        runs = int((values < low).sum())
    else:  # runs on the claimed side of the nearer threshold
        runs = min(int((values > low).sum()), int((values < high).sum()))
    # the probability of as many runs or more on one side of the median, by a binomial law
    chance = float(special.bdtrc(runs - 1, count, 0.5))
    outer = 0  # number of runs at either end that lie outside the interval
    while special.bdtr(outer, count, 0.5) <= LEVEL:
        outer += 1
    ends = (values[outer - 1], values[-outer]) if outer else (-math.inf, math.inf)
    return Part(
        name=name,
        value=value,
        chance=chance,
        limits=(float(ends[0]), float(ends[1])),
        **facts,
    )


def difference(
    name: str, first: Sequence[float], second: Sequence[float], **thresholds: Unpack[PartFacts]
) -> Part:
    """Mean of ``first`` minus mean of ``second``, unequal variances (Welch's t)."""
    a = _enough(name, first)
    b = _enough(name, second)
    if _alike(a) and _alike(b):
        splits = math.comb(len(a) + len(b), len(a))
        return Part(name=name, value=float(a[0] - b[0]), chance=1 / splits, **thresholds)
    # variances of both means, and the degrees of freedom of their sum (Welch and Satterthwaite)
    variance_a = a.var(ddof=1) / len(a)
    variance_b = b.var(ddof=1) / len(b)
    variance = variance_a + variance_b
    dof = variance**2 / (variance_a**2 / (len(a) - 1) + variance_b**2 / (len(b) - 1))
    return Part(
        name=name,
        value=float(a.mean() - b.mean()),
        standard_error=math.sqrt(variance),
        dof=float(dof),
        **thresholds,
    )


def paired(
    name: str, first: Sequence[float], second: Sequence[float], **thresholds: Unpack[PartFacts]
) -> Part:
    """Mean of ``first - second``, run by run, for runs that share their random streams."""
    if len(first) != len(second):
        raise CannotDecideError(f"{name}: {len(first)} runs beside {len(second)}")
    return mean(name, np.asarray(first, float) - np.asarray(second, float), **thresholds)


def slope(
    name: str, x: Sequence[float], y: Sequence[float], **thresholds: Unpack[PartFacts]
) -> Part:
    """The slope of a least-squares line, its error from the residuals."""
    places = np.asarray(x, float)
    values = np.asarray(y, float)
    if len(np.unique(places)) < 3:
        raise CannotDecideError(f"{name}: a slope needs three points, there are {len(places)}")
    if not np.isfinite(values).all():
        raise CannotDecideError(f"{name}: some points have no finite value")
    centred = places - places.mean()
    spread = float(centred @ centred)
    value = float(centred @ values) / spread
    residuals = values - values.mean() - value * centred
    dof = len(x) - 2
    error = math.sqrt(float(residuals @ residuals) / dof / spread)
    return Part(name=name, value=value, standard_error=error, dof=dof, **thresholds)


def rank_correlation(
    name: str,
    series: Sequence[tuple[Sequence[float], Sequence[float]]],
    **thresholds: Unpack[PartFacts],
) -> Part:
    """The mean of Spearman's correlations of several short series against 0, by permutations.

    If two columns have nothing to do with each other, every order of the second is as likely as
    any other. The test takes all orders of all series if there are at most `ORDERS` of them
    together, and is then exact: three series of three points that all fall have the probability
    1/216. Otherwise it takes as many random orders. It gives no interval.

    Args:
        name: of the comparison.
        series: the two columns of each.
        thresholds: ``low`` or ``high``, which is 0, and other fields of a `Part`.

    Raises:
        CannotDecideError: if a column lacks a value, or all its values are alike.
        ValueError: if a threshold is not 0.
    """
    if {thresholds.get("low", 0), thresholds.get("high", 0)} != {0}:
        raise ValueError(f"{name}: permutations only test a correlation of 0")
    ranks = [(_ranks(name, first), _ranks(name, second)) for first, second in series]
    value = float(np.mean([_correlations(first, second) for first, second in ranks]))
    means = _means_of_orders(ranks)
    chance = float(np.mean(np.sign(value) * means >= abs(value) - 1e-9))
    thresholds["bounds"] = (-1, 1)
    return Part(name=name, value=value, chance=chance, **thresholds)


def _ranks(name: str, column: Sequence[float]) -> np.ndarray:
    """Ranks minus their mean; ties share a rank."""
    from scipy import stats

    values = np.asarray(column, float)
    if not np.isfinite(values).all() or len(np.unique(values)) < 2:
        raise CannotDecideError(f"{name}: a column lacks a value, or its values are all alike")
    ranks = stats.rankdata(values)
    return ranks - ranks.mean()


def _correlations(first: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Correlations of ranks with one or several (rows) orders of other ranks."""
    squares = (orders**2).sum(axis=-1)
    return orders @ first / np.sqrt(squares * (first @ first))


def _means_of_orders(ranks: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The mean correlation for all orders of the second columns, or for random ones."""
    if math.prod(math.factorial(len(first)) for first, _ in ranks) <= ORDERS:
        means = np.zeros(1)
        for first, second in ranks:
            correlations = _correlations(first, np.array([*itertools.permutations(second)]))
            means = np.add.outer(means, correlations / len(ranks)).ravel()
        return means
    rng = np.random.default_rng(0)
    totals = np.zeros(ORDERS)
    for first, second in ranks:
        orders = rng.permuted(np.tile(second, (ORDERS, 1)), axis=1)
        totals += _correlations(first, orders)
    # the measured order is one of all orders
    measured = sum(_correlations(first, second) for first, second in ranks)
    return np.append(totals, measured) / len(ranks)


def by_seed(rows: "pd.DataFrame", value: str, what: str, **keys: object) -> "pd.Series":
    """The column ``value`` of the runs that have these ``keys`` and did not diverge, by seed.

    A run with several rows would count repeatedly and is refused.
    """
    for key, value_or_values in keys.items():
        allowed = value_or_values if isinstance(value_or_values, tuple) else (value_or_values,)
        rows = rows[rows[key].isin(allowed)]
    if "diverged" in rows:
        rows = rows[rows["diverged"] == 0]
    if rows.empty:
        raise CannotDecideError(f"no run of {what} ended well")
    if rows["seed"].duplicated().any():
        raise CannotDecideError(f"several rows of {what} for one run")
    return rows.set_index("seed")[value].sort_index()


def mean_of(
    row: str, column: str, values: Sequence[float], part: str = "", untrained: str = ""
) -> Ours:
    """The mean of runs as our counterpart of a printed number; its error is 0 for one run."""
    sample = np.asarray(values, float)
    error = standard_error(float(sample.std(ddof=1)), len(sample), 1) if len(sample) > 1 else 0.0
    return Ours(
        row=row,
        column=column,
        value=float(sample.mean()),
        standard_error=error,
        runs=len(sample),
        part=part,
        untrained=untrained,
    )


def _enough(name: str, sample: Sequence[float]) -> np.ndarray:
    """The sample. A run without a finite value is not left out, since that could bias the mean."""
    values = np.asarray(sample, float)
    if len(values) < 2:
        raise CannotDecideError(f"{name}: {len(values)} runs are too few for an interval")
    if lacking := int((~np.isfinite(values)).sum()):
        raise CannotDecideError(f"{name}: {lacking} of {len(values)} runs have no finite value")
    return values


def _alike(values: np.ndarray) -> bool:
    """Whether all runs have the same value, except for rounding."""
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())
