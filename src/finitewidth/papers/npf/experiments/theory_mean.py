"""E[K^v] = d sigma^{2(d-1)} H at finite width (npf B.1).

The mean is taken over all networks of a small size, and over many random networks of a larger one.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.gated_moments import GateCounts, value_kernel_moments
from finitewidth.kernels.gated_networks import feature_gates
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import npk
from finitewidth.networks.random_gated import draw_gates, draw_weights, every_signed_network
from finitewidth.networks.weights import generator
from finitewidth.papers.npf.experiments.theory_networks import points, sigma_of, sizes_of

PIECE = 4_000_000  # weights per batch
OPEN = 0.75  # share of open gates in enumerated networks, high so that some path is open


def mean_rows(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the mean kernel over networks with the formula.

    Args:
        settings: ``inputs``, ``n0`` and ``mean`` of section ``npf.theory``.

    Returns:
        networks (enumerated, drawn), gates (bernoulli, relu), depth, width, draws (number of
        networks), pairs of inputs, mean_error (largest difference divided by the formula's largest
        entry), variance_error (likewise for the variance), max_z (largest difference in standard
        errors; NaN if enumerated), trace_ratio (of mean kernel to formula), trace_ratio_se.
    """
    rows = [_enumerated(tuple(sizes)) for sizes in settings["mean"]["enumerated"]]
    return pd.DataFrame([*rows, *_drawn(settings, settings["mean"])])


def _enumerated(sizes: tuple[int, ...]) -> dict[str, Any]:
    """All networks with weights ±sigma at three inputs, sigma = sqrt(2 / first hidden width)."""
    stream = generator("npf/theory/enumerated", *sizes)
    x = torch.randn(3, sizes[0], generator=stream, dtype=torch.float64)
    gates = [draw_gates((3, width), OPEN, stream) for width in sizes[1:-1]]
    sigma = sigma_of(sizes[1])
    weights = every_signed_network(sizes, sigma)
    kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()
    formula = _formula(x, gates, sigma)
    exact = value_kernel_moments(x, GateCounts.of_gates(gates), sigma**2)
    mean = kernels.mean(axis=0)
    return {
        "networks": "enumerated", "gates": "bernoulli", "depth": len(sizes) - 1,
        "width": sizes[1], "draws": len(kernels), "pairs": 6,
        "mean_error": _largest(mean - formula, formula),
        "variance_error": _largest(kernels.var(axis=0) - exact.variance, exact.variance),
        "max_z": np.nan, "trace_ratio": float(np.trace(mean) / np.trace(formula)),
        "trace_ratio_se": 0.0,
    }  # fmt: skip


def _drawn(settings: Mapping[str, Any], chosen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Fixed gates of an independent ReLU network, or random ones; random value networks."""
    count, width, draws = settings["inputs"], chosen["width"], chosen["draws"]
    for kind in ("relu", "bernoulli"):
        for depth in chosen["depths"]:
            stream = generator("npf/theory/mean", kind, depth, width)
            if kind == "relu":
                x = points(count, settings["n0"])
                gates = _relu_gates(x, depth, width)
            else:  # the memorisation network: every input is 1, only the gates differ
                x = torch.ones(count, 1, dtype=torch.float64)
                gates = [draw_gates((count, width), 0.5, stream) for _ in range(depth - 1)]
            yield {
                "networks": "drawn", "gates": kind, "depth": depth, "width": width,
                "draws": draws, "pairs": count * (count + 1) // 2,
                **_compared(x, gates, width, draws, kind),
            }  # fmt: skip


def _compared(x: Tensor, gates: list[Tensor], width: int, draws: int, kind: str) -> dict[str, Any]:
    depth = len(gates) + 1
    formula = _formula(x, gates, sigma_of(width))
    sizes = sizes_of(x.shape[1], width, depth)
    piece = max(1, PIECE // sum(a * b for a, b in itertools.pairwise(sizes)))
    first, second, traces = np.zeros_like(formula), np.zeros_like(formula), []
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/mean", kind, depth, width, start))
        weights = draw_weights(sizes, sigma_of(width), min(piece, draws - start), stream)
        kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()
        off = kernels - formula
        first, second = first + off.sum(axis=0), second + (off**2).sum(axis=0)
        traces.append(np.trace(kernels, axis1=1, axis2=2) / np.trace(formula))
    mean = first / draws
    variance = (second - draws * mean**2) / (draws - 1)
    exact = value_kernel_moments(x, GateCounts.of_gates(gates), sigma_of(width) ** 2)
    ratios = np.concatenate(traces)
    with np.errstate(invalid="ignore"):  # 0 / 0 for pairs without a common path
        z = np.abs(mean) / np.sqrt(variance / draws)
    return {
        "mean_error": _largest(mean, formula),
        "variance_error": _largest(variance - exact.variance, exact.variance),
        "max_z": float(np.nanmax(z)),
        "trace_ratio": float(ratios.mean()),
        "trace_ratio_se": float(ratios.std(ddof=1)) / math.sqrt(draws),
    }


def _formula(x: Tensor, gates: list[Tensor], sigma: float) -> np.ndarray:
    depth = len(gates) + 1
    return (depth * sigma ** (2 * (depth - 1)) * npk(x, gates)).numpy()


def _relu_gates(x: Tensor, depth: int, width: int) -> list[Tensor]:
    stream = np.random.default_rng(seed_for("npf/theory/mean gates", depth, width))
    feature = draw_weights(sizes_of(x.shape[1], width, depth), sigma_of(width), 1, stream)
    return feature_gates(x, [weight[0] for weight in feature[:-1]], None, beta=None)


def _largest(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.abs(difference).max() / np.abs(size).max())
