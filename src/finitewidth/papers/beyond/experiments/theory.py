"""Dispersion in closed form, job `beyond_theory` (``beyond`` Figures 5 and 6)."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.moments import log_moments, printed_log_moments
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.experiments.grids import depths
from finitewidth.papers.beyond.settings import Architectures, Theory, TheoryLimits
from finitewidth.records.tables import Table

ARCHITECTURES = ("growing", "constant", "shrinking")
TABLES = {
    "limits": Table(
        columns.FORM,
        columns.PHASE_OF_LIMIT,
        columns.ALPHA_0_OF_LIMIT,
        columns.LIMIT_OF_LAMBDA,
        columns.LIMIT_OF_DISPERSION,
        columns.LIMIT_OVER_PRINTED,
    ),
    "architectures": Table(
        columns.ARCHITECTURE,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.LAMBDA_OF_SHAPE,
        columns.CURVE_OF_SHAPE,
        columns.DISPERSION,
    ),
    "drawings": Table(
        columns.ARCHITECTURE,
        columns.DRAWN_LAYER,
        columns.DRAWN_WIDTH,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Theory) -> dict[str, pd.DataFrame]:
    """Limits for several input dimensions, sums for three architectures, and their widths.

    Returns:
        ``limits``, ``architectures`` and ``drawings``, see `TABLES`.
    """
    shapes = settings.architectures
    return {
        "limits": _limits(settings.limits),
        "architectures": _architectures(shapes),
        "drawings": pd.DataFrame(_drawings(shapes)),
    }


def _drawings(shapes: Architectures) -> Iterator[dict[str, Any]]:
    """The width of each layer, the output included, of the networks that are drawn."""
    for architecture in ARCHITECTURES:
        widths = widths_of(architecture, shapes.drawn_depth, shapes.narrow, shapes.wide)
        for layer, width in enumerate((*widths, 1)):
            yield {"architecture": architecture, "x": layer, "y": width}


def _limits(settings: TheoryLimits) -> pd.DataFrame:
    lambdas = np.linspace(0, settings.max_lambda, settings.points)
    # in the chaotic phase the limit does not depend on alpha_0
    lines = [("chaotic", 1.0)]
    lines += [("critical", alpha_0) for alpha_0 in settings.alpha_0]
    rows = []
    for form, (phase, alpha_0), lam in product(("printed", "corrected"), lines, lambdas):
        value = dispersion_limit(float(lam), phase, alpha_0=alpha_0, form=form)
        rows.append({"form": form, "phase": phase, "alpha_0": alpha_0, "x": lam, "y": value})
    limits = pd.DataFrame(rows)
    printed = limits.loc[limits["form"] == "printed", "y"].to_numpy()
    return limits.assign(over_printed=limits["y"] / np.tile(printed, 2))


def widths_of(architecture: str, depth: int, narrow: int, wide: int) -> tuple[int, ...]:
    """Widths n_0, …, n_(L-1) of ``beyond`` Figure 6: growing, constant or shrinking with depth."""
    step = wide - narrow
    if architecture == "growing":
        return tuple(narrow + math.ceil(layer * step / depth) for layer in range(depth))
    if architecture == "shrinking":
        return tuple(wide + math.ceil(-layer * step / depth) for layer in range(depth))
    return (math.ceil((narrow + wide) / 2),) * depth


def _architectures(shapes: Architectures) -> pd.DataFrame:
    narrow = shapes.narrow
    wide = shapes.wide
    grid = depths((narrow + wide) // 2, shapes.max_lambda, shapes.points)
    rows = []
    for architecture, depth, variance in product(ARCHITECTURES, grid, shapes.sigma_w2):
        widths = widths_of(architecture, depth, narrow, wide)
        init = Initialisation(widths=widths, sigma_w2=variance)
        key = {
            "architecture": architecture,
            "sigma_w2": variance,
            "depth": depth,
            "x": 2 * depth / (narrow + wide),
        }
        rows.append(key | {"curve": "printed_sums", "y": printed_log_moments(init).dispersion})
        rows.append(key | {"curve": "exact", "y": log_moments(init).dispersion})
    return pd.DataFrame(rows)
