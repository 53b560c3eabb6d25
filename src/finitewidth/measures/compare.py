"""Compare our numbers with published numbers in units of the combined standard error."""

from math import nan, sqrt


def standard_error(spread: float, runs: int, ddof: int) -> float:
    """Return the standard error of a mean over runs; NaN for a single run.

    It is s / sqrt(n - 1) if the standard deviation s has the population form (``ddof`` 0), and
    s / sqrt(n) if it has the sample form (``ddof`` 1).
    """
    return spread / sqrt(runs - 1 + ddof) if runs > 1 else nan


def difference_in_standard_errors(
    ours: float, our_error: float, theirs: float, their_error: float
) -> float:
    """Return (ours - theirs) / sqrt(our_error² + their_error²).

    The result is NaN if both standard errors are 0 or if one of them is NaN.
    """
    combined = sqrt(our_error**2 + their_error**2)
    return (ours - theirs) / combined if combined > 0 else nan
