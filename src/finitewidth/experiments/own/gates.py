"""The gates of a network of the user during training, job `own_gates`.

Fully connected ReLU networks have the neural path kernel H = Sigma ⊙ Lambda (NPF Lemma 2.1), where
Lambda counts the paths that are on for both inputs. Other networks have the overlap of their gates.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from finitewidth.data.select import stratified_subset
from finitewidth.experiments.own.drawn import NAME, Networks, curves, entries, few
from finitewidth.kernels.npk import SingularKernelError, npk
from finitewidth.kernels.trained import as_fully_connected
from finitewidth.measures.blocks import alignment, block_means
from finitewidth.networks.recorded_gates import Gates, gates_of

LAYER = ("active", "changed", "same_class", "other_class")
KERNEL = ("same_class", "other_class", "alignment")
PATHS, OVERLAP = "neural path kernel", "overlap of gates"


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Follow the gates of the networks that `own_training` trained, on the images of its kernels.

    Args:
        inputs: ``data``, the images; ``weights`` of `own_training`.
        settings: ``network`` (what the plan tells of it); ``train``, ``test``, ``per_class``,
            ``runs``, ``times`` and ``maps`` of `own_training`.

    Returns:
        ``rows``: run, step, layer (from 1), activation, units, active (share of gates that are on),
        changed (share of gates that differ from those at step 0), same_class and other_class (share
        of units that are on for both images, mean over pairs).
        ``layers``: the same as curves: step, layer, activation, units, quantity, median, lowest,
        highest, runs.
        ``paths``: curves of the kernel of the gates: step, kernel (neural path kernel, or overlap
        of gates: the mean over layers of the share of units that are on for both images),
        quantity (same_class and other_class over the mean diagonal, and alignment), median,
        lowest, highest, runs.
        ``kernels``: of run 0 at ``maps``: step, kernel, row, column, class_row, class_column,
        share.

    Raises:
        ConfigError: the network cannot be made, or it has no gates.
    """
    data = stratified_subset(
        inputs["data"], settings["train"], settings["test"], (NAME, "training")
    )
    networks = Networks(settings["network"], data)
    x, labels = few(data, settings["per_class"])
    rows, paths, kernels = [], [], []
    for run in range(settings["runs"]):
        network, first = networks.draw("training", run), None
        for step in settings["times"]:
            network.load_state_dict(state(inputs["weights"], run, step))
            gates = gates_of(network, x)
            first = gates if first is None else first
            place = {"run": run, "step": step}
            rows += [{**place, **one} for one in _layers(gates, first, labels)]
            name, kernel = kernel_of(network, gates, x)
            paths.append({**place, "kernel": name, **_blocks(kernel, labels)})
            if run == 0 and step in settings["maps"]:
                kernels.append(entries(kernel, labels, step=step, kernel=name))
    table = pd.DataFrame(rows)
    return {
        "rows": table,
        "layers": curves(table, ["step", "layer", "activation", "units"], LAYER),
        "paths": curves(pd.DataFrame(paths), ["step", "kernel"], KERNEL),
        "kernels": pd.concat(kernels, ignore_index=True),
    }


def state(weights: Mapping[str, np.ndarray], run: int, step: int) -> dict[str, Tensor]:
    """Return parameters and buffers of one run at one step, as ``load_state_dict`` takes them."""
    prefix = f"run{run}/step{step}/"
    return {name.removeprefix(prefix): torch.from_numpy(np.array(array))
            for name, array in weights.items() if name.startswith(prefix)}  # fmt: skip


def kernel_of(network: nn.Module, gates: list[Gates], x: Tensor) -> tuple[str, np.ndarray]:
    """Return the name and the kernel (S, S) of the gates of a network.

    It is the neural path kernel over its trace for fully connected ReLU networks; paths that begin
    at a bias are not counted, and without any path the kernel is nan. For others it is the mean
    over layers of the share of units that are on for both inputs.
    """
    plain = as_fully_connected(network)
    on = [layer.on.double() for layer in gates]
    if plain and not plain.activated_output and all(g.activation == "relu" for g in gates):
        with contextlib.suppress(SingularKernelError):
            return PATHS, npk(x.flatten(1), on, normalise="trace").numpy()
        return PATHS, np.full((len(x), len(x)), np.nan)  # no gate of some layer is on
    return OVERLAP, np.mean([_shared(layer) for layer in gates], axis=0)


def _shared(layer: Gates) -> np.ndarray:
    """The share of units that are on for both inputs, (S, S)."""
    on = layer.on.double()
    return (on @ on.mT / on.shape[1]).numpy()


def _layers(gates: list[Gates], first: list[Gates], labels: np.ndarray) -> list[dict[str, Any]]:
    found = []
    for number, (now, before) in enumerate(zip(gates, first, strict=True), start=1):
        means = block_means(_shared(now), labels)
        found.append({
            "layer": number, "activation": now.activation, "units": now.on.shape[1],
            "active": float(means.diagonal),
            "changed": float((now.on != before.on).double().mean()),
            "same_class": float(means.same_class), "other_class": float(means.other_class),
        })  # fmt: skip
    return found


def _blocks(kernel: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    means = block_means(kernel, labels)
    return {
        "same_class": float(means.same_class / means.diagonal),
        "other_class": float(means.other_class / means.diagonal),
        "alignment": float(alignment(kernel, labels)),
    }
