"""Means in units of standard errors, for samplers with fixed seeds."""

import numpy as np


def settled(sample):
    """Round to 10 digits, so that equal values of laws with atoms remain equal."""
    sample = np.asarray(sample, dtype=float)
    scale = np.abs(sample).max(initial=1e-300)
    magnitude = 10.0 ** np.floor(np.log10(np.maximum(np.abs(sample), 1e-14 * scale)))
    return np.round(sample / magnitude, 10) * magnitude


def assert_mean(sample, exact, sigmas=4.5):
    """Check that a mean is ``exact`` within ``sigmas`` standard errors (4.5: false alarm 7e-6)."""
    sample = np.asarray(sample, dtype=float)
    error = sample.std(ddof=1) / len(sample) ** 0.5
    z = (sample.mean() - exact) / max(error, 1e-12 * abs(exact))
    assert abs(z) < sigmas, (
        f"mean {sample.mean():.6g} +- {error:.2g}, exact {exact:.6g}, z = {z:.1f}"
    )
