"""Two-sample comparisons for the samplers.

Laws are compared by the Kolmogorov-Smirnov test, means in units of standard errors. Seeds are
fixed, so a test passes always or never. ``FALSE_ALARM`` is the probability that one call of
`assert_same_law` fails with a random seed although the laws agree.
"""

import numpy as np
from scipy.stats import ks_2samp

FALSE_ALARM = 1e-4


def settled(sample):
    """Round to 10 digits, so that equal values of laws with atoms remain equal."""
    sample = np.asarray(sample, dtype=float)
    scale = np.abs(sample).max(initial=1e-300)
    magnitude = 10.0 ** np.floor(np.log10(np.maximum(np.abs(sample), 1e-14 * scale)))
    return np.round(sample / magnitude, 10) * magnitude


def p_values(statistics):
    """Return Kolmogorov-Smirnov p-values of {name: (sample, sample)}; constants must be equal."""
    found = {}
    for name, (left, right) in statistics.items():
        left, right = settled(left), settled(right)
        if np.ptp(right) <= 1e-9 * np.abs(right).max():
            np.testing.assert_allclose(left, right[0], rtol=1e-9, err_msg=name)
        else:
            found[name] = ks_2samp(left, right).pvalue
    return found


def assert_same_law(statistics):
    """Check that all statistics agree in law, at the level ``FALSE_ALARM`` (Bonferroni)."""
    found = p_values(statistics)
    for name, p in found.items():
        assert p > FALSE_ALARM / len(found), f"{name}: p = {p:.2g} ({found})"


def assert_mean(sample, exact, sigmas=4.5):
    """Check that a mean is ``exact`` within ``sigmas`` standard errors (4.5: false alarm 7e-6)."""
    sample = np.asarray(sample, dtype=float)
    error = sample.std(ddof=1) / len(sample) ** 0.5
    z = (sample.mean() - exact) / max(error, 1e-12 * abs(exact))
    assert abs(z) < sigmas, (
        f"mean {sample.mean():.6g} +- {error:.2g}, exact {exact:.6g}, z = {z:.1f}"
    )


def assert_same_mean(left, right, sigmas=4.5):
    """Check that the means of two samples agree within ``sigmas`` standard errors."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    error = np.hypot(left.std() / len(left) ** 0.5, right.std() / len(right) ** 0.5)
    difference = left.mean() - right.mean()
    assert abs(difference) <= sigmas * error + 1e-9 * abs(right.mean()), difference / error
