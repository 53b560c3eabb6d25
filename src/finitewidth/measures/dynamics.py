"""Tangent kernels of networks, and their errors under gradient descent and the linear recursion.

Their tables are tidy: initial kernels, spectra, and errors during training.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import trace
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.training.checkpoints import Checkpoints, stored_map
from finitewidth.training.full_batch import error_ratios, gradient_descent
from finitewidth.training.fully_connected import Gates

# type of the arithmetic, and the share of the first squared errors below which it becomes float64
PRECISIONS = {
    "float32": (torch.float32, None),
    "float64": (torch.float64, None),
    "adapted": (torch.float32, 1e-6),
}
DESCENT = "gradient descent"
LINEAR = "linear recursion"
BATCH_ELEMENTS = 1_000_000  # activations of a batch of runs; z, delta and gates take 8 MB each
FIRST_TIMES = 10  # every time up to this one is among `log_times`
TIMES_PER_DECADE = 12

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Networks:
    """R networks without biases, with their inputs and targets.

    Inputs ``x`` are (S, n0), shared by all replicas, or (R, S, n0), and targets ``y`` (R, S). There
    is one tensor (R, fan_in, fan_out) of weights per layer; the output layer has one unit. The
    gates are given, "own" or "open", see `finitewidth.training.fully_connected.Gates`.
    """

    x: Tensor
    y: Tensor
    weights: Sequence[Tensor]
    gates: Gates

    @property
    def depth(self) -> int:
        """Number of weight layers, output layer included."""
        return len(self.weights)

    def first(self, count: int) -> "Networks":
        """Return the first ``count`` replicas."""
        x = self.x[:count] if self.x.dim() == 3 else self.x
        weights = [weight[:count] for weight in self.weights]
        gates = self.gates
        if not isinstance(gates, str):
            gates = [gate[:count] for gate in gates]
        return Networks(x, self.y[:count], weights, gates)

    def kernel(self) -> Tensor:
        """Return the tangent kernels K_0, (R, S, S) in float64."""
        if self.gates == "own":
            return traced_kernel(FullyConnected(self.weights, None, "relu"), self.x)
        gates = self.gates
        if gates == "open":
            widths = [weight.shape[-1] for weight in self.weights[:-1]]
            gates = [torch.ones(*self.y.shape, width).double() for width in widths]
        return value_kernel(self.x, self.weights, None, gates, with_biases=False)

    def outputs(self) -> Tensor:
        """Return the outputs, (R, S) in float64."""
        z = self.x.double()
        for layer, weight in enumerate(self.weights[:-1]):
            z = z @ weight.double()
            if self.gates == "own":
                z = torch.relu(z)
            elif self.gates != "open":
                z = z * self.gates[layer]
        return (z @ self.weights[-1].double())[..., 0]


@dataclass(frozen=True, kw_only=True)
class Descent:
    """How networks descend.

    Attributes:
        rate: the step size is ``rate`` divided by the largest eigenvalue of a kernel
        rho: this kernel: K_0 of each run (``kernel``) or K_0/d (``kernel_over_depth``)
        loss_half: whether the loss is 1/2 sum e^2 rather than sum e^2
        steps: number of steps of gradient descent
        linear_steps: number of steps of the linear recursion. They cost nearly nothing, as it is
            evaluated in closed form.
        precision: of gradient descent. ``float32`` takes half the time of ``float64``, but squared
            errors do not fall below about 1e-11 of the first; ``adapted`` is ``float32`` until they
            have fallen to a millionth, and ``float64`` from there on.
    """

    rate: float
    rho: str
    loss_half: bool
    steps: int
    linear_steps: int
    precision: str


@dataclass(frozen=True)
class Dynamics:
    """Kernels and errors of R replicas.

    ``kernel`` is K_0, (R, S, S), with the ``eigenvalues`` (R, S) in ascending order.
    ``ratios`` maps the name of the dynamics (`DESCENT` or `LINEAR`) to the times and to the ratios
    |e_t|^2 / |e_0|^2, an array (times, replicas). ``growth`` is the trace of the kernel after
    gradient descent divided by the trace before it, for the replicas that were trained.
    """

    kernel: np.ndarray
    eigenvalues: np.ndarray
    ratios: Mapping[str, tuple[list[int], np.ndarray]]
    growth: np.ndarray


def follow(networks: Networks, descent: Descent, descents: int) -> Dynamics:
    """Compute the kernels and the dynamics of R replicas.

    The first ``descents`` replicas are trained by gradient descent. The linear recursion is
    computed for all of them.
    """
    kernel = networks.kernel()
    eigenvalues, eigenvectors = torch.linalg.eigh(kernel)
    rho = eigenvalues[:, -1]
    if descent.rho == "kernel_over_depth":
        rho = rho / networks.depth
    rate = descent.rate * (1 if descent.loss_half else 2)
    step = rate / rho
    times = log_times(descent.linear_steps)
    errors = networks.outputs() - networks.y
    linear = error_ratios(eigenvalues, eigenvectors, errors, step=step, times=times)
    ratios = {LINEAR: (times, linear.numpy())}
    growth = np.empty(0)
    if descents:
        descending = networks.first(descents)
        ratios[DESCENT], trained = _descend(descending, step[:descents], descent)
        growth = (trace(trained.kernel()) / trace(kernel[:descents])).numpy()
    return Dynamics(kernel.numpy(), eigenvalues.numpy(), ratios, growth)


def _descend(
    networks: Networks, step: Tensor, descent: Descent
) -> tuple[tuple[list[int], np.ndarray], Networks]:
    """Train all networks; return times and error ratios, and the trained networks."""
    times = log_times(descent.steps)
    dtype, double_below = PRECISIONS[descent.precision]
    states = gradient_descent(
        networks.x,
        networks.y,
        networks.weights,
        networks.gates,
        step=step,
        times=times,
        dtype=dtype,
        double_below=double_below,
    )
    squares = []  # |e_t|^2 at each time, (R,)
    for state in states:
        squares.append((state.errors.double() ** 2).sum(-1))
    ratios = torch.stack([square / squares[0] for square in squares]).numpy()
    return (times, ratios), replace(networks, weights=state.weights)


def log_times(last: int) -> list[int]:
    """Return times from 0 to ``last``, spaced logarithmically, sorted and without repetition.

    They contain 0 to `FIRST_TIMES`, then `TIMES_PER_DECADE` times per decade, the powers of ten
    among them, and ``last``.
    """
    decades = int(np.ceil(np.log10(max(last, 1))))
    exponents = np.arange(decades * TIMES_PER_DECADE + 1) / TIMES_PER_DECADE
    spaced = np.round(10**exponents).astype(int)
    times = {0, last, *range(FIRST_TIMES + 1), *spaced.tolist()}
    return sorted(time for time in times if time <= last)


def batches(runs: int, elements: int) -> Iterator[range]:
    """Divide runs of so many activations each into consecutive batches of `BATCH_ELEMENTS`."""
    size = max(1, BATCH_ELEMENTS // max(1, elements))
    for start in range(0, runs, size):
        yield range(start, min(start + size, runs))


def rows_of(result: Dynamics, first_run: int, depth: int) -> Rows:
    """Write the dynamics of a batch of runs, from ``first_run`` on, as rows of three tables.

    Returns:
        ``kernels``: ``run``, ``rho_max``, ``rho_min``, ``trace_over_rho_max`` and ``growth``,
        which is NaN for a run that was not trained.

        ``spectra``: ``run``, ``index``, and the sums of the ascending eigenvalues up to this
        index, ``cumulative`` of K_0/d and ``scaled`` of K_0/rho_max.

        ``errors``: ``dynamics``, ``run``, ``time`` and ``ratio``, |e_t|^2 / |e_0|^2.

    Raises:
        ConfigError: no path of a network is open, so its kernel is zero.
    """
    _check_open(result.eigenvalues, first_run, depth)
    growth = np.full(len(result.eigenvalues), np.nan)
    growth[: len(result.growth)] = result.growth
    kernels = []
    spectra = []
    for run, eigenvalues in enumerate(result.eigenvalues, start=first_run):
        kernels.append(
            {
                "run": run,
                "rho_max": eigenvalues[-1],
                "rho_min": eigenvalues[0],
                "trace_over_rho_max": eigenvalues.sum() / eigenvalues[-1],
                "growth": growth[run - first_run],
            }
        )
        spectra += _spectrum(run, eigenvalues, depth)
    errors = []
    for dynamics, (times, ratios) in result.ratios.items():  # ratios: (times, replicas)
        for run, curve in enumerate(ratios.T, start=first_run):
            for time, ratio in zip(times, curve, strict=True):
                row = {"dynamics": dynamics, "run": run, "time": time, "ratio": float(ratio)}
                errors.append(row)
    return {"kernels": kernels, "spectra": spectra, "errors": errors}


def _check_open(eigenvalues: np.ndarray, first_run: int, depth: int) -> None:
    """Raise a ConfigError if a kernel is zero; the ascending eigenvalues are (R, S)."""
    closed = np.flatnonzero(~(eigenvalues[:, -1] > 0))
    if len(closed):
        raise ConfigError(
            f"in run {first_run + closed[0]} no path of the network with {depth} weight layers is "
            "open, and its kernel is zero; raise width (or mu, the share of open gates), or lower "
            "depths"
        )


def _spectrum(run: int, values: np.ndarray, depth: int) -> list[dict[str, Any]]:
    """Return the rows of ``spectra`` of one run, from its ascending eigenvalues (S,)."""
    rows = []
    for index, total in enumerate(np.cumsum(values), start=1):
        rows.append(
            {
                "run": run,
                "index": index,
                "cumulative": total / depth,
                "scaled": total / values[-1],
            }
        )
    return rows


def tables_of(
    cells: Iterable[tuple[Mapping[str, Any], int]],
    runs: int,
    rows_of_batch: Callable[[Mapping[str, Any], range], Rows],
    shown: Mapping[str, int],
    checkpoints: Checkpoints | None,
) -> dict[str, pd.DataFrame]:
    """Compute all cells, batch by batch of their runs; return their tables and means.

    Args:
        cells: coordinates (column -> value) of each cell, which become columns of its rows, and the
            number of activations of a run, for `batches`.
        runs: number of runs of each cell.
        rows_of_batch: computes the rows of a batch of runs from coordinates and numbers of runs.
        shown: figure -> how many runs it shows.
        checkpoints: of the experiment; None for none.

    Returns:
        The tables ``kernels``, ``spectra`` and ``errors`` of all runs; ``spectra`` is replaced by
        that of `mean_curves`, whose other tables are added.
    """
    pieces = []
    for coordinates, elements in cells:
        for batch in batches(runs, elements):
            pieces.append((coordinates, batch))

    def rows_of_piece(piece: tuple[Mapping[str, Any], range]) -> Rows:
        coordinates, batch = piece
        return rows_of_batch(coordinates, batch)

    results = stored_map(rows_of_piece, pieces, checkpoints, "batches of runs")
    parts: dict[str, list[pd.DataFrame]] = defaultdict(list)
    for (coordinates, _), rows in zip(pieces, results, strict=True):
        for name, table in rows.items():
            parts[name].append(pd.DataFrame(table).assign(**coordinates))
    tables = {name: pd.concat(part, ignore_index=True) for name, part in parts.items()}
    first_coordinates, _ = pieces[0]
    return tables | mean_curves(tables, list(first_coordinates), shown)


def mean_curves(
    tables: Mapping[str, pd.DataFrame], cell: Sequence[str], shown: Mapping[str, int]
) -> dict[str, pd.DataFrame]:
    """Return the means ``spectra`` and ``error_curves`` of cells, see `means_of_first`.

    The columns ``cell`` identify a cell. Errors are also averaged as ``log_ratio``, the decadic
    logarithm of ``ratio``.
    """
    spectra = tables["spectra"]
    errors = tables["errors"]
    least = np.finfo(float).tiny  # an error that underflows to 0 is no divergence
    errors = errors.assign(log_ratio=np.log10(errors["ratio"].clip(lower=least)))
    sums = ["cumulative", "scaled"]
    ratios = ["ratio", "log_ratio"]
    return {
        "spectra": means_of_first(spectra, cell, sums, shown, along="index"),
        "error_curves": means_of_first(errors, [*cell, "dynamics"], ratios, shown, along="time"),
    }


def means_of_first(
    rows: pd.DataFrame,
    keys: Sequence[str],
    values: Sequence[str],
    first: Mapping[str, int],
    along: str | None = None,
) -> pd.DataFrame:
    """Average curves over the runs that each figure shows.

    A run has diverged if a value of its curve is not finite. It is counted in the column
    ``diverged`` at every point of the curve, and it does not enter the means.

    Args:
        rows: a table with the column ``run`` and the columns named by the next arguments.
        keys: columns that identify a curve.
        values: columns to average.
        first: figure -> how many runs it shows, counted from the first.
        along: the column that identifies a point of a curve; None if every curve is one point.

    Returns:
        The columns ``keys``, ``along``, ``<value>`` (mean), ``<value>_spread`` (sample standard
        deviation), ``runs`` (number of runs in the mean), ``diverged`` and ``figure``.
    """
    columns = list(values)
    is_finite = np.isfinite(rows[columns]).all(axis=1)
    curves = [rows[key] for key in (*keys, "run")]
    converged = is_finite.groupby(curves).transform("all")
    point = list(keys)
    if along:
        point.append(along)
    parts = []
    for figure, count in first.items():
        is_shown = rows["run"] < count
        groups = rows[is_shown & converged].groupby(point, sort=False)
        table = groups[columns].mean()
        spreads = groups[columns].std(ddof=1).add_suffix("_spread")
        table = table.join(spreads).assign(runs=groups.size())
        points_shown = [rows[key][is_shown] for key in point]
        diverged = (~converged)[is_shown].groupby(points_shown).sum()
        parts.append(table.assign(diverged=diverged, figure=figure).reset_index())
    return pd.concat(parts, ignore_index=True)
