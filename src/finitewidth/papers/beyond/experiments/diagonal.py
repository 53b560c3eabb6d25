"""Dispersion of the NTK's diagonal, job `beyond_diagonal` (``beyond`` Figures 1, 2, 9 and 10)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.kernels.ntk_init import estimators
from finitewidth.kernels.ntk_init.depth_sweep import Cell, sample_depths
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.tail_errors import exact_dispersion_error, sufficient
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.experiments.grids import depths, dispersion_curves, network
from finitewidth.papers.beyond.experiments.power_sums import PowerSums
from finitewidth.papers.beyond.settings import Diagonal
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

Estimates = Iterator[tuple[Cell, dict[str, Any]]]  # of each depth and weight variance
TABLES = {
    "estimates": Table(
        columns.GROUP,
        columns.SAMPLE,
        shared.WIDTH,
        columns.ALPHA_0,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.LAMBDA,
        columns.DISPERSION_ESTIMATE,
        columns.DISPERSION_ERROR,
        columns.DRAWS,
        columns.BOOTSTRAP,
        columns.BANDED,
    ),
    "theory": Table(
        columns.GROUP,
        shared.WIDTH,
        columns.ALPHA_0,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.LAMBDA,
        columns.CURVE_OF_DISPERSION,
        columns.DISPERSION,
        columns.BANDED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Diagonal) -> dict[str, pd.DataFrame]:
    """Estimates of E[Theta(x,x)^2] / E[Theta(x,x)]^2, and the theoretical curves.

    The sample ``many`` uses the same random numbers for all depths and weight variances. The sample
    ``paper`` has the paper's number of draws, its estimator, and independent random numbers for
    every depth. The curves of ``theory`` are those of `dispersion_curves`.

    Returns:
        ``estimates`` and ``theory``, see `TABLES`.
    """
    estimates: list[dict[str, Any]] = []
    theory: list[dict[str, Any]] = []
    for group, networks in (("phases", settings.phases), ("near", settings.near)):
        variances = networks.sigma_w2
        banded = {variance: {"banded": variance in networks.banded} for variance in variances}
        for width, alpha_0 in product(networks.widths, networks.alpha_0):
            grid = depths(width, settings.max_lambda, settings.points)
            samples = {"paper": _paper_sized(width, alpha_0, variances, grid, settings)}
            if settings.draws != settings.paper_draws:
                samples["many"] = _many(width, alpha_0, variances, grid, settings.draws)
            for sample, rows in samples.items():
                key = {"group": group, "sample": sample, "width": width, "alpha_0": alpha_0}
                for (depth, variance), row in rows:
                    cell = {"sigma_w2": variance, "depth": depth, "x": depth / width}
                    estimates.append(key | cell | row | banded[variance])
            for curve in dispersion_curves(width, alpha_0, variances, grid):
                theory.append({"group": group} | curve | banded[curve["sigma_w2"]])
    return {"estimates": pd.DataFrame(estimates), "theory": pd.DataFrame(theory)}


def _many(
    width: int, alpha_0: float, variances: Sequence[float], grid: Sequence[int], draws: int
) -> Estimates:
    """Naive ratios from many draws; their bias of order 1/draws is far below their error."""
    sums: dict[Cell, PowerSums] = {}
    seed = seed_for("beyond/diagonal", width, repr(alpha_0))
    deepest = network(max(grid), width, alpha_0)
    for block in sample_depths(deepest, grid, draws, seed, sigma_w2=variances):
        for (depth, variance), drawn in block.items():
            if (depth, variance) not in sums:
                init = network(depth, width, alpha_0, variance)
                mean = np.exp(log_moments(init).mean - drawn.log_growth)
                sums[depth, variance] = PowerSums(float(mean))
            sums[depth, variance].add(drawn.scaled_theta)
    for (depth, variance), powers in sums.items():
        value, _ = powers.dispersion()
        init = network(depth, width, alpha_0, variance)
        error = sufficient(value, exact_dispersion_error(init, powers.count))
        yield (depth, variance), {"y": value, "spread": error, "draws": powers.count}


def _paper_sized(
    width: int,
    alpha_0: float,
    variances: Sequence[float],
    grid: Sequence[int],
    settings: Diagonal,
) -> Estimates:
    """Leave-one-out ratios of the paper's number of draws (C.3, with prefactor 1/N)."""
    draws = settings.paper_draws
    for depth in grid:
        seed = seed_for("beyond/diagonal/paper", width, repr(alpha_0), depth)
        drawn_init = network(depth, width, alpha_0)
        (block,) = sample_depths(drawn_init, [depth], draws, seed, sigma_w2=variances)
        for (_, variance), drawn in block.items():
            estimate = estimators.dispersion(
                drawn.scaled_theta,
                estimator="leave_one_out",
                resamples=settings.resamples,
                seed=seed_for("bootstrap", seed, repr(variance)),
            )
            bootstrap = estimate.standard_error
            init = network(depth, width, alpha_0, variance)
            exact = sufficient(estimate.value, exact_dispersion_error(init, draws))
            row = {
                "y": estimate.value,
                "spread": float(np.maximum(bootstrap, exact)),  # nan if one of them is
                "draws": draws,
                "bootstrap": bootstrap,
            }
            yield (depth, variance), row
