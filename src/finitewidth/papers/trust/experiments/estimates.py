"""Estimated and exact dispersions as rows of a table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from finitewidth.kernels.ntk_init import tail_errors
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


def estimated(draws: NtkDraws, sample: str, known_error: float | None = None) -> Row:
    """The columns sample, log_mean, dispersion, error, draws, from draws of the kernel.

    The error is the ``known_error``, from `exact_dispersion_error`, or else that of the draws,
    which allows for a tail that they lack. It is nan if the draws do not suffice, see
    `finitewidth.kernels.ntk_init.tail_errors.robust_error`.
    """
    theta = draws.scaled_theta
    value, error = linearised_dispersion(theta)
    if known_error is None:
        error = tail_errors.robust_error(value, error, tail_errors.log_variance(theta), len(draws))
    else:
        error = tail_errors.sufficient(value, max(error, known_error))
    mean = float(np.log(theta.mean()) + draws.log_growth)
    return _row(sample, mean, value, error, len(draws))


def exact(init: Initialisation, input_norm2: float) -> Row:
    """The same columns from the closed form for ReLU networks without biases."""
    moments = log_moments(init, input_norm2=input_norm2)
    return _row("exact", moments.mean, moments.dispersion, 0.0, 0)


def _row(sample: str, log_mean: float, dispersion: float, error: float, draws: int) -> Row:
    return {"sample": sample, "log_mean": log_mean, "dispersion": dispersion, "error": error,
            "draws": draws}  # fmt: skip


def known_error(init: Initialisation, draws: int, input_norm2: float) -> float | None:
    """Standard error of a dispersion from exact moments; None for networks with random biases."""
    if init.sigma_b2 != 0:
        return None
    return tail_errors.exact_dispersion_error(init, draws, input_norm2=input_norm2)
