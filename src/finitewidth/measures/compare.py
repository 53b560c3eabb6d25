"""Ours against theirs, in units of the combined standard error."""

from math import nan, sqrt


def standard_error(spread: float, runs: int, ddof: int) -> float:
    """Standard error of a mean over ``runs`` from a standard deviation with ``ddof``.

    s²/(n-1) for the population form (ddof 0), s²/n for the sample form; NaN for a single run.
    """
    return spread / sqrt(runs - 1 + ddof) if runs > 1 else nan


def difference_in_standard_errors(
    ours: float, our_error: float, theirs: float, their_error: float
) -> float:
    """(ours - theirs) / sqrt(our_error² + their_error²); NaN if both errors are 0 or one is NaN."""
    combined = sqrt(our_error**2 + their_error**2)
    return (ours - theirs) / combined if combined > 0 else nan
