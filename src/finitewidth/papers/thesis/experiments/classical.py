"""Training and expected risk of polynomials, job `thesis_classical` (``thesis`` Figure 2.3).

The thesis draws the two curves by hand. Here they are measured on data of our own: noisy values of
a sine, fitted by least squares with polynomials of growing degree.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial import legendre

from finitewidth.papers.thesis import columns
from finitewidth.papers.thesis.settings import Classical
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

NODES = 64  # of the quadrature; it is exact up to degree 127
TABLES = {
    "risks": Table(
        columns.DEGREE,
        columns.COEFFICIENTS,
        columns.RISK_KIND,
        columns.MEDIAN_RISK,
        columns.LOW_RISK,
        columns.HIGH_RISK,
        columns.MEAN_RISK,
        columns.BEST,
        columns.NOISE,
        columns.SAMPLES,
        columns.DATASETS,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Classical) -> dict[str, pd.DataFrame]:
    """Risks of least-squares polynomials of every degree, over datasets.

    Returns:
        ``risks``, see `TABLES`.
    """
    training, expected = risks(settings, np.random.default_rng(seed_for("thesis/classical")))
    rows = []
    for kind, values in (("training", training), ("expected", expected)):
        medians = np.median(values, axis=0)  # (degrees,)
        lows, highs = np.quantile(values, (0.1, 0.9), axis=0)
        best = int(medians.argmin())
        for degree in range(len(medians)):
            row = {
                "degree": degree,
                "parameters": degree + 1,
                "kind": kind,
                "median": float(medians[degree]),
                "low": float(lows[degree]),
                "high": float(highs[degree]),
                "mean": float(values[:, degree].mean()),
                "best": degree == best,
                "noise": settings.noise,
                "samples": settings.samples,
                "draws": settings.draws,
            }
            rows.append(row)
    return {"risks": pd.DataFrame(rows)}


def risks(settings: Classical, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Training and expected risk (2.34) of each dataset and degree, (draws, degrees) each.

    The squared error is expected over x, uniform in [-1, 1], by quadrature, and over the noise.
    """
    draws = settings.draws
    samples = settings.samples
    largest = settings.largest_degree
    noise = settings.noise
    x = rng.uniform(-1, 1, (draws, samples))
    y = _truth(x, settings) + np.sqrt(noise) * rng.standard_normal((draws, samples))

    # the first p columns of q span the polynomials of degree p - 1 on the samples
    q, r = np.linalg.qr(legendre.legvander(x, largest))  # (draws, samples, P), (draws, P, P)
    projected = np.einsum("dsp,ds->dp", q, y)  # (draws, P)
    # |y|^2 less its part in the span of the first p columns
    residual = (y**2).sum(axis=1, keepdims=True) - np.cumsum(projected**2, axis=1)

    nodes, weights = legendre.leggauss(NODES)
    basis = legendre.legvander(nodes, largest)  # (nodes, P)
    truth = _truth(nodes, settings)
    expected = []
    for degree in range(largest + 1):
        used = slice(0, degree + 1)
        right = projected[:, used, None]
        coefficients = np.linalg.solve(r[:, used, used], right)[..., 0]  # (draws, degree + 1)
        fitted = coefficients @ basis[:, used].T  # (draws, nodes)
        expected.append((fitted - truth) ** 2 @ weights / 2 + noise)
    return residual / samples, np.stack(expected, axis=1)


def _truth(x: np.ndarray, settings: Classical) -> np.ndarray:
    return np.sin(np.pi * (settings.frequency * x + settings.phase))
