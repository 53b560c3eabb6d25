"""nu_t = yᵀ Ĥ_t⁻¹ y while ReLU networks learn two digits, job `npf_nu` (npf Figure 3, middle)."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.experiments.examples import binary_examples
from finitewidth.experiments.nu_values import conditions, nu_row
from finitewidth.experiments.snapshots import epochs_kept, network_at
from finitewidth.kernels.gated_networks import relu_gates
from finitewidth.kernels.npk import npk
from finitewidth.measures.accuracy import averaged
from finitewidth.papers.npf.experiments.label_energy import curves, split


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Compute nu of the trace-normalised path kernel at every kept epoch of every run.

    Args:
        inputs: ``data``, the dataset; ``weights`` kept during a training.
        settings: ``classes`` (the first is labelled -1), ``per_class`` (number of training images
            of each).

    Returns:
        ``runs``: epoch, seed, nu, condition_number (of the normalised kernel, float64), ridge,
        problem, as returned by `nu_row`. A diverged network has no nu.
        ``curves``: panel, series, x, y, spread, runs, failed, and the columns of `conditions`.
        ``energy``: see `finitewidth.papers.npf.experiments.label_energy.curves`.
    """
    images, y = binary_examples(inputs["data"], settings["classes"], settings["per_class"])
    rows, splits = [], {}
    for epoch in epochs_kept(inputs["weights"]):
        weights, biases = network_at(inputs["weights"], epoch, "value")
        gates = relu_gates(weights, biases, images)
        kernels = [
            cache(partial(npk, images, [layer[seed] for layer in gates], normalise="trace"))
            for seed in range(len(gates[0]))
        ]
        rows += [{"epoch": epoch, "seed": seed, **nu_row(y, kernel)}
                 for seed, kernel in enumerate(kernels)]  # fmt: skip
        splits[epoch] = np.stack([split(y, kernel) for kernel in kernels])
    runs = pd.DataFrame(rows)
    return {
        "runs": runs,
        "curves": pd.DataFrame(_curves(runs)),
        "energy": curves(splits),
    }


def _curves(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for epoch, group in runs.groupby("epoch"):
        yield {"panel": "nu", "series": "nu", "x": epoch, **averaged(group["nu"]),
               **conditions(group)}  # fmt: skip
