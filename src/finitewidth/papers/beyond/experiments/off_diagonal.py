"""Off-diagonal NTK elements, job `beyond_off_diagonal` (``beyond`` Figures 3, 7, 8 and 11)."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from finitewidth.common.progress import Progress
from finitewidth.kernels.ntk_init import estimators, off_diagonal
from finitewidth.kernels.ntk_init.pair_chain import sample_pairs
from finitewidth.kernels.ntk_init.tail_errors import log_variance, robust_error
from finitewidth.papers.beyond.experiments.grids import depths, dispersion_curves, network
from finitewidth.papers.beyond.experiments.power_sums import PairSums, TailedSums
from finitewidth.records.provenance import seed_for
from finitewidth.training.checkpoints import Checkpoints, stored_map

RATIO, DISPERSIONS = "ratio", ("phases", "near")
POWER = 2.0  # the ratio changes fast in the first few layers and slowly afterwards


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
    inputs: Mapping[str, Any], settings: Mapping[str, Any], checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """Estimates of E[Theta(x,x~)] / E[Theta(x,x)] and E[Theta(x,x~)^2] / E[Theta(x,x~)]^2.

    Checkpoints store the estimates of each width.

    The ``estimates`` are ratios for the group ``ratio``, otherwise dispersions; the spread is their
    standard error, nan if the draws do not suffice for a dispersion. All depths, weight variances
    and cosines of a width use the same random numbers. The curves of ``theory`` are, for ``ratio``,
    equation 18 (``printed``) and the infinite-width ratio with both parts (``infinite_width``);
    otherwise those of Theta(x, x).
    """
    widths = sorted({w for group in (RATIO, *DISPERSIONS) for w in settings[group]["widths"]})
    parts = stored_map(lambda width: _estimates(width, settings), widths, checkpoints, "widths")
    rows = [row for part in parts for row in part]
    theory = [
        {"group": group, "cosine": np.nan, **row}
        for group in DISPERSIONS
        for width, alpha_0 in product(settings[group]["widths"], settings[group]["alpha_0"])
        for row in dispersion_curves(
            width, alpha_0, settings[group]["sigma_w2"], _depths(width, settings)
        )
    ]
    cells = [cell for width in settings[RATIO]["widths"] for cell in _cells(width, settings)]
    theory += [row for cell in cells if cell.group == RATIO for row in _ratio_curves(cell)]
    banded = settings[RATIO]["banded"]
    for row in rows + theory:
        row["banded"] = (
            row["group"] == RATIO
            and row["sigma_w2"] in banded["sigma_w2"]
            and row["cosine"] in banded["cosines"]
        )
    return {"estimates": pd.DataFrame(rows), "theory": pd.DataFrame(theory)}


def _depths(width: int, settings: Mapping[str, Any]) -> list[int]:
    return depths(width, settings["max_lambda"], settings["points"], POWER)


def _cells(width: int, settings: Mapping[str, Any]) -> list[_Cell]:
    grid, cells = _depths(width, settings), []
    for group in (RATIO, *DISPERSIONS):
        chosen = settings[group]
        if width in chosen["widths"]:
            lines = product(chosen["alpha_0"], chosen["sigma_w2"], chosen["cosines"], grid)
            cells += [_Cell(group, width, *point) for point in lines]
    return cells


def _estimates(width: int, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    cells = _cells(width, settings)
    cosines = sorted({cell.cosine for cell in cells})
    sums: dict[_Cell, PairSums | TailedSums] = {}
    firsts: dict[_Cell, list[np.ndarray]] = {cell: [] for cell in cells}
    draws, few, done = settings["draws"], settings["paper_draws"], 0
    progress = Progress(draws, f"pairs, width {width}")
    seed = seed_for("beyond/off_diagonal", width)
    for block in sample_pairs(width, _depths(width, settings), cosines, draws, seed):
        for cell in cells:
            input_width = network(2, width, cell.alpha_0).widths[0]
            theta = block[cell.depth, cell.cosine].scaled_theta(cell.sigma_w2, input_width)
            empty = PairSums() if cell.group == RATIO else TailedSums(float(theta[1].mean()))
            sums.setdefault(cell, empty).add(theta[0], theta[1])
            if done < few:
                firsts[cell].append(theta[:, : few - done])
        done += theta.shape[1]
        progress.advance(theta.shape[1])
    progress.close()
    rows = []
    for cell, found in sums.items():
        value, spread = found.estimate()
        if draws > few:
            many = {"sample": "many", "y": value, "spread": spread, "draws": draws}
            rows.append(cell.key() | many)
        first = np.concatenate(firsts[cell], axis=1)
        paper = _paper_sized(cell, first, settings["resamples"])
        rows.append(cell.key() | {"sample": "paper"} | paper)
    return rows


def _paper_sized(cell: _Cell, theta: np.ndarray, resamples: int) -> dict[str, Any]:
    """The paper's estimators: ratio of means, and leave-one-out dispersion with prefactor 1/N."""
    bootstrap = {"seed": seed_for("bootstrap", *map(repr, cell)), "resamples": resamples}
    if cell.group == RATIO:
        found = estimators.mean_ratio(theta[1], theta[0], **bootstrap)
        error = found.standard_error
    else:
        found = estimators.dispersion(theta[1], estimator="leave_one_out", **bootstrap)
        variance = log_variance(theta[0])
        error = robust_error(found.value, found.standard_error, variance, found.draws)
    return {"y": found.value, "spread": error, "draws": found.draws}


def _ratio_curves(cell: _Cell) -> Iterator[dict[str, Any]]:
    init = network(cell.depth, cell.width, cell.alpha_0, cell.sigma_w2)
    curves = {
        "printed": off_diagonal.printed_mean_ratio(cell.depth, cell.sigma_w2, cell.cosine),
        "infinite_width": off_diagonal.infinite_width_mean_ratio(init, cell.cosine),
    }
    return ({**cell.key(), "curve": curve, "y": ratio} for curve, ratio in curves.items())
