"""Variance of one entry of K^v over the value weights, exact and sampled (npf B.2, dgn 2.3)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch

from finitewidth.common.progress import Progress
from finitewidth.common.provenance import seed_for
from finitewidth.kernels.gated_moments import GateCounts, leading_variance, value_kernel_moments
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.networks.random_gated import draw_weights
from finitewidth.papers.npf.experiments.theory_networks import sizes_of

PIECE = 4_000_000  # weights per batch
X = np.ones((2, 1))  # the memorisation network: both inputs are 1
# entry -> share of units open for one input, share open for both inputs
SHARES = {"open": (1.0, 1.0), "half": (0.5, 0.5), "pair": (0.5, 0.25)}


def variance_rows(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Var[K] for fixed gates at sigma^2 = 1 / (open units), where E[K(s, s)] = d.

    Args:
        settings: ``variance`` of section ``npf.theory``.

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
        rows += _drawn(width, depth, drawn["draws"])
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


def _drawn(width: int, depth: int, draws: int) -> Iterator[dict[str, Any]]:
    """All three entries from random networks; both kernels of a network use the same weights."""
    pieces = {entry: [] for entry in SHARES}
    piece = max(1, PIECE // (width * width * depth))
    sizes = sizes_of(1, width, depth)
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/variance", width, depth, start))
        signs = draw_weights(sizes, 1.0, min(piece, draws - start), stream, dtype=torch.float32)
        for gates, entries in ((_gates(width, depth), {"half": (0, 0), "pair": (0, 1)}),
                               (_gates(width, depth, True), {"open": (0, 0)})):  # fmt: skip
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


def _gates(width: int, depth: int, opened: bool = False) -> list[torch.Tensor]:
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
