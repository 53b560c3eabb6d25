"""Estimated and exact dispersions as rows of a table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from finitewidth.kernels.ntk_init import tail_errors
from finitewidth.kernels.ntk_init.depth_sweep import Cell
from finitewidth.kernels.ntk_init.draws import NtkDraws, concatenated
from finitewidth.kernels.ntk_init.estimators import linearised_dispersion
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.papers.trust import columns
from finitewidth.records.tables import Table

TABLE = Table(  # columns of a row that are about the kernel
    columns.SAMPLE, columns.LOG_MEAN, columns.DISPERSION, columns.ERROR, columns.DRAWS
)


def collected(blocks: Iterable[Mapping[Cell, NtkDraws]]) -> dict[Cell, NtkDraws]:
    """All draws of each cell of a sweep, from its blocks."""
    blocks_of_cell: dict[Cell, list[NtkDraws]] = {}
    for block in blocks:
        for cell, draws in block.items():
            blocks_of_cell.setdefault(cell, []).append(draws)
    return {cell: concatenated(parts) for cell, parts in blocks_of_cell.items()}


def estimated(
    draws: NtkDraws, sample: str, relu: Initialisation | None = None, input_norm2: float = 1.0
) -> dict[str, Any]:
    """The `TABLE` of a row, estimated from draws of the kernel.

    ``relu`` is the law of the networks if their activation is ReLU. If it is given and has no
    random biases, the error follows from exact moments, but is at least that of the draws. If not,
    the error is that of the draws, enlarged by a tail that they may have missed. The error is nan
    if the draws do not suffice for it.
    """
    theta = draws.scaled_theta
    value, error = linearised_dispersion(theta)
    if relu is None or relu.sigma_b2 != 0:
        spread = tail_errors.log_variance(theta)
        error = tail_errors.robust_error(value, error, spread, len(draws))
    else:
        known = tail_errors.exact_dispersion_error(relu, len(draws), input_norm2=input_norm2)
        error = tail_errors.sufficient(value, max(error, known))
    mean = float(np.log(theta.mean()) + draws.log_growth)
    values = (sample, mean, value, error, len(draws))
    return dict(zip(TABLE.names, values, strict=True))


def exact(init: Initialisation, input_norm2: float) -> dict[str, Any]:
    """The `TABLE` of a row, from the closed form for ReLU networks without biases."""
    moments = log_moments(init, input_norm2=input_norm2)
    values = ("exact", moments.mean, moments.dispersion, 0.0, 0)
    return dict(zip(TABLE.names, values, strict=True))
