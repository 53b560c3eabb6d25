"""Dispersion of the NTK's diagonal, job `beyond_diagonal` (``beyond`` Figures 1, 2, 9 and 10)."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.ntk_init import estimators
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.tail_errors import exact_dispersion_error, sufficient
from finitewidth.papers.beyond.experiments.grids import depths, dispersion_curves, network
from finitewidth.papers.beyond.experiments.power_sums import PowerSums


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Estimates of E[Theta(x,x)^2] / E[Theta(x,x)]^2, and the theoretical curves.

    The settings are those of `finitewidth.papers.beyond.settings.Diagonal`.

    Returns:
        ``estimates``: group, sample, width, alpha_0, sigma_w2, banded, depth, x, y, spread (the
        standard error from exact moments, nan if the draws do not suffice), draws, bootstrap (the
        standard error from the draws alone, for the sample ``paper``, whose spread is the larger of
        both). The sample ``many`` uses the same random numbers for all depths and weight
        variances. The sample ``paper`` has the paper's number of draws, its estimator, and
        independent random numbers for every depth.
        ``theory``: see `finitewidth.papers.beyond.experiments.grids.dispersion_curves`, with
        group and banded.
    """
    estimates, theory = [], []
    for group in ("phases", "near"):
        chosen = settings[group]
        variances = chosen["sigma_w2"]
        for width, alpha_0 in product(chosen["widths"], chosen["alpha_0"]):
            grid = depths(width, settings["max_lambda"], settings["points"])
            found = _paper_sized(width, alpha_0, variances, grid, settings)
            if settings["draws"] != settings["paper_draws"]:
                found += _many(width, alpha_0, variances, grid, settings["draws"])
            curves = dispersion_curves(width, alpha_0, variances, grid)
            for table, rows in ((estimates, found), (theory, curves)):
                table += [{"group": group, **row, "banded": row["sigma_w2"] in chosen["banded"]}
                          for row in rows]  # fmt: skip
    return {"estimates": pd.DataFrame(estimates), "theory": pd.DataFrame(theory)}


def _key(sample: str, width: int, alpha_0: float, cell: tuple[int, float]) -> dict[str, Any]:
    depth, variance = cell
    return {"sample": sample, "width": width, "alpha_0": alpha_0, "sigma_w2": variance,
            "depth": depth, "x": depth / width}  # fmt: skip


def _many(
    width: int, alpha_0: float, variances: Sequence[float], grid: Sequence[int], draws: int
) -> list[dict[str, Any]]:
    """Naive ratios from many draws; their bias of order 1/draws is far below their error."""
    sums: dict[tuple[int, float], PowerSums] = {}
    deepest = network(max(grid), width, alpha_0)
    seed = seed_for("beyond/diagonal", width, repr(alpha_0))
    for block in sample_depths(deepest, grid, draws, seed, sigma_w2=variances):
        for (depth, variance), drawn in block.items():
            if (depth, variance) not in sums:
                init = network(depth, width, alpha_0, variance)
                mean = np.exp(log_moments(init).mean - drawn.log_growth)
                sums[depth, variance] = PowerSums(float(mean))
            sums[depth, variance].add(drawn.scaled_theta)
    rows = []
    for (depth, variance), found in sums.items():
        value, init = found.dispersion()[0], network(depth, width, alpha_0, variance)
        error = sufficient(value, exact_dispersion_error(init, found.count))
        key = _key("many", width, alpha_0, (depth, variance))
        rows.append(key | {"y": value, "spread": error, "draws": found.count})
    return rows


def _paper_sized(
    width: int,
    alpha_0: float,
    variances: Sequence[float],
    grid: Sequence[int],
    settings: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Leave-one-out ratios of the paper's number of draws (C.3, with prefactor 1/N)."""
    rows, draws = [], settings["paper_draws"]
    for depth in grid:
        seed = seed_for("beyond/diagonal/paper", width, repr(alpha_0), depth)
        init = network(depth, width, alpha_0)
        (block,) = sample_depths(init, [depth], draws, seed, sigma_w2=variances)
        for cell, drawn in block.items():
            found = estimators.dispersion(
                drawn.scaled_theta, estimator="leave_one_out", resamples=settings["resamples"],
                seed=seed_for("bootstrap", seed, repr(cell[1])),
            )  # fmt: skip
            init = network(depth, width, alpha_0, cell[1])
            known = sufficient(found.value, exact_dispersion_error(init, draws))
            error = float(np.maximum(found.standard_error, known))  # nan if one of them is
            rows.append(_key("paper", width, alpha_0, cell) | {
                "y": found.value, "spread": error, "draws": draws,
                "bootstrap": found.standard_error,
            })  # fmt: skip
    return rows
