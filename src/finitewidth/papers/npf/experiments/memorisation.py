"""Networks with fixed random gates memorise random targets, job `npf_memorisation`.

Used for npf Figure 7 and dgn Figures 1 to 3. All runs are drawn once; each figure shows its first
runs.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_moments import ideal_eigenvalues, ideal_overlap
from finitewidth.measures import dynamics
from finitewidth.networks.random_gated import bernoulli_gates, equal_variance_weights, uniform
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.papers.npf.settings import DrawnTask, Task
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints

NAME = "npf/memorisation"
PLACE = ["network", "width", "depth"]
TABLES = {
    "kernels": Table(
        shared.RUN,
        shared.RHO_MAX,
        shared.RHO_MIN,
        shared.TRACE_OVER_RHO_MAX,
        shared.GROWTH,
        columns.DIAGONAL,
        columns.OFF_DIAGONAL,
        columns.DISTANCE,
        shared.NETWORK,
        shared.WIDTH,
        shared.DEPTH,
    ),
    "spectra": Table(
        shared.NETWORK,
        shared.WIDTH,
        shared.DEPTH,
        shared.INDEX,
        shared.CUMULATIVE,
        shared.SCALED,
        shared.CUMULATIVE_SPREAD,
        shared.SCALED_SPREAD,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        shared.FIGURE,
    ),
    "errors": Table(
        shared.DYNAMICS,
        shared.RUN,
        shared.TIME,
        shared.RATIO,
        shared.NETWORK,
        shared.WIDTH,
        shared.DEPTH,
    ),
    "error_curves": Table(
        shared.NETWORK,
        shared.WIDTH,
        shared.DEPTH,
        shared.DYNAMICS,
        shared.TIME,
        shared.MEAN_RATIO,
        shared.LOG_RATIO,
        shared.RATIO_SPREAD,
        shared.LOG_RATIO_SPREAD,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        shared.FIGURE,
        columns.GEOMETRIC,
        columns.GEOMETRIC_LOW,
        columns.GEOMETRIC_HIGH,
    ),
    "entries": Table(
        shared.NETWORK,
        shared.WIDTH,
        shared.DEPTH,
        columns.MEAN_DIAGONAL,
        columns.MEAN_OFF_DIAGONAL,
        columns.DIAGONAL_SPREAD,
        columns.OFF_DIAGONAL_SPREAD,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        shared.FIGURE,
        columns.DIAGONAL_ERROR,
        columns.OFF_DIAGONAL_ERROR,
        columns.DIAGONAL_IDEAL,
        columns.OFF_DIAGONAL_IDEAL,
    ),
}


def measure(
    inputs: Mapping[str, Any],
    settings: DrawnTask,
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Initial kernels, their spectra, and errors under gradient descent and the linear recursion.

    Returns:
        ``kernels`` and ``errors`` of every run; ``spectra``, ``error_curves`` and ``entries``,
        means over the runs that a figure shows. See `TABLES`.
    """
    cells = []  # a network, and its number of gates times samples
    for (name, width), depth in product(dict(settings.widths).items(), settings.depths):
        network = {"network": name, "width": width, "depth": depth}
        cells.append((network, settings.samples * width * depth))
    rows = partial(_rows, settings=settings)
    shown = dict(settings.shown)
    tables = dynamics.tables_of(cells, settings.runs, rows, shown, checkpoints)
    tables["error_curves"] = _with_geometric_means(tables["error_curves"])
    tables["entries"] = _entries(tables["kernels"], settings)
    return tables


def _with_geometric_means(curves: pd.DataFrame) -> pd.DataFrame:
    """Add the geometric mean of the ratios, and its band of 2 standard errors."""
    log = curves["log_ratio"]
    half = 2 * curves["log_ratio_spread"] / np.sqrt(curves["runs"])
    return curves.assign(
        geometric=10**log, geometric_low=10 ** (log - half), geometric_high=10 ** (log + half)
    )


def networks(width: int, depth: int, runs: Sequence[int], task: Task) -> dynamics.Networks:
    """The networks of some runs: input 1, weights ±1/sqrt(mu w), targets uniform on [-1, 1].

    The targets of a run are the same for all widths and depths.
    """
    samples = task.samples
    mu = task.mu
    sizes = [1, *[width] * (depth - 1), 1]
    sigma = math.sqrt(1 / (mu * width))
    weight_streams = [(NAME, width, depth, run, "weights") for run in runs]
    gate_streams = [(NAME, width, depth, run, "gates") for run in runs]
    target_streams = [(NAME, run, "targets") for run in runs]
    return dynamics.Networks(
        torch.ones(samples, 1).double(),
        uniform([samples], target_streams),
        equal_variance_weights(sizes, sigma, weight_streams),
        bernoulli_gates(samples, sizes[1:-1], mu, gate_streams),
    )


def _rows(place: Mapping[str, Any], batch: range, settings: DrawnTask) -> dynamics.Rows:
    """The rows of a batch of runs of one network; only the first runs descend."""
    depth = place["depth"]
    schedule = settings.descent
    descents = schedule.narrow if place["network"] == "narrow" else schedule.wide
    descent = dynamics.Descent(
        rate=schedule.rate,
        rho=schedule.rho,
        loss_half=schedule.loss_half,
        steps=descents.steps,
        linear_steps=schedule.linear_steps,
        precision=schedule.precision,
    )
    descending = max(descents.runs - batch.start, 0)
    drawn = networks(place["width"], depth, batch, settings)
    result = dynamics.follow(drawn, descent, descending)
    rows = dynamics.rows_of(result, batch.start, depth)
    ideal = np.cumsum(ideal_eigenvalues(result.eigenvalues.shape[1], depth, settings.mu))
    gaps = np.cumsum(result.eigenvalues, axis=1) / depth - ideal  # (runs, S)
    for row, kernel, gap in zip(rows["kernels"], result.kernel, gaps, strict=True):
        row["diagonal"] = kernel[0, 0] / depth
        row["off_diagonal"] = kernel[0, 1] / depth
        row["distance"] = float(np.linalg.norm(gap))
    return rows


def _entries(kernels: pd.DataFrame, settings: DrawnTask) -> pd.DataFrame:
    names = ["diagonal", "off_diagonal"]
    means = dynamics.means_of_first(kernels, PLACE, names, dict(settings.shown))
    errors = {f"{name}_error": means[f"{name}_spread"] / np.sqrt(means["runs"]) for name in names}
    ideal = [ideal_overlap(depth, settings.mu) for depth in means["depth"]]
    return means.assign(**errors, diagonal_ideal=1.0, off_diagonal_ideal=ideal)
