"""nu_t = yᵀ Ĥ_t⁻¹ y while ReLU networks learn two digits, job `npf_nu` (npf Figure 3, middle)."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_ntk import relu_gates
from finitewidth.kernels.npk import SingularKernelError, npk
from finitewidth.measures import nu_values
from finitewidth.measures.accuracy import averaged
from finitewidth.measures.kernels import label_energy
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.settings import Nu
from finitewidth.records.tables import Table

TOP = (1, 2, 5, 10, 20, 50)  # numbers of eigenvectors whose energy is shown over epochs
CHANCE = "by chance"
TABLES = {
    "runs": Table(
        shared.EPOCH,
        shared.SEED,
        *nu_values.TABLE,
    ),
    "curves": Table(
        columns.PANEL,
        columns.SERIES_OF_NU,
        columns.EPOCH_OF_CURVE,
        *nu_values.POINT,
    ),
    "energy": Table(
        columns.ENERGY_PANEL,
        columns.ENERGY_SERIES,
        columns.ENERGY_X,
        columns.ENERGY,
        columns.ENERGY_SPREAD,
        columns.ENERGY_RUNS,
        columns.ENERGY_FAILED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Nu) -> dict[str, pd.DataFrame]:
    """Compute nu of the trace-normalised path kernel at every stored epoch of every run.

    Returns:
        ``runs``, where a diverged network has no nu, ``curves`` and ``energy``, see `TABLES`.
    """
    arrays = inputs["weights"]
    images, y = nu_values.binary_examples(inputs["data"], settings.classes, settings.per_class)
    rows = []
    splits = {}
    for epoch in nu_values.epochs_kept(arrays):
        gates = relu_gates(*nu_values.network_at(arrays, epoch, "value"), images)  # (R, N, w) each
        parts = []
        for seed in range(len(gates[0])):
            gates_of_run = [layer[seed] for layer in gates]
            kernel = cache(partial(npk, images, gates_of_run, normalise="trace"))
            rows.append({"epoch": epoch, "seed": seed, **nu_values.nu_row(y, kernel)})
            parts.append(split(y, kernel))
        splits[epoch] = np.stack(parts)  # (R, 2, S)
    runs = pd.DataFrame(rows)
    curves = [
        {"panel": "nu", "series": "nu", "x": epoch, **nu_values.nu_point(group)}
        for epoch, group in runs.groupby("epoch")
    ]
    return {"runs": runs, "curves": pd.DataFrame(curves), "energy": energy_curves(splits)}


def split(y: Tensor, kernel: Callable[[], Tensor]) -> np.ndarray:
    """Share of |y|^2 in the first k eigenvectors of Ĥ and their part of nu, k = 1 .. S: (2, S).

    All entries are NaN for a dead network. The second row is NaN from the first eigenvalue that is
    0 to the precision of float64.
    """
    try:
        values, energy = label_energy(y.numpy(), kernel().numpy())
    except SingularKernelError:
        return np.full((2, len(y)), np.nan)
    positive = values > len(y) * np.finfo(float).eps * values[0]
    parts = float(y @ y) * energy / np.where(positive, values, np.nan)
    return np.stack([energy.cumsum(), parts.cumsum()])


def energy_curves(splits: Mapping[int, np.ndarray]) -> pd.DataFrame:
    """Means over runs of (R, 2, S) of `split` for each epoch.

    Panels ``energy`` and ``nu`` have a series for the first and for the last epoch, and x is the
    number of eigenvectors; ``energy`` has one more series for labels without a preferred direction.
    Panel ``top`` shows the energy, with a series for each number of eigenvectors; x is the epoch.
    """
    first = min(splits)
    last = max(splits)
    size = splits[first].shape[-1]
    rows = []
    for part, panel in enumerate(("energy", "nu")):
        for epoch in dict.fromkeys((first, last)):  # one, if the weights of one epoch are stored
            by_rank = splits[epoch][:, part].T  # (S, R)
            for rank, values in enumerate(by_rank, start=1):
                rows.append(_point(panel, f"epoch {epoch}", rank, values))
    for rank in range(1, size + 1):
        rows.append({"panel": "energy", "series": CHANCE, "x": rank, "y": rank / size})
    for top in TOP:
        if top >= size:
            continue
        for epoch, parts in splits.items():
            rows.append(_point("top", f"first {top}", epoch, parts[:, 0, top - 1]))
    return pd.DataFrame(rows)


def _point(panel: str, series: str, x: int, values: np.ndarray) -> dict[str, Any]:
    """One point of a curve, the mean of the values of all runs, (R,)."""
    return {"panel": panel, "series": series, "x": x, **averaged(pd.Series(values))}
