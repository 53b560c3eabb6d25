"""Estimated and exact dispersions as rows of a table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from finitewidth.kernels.ntk_init.depth_sweep import Cell
from finitewidth.kernels.ntk_init.draws import NtkDraws, joined
from finitewidth.kernels.ntk_init.estimators import linearised_dispersion
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import log_moments

Row = dict[str, Any]


def collected(blocks: Iterable[Mapping[Cell, NtkDraws]]) -> dict[Cell, NtkDraws]:
    """Join the blocks of a sweep: cell -> all its draws."""
    kept = list(blocks)
    return {cell: joined([block[cell] for block in kept]) for cell in kept[0]}


def estimated(draws: NtkDraws, estimator: str, sample: str) -> Row:
    """Logarithm of the mean kernel, dispersion, standard error and number of draws, from draws."""
    value, error = linearised_dispersion(draws.scaled_theta, estimator=estimator)
    mean = float(np.log(draws.scaled_theta.mean()) + draws.log_growth)
    return {
        "sample": sample,
        "log_mean": mean,
        "dispersion": value,
        "error": error,
        "draws": len(draws),
    }


def exact(init: Initialisation, input_norm2: float) -> Row:
    """The same columns from the closed form for ReLU networks without biases.

    Args:
        init: the networks.
        input_norm2: |x|^2.
    """
    moments = log_moments(init, input_norm2=input_norm2)
    return {
        "sample": "exact",
        "log_mean": moments.mean,
        "dispersion": moments.dispersion,
        "error": 0.0,
        "draws": 0,
    }
