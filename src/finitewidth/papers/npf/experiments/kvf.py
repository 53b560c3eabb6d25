"""Sizes of K^v and K^f while DLNPF networks learn, job `npf_kvf` (npf Figure 3, right)."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from finitewidth.data.select import first_per_class, scaled
from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_ntk import Gating, feature_gates, feature_kernel, value_kernel
from finitewidth.measures.accuracy import averaged
from finitewidth.measures.nu_values import epochs_kept, network_at
from finitewidth.papers.npf.columns import networks as columns
from finitewidth.papers.npf.settings import Kvf
from finitewidth.records.tables import Table

SIZES = {"trace": "trace", "frobenius": "Frobenius norm"}
TABLES = {
    "runs": Table(
        shared.EPOCH,
        shared.SEED,
        columns.TRACE_KV,
        columns.TRACE_KF,
        columns.FROBENIUS_KV,
        columns.FROBENIUS_KF,
    ),
    "curves": Table(
        columns.PANEL,
        columns.SERIES_OF_SIZES,
        columns.EPOCH_OF_CURVE,
        columns.SIZE_OF_KERNEL,
        shared.SPREAD,
        shared.RUNS,
        shared.FAILED_RUNS,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Kvf) -> dict[str, pd.DataFrame]:
    """Trace and Frobenius norm of both kernels at every stored epoch of every run.

    Returns:
        ``runs``, and ``curves``, where a diverged run has failed; see `TABLES`.
    """
    data = inputs["data"]
    classes = list(range(len(data.class_names)))
    index = first_per_class(data.train_labels, classes, settings.per_class)
    x = torch.from_numpy(scaled(data.train_images[index])).flatten(1).double()  # (N, n_0)
    labels = torch.from_numpy(data.train_labels[index])
    rows = []
    for epoch in epochs_kept(inputs["weights"]):
        kernels = _kernels(inputs["weights"], epoch, x, labels, settings)
        for seed in range(len(kernels["kv"])):
            row: dict[str, Any] = {"epoch": epoch, "seed": seed}
            row |= {f"trace_{name}": float(k[seed].trace()) for name, k in kernels.items()}
            row |= {f"frobenius_{name}": float(k[seed].norm()) for name, k in kernels.items()}
            rows.append(row)
    runs = pd.DataFrame(rows)
    return {"runs": runs, "curves": pd.DataFrame(_curves(runs))}


def _kernels(
    arrays: Mapping[str, Any], epoch: int, x: Tensor, labels: Tensor, settings: Kvf
) -> dict[str, Tensor]:
    """K^v and K^f of all runs at an epoch, (runs, N, N) each."""
    value = network_at(arrays, epoch, "value")
    feature = network_at(arrays, epoch, "feature")
    gating = Gating(settings.gate.beta, settings.gate.eps)
    used_labels = labels if settings.output == "true_class_logit" else None
    gates = feature_gates(x, *feature, gating)
    value_part = value_kernel(
        x,
        *value,
        gates,
        with_biases=settings.with_biases,
        output=settings.output,
        labels=used_labels,
    )
    feature_part = feature_kernel(
        x,
        feature,
        value,
        gating,
        with_biases=settings.with_biases,
        output=settings.output,
        labels=used_labels,
    )
    return {"kv": value_part, "kf": feature_part}


def _curves(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for (size, title), kernel in product(SIZES.items(), "vf"):
        for epoch, sizes in runs.groupby("epoch")[f"{size}_k{kernel}"]:
            series = f"{title} of K^{kernel}"
            yield {"panel": "kvf", "series": series, "x": epoch, **averaged(sizes)}
