"""GaLU and ReLU networks fit random points of the plane, job `dgn_planar` (dgn Figure 4)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from torch import Tensor

from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_ntk import feature_gates
from finitewidth.measures import dynamics
from finitewidth.networks.random_gated import equal_variance_weights, uniform
from finitewidth.papers.dgn.settings import Planar
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints
from finitewidth.training.fully_connected import Gates

NAME = "dgn/planar"
TABLES = {
    "kernels": Table(
        shared.RUN,
        shared.RHO_MAX,
        shared.RHO_MIN,
        shared.TRACE_OVER_RHO_MAX,
        shared.GROWTH,
        shared.NETWORK,
        shared.DEPTH,
    ),
    "spectra": Table(
        shared.NETWORK,
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
        shared.DEPTH,
    ),
    "error_curves": Table(
        shared.NETWORK,
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
    ),
}


def measure(
    inputs: Mapping[str, Any],
    settings: Planar,
    checkpoints: Checkpoints | None = None,
) -> dict[str, pd.DataFrame]:
    """Initial kernels, their spectra, and errors under gradient descent and the linear recursion.

    Returns:
        ``kernels``, ``spectra``, ``errors`` and ``error_curves``, see `TABLES`.
    """
    runs = settings.runs
    descent = dynamics.Descent(
        rate=settings.rate,
        rho=settings.rho,
        loss_half=settings.loss_half,
        steps=settings.steps,
        linear_steps=settings.linear_steps,
        precision=settings.precision,
    )
    gates_of_layer = settings.samples * settings.width  # numbers that a run needs
    cells = []
    for name in ("galu", "relu"):
        for depth in settings.depths:
            cells.append(({"network": name, "depth": depth}, gates_of_layer * depth))

    def rows_of_batch(cell: Mapping[str, Any], batch: range) -> dynamics.Rows:
        drawn = networks(cell["network"], cell["depth"], batch, settings)
        followed = dynamics.follow(drawn, descent, len(batch))
        return dynamics.rows_of(followed, batch.start, cell["depth"])

    return dynamics.tables_of(cells, runs, rows_of_batch, {"dgn_fig4": runs}, checkpoints)


def networks(name: str, depth: int, runs: Sequence[int], settings: Planar) -> dynamics.Networks:
    """The networks of some runs.

    A run's points, targets and initial (value) weights are the same for both kinds of network, and
    its points and targets are the same for all depths. The value networks of ``galu`` are gated by
    an independent ReLU network.
    """
    sizes = [2, *[settings.width] * (depth - 1), 1]
    sigma = math.sqrt(settings.gain / settings.width)
    points = uniform([settings.samples, 2], [(NAME, run, "points") for run in runs])
    targets = uniform([settings.samples], [(NAME, run, "targets") for run in runs])

    def draw(sizes: Sequence[int], purpose: str) -> list[Tensor]:
        streams = [(NAME, depth, run, purpose) for run in runs]
        return equal_variance_weights(sizes, sigma, streams, settings.weights)

    gates: Gates = "own"
    if name == "galu":
        gates = feature_gates(points, draw(sizes[:-1], "feature weights"), None)
    return dynamics.Networks(points, targets, draw(sizes, "weights"), gates)
