"""E-MEM: networks of fixed random gates memorise random targets.

npf Figure 7, dgn Figures 1 to 3. All runs are drawn once; every figure shows its own first ones.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from finitewidth.kernels.memorisation import ideal_eigenvalues, ideal_overlap
from finitewidth.measures.dynamics import (
    Dynamics,
    Networks,
    Protocol,
    batches,
    condition_rows,
    follow,
    means_of_first,
    spectrum_rows,
)
from finitewidth.networks.random_gated import bernoulli_gates, equal_variance_weights
from finitewidth.networks.weights import generator

NAME = "npf/memorisation"
PLACE = ["network", "width", "depth"]


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Kernels at the start, their spectra, and errors under both dynamics.

    Args:
        inputs: none.
        settings: ``samples``, ``mu``, ``depths``; ``runs``; ``widths`` by name; ``shown``: figure
            -> how many runs; ``descent``: ``rate``, ``rho``, ``loss_half``, ``linear_steps``,
            ``precision`` (see `measures.dynamics.Protocol`), and for each name of ``widths``
            ``runs`` (how many also descend) and ``steps``.

    Returns:
        ``kernels``: network, width, depth, run, rho_max, rho_min, trace_over_rho_max, growth,
        diagonal and off_diagonal (entries (0, 0) and (0, 1) of K_0/d), distance (of the cumulative
        spectrum of K_0/d to the ideal one, Euclidean).
        ``spectra``: figure, network, width, depth, index, cumulative (of K_0/d), scaled (of
        K_0/rho_max), their spreads, runs.
        ``errors``: network, width, depth, dynamics, run, time, ratio = |e_t|^2/|e_0|^2.
        ``error_curves``: figure, network, width, depth, dynamics, time, ratio, ratio_spread, runs.
        ``entries``: figure, network, width, depth, diagonal, off_diagonal, their spreads, standard
        errors (``_error``) and ideal values (``_ideal``), runs.
    """
    found: dict[str, list[pd.DataFrame]] = {"kernels": [], "spectra": [], "errors": []}
    for name, width in settings["widths"].items():
        for depth in settings["depths"]:
            place = {"network": name, "width": width, "depth": depth}
            for table, rows in _cell(place, settings).items():
                found[table].append(pd.DataFrame(rows).assign(**place))
    tables = {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}
    return _with_means(tables, settings)


def networks(width: int, depth: int, runs: Sequence[int], settings: Mapping[str, Any]) -> Networks:
    """The networks of some runs: input 1, weights +-1/sqrt(mu w), targets uniform on [-1, 1].

    The targets of a run are the same for all its networks.
    """
    samples, mu = settings["samples"], settings["mu"]
    sizes = [1, *[width] * (depth - 1), 1]
    weights = equal_variance_weights(
        sizes, math.sqrt(1 / (mu * width)), [(NAME, width, depth, run, "weights") for run in runs]
    )
    gates = bernoulli_gates(
        samples, sizes[1:-1], mu, [(NAME, width, depth, run, "gates") for run in runs]
    )
    targets = [torch.rand(samples, generator=generator(NAME, run, "targets")) for run in runs]
    y = 2 * torch.stack(targets).double() - 1
    return Networks(torch.ones(samples, 1).double(), y, weights, gates)


def _cell(place: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Rows of all runs of one width and depth."""
    width, depth, descent = place["width"], place["depth"], settings["descent"]
    own, shared = (
        descent[place["network"]],
        ("rate", "rho", "loss_half", "linear_steps", "precision"),
    )
    protocol = Protocol(steps=own["steps"], **{key: descent[key] for key in shared})
    rows: dict[str, list[dict[str, Any]]] = {"kernels": [], "spectra": [], "errors": []}
    for runs in batches(settings["runs"], settings["samples"] * width * depth):
        descents = min(max(own["runs"] - runs.start, 0), len(runs))
        dynamics = follow(networks(width, depth, runs, settings), protocol, descents)
        rows["kernels"] += _kernel_rows(dynamics, runs.start, depth, settings["mu"])
        rows["spectra"] += spectrum_rows(dynamics, runs.start, depth)
        rows["errors"] += dynamics.ratio_rows(runs.start)
    return rows


def _kernel_rows(dynamics: Dynamics, first_run: int, depth: int, mu: float) -> list[dict[str, Any]]:
    ideal = np.cumsum(ideal_eigenvalues(dynamics.eigenvalues.shape[1], depth, mu))
    gaps = np.cumsum(dynamics.eigenvalues, axis=1) / depth - ideal
    entries = [
        {"diagonal": kernel[0, 0] / depth, "off_diagonal": kernel[0, 1] / depth,
         "distance": float(np.linalg.norm(gap))}
        for kernel, gap in zip(dynamics.kernel, gaps, strict=True)
    ]  # fmt: skip
    conditions = condition_rows(dynamics, first_run)
    return [condition | entry for condition, entry in zip(conditions, entries, strict=True)]


def _with_means(
    tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]
) -> dict[str, pd.DataFrame]:
    """The tables of runs, and the means each figure shows; spectra as means only."""
    shown = settings["shown"]
    return {
        "kernels": tables["kernels"],
        "errors": tables["errors"],
        "spectra": means_of_first(
            tables["spectra"], [*PLACE, "index"], ["cumulative", "scaled"], shown
        ),
        "error_curves": means_of_first(
            tables["errors"], [*PLACE, "dynamics", "time"], ["ratio"], shown
        ),
        "entries": _entries(tables["kernels"], settings),
    }


def _entries(kernels: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Means of one diagonal and one off-diagonal entry beside the ideal ones."""
    names = ["diagonal", "off_diagonal"]
    means = means_of_first(kernels, PLACE, names, settings["shown"])
    errors = {f"{name}_error": means[f"{name}_spread"] / np.sqrt(means["runs"]) for name in names}
    ideal = [ideal_overlap(depth, settings["mu"]) for depth in means["depth"]]
    return means.assign(**errors, diagonal_ideal=1.0, off_diagonal_ideal=ideal)
