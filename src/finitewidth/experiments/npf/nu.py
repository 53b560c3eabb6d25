"""E-NPF-NU: nu_t = yᵀ Ĥ_t⁻¹ y while ReLU networks learn two digits (npf Figure 3, middle)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.experiments.examples import binary_examples
from finitewidth.experiments.snapshots import epochs_kept, network_at
from finitewidth.kernels.gated_networks import relu_gates
from finitewidth.kernels.npk import npk, nu
from finitewidth.measures.accuracy import mean_and_spread


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Value of nu, from the trace-normalised path kernel, at every kept epoch of every run.

    Args:
        inputs: ``data``, the dataset; ``weights``, kept along a training.
        settings: ``classes`` (the first is -1), ``per_class`` (the first so many training images
            of each), ``ddof``.

    Returns:
        ``runs``: epoch, seed, nu, condition_number (of the normalised kernel, float64, no ridge).
        ``curves``: rows (panel, series, x, y, spread, runs).
    """
    images, y = binary_examples(inputs["data"], settings["classes"], settings["per_class"])
    rows = []
    for epoch in epochs_kept(inputs["weights"]):
        weights, biases = network_at(inputs["weights"], epoch, "value")
        kernel = npk(images, relu_gates(weights, biases, images), normalise="trace")
        value = nu(y, kernel)
        for seed in range(len(kernel)):
            rows.append(
                {
                    "epoch": epoch,
                    "seed": seed,
                    "nu": float(value.nu[seed]),
                    "condition_number": float(value.condition_number[seed]),
                }
            )
    runs = pd.DataFrame(rows)
    curves = []
    for epoch, group in runs.groupby("epoch"):
        mean, spread = mean_and_spread(group["nu"], settings["ddof"])
        curves.append(
            {"panel": "nu", "series": "nu", "x": epoch, "y": mean, "spread": spread,
             "runs": len(group)}
        )  # fmt: skip
    return {"runs": runs, "curves": pd.DataFrame(curves)}
