"""Networks that grow, stay or shrink with depth against each other, job `beyond_shapes`.

Appendix B.2 of ``beyond`` states that the dispersion of the kernel is lower for growing networks.
The closed form shows where it is, and which layers decide.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import layer_coefficients, leading_excess, log_moments
from finitewidth.papers.beyond.experiments.grids import depths
from finitewidth.papers.beyond.experiments.theory import ARCHITECTURES, widths_of

INPUTS = ("own", "common")
# each against the constant one, and growing against shrinking
PAIRS = (("growing", "constant"), ("shrinking", "constant"), ("growing", "shrinking"))
DENSE = 1.5  # more depths where networks are shallow


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Exact dispersions r of the architectures of Figure 6, and the part of each layer.

    Two kinds of ``input`` are compared. ``own``: n_0 as in Figure 6, which differs between the
    architectures. ``common``: n_0 of the constant network in all of them, and the hidden layers of
    Figure 6.

    Returns:
        ``dispersions``: y (exact r) and excess (the first-order term of r - 1).
        ``ratios``: y (log10 of the exact ratio r_first / r_second) and excess (difference of the
        first-order terms).
        ``layers``: x (layer / L) and y (the coefficient of 1 / n_layer in r - 1 to first order).
    """
    dispersions = pd.DataFrame(_dispersions(settings))
    ratios = pd.DataFrame(_ratios(dispersions))
    layers = pd.concat(_layers(settings), ignore_index=True)
    return {"dispersions": dispersions, "ratios": ratios, "layers": layers}


def networks(
    depth: int, narrow: int, wide: int, sigma_w2: float
) -> Iterator[tuple[str, str, Initialisation]]:
    """Yield kind of input, name and law of the network of each architecture."""
    for architecture in ARCHITECTURES:
        own = widths_of(architecture, depth, narrow, wide)
        common = (*widths_of("constant", 1, narrow, wide), *own[1:])
        for kind, widths in zip(INPUTS, (own, common), strict=True):
            yield kind, architecture, Initialisation(widths=widths, sigma_w2=sigma_w2)


def _dispersions(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    narrow, wide, maps = settings["narrow"], settings["wide"], settings["maps"]
    axis = maps["sigma_w2"]
    # rounded, so that 2 is on the grid exactly
    variances = np.linspace(axis["first"], axis["last"], axis["points"]).round(12)
    grid = depths((narrow + wide) // 2, maps["max_lambda"], maps["points"], power=DENSE)
    for depth, variance in product(grid, variances):
        known: dict[Initialisation, tuple[float, float]] = {}
        for kind, architecture, init in networks(depth, narrow, wide, float(variance)):
            if init not in known:
                known[init] = log_moments(init).dispersion, leading_excess(init)
            value, excess = known[init]
            yield {"input": kind, "sigma_w2": variance, "depth": depth,
                   "architecture": architecture, "input_width": init.widths[0], "y": value,
                   "excess": excess}  # fmt: skip


def _ratios(dispersions: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for (kind, variance, depth), rows in dispersions.groupby(["input", "sigma_w2", "depth"]):
        found = rows.set_index("architecture")
        for first, second in PAIRS:
            one, other = found.loc[first], found.loc[second]
            yield {"input": kind, "sigma_w2": variance, "depth": depth, "first": first,
                   "second": second, "y": np.log10(one["y"]) - np.log10(other["y"]),
                   "excess": one["excess"] - other["excess"]}  # fmt: skip


def _layers(settings: Mapping[str, Any]) -> Iterator[pd.DataFrame]:
    narrow, wide, chosen = settings["narrow"], settings["wide"], settings["layers"]
    depth = max(2, round(chosen["lambda"] * (narrow + wide) / 2))
    layers = np.arange(1, depth)
    for variance in chosen["sigma_w2"]:
        for kind, architecture, init in networks(depth, narrow, wide, variance):
            yield pd.DataFrame({
                "input": kind, "sigma_w2": variance, "depth": depth, "architecture": architecture,
                "layer": layers, "x": layers / depth, "y": layer_coefficients(init),
            })  # fmt: skip
