"""Dispersion of the NTK's diagonal, job `beyond_diagonal` (``beyond`` Figures 1, 2, 9 and 10)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.ntk_init import estimators
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.tail_errors import exact_dispersion_error, sufficient
from finitewidth.papers.beyond.experiments.grids import depths, dispersion_curves, network, networks
from finitewidth.papers.beyond.experiments.power_sums import PowerSums

GROUPS = ("phases", "near")


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Estimates of E[Theta(x,x)^2] / E[Theta(x,x)]^2, and the theoretical curves.

    Args:
        inputs: none.
        settings: ``draws``, ``paper_draws``, ``resamples`` of the bootstrap, ``max_lambda``,
            ``points`` (number of depths per network, or None for all), and the groups ``phases``
            and ``near``, each with ``widths``, ``alpha_0``, ``sigma_w2`` and ``banded`` (the weight
            variances also shown with bands).

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
    for group in GROUPS:
        chosen = settings[group]
        for width, alpha_0 in networks(chosen):
            grid = depths(width, settings["max_lambda"], settings["points"])
            variances = chosen["sigma_w2"]
            tag = {"group": group}
            found = _paper_sized(width, alpha_0, variances, grid, settings)
            if settings["draws"] != settings["paper_draws"]:
                found += _many(width, alpha_0, variances, grid, settings["draws"])
            estimates += [tag | row for row in found]
            theory += [tag | row for row in dispersion_curves(width, alpha_0, variances, grid)]
    banded = {group: set(settings[group]["banded"]) for group in GROUPS}
    for row in estimates + theory:
        row["banded"] = row["sigma_w2"] in banded[row["group"]]
    return {"estimates": pd.DataFrame(estimates), "theory": pd.DataFrame(theory)}


def _row(
    sample: str, width: int, alpha_0: float, cell: tuple[int, float], found: Sequence[float]
) -> dict[str, Any]:
    (depth, variance), (value, spread, draws) = cell, found
    return {
        "sample": sample, "width": width, "alpha_0": alpha_0, "sigma_w2": variance, "depth": depth,
        "x": depth / width, "y": value, "spread": spread, "draws": draws,
    }  # fmt: skip


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
    for cell, found in sums.items():
        value = found.dispersion()[0]
        error = _known_error(width, alpha_0, cell, found.count, value)
        rows.append(_row("many", width, alpha_0, cell, (value, error, found.count)))
    return rows


def _known_error(
    width: int, alpha_0: float, cell: tuple[int, float], draws: int, value: float
) -> float:
    """Standard error from exact moments; nan if the draws do not suffice."""
    init = network(cell[0], width, alpha_0, cell[1])
    return sufficient(value, exact_dispersion_error(init, draws))


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
                drawn.scaled_theta,
                estimator="leave_one_out",
                seed=seed_for("bootstrap", seed, repr(cell[1])),
                resamples=settings["resamples"],
            )
            known = _known_error(width, alpha_0, cell, draws, found.value)
            error = float(np.maximum(found.standard_error, known))  # nan if one of them is
            row = _row("paper", width, alpha_0, cell, (found.value, error, draws))
            rows.append(row | {"bootstrap": found.standard_error})
    return rows
