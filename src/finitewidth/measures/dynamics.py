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
DESCENT, LINEAR = "gradient descent", "linear recursion"
BATCH_ELEMENTS = 1_000_000  # activations of a batch of runs; z, delta and gates take 8 MB each
FEWEST_TIMES, TIMES_PER_DECADE = 10, 12

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
        gates = self.gates if isinstance(self.gates, str) else [g[:count] for g in self.gates]
        x = self.x[:count] if self.x.dim() == 3 else self.x
        return Networks(x, self.y[:count], [w[:count] for w in self.weights], gates)

    def kernel(self) -> Tensor:
        """Return the tangent kernels K_0, (R, S, S) in float64."""
        if self.gates == "own":
            return traced_kernel(FullyConnected(self.weights, None, "relu"), self.x)
        gates = self.gates
        if gates == "open":
            gates = [torch.ones(*self.y.shape, w.shape[-1]).double() for w in self.weights[:-1]]
        return value_kernel(self.x, self.weights, None, gates, with_biases=False)

    def outputs(self) -> Tensor:
        """Return the outputs, (R, S) in float64."""
        z = self.x.double()
        for layer, weight in enumerate(self.weights):
            z = z @ weight.double()
            if layer < self.depth - 1 and self.gates != "open":
                z = torch.relu(z) if self.gates == "own" else z * self.gates[layer]
        return z[..., 0]


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


def follow(networks: Networks, settings: Mapping[str, Any], descents: int) -> Dynamics:
    """Compute the kernels and the dynamics of R replicas.

    The first ``descents`` replicas are trained by gradient descent. The linear recursion is
    computed for all. The step size is ``rate`` divided by the largest eigenvalue of ``rho``, which
    is ``kernel`` for K_0 of each run, or ``kernel_over_depth`` for K_0/d. The loss is 1/2 sum e^2,
    or sum e^2 without ``loss_half``. ``steps`` are those of gradient descent. Those of the linear
    recursion, ``linear_steps``, cost nearly nothing, as it is evaluated in closed form. With
    ``precision`` = ``float32``, gradient descent takes half the time of ``float64``, but squared
    errors do not fall below about 1e-11 of the first; with ``adapted``, it is ``float32`` until
    they have fallen to a millionth, and ``float64`` from there on.
    """
    kernel = networks.kernel()
    values, vectors = torch.linalg.eigh(kernel)
    largest = values[:, -1]
    rho = largest / networks.depth if settings["rho"] == "kernel_over_depth" else largest
    rate = settings["rate"] * (1 if settings["loss_half"] else 2)
    step = rate / rho
    times = log_times(settings["linear_steps"])
    errors = networks.outputs() - networks.y
    linear = error_ratios(values, vectors, errors, step=step, times=times)
    ratios = {LINEAR: (times, linear.numpy())}
    growth = np.empty(0)
    if descents:
        descending = networks.first(descents)
        ratios[DESCENT], trained = _descend(descending, step[:descents], settings)
        growth = (trace(trained.kernel()) / trace(kernel[:descents])).numpy()
    return Dynamics(kernel.numpy(), values.numpy(), ratios, growth)


def _descend(
    networks: Networks, step: Tensor, settings: Mapping[str, Any]
) -> tuple[tuple[list[int], np.ndarray], Networks]:
    """Train all networks; return times and error ratios, and the trained networks."""
    times = log_times(settings["steps"])
    squares = []  # |e_t|^2 at each time, (R,)
    dtype, double_below = PRECISIONS[settings["precision"]]
    for state in gradient_descent(
        networks.x,
        networks.y,
        networks.weights,
        networks.gates,
        step=step,
        times=times,
        dtype=dtype,
        double_below=double_below,
    ):
        squares.append((state.errors.double() ** 2).sum(-1))
    ratios = torch.stack([square / squares[0] for square in squares]).numpy()
    return (times, ratios), replace(networks, weights=state.weights)


def log_times(last: int) -> list[int]:
    """Return times from 0 to ``last``, spaced logarithmically, sorted and without repetition.

    They contain 0 to `FEWEST_TIMES`, then `TIMES_PER_DECADE` times per decade, the powers of ten
    among them, and ``last``.
    """
    decades = int(np.ceil(np.log10(max(last, 1)))) * TIMES_PER_DECADE
    spaced = np.round(10 ** (np.arange(decades + 1) / TIMES_PER_DECADE)).astype(int)
    times = {0, last, *range(FEWEST_TIMES + 1), *spaced.tolist()}
    return sorted(time for time in times if time <= last)


