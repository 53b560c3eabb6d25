"""Mean and variance of K^v over networks with fixed gates (npf B.1 and B.2, dgn 2.3).

All means are taken over all networks of a small size, or over many random networks of a larger one.
Networks have no biases and one output, and sigma = sqrt(2 / w).
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import Progress
from finitewidth.common.provenance import seed_for
from finitewidth.kernels.gated_moments import GateCounts, leading_variance, value_kernel_moments
from finitewidth.kernels.gated_networks import feature_gates
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import npk
from finitewidth.networks.random_gated import draw_gates, draw_weights, every_signed_network
from finitewidth.networks.weights import generator

PIECE = 4_000_000  # weights per batch
OPEN = 0.75  # share of open gates in enumerated networks, high so that some path is open
X = np.ones((2, 1))  # the memorisation network: both inputs are 1
# entry -> share of units open for one input, share open for both inputs
SHARES = {"open": (1.0, 1.0), "half": (0.5, 0.5), "pair": (0.5, 0.25)}


def mean_rows(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the mean kernel over networks with the formula.

    Returns:
        networks (enumerated, drawn), gates (bernoulli, relu), depth, width, draws (number of
        networks), pairs of inputs, mean_error (largest difference divided by the formula's largest
        entry), variance_error (likewise for the variance), max_z (largest difference in standard
        errors; NaN if enumerated), trace_ratio (of mean kernel to formula), trace_ratio_se.
    """
    rows = [_enumerated(tuple(sizes)) for sizes in settings["mean"]["enumerated"]]
    return pd.DataFrame([*rows, *_drawn(settings)])


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


def _drawn(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Fixed gates of an independent ReLU network, or random ones; random value networks."""
    count, chosen = settings["inputs"], settings["mean"]
    width, draws = chosen["width"], chosen["draws"]
    for kind in ("relu", "bernoulli"):
        for depth in chosen["depths"]:
            stream = generator("npf/theory/mean", kind, depth, width)
            if kind == "relu":
                x = points(count, settings["n0"])
                random = np.random.default_rng(seed_for("npf/theory/mean gates", depth, width))
                sizes = sizes_of(x.shape[1], width, depth)
                feature = draw_weights(sizes, sigma_of(width), 1, random)[:-1]
                gates = feature_gates(x, [weight[0] for weight in feature], None, beta=None)
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


def _largest(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.abs(difference).max() / np.abs(size).max())


@contextmanager
def named(section: str, width: int, depth: int) -> Iterator[None]:
    """Add the section to refusals of kernels that are zero or constant, as of a closed network."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"npf.theory.{section}: in a network of width {width} and depth {depth} "
                          f"{error}; raise the width or lower the depth") from error  # fmt: skip


def points(count: int, n0: int) -> Tensor:
    """Inputs (count, n0), uniform on the unit sphere; the same in all jobs of a run."""
    drawn = torch.randn(
        count, n0, generator=generator("npf/theory/points", count, n0), dtype=torch.float64
    )
    return drawn / drawn.norm(dim=1, keepdim=True)


def sizes_of(n0: int, width: int, depth: int) -> tuple[int, ...]:
    """Units per layer of a network with ``depth`` layers of weights, including input and output."""
    return (n0, *[width] * (depth - 1), 1)


def sigma_of(width: int) -> float:
    """sqrt(2 / w) for every layer including the first (npf 5 and D.1).

    If half of the gates are open, sigma^{2(d-1)} Lambda(s, s) is about 1.
    """
    return math.sqrt(2 / width)


def variance_rows(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Var[K] for fixed gates at sigma^2 = 1 / (open units), where E[K(s, s)] = d.

    Returns:
        entry (open: K(s, s) with all gates open; half: K(s, s) with half of them open; pair:
        K(s, s') with half open for each input and a quarter for both), form (exact, drawn, or
        leading, the first order in 1 / w), width (0 for ``leading``), depth, variance, per_d3 =
        variance w / d^3, per_d2 = variance w / d^2, and the standard errors spread, per_d3_spread,
        per_d2_spread; draws.
    """
    chosen = settings["variance"]
    rows = list(_exact(chosen))
    drawn = chosen["drawn"]
    cells = [(w, d) for w in drawn["widths"] for d in drawn["depths"]]
    progress = Progress(len(cells) * drawn["draws"], "networks for the variance")
    for width, depth in cells:
        rows += _drawn_variances(width, depth, drawn["draws"])
        progress.advance(drawn["draws"])
    progress.close()
    return pd.DataFrame(rows)


def _exact(chosen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entry, (own, shared) in SHARES.items():
        for depth in chosen["depths"]:
            for width in chosen["widths"]:
                counts = GateCounts.of_numbers(
                    *(np.full((depth - 1, 1, 1), width * share) for share in (shared, own, own))
                )
                moments = value_kernel_moments(X[:1], counts, 1 / (own * width))
                yield _row(entry, "exact", width, depth, float(moments.variance[0, 0]))
            if entry != "pair":
                # this is the variance times the width; the columns then hold its coefficient
                value = leading_variance(depth, own)
                yield _row(entry, "leading", 0, depth, value)


def _drawn_variances(width: int, depth: int, draws: int) -> Iterator[dict[str, Any]]:
    """All three entries from random networks; both kernels of a network use the same weights."""
    pieces = {entry: [] for entry in SHARES}
    piece = max(1, PIECE // (width * width * depth))
    sizes = sizes_of(1, width, depth)
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/variance", width, depth, start))
        signs = draw_weights(sizes, 1.0, min(piece, draws - start), stream, dtype=torch.float32)
        for gates, entries in ((_two_gates(width, depth), {"half": (0, 0), "pair": (0, 1)}),
                               (_two_gates(width, depth, True), {"open": (0, 0)})):  # fmt: skip
            sigma = float(gates[0][0].sum()) ** -0.5
            weights = [sigma * sign for sign in signs]
            kernels = value_kernel(
                torch.from_numpy(X), weights, None, gates, with_biases=False, dtype=torch.float32
            )
            for entry, (s, t) in entries.items():
                pieces[entry].append(kernels[:, s, t].double().numpy())
    for entry, values in pieces.items():
        own, shared = SHARES[entry]
        squares = (np.concatenate(values) - depth * (shared / own) ** (depth - 1)) ** 2
        spread = float(squares.std(ddof=1)) / np.sqrt(draws)
        yield _row(entry, "drawn", width, depth, float(squares.mean()), spread, draws)


def _two_gates(width: int, depth: int, opened: bool = False) -> list[torch.Tensor]:
    """Gates of the two inputs, (2, width) per hidden layer: halves that share a quarter."""
    gate = torch.ones(2, width) if opened else torch.zeros(2, width)
    gate[0, : width // 2] = 1
    gate[1, width // 4 : width // 4 + width // 2] = 1
    return [gate] * (depth - 1)


def _row(
    entry: str, form: str, width: int, depth: int, variance: float, spread: float = 0.0,
    draws: int = 0,
) -> dict[str, Any]:  # fmt: skip
    factor = max(width, 1)
    row = {"entry": entry, "form": form, "width": width, "depth": depth, "draws": draws,
           "variance": variance, "spread": spread}  # fmt: skip
    for power in (2, 3):
        row[f"per_d{power}"] = variance * factor / depth**power
        row[f"per_d{power}_spread"] = spread * factor / depth**power
    return row
