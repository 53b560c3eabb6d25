"""Dispersion of the NTK over weight variance and depth, for several widths or bias variances.

Used by the jobs `trust_heat_widths` (``trust`` Figure 1) and `trust_heat_biases` (Figure 7).
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations.columns import DEPTH, SIGMA_B2, SIGMA_W2, WIDTH
from finitewidth.kernels.ntk_init.depth_sweep import Cell, sample_depths
from finitewidth.kernels.ntk_init.draws import NtkDraws
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.ntk_init.phases import border
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.experiments import estimates
from finitewidth.papers.trust.settings import Heat
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table
from finitewidth.training.checkpoints import Checkpoints, stored_map

TABLES = {
    "cells": Table(
        columns.ACTIVATION,
        WIDTH,
        SIGMA_B2,
        SIGMA_W2,
        DEPTH,
        *estimates.TABLE,
    ),
    "borders": Table(columns.ACTIVATION, SIGMA_B2, columns.BORDER),
}


def measure(
    inputs: Mapping[str, Any], settings: Heat, checkpoints: Checkpoints | None = None
) -> dict[str, pd.DataFrame]:
    """The ratio E[Theta(x,x)^2] / E[Theta(x,x)]^2 in every cell of every map.

    Checkpoints store the cells of each map.

    Returns:
        ``cells``: each cell by sample; the draws of ``paper`` are the first of ``ours``.
        ``borders``: the border between the phases, of each activation and bias variance.
    """
    borders = []
    for activation, bias in product(("tanh", "relu"), settings.sigma_b2):
        sigma_w2 = border(activation, bias)
        borders.append({"activation": activation, "sigma_b2": bias, "sigma_w2": sigma_w2})

    def cells_of(key: tuple[str, float, int]) -> list[dict[str, Any]]:
        activation, bias, width = key
        return list(_map(activation, bias, width, settings))

    maps = list(product(("tanh", "relu"), settings.sigma_b2, settings.widths))
    rows = []
    for cells in stored_map(cells_of, maps, checkpoints, "maps"):
        rows += cells
    return {"cells": pd.DataFrame(rows), "borders": pd.DataFrame(borders)}


def _map(activation: str, bias: float, width: int, settings: Heat) -> Iterator[dict[str, Any]]:
    """Cells of one map, from draws at |x|^2 = n_0."""
    norm2 = float(width)
    few = settings.paper_draws
    closed_form = activation == "relu" and bias == 0
    count = few if closed_form else settings.draws
    drawn = _draws(activation, bias, width, settings, count)
    for (depth, variance), draws in drawn.items():
        cell = {
            "activation": activation,
            "width": width,
            "sigma_b2": bias,
            "sigma_w2": variance,
            "depth": depth,
        }
        if closed_form:
            init = constant_width(depth, width, sigma_w2=variance)
            yield cell | estimates.exact(init, norm2)
        else:
            init = None
            yield cell | estimates.estimated(draws, "ours")
        yield cell | estimates.estimated(draws.first(few), "paper", init, norm2)


def _draws(
    activation: str, bias: float, width: int, settings: Heat, count: int
) -> dict[Cell, NtkDraws]:
    """Cell, which is depth and weight variance, -> ``count`` draws of the kernel."""
    depths = settings.depths
    grid = settings.sigma_w2.relu if activation == "relu" else settings.sigma_w2.tanh
    variances = np.linspace(grid.first, grid.last, grid.points).tolist()
    deepest = constant_width(max(depths), width, sigma_w2=1.0, sigma_b2=bias)
    seed = seed_for("trust/heat", activation, width, repr(deepest.sigma_b2))
    options = {"sigma_w2": variances, "input_norm2": float(width)}
    if activation == "relu":  # by the scalar chain
        blocks = sample_depths(deepest, depths, count, seed, **options)
        return estimates.collected(blocks)
    # by the vectors of activations
    import torch

    from finitewidth.common.torch_setup import keep_freed_memory
    from finitewidth.kernels.ntk_init.vector_sweep import sweep_vectors

    keep_freed_memory()
    options |= {"activation": activation, "dtype": torch.float32}
    blocks = sweep_vectors(deepest, depths, count, seed, **options)
    return estimates.collected(blocks)
