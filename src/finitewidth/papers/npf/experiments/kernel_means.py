"""The mean of K^v over networks with fixed gates (npf B.1), compared with its formula.

The means are over all networks of a small size, or over many random networks of a larger one.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.kernels.gated_moments import gate_counts, value_kernel_moments
from finitewidth.kernels.gated_ntk import feature_gates, value_kernel
from finitewidth.kernels.npk import npk
from finitewidth.networks.random_gated import draw_gates, draw_weights, every_signed_network
from finitewidth.networks.weights import generator
from finitewidth.papers.npf.experiments.fixed_gates import PIECE, points, sigma_of, sizes_of
from finitewidth.papers.npf.settings import Theory
from finitewidth.records.provenance import seed_for

OPEN = 0.75  # share of open gates in enumerated networks, high so that some path is open


def mean_rows(settings: Theory) -> pd.DataFrame:
    """Compare the mean kernel over networks with the formula."""
    rows = [_enumerated(tuple(sizes)) for sizes in settings.mean.enumerated]
    return pd.DataFrame([*rows, *_drawn(settings)])


def _enumerated(sizes: tuple[int, ...]) -> dict[str, Any]:
    """All networks with weights ±sigma at three inputs, sigma = sqrt(2 / first hidden width)."""
    n0, width, *_ = sizes
    stream = generator("npf/theory/enumerated", *sizes)
    x = torch.randn(3, n0, generator=stream, dtype=torch.float64)
    gates = [draw_gates((3, units), OPEN, stream) for units in sizes[1:-1]]
    sigma = sigma_of(width)
    weights = every_signed_network(sizes, sigma)
    kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()  # (networks, 3, 3)
    mean = kernels.mean(axis=0)
    variance = kernels.var(axis=0)
    formula = _formula(x, gates, sigma)
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2)
    return {
        "networks": "enumerated",
        "gates": "bernoulli",
        "depth": len(sizes) - 1,
        "width": width,
        "draws": len(kernels),
        "pairs": 6,
        "mean_error": _largest(mean - formula, formula),
        "variance_error": _largest(variance - exact.variance, exact.variance),
        "max_z": np.nan,
        "trace_ratio": float(np.trace(mean) / np.trace(formula)),
        "trace_ratio_se": 0.0,
    }


def _drawn(settings: Theory) -> Iterator[dict[str, Any]]:
    """Fixed gates of an independent ReLU network, or random ones; random value networks."""
    count = settings.inputs
    width = settings.mean.width
    draws = settings.mean.draws
    for kind, depth in itertools.product(("relu", "bernoulli"), settings.mean.depths):
        if kind == "relu":
            x = points(count, settings.n0)
            gates = _relu_gates(x, width, depth)
        else:  # the memorisation network: every input is 1, only the gates differ
            stream = generator("npf/theory/mean", kind, depth, width)
            x = torch.ones(count, 1, dtype=torch.float64)
            gates = [draw_gates((count, width), 0.5, stream) for _ in range(depth - 1)]
        yield {
            "networks": "drawn",
            "gates": kind,
            "depth": depth,
            "width": width,
            "draws": draws,
            "pairs": count * (count + 1) // 2,
            **_compared(x, gates, width, draws, kind),
        }


def _relu_gates(x: Tensor, width: int, depth: int) -> list[Tensor]:
    """Gates of a ReLU network that is independent of the value networks."""
    stream = np.random.default_rng(seed_for("npf/theory/mean gates", depth, width))
    *feature, _ = draw_weights(sizes_of(x.shape[1], width, depth), sigma_of(width), 1, stream)
    return feature_gates(x, [weight[0] for weight in feature], None)


def _compared(x: Tensor, gates: list[Tensor], width: int, draws: int, kind: str) -> dict[str, Any]:
    """Mean and variance of the kernels of many value networks, compared with the formulas."""
    depth = len(gates) + 1
    sigma = sigma_of(width)
    formula = _formula(x, gates, sigma)
    sizes = sizes_of(x.shape[1], width, depth)
    weights_of_network = sum(below * above for below, above in itertools.pairwise(sizes))
    piece = max(1, PIECE // weights_of_network)
    # sums of the differences from the formula, which is near the mean, and of their squares
    total = np.zeros_like(formula)
    total_of_squares = np.zeros_like(formula)
    trace_ratios = []
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/mean", kind, depth, width, start))
        weights = draw_weights(sizes, sigma, min(piece, draws - start), stream)
        kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()
        differences = kernels - formula
        total = total + differences.sum(axis=0)
        total_of_squares = total_of_squares + (differences**2).sum(axis=0)
        trace_ratios.append(np.trace(kernels, axis1=1, axis2=2) / np.trace(formula))
    mean = total / draws
    variance = (total_of_squares - draws * mean**2) / (draws - 1)
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2)
    ratios = np.concatenate(trace_ratios)
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
    """The mean kernel of Theorem B.1: d sigma^(2 (d-1)) H."""
    depth = len(gates) + 1
    return (depth * sigma ** (2 * (depth - 1)) * npk(x, gates)).numpy()


def _largest(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.abs(difference).max() / np.abs(size).max())
