"""Theorem 3.1 of ``beyond`` as printed, corrected and at finite width, job `beyond_theorem31`.

docs/theory.md derives why the printed limits are too small. Networks of which all weights are drawn
confirm it.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.progress import Progress
from finitewidth.declarations import columns as shared
from finitewidth.kernels.ntk_init import limits
from finitewidth.kernels.ntk_init.brute_force import sample_by_brute_force
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.kernels.ntk_init.tail_errors import exact_dispersion_error, sufficient
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.experiments.grids import dispersion_curves, network
from finitewidth.papers.beyond.experiments.power_sums import PowerSums
from finitewidth.papers.beyond.settings import Doubled, Small, Theorem31
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

PIECE = 50_000  # networks per batch
TABLES = {
    "curves": Table(
        columns.PHASE,
        columns.SIGMA_W2,
        columns.CURVE_OF_THEOREM,
        columns.WIDTH_OR_LIMIT,
        columns.LAMBDA,
        columns.DISPERSION,
        columns.OVER_PRINTED_LIMIT,
    ),
    "doubled": Table(
        columns.PHASE,
        columns.SIGMA_W2,
        columns.LAMBDA,
        shared.WIDTH,
        shared.DEPTH,
        columns.EXACT_DISPERSION,
        columns.PRINTED_LIMIT,
        columns.GAP_TO_LIMIT,
        columns.LIMIT_OF_GAP,
    ),
    "small": Table(
        shared.WIDTH,
        columns.ALPHA_0,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.LAMBDA,
        columns.CURVE_OF_SMALL,
        columns.SMALL_DISPERSION,
        columns.SMALL_ERROR,
        columns.SMALL_DRAWS,
        columns.OVER_PRINTED_SUMS,
        columns.OVER_PRINTED_SUMS_ERROR,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Theorem31) -> dict[str, pd.DataFrame]:
    """Limits and exact dispersions up to a large lambda, and dispersions of random networks.

    Returns:
        ``curves``: limits, their lower bound and exact values at finite width.
        ``doubled``: exact values at doubled widths, and how fast they tend to their limit.
        ``small``: dispersions of small networks by Theorem 3.2, exactly, and of drawn networks.
        See `TABLES`.
    """
    curves = pd.DataFrame(_curves(settings))
    small = pd.DataFrame(_small(settings.small, settings.draws))
    limit = [
        limits.dispersion_limit(float(row.x), row.phase, form="printed")
        for row in curves.itertuples()
    ]
    network_of = ["sigma_w2", "depth"]
    printed = small[small["curve"] == "printed_sums"].set_index(network_of)["y"]
    sums = printed.loc[pd.MultiIndex.from_frame(small[network_of])].to_numpy()
    return {
        "curves": curves.assign(relative=curves["y"] / limit),
        "doubled": pd.DataFrame(_doubled(settings.doubled)),
        "small": small.assign(relative=small["y"] / sums, relative_spread=small["spread"] / sums),
    }


def _curves(settings: Theorem31) -> Iterator[dict[str, Any]]:
    lambdas = np.linspace(0, settings.max_lambda, settings.points + 1)[1:]
    for variance, lam in product(settings.sigma_w2, lambdas):
        phase = phase_of("relu", variance)
        key = {"phase": phase, "sigma_w2": variance}
        limit_values = {
            "printed_limit": limits.dispersion_limit(float(lam), phase, form="printed"),
            "corrected_limit": limits.dispersion_limit(float(lam), phase, form="corrected"),
            "lower_bound": limits.dispersion_lower_bound(float(lam), phase),
        }
        for curve, value in limit_values.items():
            yield key | {"curve": curve, "width": 0, "x": lam, "y": value}
        for width in settings.widths:
            depth = max(2, round(lam * width))
            value = _exact(depth, width, variance)
            yield key | {"curve": "exact", "width": width, "x": depth / width, "y": value}


def _exact(depth: int, width: int, sigma_w2: float) -> float:
    return log_moments(network(depth, width, 1.0, sigma_w2)).dispersion


def _doubled(settings: Doubled) -> list[dict[str, Any]]:
    """Exact dispersions at each width beside the limits that they should tend to, and how fast."""
    rows = []
    for variance, lam in product(settings.sigma_w2, settings.lambdas):
        phase = phase_of("relu", variance)
        printed = limits.dispersion_limit(lam, phase, form="printed")
        corrected = limits.dispersion_limit(lam, phase)
        for width in settings.widths:
            depth = round(lam * width)
            exact = _exact(depth, width, variance)
            rows.append(
                {
                    "phase": phase,
                    "sigma_w2": variance,
                    "x": lam,
                    "width": width,
                    "depth": depth,
                    "exact": exact,
                    "printed": printed,
                    "gap": width * (exact - corrected),
                    "constant": limits.dispersion_correction(lam, variance),
                }
            )
    return rows


def _small(settings: Small, draws: int) -> list[dict[str, Any]]:
    """Dispersions of small networks: in closed form, and of networks whose weights are drawn."""
    width = settings.width
    grid = settings.depths
    variances = settings.sigma_w2
    rows = []
    for row in dispersion_curves(width, 1.0, variances, grid):
        if row["curve"] in ("printed_sums", "exact"):
            rows.append(row | {"spread": 0.0, "draws": 0})
    progress = Progress(len(grid) * len(variances) * draws, "random networks")
    for variance, depth in product(variances, grid):
        value, spread = _drawn_dispersion(depth, width, variance, draws, progress)
        rows.append(
            {
                "width": width,
                "alpha_0": 1.0,
                "sigma_w2": variance,
                "depth": depth,
                "x": depth / width,
                "curve": "networks",
                "y": value,
                "spread": spread,
                "draws": draws,
            }
        )
    progress.close()
    return rows


def _drawn_dispersion(
    depth: int, width: int, variance: float, draws: int, progress: Progress
) -> tuple[float, float]:
    """Dispersion of networks drawn in full, and its standard error; nan if draws do not suffice."""
    init = network(depth, width, 1.0, variance)
    x = np.eye(1, width)
    sums = PowerSums(float(np.exp(log_moments(init).mean)))
    for first in range(0, draws, PIECE):
        seed = seed_for("beyond/theorem31", repr(variance), depth, first)
        size = min(PIECE, draws - first)
        drawn = sample_by_brute_force(init, x, size, seed, activation="relu")
        sums.add(drawn.theta[:, 0, 0])
        progress.advance(size)
    value, error = sums.dispersion()
    return value, sufficient(value, max(error, exact_dispersion_error(init, draws)))
