"""Deep linear networks learn one example with one input, job `dgn_deep_linear` (dgn Figure 10)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from finitewidth.declarations import columns as shared
from finitewidth.measures.dynamics import DESCENT, LINEAR, Networks, batches, means_of_first
from finitewidth.networks.random_gated import equal_variance_weights
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.settings import DeepLinear
from finitewidth.records.tables import Table
from finitewidth.training.full_batch import error_ratios, gradient_descent

FIGURE = "dgn_fig10"
TABLES = {
    "runs": Table(
        shared.DEPTH,
        shared.RUN,
        columns.KERNEL,
        columns.FIRST_RATIO,
        columns.STEPS_TO_HUNDREDTH,
        columns.KERNEL_GROWTH,
    ),
    "start": Table(
        shared.DEPTH,
        columns.MEAN_KERNEL,
        columns.KERNEL_SPREAD,
        shared.RUNS,
        shared.DIVERGED_RUNS,
        shared.FIGURE,
        columns.IDEAL_KERNEL,
    ),
    "curves": Table(
        shared.DEPTH,
        columns.QUANTITY_OVER_TIME,
        columns.LINEAR_DYNAMICS,
        shared.TIME,
        columns.VALUE,
        columns.VALUE_SPREAD,
        columns.RUNS_OF_VALUE,
        columns.DIVERGED_OF_VALUE,
        shared.FIGURE,
    ),
}


def measure(inputs: Mapping[str, Any], settings: DeepLinear) -> dict[str, pd.DataFrame]:
    """Kernel, error and weights over time for (x, y) = (1, 1), sigma^2 = 1/w and step size rate/d.

    Returns:
        ``runs``, a row per run, and ``start`` and ``curves`` of the runs shown, see `TABLES`.
    """
    parts = [_depth_rows(depth, settings) for depth in settings.depths]
    paths, runs = (pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True))
    shown = {FIGURE: settings.shown}
    keys = ["depth", "quantity", "dynamics"]
    curves = means_of_first(paths, keys, ["value"], shown, along="time")
    start = means_of_first(runs, ["depth"], ["kernel"], shown)
    return {
        "runs": runs,
        "start": start.assign(ideal=start["depth"].astype(float)),
        "curves": pd.concat([curves, _ideal(settings)], ignore_index=True),
    }


@dataclass(frozen=True)
class Trajectories:
    """What is followed over the steps of a batch of R runs; each array is (steps + 1, R).

    ``errors`` are squared errors of gradient descent over e_0^2, ``kernels`` the tangent kernels,
    ``norms`` the norms of all weights, and ``linear`` the squared errors of the linear recursion
    over e_0^2.
    """

    errors: np.ndarray
    kernels: np.ndarray
    norms: np.ndarray
    linear: np.ndarray

    def of_run(self, column: int) -> dict[tuple[str, str], np.ndarray]:
        """(quantity, dynamics) -> values (steps + 1,) of one run, relative to time 0."""
        kernels = self.kernels[:, column]
        norms = self.norms[:, column]
        return {
            ("error", DESCENT): self.errors[:, column],
            ("error", LINEAR): self.linear[:, column],
            ("kernel", DESCENT): kernels / kernels[0],
            ("weights", DESCENT): norms / norms[0],
        }


def _depth_rows(depth: int, settings: DeepLinear) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Values over time of the runs shown, and one summary row for every run."""
    paths: list[pd.DataFrame] = []
    summaries = []
    for runs in batches(settings.runs, depth * settings.width**2):
        trajectories = _trajectories(depth, runs, settings)
        for column, run in enumerate(runs):
            path = trajectories.of_run(column)
            errors = path["error", DESCENT]
            summary = {
                "depth": depth,
                "run": run,
                "kernel": trajectories.kernels[0, column],
                "first_ratio": errors[1],
                "steps_to_hundredth": steps_to(errors, 0.01),
                "kernel_growth": path["kernel", DESCENT][-1],
            }
            summaries.append(summary)
            if run < settings.shown:
                paths += _curves_of_run(depth, run, path)
    return pd.concat(paths), pd.DataFrame(summaries)


def _curves_of_run(
    depth: int, run: int, path: Mapping[tuple[str, str], np.ndarray]
) -> Iterator[pd.DataFrame]:
    """A table for each quantity and dynamics of a run, with a row for each time."""
    for (quantity, dynamics), values in path.items():
        yield pd.DataFrame(
            {
                "depth": depth,
                "run": run,
                "quantity": quantity,
                "dynamics": dynamics,
                "time": range(len(values)),
                "value": values,
            }
        )


def _trajectories(depth: int, runs: Sequence[int], settings: DeepLinear) -> Trajectories:
    """Train the networks of some runs on (x, y) = (1, 1), and follow the linear recursion."""
    width = settings.width
    times = range(settings.steps + 1)
    x = torch.ones(1, 1).double()  # (S, n0)
    y = torch.ones(len(runs), 1).double()  # (R, S)
    sizes = [1, *[width] * (depth - 1), 1]
    streams = [("dgn/deep_linear", depth, run, "weights") for run in runs]
    weights = equal_variance_weights(sizes, math.sqrt(1 / width), streams)
    step = torch.full((len(runs),), steepness(settings) / depth, dtype=torch.float64)

    errors = []  # at each time, (R,)
    kernels = []
    norms = []
    for state in gradient_descent(x, y, weights, "open", step=step, times=times):
        errors.append(state.errors[:, 0].clone())
        kernels.append(Networks(x, y, state.weights, "open").kernel()[:, 0, 0])
        nothing = torch.zeros(len(runs), dtype=torch.float64)
        squares = sum(((weight**2).sum((-2, -1)) for weight in state.weights), start=nothing)
        norms.append(squares.sqrt())

    # a kernel of one input is its own eigenvalue, with the eigenvector 1
    values = kernels[0][:, None]  # (R, S)
    vectors = torch.ones(len(runs), 1, 1).double()  # (R, S, S)
    linear = error_ratios(values, vectors, errors[0][:, None], step=step, times=times)
    ratios = torch.stack(errors) ** 2 / errors[0] ** 2
    return Trajectories(
        errors=ratios.numpy(),
        kernels=torch.stack(kernels).numpy(),
        norms=torch.stack(norms).numpy(),
        linear=linear.numpy(),
    )


def steepness(settings: DeepLinear) -> float:
    """The rate for 1/2 sum e^2 that makes the same steps as that of the settings for their loss."""
    return settings.rate * (1 if settings.loss_half else 2)


def steps_to(ratios: np.ndarray, level: float) -> float:
    """Time at which the decreasing ``ratios`` first reach ``level``; NaN if they never do.

    The time is interpolated linearly in the logarithm.
    """
    below = np.flatnonzero(ratios <= level)
    if not len(below):
        return float("nan")
    first = below[0]
    if first == 0 or ratios[first] == 0:
        return float(first)
    before, after = np.log(ratios[first - 1 : first + 1])
    return float(first - 1 + (before - np.log(level)) / (before - after))


def _ideal(settings: DeepLinear) -> pd.DataFrame:
    """(1 - rate)^(2t): the squared error at step size rate/d if the kernel stays equal to d."""
    times = np.arange(settings.steps + 1)
    values = pd.DataFrame(
        {
            "figure": FIGURE,
            "quantity": "error",
            "dynamics": "ideal",
            "time": times,
            "value": (1 - steepness(settings)) ** (2 * times),
        }
    )
    depths = pd.DataFrame({"depth": settings.depths})
    return pd.merge(depths, values, how="cross")
