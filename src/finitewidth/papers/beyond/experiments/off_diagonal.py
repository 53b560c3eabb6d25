"""Off-diagonal NTK elements, job `beyond_off_diagonal` (``beyond`` Figures 3, 7, 8 and 11)."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from finitewidth.common.progress import Progress
from finitewidth.declarations import columns as shared
from finitewidth.kernels.ntk_init import estimators, off_diagonal
from finitewidth.kernels.ntk_init.pair_chain import sample_pairs
from finitewidth.kernels.ntk_init.tail_errors import log_variance, robust_error
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.experiments.grids import depths, dispersion_curves, network
from finitewidth.papers.beyond.experiments.power_sums import PairSums, TailedSums
from finitewidth.papers.beyond.settings import OffDiagonal, PairGroup, RatioBands
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints, stored_map

RATIO = "ratio"
POWER = 2.0  # the ratio changes fast in the first few layers and slowly afterwards
TABLES = {
    "estimates": Table(
        columns.GROUP,
        shared.WIDTH,
        columns.ALPHA_0,
        columns.SIGMA_W2,
        columns.COSINE,
        shared.DEPTH,
        columns.LAMBDA,
        columns.SAMPLE,
        columns.PAIR_ESTIMATE,
        columns.PAIR_ERROR,
        columns.DRAWS,
        columns.BANDED_PAIR,
    ),
    "theory": Table(
        columns.GROUP,
        columns.COSINE_OF_CURVE,
        shared.WIDTH,
        columns.ALPHA_0,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.LAMBDA,
        columns.CURVE_OF_PAIRS,
        columns.PAIR_CURVE,
        columns.BANDED_PAIR,
    ),
}


class _Cell(NamedTuple):
    """One point of one curve."""

    group: str
    width: int
    alpha_0: float
    sigma_w2: float
    cosine: float
    depth: int

    def key(self) -> dict[str, Any]:
        return {**self._asdict(), "x": self.depth / self.width}


def measure(
    inputs: Mapping[str, Any], settings: OffDiagonal, checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Estimates of E[Theta(x,x~)] / E[Theta(x,x)] and E[Theta(x,x~)^2] / E[Theta(x,x~)]^2.

    Checkpoints store the estimates of each width. All depths, weight variances and cosines of a
    width use the same random numbers.

    Returns:
        ``estimates`` and ``theory``, see `TABLES`.
    """
    groups = _groups(settings)
    widths = sorted({width for networks in groups.values() for width in networks.widths})
    parts = stored_map(lambda width: _estimates(width, settings), widths, checkpoints, "widths")
    estimates = [row for part in parts for row in part]
    theory = [*_dispersion_theory(settings), *_ratio_theory(settings)]
    for row in estimates + theory:
        row["banded"] = _is_banded(row, settings.ratio.banded)
    return {"estimates": pd.DataFrame(estimates), "theory": pd.DataFrame(theory)}


def _groups(settings: OffDiagonal) -> dict[str, PairGroup]:
    """Name of a group -> its networks and pairs of inputs; the ratio comes first."""
    return {RATIO: settings.ratio, "phases": settings.phases, "near": settings.near}


def _dispersion_theory(settings: OffDiagonal) -> Iterator[dict[str, Any]]:
    for group, networks in _groups(settings).items():
        if group == RATIO:
            continue
        for width, alpha_0 in product(networks.widths, networks.alpha_0):
            grid = _depths(width, settings)
            for row in dispersion_curves(width, alpha_0, networks.sigma_w2, grid):
                yield {"group": group, "cosine": np.nan, **row}


def _ratio_theory(settings: OffDiagonal) -> Iterator[dict[str, Any]]:
    for width in settings.ratio.widths:
        for cell in _cells(width, settings):
            if cell.group == RATIO:
                yield from _ratio_curves(cell)


def _is_banded(row: Mapping[str, Any], banded: RatioBands) -> bool:
    """Whether Figure 11 shows a row with error bands."""
    return (
        row["group"] == RATIO
        and row["sigma_w2"] in banded.sigma_w2
        and row["cosine"] in banded.cosines
    )


