"""The variance of K^v over networks with fixed gates (npf B.2, dgn 2.3).

It is exact, or that of many random networks.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.progress import Progress
from finitewidth.kernels.gated_moments import leading_variance, unit_counts, value_kernel_moments
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.networks.random_gated import draw_weights
from finitewidth.papers.npf.experiments.fixed_gates import PIECE, sizes_of
from finitewidth.papers.npf.settings import Variance
from finitewidth.records.provenance import seed_for

X = np.ones((2, 1))  # the memorisation network: both inputs are 1
# entry -> share of units open for one input, share open for both inputs
SHARES = {"open": (1.0, 1.0), "half": (0.5, 0.5), "pair": (0.5, 0.25)}


def variance_rows(settings: Variance) -> pd.DataFrame:
    """Var[K] for fixed gates at sigma^2 = 1 / (open units), where E[K(s, s)] = d.

    The entries are those of `SHARES`: K(s, s) with all or half of the gates open, and K(s, s').
    """
    drawn = settings.drawn
    rows = list(_exact(settings))
    cells = list(itertools.product(drawn.widths, drawn.depths))
    progress = Progress(len(cells) * drawn.draws, "networks for the variance")
    for width, depth in cells:
        rows += _drawn_variances(width, depth, drawn.draws)
        progress.advance(drawn.draws)
    progress.close()
    return pd.DataFrame(rows)


def _exact(settings: Variance) -> Iterator[dict[str, Any]]:
    for entry, depth in itertools.product(SHARES, settings.depths):
        open_share, shared = SHARES[entry]
        for width in settings.widths:
            # units of each layer that are open for both inputs, for the first, for the second
            shares = (shared, open_share, open_share)
            units = (np.full((depth - 1, 1, 1), width * share) for share in shares)
            sigma2 = 1 / (open_share * width)
            moments = value_kernel_moments(X[:1], unit_counts(*units), sigma2)
            yield _row(entry, "exact", width, depth, float(moments.variance[0, 0]))
        if entry != "pair":
            # this is the variance times the width; the columns then hold its coefficient
            yield _row(entry, "leading", 0, depth, leading_variance(depth, open_share))


def _drawn_variances(width: int, depth: int, draws: int) -> Iterator[dict[str, Any]]:
    """All three entries from random networks; both kernels of a network use the same weights."""
    kernels: dict[str, list[np.ndarray]] = {entry: [] for entry in SHARES}
    piece = max(1, PIECE // (width * width * depth))
    sizes = sizes_of(1, width, depth)
    halves = torch.zeros(2, width)  # of the two inputs, which share a quarter
    halves[0, : width // 2] = 1
    halves[1, width // 4 : width // 4 + width // 2] = 1
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/variance", width, depth, start))
        signs = draw_weights(sizes, 1.0, min(piece, draws - start), stream, dtype=torch.float32)
        half_open = _kernels_of_signs(signs, halves)  # (networks, 2, 2)
        all_open = _kernels_of_signs(signs, torch.ones(2, width))
        kernels["half"].append(half_open[:, 0, 0])
        kernels["pair"].append(half_open[:, 0, 1])
        kernels["open"].append(all_open[:, 0, 0])
    for entry, parts in kernels.items():
        open_share, shared = SHARES[entry]
        mean = depth * (shared / open_share) ** (depth - 1)
        squares = (np.concatenate(parts) - mean) ** 2
        spread = float(squares.std(ddof=1)) / np.sqrt(draws)
        yield _row(entry, "drawn", width, depth, float(squares.mean()), spread, draws)


def _kernels_of_signs(signs: list[Tensor], gate: Tensor) -> np.ndarray:
    """Kernels (networks, 2, 2) of weights ±sigma, sigma^2 = 1 / (open units), in float32.

    All layers have the gates (2, w) of the two inputs.
    """
    sigma = float(gate[0].sum()) ** -0.5
    weights = [sigma * sign for sign in signs]
    gates = [gate] * (len(signs) - 1)
    x = torch.from_numpy(X)
    kernels = value_kernel(x, weights, None, gates, with_biases=False, dtype=torch.float32)
    return kernels.double().numpy()


def _row(
    entry: str,
    form: str,
    width: int,
    depth: int,
    variance: float,
    spread: float = 0.0,
    draws: int = 0,
) -> dict[str, Any]:
    row = {
        "entry": entry,
        "form": form,
        "width": width,
        "depth": depth,
        "draws": draws,
        "variance": variance,
        "spread": spread,
    }
    for power in (2, 3):
        row[f"per_d{power}"] = variance * max(width, 1) / depth**power
        row[f"per_d{power}_spread"] = spread * max(width, 1) / depth**power
    return row
