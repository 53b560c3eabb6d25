"""Gates of a network on some inputs: shares of gates that are on, and kernels of the gates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from finitewidth.kernels.npk import SingularKernelError, npk
from finitewidth.kernels.trained import as_fully_connected
from finitewidth.measures.blocks import block_means
from finitewidth.networks.recorded_gates import Gates

PATHS, OVERLAP = "neural path kernel", "overlap of gates"


def gate_kernel(network: nn.Module, gates: Sequence[Gates], x: Tensor) -> tuple[str, np.ndarray]:
    """Return the name and the kernel (S, S) of the gates of a network.

    It is the neural path kernel H = Sigma ⊙ Lambda (NPF Lemma 2.1) over its trace for fully
    connected ReLU networks, where Lambda counts the paths that are on for both inputs. Paths that
    begin at a bias are not counted, and without any path the kernel is nan. For other networks it
    is the mean over layers of the share of units that are on for both inputs.

    Args:
        network: a module.
        gates: of its layers on ``x``, from `finitewidth.networks.recorded_gates.gates_of`.
        x: inputs, (S, ...).
    """
    plain = as_fully_connected(network)
    if plain and not plain.activated_output and all(g.activation == "relu" for g in gates):
        try:
            on = [layer.on.double() for layer in gates]
            return PATHS, npk(x.flatten(1), on, normalise="trace").cpu().numpy()
        except SingularKernelError:  # in some layer no gate is on
            return PATHS, np.full((len(x), len(x)), np.nan)
    return OVERLAP, np.mean([_shared(layer) for layer in gates], axis=0)


def gate_shares(
    gates: Sequence[Gates], first: Sequence[Gates], labels: np.ndarray
) -> list[dict[str, Any]]:
    """Return for each layer which share of its gates is on, and which has changed.

    Args:
        gates: of all layers on inputs.
        first: those of an earlier time on the same inputs.
        labels: classes of the inputs, (S,).

    Returns:
        For each layer: ``layer`` (from 1), ``activation``, ``units``, ``active`` (share of gates
        that are on), ``changed`` (share of gates that differ from ``first``), ``same_class`` and
        ``other_class`` (share of units that are on for both inputs, mean over pairs).
    """
    rows = []
    for number, (now, before) in enumerate(zip(gates, first, strict=True), start=1):
        means = block_means(_shared(now), labels)
        rows.append({
            "layer": number, "activation": now.activation, "units": now.on.shape[1],
            "active": float(means.diagonal),
            "changed": float((now.on != before.on).double().mean()),
            "same_class": float(means.same_class), "other_class": float(means.other_class),
        })  # fmt: skip
    return rows


def _shared(layer: Gates) -> np.ndarray:
    """The share of units that are on for both inputs, (S, S)."""
    on = layer.on.double()
    return (on @ on.mT / on.shape[1]).cpu().numpy()