def _depths(width: int, settings: OffDiagonal) -> list[int]:
    return depths(width, settings.max_lambda, settings.points, POWER)


def _cells(width: int, settings: OffDiagonal) -> list[_Cell]:
    grid = _depths(width, settings)
    cells = []
    for group, networks in _groups(settings).items():
        if width in networks.widths:
            axes = (networks.alpha_0, networks.sigma_w2, networks.cosines, grid)
            cells += [_Cell(group, width, *point) for point in product(*axes)]
    return cells


def _estimates(width: int, settings: OffDiagonal) -> list[dict[str, Any]]:
    draws = settings.draws
    paper_draws = settings.paper_draws
    sums, first_draws = _sums(width, settings)
    rows = []
    for cell, total in sums.items():
        if draws > paper_draws:
            value, spread = total.estimate()
            many = {"sample": "many", "y": value, "spread": spread, "draws": draws}
            rows.append(cell.key() | many)
        paper = _paper_sized(cell, first_draws[cell], settings.resamples)
        rows.append(cell.key() | {"sample": "paper"} | paper)
    return rows


def _sums(
    width: int, settings: OffDiagonal
) -> tuple[dict[_Cell, PairSums | TailedSums], dict[_Cell, np.ndarray]]:
    """Draw all pairs of a width: sums over all draws, and the paper's number of first draws.

    The draws are theta(x, x) and theta(x, x~), (2, draws).
    """
    cells = _cells(width, settings)
    cosines = sorted({cell.cosine for cell in cells})
    draws = settings.draws
    paper_draws = settings.paper_draws
    sums: dict[_Cell, PairSums | TailedSums] = {}
    first_draws: dict[_Cell, list[np.ndarray]] = {cell: [] for cell in cells}
    done = 0
    progress = Progress(draws, f"pairs, width {width}")
    seed = seed_for("beyond/off_diagonal", width)
    for block in sample_pairs(width, _depths(width, settings), cosines, draws, seed):
        for cell in cells:
            input_width = network(2, width, cell.alpha_0).widths[0]
            theta = block[cell.depth, cell.cosine].scaled_theta(cell.sigma_w2, input_width)
            diagonal, cross = theta  # (n,) each
            if cell not in sums:
                is_ratio = cell.group == RATIO
                sums[cell] = PairSums() if is_ratio else TailedSums(float(cross.mean()))
            sums[cell].add(diagonal, cross)
            if done < paper_draws:
                first_draws[cell].append(theta[:, : paper_draws - done])
        done += theta.shape[1]
        progress.advance(theta.shape[1])
    progress.close()
    return sums, {cell: np.concatenate(parts, axis=1) for cell, parts in first_draws.items()}


def _paper_sized(cell: _Cell, theta: np.ndarray, resamples: int) -> dict[str, Any]:
    """The paper's estimators: ratio of means, and leave-one-out dispersion with prefactor 1/N.

    ``theta`` are theta(x, x) and theta(x, x~), (2, draws).
    """
    diagonal, cross = theta
    bootstrap = {"seed": seed_for("bootstrap", *map(repr, cell)), "resamples": resamples}
    if cell.group == RATIO:
        estimate = estimators.mean_ratio(cross, diagonal, **bootstrap)
        error = estimate.standard_error
    else:
        estimate = estimators.dispersion(cross, estimator="leave_one_out", **bootstrap)
        variance = log_variance(diagonal)
        error = robust_error(estimate.value, estimate.standard_error, variance, estimate.draws)
    return {"y": estimate.value, "spread": error, "draws": estimate.draws}


def _ratio_curves(cell: _Cell) -> Iterator[dict[str, Any]]:
    init = network(cell.depth, cell.width, cell.alpha_0, cell.sigma_w2)
    curves = {
        "printed": off_diagonal.printed_mean_ratio(cell.depth, cell.sigma_w2, cell.cosine),
        "infinite_width": off_diagonal.infinite_width_mean_ratio(init, cell.cosine),
    }
    for curve, ratio in curves.items():
        yield cell.key() | {"curve": curve, "y": ratio}
