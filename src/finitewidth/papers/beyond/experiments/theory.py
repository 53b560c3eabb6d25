"""Dispersion in closed form, job `beyond_theory` (``beyond`` Figures 5 and 6)."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.moments import log_moments, printed_log_moments
from finitewidth.papers.beyond.experiments.grids import depths

ARCHITECTURES = ("growing", "constant", "shrinking")


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Limits for several input dimensions, sums for three architectures, and their widths."""
    shapes = settings["architectures"]
    narrow, wide, depth = shapes["narrow"], shapes["wide"], shapes["drawn_depth"]
    drawings = [
        {"architecture": architecture, "x": layer, "y": width}
        for architecture in ARCHITECTURES
        for layer, width in enumerate((*widths_of(architecture, depth, narrow, wide), 1))
    ]
    limits, architectures = _limits(settings["limits"]), _architectures(shapes)
    return {"limits": limits, "architectures": architectures, "drawings": pd.DataFrame(drawings)}


def _limits(settings: Mapping[str, Any]) -> pd.DataFrame:
    lambdas = np.linspace(0, settings["max_lambda"], settings["points"])
    lines = [("chaotic", 1.0), *(("critical", alpha_0) for alpha_0 in settings["alpha_0"])]
    limits = pd.DataFrame(
        {
            "form": form,
            "phase": phase,
            "alpha_0": alpha_0,
            "x": lam,
            "y": dispersion_limit(float(lam), phase, alpha_0=alpha_0, form=form),
        }
        for form in ("printed", "corrected")
        for phase, alpha_0 in lines
        for lam in lambdas
    )
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


def _architectures(settings: Mapping[str, Any]) -> pd.DataFrame:
    narrow, wide = settings["narrow"], settings["wide"]
    grid = depths((narrow + wide) // 2, settings["max_lambda"], settings["points"])
    rows = []
    for architecture, depth, variance in product(ARCHITECTURES, grid, settings["sigma_w2"]):
        widths = widths_of(architecture, depth, narrow, wide)
        init = Initialisation(widths=widths, sigma_w2=variance)
        key = {
            "architecture": architecture,
            "sigma_w2": variance,
            "depth": depth,
            "x": 2 * depth / (narrow + wide),
        }
        for curve, moments in (("printed_sums", printed_log_moments), ("exact", log_moments)):
            rows.append(key | {"curve": curve, "y": moments(init).dispersion})
    return pd.DataFrame(rows)
