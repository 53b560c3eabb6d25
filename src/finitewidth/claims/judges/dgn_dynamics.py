"""Claims of dgn on experiments 2 (points of the plane) and 8 (deep linear networks)."""

import math
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.claims.judges import samples
from finitewidth.claims.ledger import Tables
from finitewidth.claims.reported import Ours
from finitewidth.claims.verdicts import CannotDecideError, Part

if TYPE_CHECKING:
    import pandas as pd

PLANAR_DEPTHS = (2, 4, 6, 8, 12, 16, 20)
LINEAR_DEPTHS = (2, 4, 6, 8, 10)
DESCENT = "gradient descent"
EARLY, LATE = 1000, 10000
RATE = 0.1
SIMILAR = math.log(1.3)


def _log_errors(tables: Tables, network: str, depth: int, time: int) -> "pd.Series":
    """log10 error ratios of gradient descent by run."""
    errors = tables["errors"]
    rows = errors[
        (errors["dynamics"] == DESCENT) & (errors["network"] == network)
        & (errors["depth"] == depth) & (errors["time"] == time)
    ].sort_values("run")  # fmt: skip
    if rows.empty:
        raise CannotDecideError(f"no descent of {network}, d = {depth}, of {time} steps")
    return np.log10(rows["ratio"])


def _spreads(tables: Tables, network: str, depth: int) -> "pd.Series":
    """Trace over largest eigenvalue of K_0 by run."""
    kernels = tables["kernels"]
    rows = kernels[(kernels["network"] == network) & (kernels["depth"] == depth)]
    return rows.sort_values("run")["trace_over_rho_max"]


def _times(tables: Tables) -> list[int]:
    """1000 steps, and also 10,000 if gradient descent took so many."""
    errors = tables["errors"]
    reached = errors[errors["dynamics"] == DESCENT]["time"].max()
    return [EARLY, LATE] if reached >= LATE else [EARLY]


def d07(tables: Tables) -> list[Part]:
    """GaLU: from each depth to the next the error falls and the spectrum evens out."""
    parts = []
    for depth, deeper in pairwise(PLANAR_DEPTHS):
        for time in _times(tables):
            parts.append(samples.paired(
                f"GaLU, t = {time}: log10 error at d = {deeper} minus at d = {depth}",
                _log_errors(tables, "galu", deeper, time), _log_errors(tables, "galu", depth, time),
                high=0,
            ))  # fmt: skip
        parts.append(samples.paired(
            f"GaLU: trace over largest eigenvalue at d = {deeper} minus at d = {depth}",
            _spreads(tables, "galu", deeper), _spreads(tables, "galu", depth), low=0,
        ))  # fmt: skip
    return parts


def d08(tables: Tables) -> list[Part]:
    """From depth 4 on, GaLU has the smaller error and the more even spectrum."""
    parts = []
    for depth in PLANAR_DEPTHS[1:]:
        for time in _times(tables):
            parts.append(samples.paired(
                f"d = {depth}, t = {time}: log10 error, GaLU minus ReLU",
                _log_errors(tables, "galu", depth, time), _log_errors(tables, "relu", depth, time),
                high=0,
            ))  # fmt: skip
        parts.append(samples.paired(
            f"d = {depth}: trace over largest eigenvalue, GaLU minus ReLU",
            _spreads(tables, "galu", depth), _spreads(tables, "relu", depth), low=0,
        ))  # fmt: skip
    return parts


def _linear_runs(tables: Tables, depth: int, column: str) -> "pd.Series":
    runs = tables["runs"]
    values = runs[runs["depth"] == depth][column]
    if values.isna().any():
        raise CannotDecideError(f"d = {depth}: {values.isna().sum()} runs lack {column}")
    return values


def d11(tables: Tables) -> list[Part]:
    """The first step leaves about 0.81 of the squared error, whatever the depth."""
    return [
        samples.median(
            f"d = {depth}: median of e_1^2/e_0^2", _linear_runs(tables, depth, "first_ratio"),
            low=0.79, high=0.84,
        )
        for depth in LINEAR_DEPTHS
    ]  # fmt: skip


def d12(tables: Tables) -> list[Part]:
    """Errors fall faster than 0.81^t, and kernels grow."""
    ideal = math.log(0.01) / math.log((1 - RATE) ** 2)
    parts = []
    for depth in LINEAR_DEPTHS:
        steps = _linear_runs(tables, depth, "steps_to_hundredth")
        growth = _linear_runs(tables, depth, "kernel_growth")
        parts += [
            samples.mean(f"d = {depth}: steps to a hundredth of e_0^2", steps, high=ideal),
            samples.mean(f"d = {depth}: kernel at the end over that at the start", growth, low=1),
        ]
    return parts


def d13(tables: Tables) -> list[Part]:
    """Any two depths take about the same number of steps to a hundredth of e_0^2."""
    logs = {d: np.log(_linear_runs(tables, d, "steps_to_hundredth")) for d in LINEAR_DEPTHS}
    return [
        samples.difference(
            f"log of steps at d = {depth} over those at d = {deeper}", logs[depth], logs[deeper],
            low=-SIMILAR, high=SIMILAR,
        )
        for depth, deeper in combinations(LINEAR_DEPTHS, 2)
    ]  # fmt: skip


def ideal_ratio(tables: Tables) -> list[Ours]:
    """(1 - 0.1 E[K_0]/d)^2 with the mean of K_0/d over all runs and depths."""
    runs = tables["runs"]
    if len(runs) < 2:
        return []
    scaled = runs["kernel"] / runs["depth"]
    mean = float(scaled.mean())
    error = float(scaled.std(ddof=1)) / math.sqrt(len(scaled))
    return [
        Ours(
            row="first_step", column="ideal", value=(1 - RATE * mean) ** 2,
            standard_error=2 * RATE * abs(1 - RATE * mean) * error, runs=len(scaled),
        )
    ]  # fmt: skip