def batches(runs: int, elements: int) -> Iterator[range]:
    """Divide runs of so many activations each into consecutive batches of `BATCH_ELEMENTS`."""
    size = max(1, BATCH_ELEMENTS // max(1, elements))
    for start in range(0, runs, size):
        yield range(start, min(start + size, runs))


def rows_of(found: Dynamics, first_run: int, depth: int) -> Rows:
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
    _check_open(found.eigenvalues, first_run, depth)
    growth = np.full(len(found.eigenvalues), np.nan)
    growth[: len(found.growth)] = found.growth
    kernels, spectra = [], []
    for run, values in enumerate(found.eigenvalues, start=first_run):
        kernels.append(
            {
                "run": run,
                "rho_max": values[-1],
                "rho_min": values[0],
                "trace_over_rho_max": values.sum() / values[-1],
                "growth": growth[run - first_run],
            }
        )
        spectra += _spectrum(run, values, depth)
    errors = []
    for dynamics, (times, ratios) in found.ratios.items():  # ratios: (times, replicas)
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
    """Rows of ``spectra`` of one run, from its ascending eigenvalues (S,)."""
    rows = []
    for index, total in enumerate(np.cumsum(values), start=1):
        row = {"run": run, "index": index}
        rows.append(row | {"cumulative": total / depth, "scaled": total / values[-1]})
    return rows


def tables_of(
    cells: Iterable[tuple[Mapping[str, Any], int]],
    runs: int,
    rows_of_batch: Callable[[Mapping[str, Any], range], Rows],
    shown: Mapping[str, int],
    checkpoints: Checkpoints | None,
) -> dict[str, pd.DataFrame]:
    """Compute all cells, batch by batch of their ``runs``; return their tables and means.

    A cell has its coordinates (column -> value), which are added to its rows as columns, and the
    number of activations of a run, for `batches`. ``shown`` says how many runs each figure shows.
    The tables are ``kernels`` and ``errors`` of all runs, and those of `mean_curves`.
    """
    pieces = [(place, batch) for place, elements in cells for batch in batches(runs, elements)]
    found = stored_map(lambda each: rows_of_batch(*each), pieces, checkpoints, "batches of runs")
    parts: dict[str, list[pd.DataFrame]] = defaultdict(list)
    for (place, _), rows in zip(pieces, found, strict=True):
        for name, table in rows.items():
            parts[name].append(pd.DataFrame(table).assign(**place))
    tables = {name: pd.concat(part, ignore_index=True) for name, part in parts.items()}
    return tables | mean_curves(tables, list(pieces[0][0]), shown)


def mean_curves(
    tables: Mapping[str, pd.DataFrame], place: Sequence[str], shown: Mapping[str, int]
) -> dict[str, pd.DataFrame]:
    """Return the means ``spectra`` and ``error_curves`` of cells, see `means_of_first`.

    The columns ``place`` identify a cell. Errors are also averaged as ``log_ratio``, the decadic
    logarithm of ``ratio``.
    """
    spectra = tables["spectra"]
    errors = tables["errors"]
    least = np.finfo(float).tiny  # an error that underflows to 0 is no divergence
    errors = errors.assign(log_ratio=np.log10(errors["ratio"].clip(lower=least)))
    sums = ["cumulative", "scaled"]
    ratios = ["ratio", "log_ratio"]
    return {
        "spectra": means_of_first(spectra, place, sums, shown, along="index"),
        "error_curves": means_of_first(errors, [*place, "dynamics"], ratios, shown, along="time"),
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
    sound = np.isfinite(rows[list(values)]).all(axis=1)
    sound = sound.groupby([rows[key] for key in (*keys, "run")]).transform("all")
    points = [*keys, *([along] if along else [])]
    parts = []
    for figure, count in first.items():
        own = rows["run"] < count
        groups = rows[own & sound].groupby(points, sort=False)
        table = groups[list(values)].mean()
        spreads = groups[list(values)].std(ddof=1).add_suffix("_spread")
        table = table.join(spreads).assign(runs=groups.size())
        lost = (~sound)[own].groupby([rows[key][own] for key in points]).sum()
        parts.append(table.assign(diverged=lost, figure=figure).reset_index())
    return pd.concat(parts, ignore_index=True)
