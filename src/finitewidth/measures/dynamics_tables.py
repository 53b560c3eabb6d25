"""Tidy tables of initial kernels, of their spectra and of the errors during training."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.errors import ConfigError
from finitewidth.measures.dynamics import Dynamics

Rows = dict[str, list[dict[str, Any]]]


def rows_of(found: Dynamics, first_run: int, depth: int) -> Rows:
    """Write the dynamics of a batch of runs as rows of three tables.

    Args:
        found: the dynamics of the batch.
        first_run: number of the first run of the batch.
        depth: number of weight layers d.

    Returns:
        ``kernels``: ``run``, ``rho_max``, ``rho_min``, ``trace_over_rho_max`` and ``growth``,
        which is NaN for a run that was not trained.

        ``spectra``: ``run``, ``index``, and the sums of the ascending eigenvalues up to this
        index, ``cumulative`` of K_0/d and ``scaled`` of K_0/rho_max.

        ``errors``: ``dynamics``, ``run``, ``time`` and ``ratio``, |e_t|^2 / |e_0|^2.

    Raises:
        ConfigError: no path of a network is open, so its kernel is zero.
    """
    closed = np.flatnonzero(~(found.eigenvalues[:, -1] > 0))
    if len(closed):
        raise ConfigError(
            f"in run {first_run + closed[0]} no path of the network with {depth} weight layers is "
            "open, and its kernel is zero; raise width (or mu, the share of open gates), or lower "
            "depths"
        )
    growth = np.full(len(found.eigenvalues), np.nan)
    growth[: len(found.growth)] = found.growth
    kernels = [
        {"run": first_run + run, "rho_max": values[-1], "rho_min": values[0],
         "trace_over_rho_max": values.sum() / values[-1], "growth": growth[run]}
        for run, values in enumerate(found.eigenvalues)
    ]  # fmt: skip
    spectra = [
        {"run": first_run + run, "index": index, "cumulative": total / depth,
         "scaled": total / values[-1]}
        for run, values in enumerate(found.eigenvalues)
        for index, total in enumerate(np.cumsum(values), start=1)
    ]  # fmt: skip
    errors = [
        {"dynamics": dynamics, "run": first_run + run, "time": time, "ratio": float(ratio)}
        for dynamics, (times, ratios) in found.ratios.items()
        for run in range(ratios.shape[1])
        for time, ratio in zip(times, ratios[:, run], strict=True)
    ]
    return {"kernels": kernels, "spectra": spectra, "errors": errors}


def tables_of(cells: Iterable[tuple[Mapping[str, Any], Rows]]) -> dict[str, pd.DataFrame]:
    """Collect the rows of all cells in one table per name.

    Args:
        cells: pairs of coordinates of a cell (column -> value) and some of its rows by table.

    Returns:
        The tables by name. The coordinates of the cell are added to every row as columns.
    """
    found: dict[str, list[pd.DataFrame]] = {}
    for place, rows in cells:
        for table, part in rows.items():
            found.setdefault(table, []).append(pd.DataFrame(part).assign(**place))
    return {table: pd.concat(parts, ignore_index=True) for table, parts in found.items()}


def mean_curves(
    tables: Mapping[str, pd.DataFrame], place: Sequence[str], shown: Mapping[str, int]
) -> dict[str, pd.DataFrame]:
    """Return the means of ``spectra`` and ``errors`` that each figure shows.

    Args:
        tables: as returned by `tables_of`.
        place: columns that identify a cell.
        shown: figure -> how many runs it shows.

    Returns:
        ``spectra`` and ``error_curves``, see `means_of_first`. Errors are also averaged as
        ``log_ratio``, the decadic logarithm of ``ratio``.
    """
    spectra, errors = tables["spectra"], tables["errors"]
    dynamics = [*place, "dynamics"]
    least = np.finfo(float).tiny  # an error that underflows to 0 is no divergence
    errors = errors.assign(log_ratio=np.log10(errors["ratio"].clip(lower=least)))
    return {
        "spectra": means_of_first(spectra, place, ["cumulative", "scaled"], shown, along="index"),
        "error_curves": means_of_first(
            errors, dynamics, ["ratio", "log_ratio"], shown, along="time"
        ),
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
