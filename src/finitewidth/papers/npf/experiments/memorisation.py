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

from finitewidth.kernels.gated_moments import ideal_eigenvalues, ideal_overlap
from finitewidth.measures import dynamics
from finitewidth.networks.random_gated import bernoulli_gates, equal_variance_weights, uniform
from finitewidth.training.checkpoints import Checkpoints

NAME = "npf/memorisation"
PLACE = ["network", "width", "depth"]


def measure(
    inputs: Mapping[str, Any],
    settings: Mapping[str, Any],
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Initial kernels, their spectra, and errors under gradient descent and the linear recursion.

    Returns:
        ``kernels``: network, width, depth, run, rho_max, rho_min, trace_over_rho_max, growth,
        diagonal and off_diagonal (entries (0, 0) and (0, 1) of K_0/d), distance (Euclidean, of the
        cumulative spectrum of K_0/d to the ideal one).
        ``spectra``: figure, network, width, depth, index, cumulative (of K_0/d), scaled (of
        K_0/rho_max), their spreads, runs, diverged.
        ``errors``: network, width, depth, dynamics, run, time, ratio = |e_t|^2/|e_0|^2.
        ``error_curves``: figure, network, width, depth, dynamics, time, ratio, ratio_spread,
        log_ratio (decadic), log_ratio_spread, geometric (mean of the ratios) and its band of 2
        standard errors from ``geometric_low`` to ``geometric_high``, runs, diverged.
        ``entries``: figure, network, width, depth, diagonal, off_diagonal, their spreads, standard
        errors (``_error``) and ideal values (``_ideal``), runs.
    """
    cells = []  # a network, and its number of gates times samples
    for (name, width), depth in product(settings["widths"].items(), settings["depths"]):
        network = {"network": name, "width": width, "depth": depth}
        cells.append((network, settings["samples"] * width * depth))
    rows = partial(_rows, settings=settings)
    tables = dynamics.tables_of(cells, settings["runs"], rows, settings["shown"], checkpoints)
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


def networks(
    width: int, depth: int, runs: Sequence[int], settings: Mapping[str, Any]
) -> dynamics.Networks:
    """The networks of some runs: input 1, weights ±1/sqrt(mu w), targets uniform on [-1, 1].

    The targets of a run are the same for all widths and depths.
    """
    samples = settings["samples"]
    mu = settings["mu"]
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


def _rows(place: Mapping[str, Any], batch: range, settings: Mapping[str, Any]) -> dynamics.Rows:
    """The rows of a batch of runs of one network; only the first runs descend."""
    depth = place["depth"]
    mu = settings["mu"]
    chosen = settings["descent"]
    descents = chosen[place["network"]]
    descent = dynamics.Descent(
        rate=chosen["rate"],
        rho=chosen["rho"],
        loss_half=chosen["loss_half"],
        steps=descents["steps"],
        linear_steps=chosen["linear_steps"],
        precision=chosen["precision"],
    )
    descending = max(descents["runs"] - batch.start, 0)
    drawn = networks(place["width"], depth, batch, settings)
    result = dynamics.follow(drawn, descent, descending)
    rows = dynamics.rows_of(result, batch.start, depth)
    ideal = np.cumsum(ideal_eigenvalues(result.eigenvalues.shape[1], depth, mu))
    gaps = np.cumsum(result.eigenvalues, axis=1) / depth - ideal  # (runs, S)
    for row, kernel, gap in zip(rows["kernels"], result.kernel, gaps, strict=True):
        row["diagonal"] = kernel[0, 0] / depth
        row["off_diagonal"] = kernel[0, 1] / depth
        row["distance"] = float(np.linalg.norm(gap))
    return rows


def _entries(kernels: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    names = ["diagonal", "off_diagonal"]
    means = dynamics.means_of_first(kernels, PLACE, names, settings["shown"])
    errors = {f"{name}_error": means[f"{name}_spread"] / np.sqrt(means["runs"]) for name in names}
    ideal = [ideal_overlap(depth, settings["mu"]) for depth in means["depth"]]
    return means.assign(**errors, diagonal_ideal=1.0, off_diagonal_ideal=ideal)
