"""The value nu_t = yᵀ (K / tr K)⁻¹ y as a row of a table."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from finitewidth.kernels.npk import NuValue, SingularKernelError, nu

RIDGE = 1e-10  # times the mean eigenvalue; used if a kernel cannot be inverted without a ridge


def nu_row(y: Tensor, kernel: Callable[[], Tensor]) -> dict[str, Any]:
    """The value of nu without a ridge or, if the kernel cannot be inverted, with one.

    Args:
        y: labels (S,).
        kernel: returns K, (S, S). It may raise `SingularKernelError`, e.g. for a dead network.

    Returns:
        nu; condition_number of the matrix inverted (float64); ridge, in units of the mean
        eigenvalue; problem, the reason for the ridge or, if nu is None, for the missing value.
    """
    value, problem, ridge = None, None, 0.0
    try:
        matrix = kernel()
        if not torch.isfinite(matrix).all():
            problem = "the kernel is not finite: the training diverged"
        else:
            value, problem, ridge = _inverted(y, matrix)
    except SingularKernelError as error:
        problem = str(error)
    return {
        "nu": float(value.nu) if value else None,
        "condition_number": float(value.condition_number) if value else None,
        "ridge": ridge,
        "problem": problem,
    }


def conditions(runs: pd.DataFrame) -> dict[str, float | int]:
    """How well the kernels of one point of a curve could be inverted.

    Args:
        runs: rows of `nu_row`.

    Returns:
        ``ridged``: number of runs with a value of nu that needed a ridge; ``condition_number``: the
        largest of all runs with a value.
    """
    known = runs[runs["nu"].notna()]
    return {
        "ridged": int((known["ridge"] > 0).sum()),
        "condition_number": known["condition_number"].astype(float).max(),
    }


def _inverted(y: Tensor, kernel: Tensor) -> tuple[NuValue | None, str | None, float]:
    """Return nu or None, the reason for a ridge or a missing value, and the ridge."""
    problem = None
    for ridge in (0.0, RIDGE):
        try:
            return nu(y, kernel, ridge=ridge / len(y)), problem, ridge
        except SingularKernelError as error:
            problem = str(error)
    return None, problem, RIDGE
