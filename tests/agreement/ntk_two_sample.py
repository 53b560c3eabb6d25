"""Two-sample comparisons for the samplers: laws by Kolmogorov-Smirnov, means in standard errors.

Seeds are fixed, so a test passes always or never. ``FALSE_ALARM`` is the chance that one call to
`assert_same_law` would fail under a fresh seed although the laws agree.
"""

import numpy as np
from scipy.stats import ks_2samp

FALSE_ALARM = 1e-4


def settled(sample):
    """Numbers to 10 digits, so that rounding does not break the ties of laws with atoms."""
    sample = np.asarray(sample, dtype=float)
    scale = np.abs(sample).max(initial=1e-300)
    magnitude = 10.0 ** np.floor(np.log10(np.maximum(np.abs(sample), 1e-14 * scale)))
    return np.round(sample / magnitude, 10) * magnitude


def p_values(statistics):
    """Kolmogorov-Smirnov p-values of {name: (sample, sample)}; constants must be equal."""
    found = {}
    for name, (left, right) in statistics.items():
        left, right = settled(left), settled(right)
        if np.ptp(right) <= 1e-9 * np.abs(right).max():
            np.testing.assert_allclose(left, right[0], rtol=1e-9, err_msg=name)
        else:
            found[name] = ks_2samp(left, right).pvalue
    return found


def assert_same_law(statistics):
    """All statistics agree in law, Bonferroni over them at ``FALSE_ALARM`` in total."""
    found = p_values(statistics)
    for name, p in found.items():
        assert p > FALSE_ALARM / len(found), f"{name}: p = {p:.2g} ({found})"


def assert_mean(sample, exact, sigmas=4.5):
    """The mean of a sample is ``exact`` within standard errors (false alarm 7e-6 at 4.5)."""
    sample = np.asarray(sample, dtype=float)
    error = sample.std(ddof=1) / len(sample) ** 0.5
    z = (sample.mean() - exact) / max(error, 1e-12 * abs(exact))
    assert abs(z) < sigmas, (
        f"mean {sample.mean():.6g} +- {error:.2g}, exact {exact:.6g}, z = {z:.1f}"
    )


def assert_same_mean(left, right, sigmas=4.5):
    """Two samples have one mean within standard errors."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    error = np.hypot(left.std() / len(left) ** 0.5, right.std() / len(right) ** 0.5)
    difference = left.mean() - right.mean()
    assert abs(difference) <= sigmas * error + 1e-9 * abs(right.mean()), difference / error
