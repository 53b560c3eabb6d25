"""A circular convolution network with one channel: its paths, and its kernel at initialisation.

Unit i of a layer adds the units i, i+1, .., i + kernel - 1 of the layer below (modulo the number of
inputs), weighted by the layer's weights theta_1, .., theta_kernel; the output averages the last
layer. The same weights serve all units, so paths share their strengths (dgn section 4).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Circular:
    """Sizes: ``inputs`` d_in, taps of the ``kernel``, number of convolutional ``layers``."""

    inputs: int
    kernel: int
    layers: int

    def tap(self, below: int, unit: int) -> int | None:
        """Which tap (from 0) connects a unit to one of the layer below; None if none does."""
        tap = (below - unit) % self.inputs
        return tap if tap < self.kernel else None


def connections(net: Circular) -> pd.DataFrame:
    """Weights between units, all counted from 1: ``layer``, ``start``, ``end``, ``tap``."""
    units = range(net.inputs)
    found = [
        (layer, start, end, net.tap(start, end))
        for layer, start, end in itertools.product(range(1, net.layers + 1), units, units)
    ]
    rows = [(layer, start + 1, end + 1, tap + 1) for layer, start, end, tap in found
            if tap is not None]  # fmt: skip
    return pd.DataFrame(rows, columns=["layer", "start", "end", "tap"])


def paths(net: Circular) -> pd.DataFrame:
    """Every walk from an input to the last layer, and the bundle of those that share its weights.

    Returns:
        ``path``, ``bundle`` (both from 1, bundles in the order of their weights), ``taps`` (of the
        layers, ``1 2 1``), and ``unit_0`` .. one column per layer.
    """
    walks = []
    for units in itertools.product(range(net.inputs), repeat=net.layers + 1):
        taps = [net.tap(*pair) for pair in itertools.pairwise(units)]
        if None not in taps:
            walks.append((tuple(taps), units))
    bundles = {taps: number for number, taps in enumerate(sorted({w[0] for w in walks}), start=1)}
    return pd.DataFrame([
        {"path": number, "bundle": bundles[taps], "taps": " ".join(str(tap + 1) for tap in taps),
         **{f"unit_{layer}": unit + 1 for layer, unit in enumerate(units)}}
        for number, (taps, units) in enumerate(sorted(walks), start=1)
    ])  # fmt: skip


def kernels(net: Circular, examples: Sequence[Sequence[int]]) -> pd.DataFrame:
    """The expected output kernel for every pair of examples, the second shifted in a circle.

    Weights are ±1, all signs equally likely: expectations are means over all of them, exact where
    the examples are whole numbers. Gates are hard and come from a gating network of the same form;
    all signs of its weights are gone through as well.

    Returns:
        ``gating`` (which signs), ``s``, ``s_prime``, ``shift``; ``pooled``, E[ŷ(x) ŷ(x')];
        ``lemma``, the sum over bundles of Lemma 4.1; ``unpooled``, E<x(L), x'(L)> without the
        average.
    """
    signs = _signs(net)
    inputs = np.array([np.roll(x, shift) for x in examples for shift in range(net.inputs)], float)
    walks, rows = paths(net), []
    for number, gating in enumerate(signs):
        gates = _gates(net, gating, inputs)
        outputs = np.stack([_forward(net, weights, inputs, gates) for weights in signs])
        means = outputs.mean(axis=2)
        pooled = means.T @ means / len(signs)
        unpooled = np.einsum("wsi,wti->st", outputs, outputs) / len(signs)
        lemma = _by_bundles(net, walks, inputs, gates)
        for (a, b), shift in itertools.product(
            itertools.combinations_with_replacement(range(len(examples)), 2), range(net.inputs)
        ):
            at = a * net.inputs, b * net.inputs + shift
            rows.append({
                "gating": number, "s": a + 1, "s_prime": b + 1, "shift": shift,
                "pooled": pooled[at], "lemma": lemma[at], "unpooled": unpooled[at],
            })  # fmt: skip
    return pd.DataFrame(rows)


def _signs(net: Circular) -> np.ndarray:
    """All weights of ±1, (2^(layers kernel), layers, kernel)."""
    flat = list(itertools.product((-1.0, 1.0), repeat=net.layers * net.kernel))
    return np.array(flat).reshape(-1, net.layers, net.kernel)


def _convolved(net: Circular, z: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """One layer, (S, inputs): unit i takes unit i + k of ``z`` times tap k."""
    return sum(taps[k] * np.roll(z, -k, axis=1) for k in range(net.kernel))


def _gates(net: Circular, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Gates 1{q > 0} of a ReLU network of the same form, (layers, S, inputs)."""
    gates, z = [], x
    for taps in weights:
        q = _convolved(net, z, taps)
        gates.append((q > 0).astype(float))
        z = q * gates[-1]
    return np.stack(gates)


def _forward(net: Circular, weights: np.ndarray, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
    z = x
    for taps, gate in zip(weights, gates, strict=True):
        z = _convolved(net, z, taps) * gate
    return z


def _by_bundles(net: Circular, walks: pd.DataFrame, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Lemma 4.1: per bundle, inputs times activities of its paths, summed, then multiplied."""
    units = walks[[f"unit_{layer}" for layer in range(net.layers + 1)]].to_numpy() - 1
    features = x[:, units[:, 0]]
    for layer in range(net.layers):
        features = features * gates[layer][:, units[:, layer + 1]]
    bundles = walks["bundle"].to_numpy()
    sums = np.stack([features[:, bundles == b].sum(axis=1) for b in np.unique(bundles)])
    return sums.T @ sums / net.inputs**2
