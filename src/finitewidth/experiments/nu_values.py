"""A value of nu_t = yᵀ (K / tr K)⁻¹ y as a row, with what it took or what forbade it."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from finitewidth.kernels.npk import NuValue, SingularKernelError, nu

RIDGE = 1e-10  # times the mean eigenvalue, where a kernel cannot be inverted without


def nu_row(y: Tensor, kernel: Callable[[], Tensor]) -> dict[str, Any]:
    """The value of nu without a ridge or, where that fails, with one; and what failed.

    Args:
        y: labels (S,).
        kernel: gives K, (S, S); it may raise `SingularKernelError`, as for a dead network.

    Returns:
        nu, condition_number (float64, of what was inverted), ridge (in units of the mean
        eigenvalue), problem (why it needed a ridge or, if nu is None, why there is no nu).
    """
    value, problem, ridge = None, None, 0.0
    try:
        found = kernel()
        if not torch.isfinite(found).all():
            problem = "the kernel is not finite: the training diverged"
        else:
            value, problem, ridge = _inverted(y, found)
    except SingularKernelError as error:
        problem = str(error)
    return {
        "nu": float(value.nu) if value else None,
        "condition_number": float(value.condition_number) if value else None,
        "ridge": ridge,
        "problem": problem,
    }


def conditions(runs: pd.DataFrame) -> dict[str, float | int]:
    """What it took to invert the kernels of a point of a curve.

    Args:
        runs: rows of `nu_row`.

    Returns:
        ``ridged``: how many of those that have a nu needed a ridge; ``condition_number``: the
        largest.
    """
    found = runs[runs["nu"].notna()]
    return {
        "ridged": int((found["ridge"] > 0).sum()),
        "condition_number": found["condition_number"].astype(float).max(),
    }


def _inverted(y: Tensor, kernel: Tensor) -> tuple[NuValue | None, str | None, float]:
    """Nu, why it needed a ridge or could not be had, and the ridge."""
    problem = None
    for ridge in (0.0, RIDGE):
        try:
            return nu(y, kernel, ridge=ridge / len(y)), problem, ridge
        except SingularKernelError as error:
            problem = str(error)
    return None, problem, RIDGE
