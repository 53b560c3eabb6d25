"""The value nu of four kernels while networks learn two digits, job `dgn_nu` (dgn Figure 8)."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_ntk import (
    Gating,
    feature_gates,
    feature_kernel,
    soft_relu_ntk,
    value_kernel,
)
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.measures import nu_values
from finitewidth.measures.accuracy import scores_by_replica, train_accuracies
from finitewidth.measures.nu_values import network_at
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.experiments.trainings import FROZEN
from finitewidth.papers.dgn.settings import Binary
from finitewidth.records.tables import Table

# panel -> its lines; the last two panels compare one kernel with its initial value
LINES = {
    "gates": ("learnt gates", "unlearnt gates"),
    "adaptable": ("ReLU", "soft-ReLU", "frozen ReLU"),
    "ka": ("soft-GaLU",),
    "ka_hat": ("soft-GaLU",),
}
REGIMES = {
    "learnt gates": ("flnpf",),
    "unlearnt gates": ("galu",),
    "ReLU": ("relu",),
    "soft-ReLU": ("soft_relu",),
    "frozen ReLU": ("frnpf_di",),
    "soft-GaLU": ("soft_galu", "dlnpf"),
}
TABLES = {
    "runs": Table(
        columns.PANEL_OF_KERNELS,
        columns.SERIES_OF_KERNELS,
        shared.EPOCH,
        shared.SEED,
        columns.NU_OF_KERNEL,
        *nu_values.TABLE.without("nu"),
    ),
    "curves": Table(
        columns.PANEL_OF_KERNELS,
        columns.SERIES_WITH_START,
        columns.EPOCH_OR_NONE,
        columns.MEAN_NU_OF_KERNEL,
        columns.NU_SPREAD,
        shared.RUNS,
        shared.FAILED_RUNS,
        shared.RIDGED_RUNS,
        shared.LARGEST_CONDITION_NUMBER,
        columns.TRAIN_ACCURACY,
        columns.LOWEST_TRAIN_ACCURACY,
        columns.ALL_TRAINED,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Binary) -> dict[str, pd.DataFrame]:
    """Compute nu_t = yᵀ K⁻¹ y at every kept epoch of every run, for four choices of K.

    Panels ``gates`` and ``adaptable`` use the tangent kernel of all trained weights divided by its
    trace. Panel ``ka`` uses the kernel K^a of the gating weights of soft-GaLU, and ``ka_hat`` the
    same kernel divided by its trace.

    Returns:
        ``runs``, a row per kernel, and ``curves``, see `TABLES`.
    """
    x, y = nu_values.binary_examples(inputs["data"], settings.classes, settings.per_class)
    rows = []
    for epoch in nu_values.epochs_kept(inputs["relu"]):
        for (panel, series), kernels in _kernels(inputs, epoch, x, settings).items():
            for seed, kernel in enumerate(kernels):
                row = {"panel": panel, "series": series, "epoch": epoch, "seed": seed}
                rows += [row | nu for nu in _nu(y, kernel, panel)]
    runs = pd.DataFrame(rows)
    scores = scores_by_replica(inputs["histories"], settings.trained)
    trained = {}
    for series, regimes in REGIMES.items():
        trained[series] = train_accuracies(scores[scores["regime"].isin(regimes)])
    return {"runs": runs, "curves": pd.DataFrame(_curves(runs, trained))}


def _kernels(
    inputs: Mapping[str, Any], epoch: int, x: Tensor, settings: Binary
) -> dict[tuple[str, str], Tensor]:
    """(panel, series) -> kernels (R, S, S) at one epoch, not normalised, for inputs x (S, n0).

    They are of all trained weights; for panel ``ka``, of the gating weights.
    """
    gate = settings.gate
    frozen = _frozen_kernels(inputs["frozen"], epoch, x, settings.runs)

    relu = FullyConnected(*network_at(inputs["relu"], epoch, "value"), "relu")
    weights, biases = network_at(inputs["soft_relu"], epoch, "value")
    soft_relu = soft_relu_ntk(
        x, weights, biases, beta=gate.beta, eps=gate.eps, with_biases=biases is not None
    )

    values = network_at(inputs["soft_galu"], epoch, "value")
    features = network_at(inputs["soft_galu"], epoch, "feature")
    gating = Gating(beta=gate.beta, eps=gate.eps, hidden=settings.feature_hidden)
    has_biases = features[1] is not None
    soft_galu = feature_kernel(x, features, values, gating, with_biases=has_biases)
    return {
        ("gates", "learnt gates"): frozen["flnpf"],
        ("gates", "unlearnt gates"): frozen["galu"],
        ("adaptable", "ReLU"): traced_kernel(relu, x),
        ("adaptable", "soft-ReLU"): soft_relu,
        ("adaptable", "frozen ReLU"): frozen["frnpf_di"],
        ("ka", "soft-GaLU"): soft_galu,
    }


def _frozen_kernels(
    arrays: Mapping[str, Any], epoch: int, x: Tensor, runs: int
) -> dict[str, Tensor]:
    """Regime of `FROZEN` -> kernels (R, S, S) of the value weights, with the hard frozen gates."""
    feature_weights, feature_biases = network_at(arrays, epoch, "feature")
    weights, biases = network_at(arrays, epoch, "value")
    gates = feature_gates(x, feature_weights, feature_biases)
    kernels = value_kernel(x, weights, biases, gates, with_biases=biases is not None)
    return dict(zip(FROZEN, torch.split(kernels, runs), strict=True))  # kernels: (3 R, S, S)


def _nu(y: Tensor, kernel: Tensor, panel: str) -> Iterator[dict[str, Any]]:
    """Rows of nu. For K^a also the value without normalisation, yᵀ (K/tr K)⁻¹ y / tr K."""
    row = nu_values.nu_row(y, lambda: kernel)
    if panel == "ka":
        yield row | {"panel": "ka_hat"}
        if row["nu"] is not None:
            row["nu"] = row["nu"] / float(kernel.trace())
    yield row


def _curves(
    runs: pd.DataFrame, trained: Mapping[str, Mapping[str, float]]
) -> Iterator[dict[str, Any]]:
    for panel, lines in LINES.items():
        for series in lines:
            rows = runs[(runs["panel"] == panel) & (runs["series"] == series)]
            points = []
            for epoch, group in rows.groupby("epoch"):
                point = {"panel": panel, "series": series, "x": epoch}
                points.append({**point, **nu_values.nu_point(group), **trained[series]})
            yield from points
            if len(lines) == 1:
                yield {**points[0], "series": "value at t = 0", "x": None, "spread": None}
