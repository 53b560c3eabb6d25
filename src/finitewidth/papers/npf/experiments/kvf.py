"""Sizes of K^v and K^f while DLNPF networks learn, job `npf_kvf` (npf Figure 3, right)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch

from finitewidth.data.select import first_per_class, scaled
from finitewidth.kernels.gated_ntk import Gating, feature_gates, feature_kernel, value_kernel
from finitewidth.measures.accuracy import averaged
from finitewidth.measures.nu_values import epochs_kept, network_at


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Trace and Frobenius norm of both kernels at every kept epoch of every run.

    Returns:
        ``runs``: epoch, seed and the four quantities.
        ``curves``: panel, series, x, and those of `averaged`, where a diverged run has failed.
    """
    data = inputs["data"]
    classes = list(range(len(data.class_names)))
    index = first_per_class(data.train_labels, classes, settings["per_class"])
    x = torch.from_numpy(scaled(data.train_images[index])).flatten(1).double()
    labels = torch.from_numpy(data.train_labels[index])
    gating = Gating(**settings["gate"])
    output = settings["output"]
    common = {
        "with_biases": settings["with_biases"],
        "output": output,
        "labels": labels if output == "true_class_logit" else None,
    }
    arrays, rows = inputs["weights"], []
    for epoch in epochs_kept(arrays):
        value, feature = (network_at(arrays, epoch, part) for part in ("value", "feature"))
        kernels = {
            "kv": value_kernel(x, *value, feature_gates(x, *feature, gating), **common),
            "kf": feature_kernel(x, feature, value, gating, **common),
        }
        for seed in range(len(kernels["kv"])):
            traces = {f"trace_{name}": float(k[seed].trace()) for name, k in kernels.items()}
            norms = {f"frobenius_{name}": float(k[seed].norm()) for name, k in kernels.items()}
            rows.append({"epoch": epoch, "seed": seed} | traces | norms)
    runs = pd.DataFrame(rows)
    curves = [
        {"panel": "kvf", "series": f"{title} of K^{kernel}", "x": epoch, **averaged(sizes)}
        for size, title in (("trace", "trace"), ("frobenius", "Frobenius norm"))
        for kernel in "vf"
        for epoch, sizes in runs.groupby("epoch")[f"{size}_k{kernel}"]
    ]
    return {"runs": runs, "curves": pd.DataFrame(curves)}
