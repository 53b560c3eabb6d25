"""Comparisons made from samples: means, differences, slopes, with their standard errors."""

import math
from collections.abc import Sequence

import numpy as np

from finitewidth.claims.verdicts import CannotDecideError, Part


def mean(name: str, sample: Sequence[float], **thresholds: float) -> Part:
    """The mean of independent runs against ``low`` and/or ``high``; Student's t.

    Raises:
        CannotDecideError: fewer than two runs.
    """
    values = _enough(name, sample)
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Part(
        name=name, value=float(values.mean()), standard_error=error, dof=len(values) - 1,
        **thresholds,
    )  # fmt: skip


def median(name: str, sample: Sequence[float], **thresholds: float) -> Part:
    """The median of independent runs, its error from the order statistics half a root of n away.

    Raises:
        CannotDecideError: fewer than two runs.
    """
    values = np.sort(_enough(name, sample))
    count, half = len(values), math.sqrt(len(values)) / 2
    low = values[max(0, math.floor(count / 2 - half))]
    high = values[min(count - 1, math.ceil(count / 2 + half))]
    return Part(
        name=name, value=float(np.median(values)), standard_error=float(high - low) / 2,
        dof=count - 1, **thresholds,
    )  # fmt: skip


def difference(
    name: str, first: Sequence[float], second: Sequence[float], **thresholds: float
) -> Part:
    """Mean of ``first`` minus mean of ``second``, unequal variances (Welch's t).

    Raises:
        CannotDecideError: fewer than two runs of either.
    """
    a, b = _enough(name, first), _enough(name, second)
    parts = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    total = sum(parts)
    weights = parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1)
    return Part(
        name=name, value=float(a.mean() - b.mean()), standard_error=math.sqrt(total),
        dof=float(total**2 / weights) if weights else len(a) + len(b) - 2, **thresholds,
    )  # fmt: skip


def paired(name: str, first: Sequence[float], second: Sequence[float], **thresholds: float) -> Part:
    """Mean of ``first - second`` run by run, for runs that share their random streams.

    Raises:
        CannotDecideError: fewer than two pairs, or samples of different sizes.
    """
    if len(first) != len(second):
        raise CannotDecideError(f"{name}: {len(first)} runs beside {len(second)}")
    return mean(name, np.asarray(first, float) - np.asarray(second, float), **thresholds)


def slope(name: str, x: Sequence[float], y: Sequence[float], **thresholds: float) -> Part:
    """The slope of a least-squares line, its error from the residuals.

    Raises:
        CannotDecideError: fewer than three points, or all at one x.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(np.unique(x)) < 3:
        raise CannotDecideError(f"{name}: a slope needs three points, there are {len(x)}")
    centred = x - x.mean()
    spread = float(centred @ centred)
    value = float(centred @ y) / spread
    residuals = y - y.mean() - value * centred
    dof = len(x) - 2
    error = math.sqrt(float(residuals @ residuals) / dof / spread)
    return Part(name=name, value=value, standard_error=error, dof=dof, **thresholds)


def _enough(name: str, sample: Sequence[float]) -> np.ndarray:
    values = np.asarray(sample, float)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        raise CannotDecideError(f"{name}: {len(values)} runs are too few for an interval")
    return values
