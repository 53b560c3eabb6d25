"""Dispersion of the NTK by depth and width, job `trust_depth` (``trust`` Figure 2)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations.columns import DEPTH, SIGMA_B2, SIGMA_W2, WIDTH
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.ntk_init.limits import dispersion_limit
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.kernels.ntk_init.scalar_chain import sample_scalar_chain
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.experiments import estimates
from finitewidth.papers.trust.settings import DepthCurves
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

TABLES = {
    "curves": Table(SIGMA_W2, SIGMA_B2, WIDTH, DEPTH, columns.LAMBDA, *estimates.TABLE),
    "limits": Table(SIGMA_W2, SIGMA_B2, columns.FORM, columns.LAMBDA, columns.LIMIT),
}


def measure(inputs: Mapping[str, Any], settings: DepthCurves) -> dict[str, pd.DataFrame]:
    """The ratio E[Theta(x,x)^2] / E[Theta(x,x)]^2 as a function of depth, for every width.

    Returns:
        ``curves``: by sample. ``ours`` has the same random numbers for all depths, ``paper``
        independent ones for every depth.
        ``limits``: for sigma_b2 = 0, Theorem 3.1 of ``beyond`` for |x|^2 = n_0.
    """
    curves = []
    limits = []
    for variance, bias in settings.pairs:
        variances = {"sigma_w2": variance, "sigma_b2": bias}
        for width in settings.widths:
            for row in _curve(variances, width, settings):
                curves.append({**variances, "width": width, **row})
        if bias == 0:
            for row in _limits(variance, settings.largest_lambda):
                limits.append(variances | row)
    return {
        "curves": pd.DataFrame(curves),
        "limits": pd.DataFrame(limits, columns=TABLES["limits"].names),
    }


def _curve(
    variances: Mapping[str, float], width: int, settings: DepthCurves
) -> Iterator[dict[str, Any]]:
    """Rows at about ``points`` evenly spaced depths, from 1 to the largest allowed for a width."""
    depths = _depths(width, settings)
    deepest = constant_width(
        depths[-1], width, sigma_w2=variances["sigma_w2"], sigma_b2=variances["sigma_b2"]
    )
    norm2 = float(width)

    def seed(sample: str) -> int:
        return seed_for("trust/depth", sample, width, *map(repr, variances.values()))

    closed_form = deepest.sigma_b2 == 0
    many_draws = {}
    if not closed_form:
        blocks = sample_depths(deepest, depths, settings.draws, seed("ours"), input_norm2=norm2)
        many_draws = estimates.collected(blocks)
    for depth in depths:
        init = deepest.cut(depth)
        point = {"depth": depth, "lambda": depth / width}
        key = seed_for("cell", seed("paper"), depth, repr(init.sigma_w2))
        few_draws = sample_scalar_chain(init, settings.paper_draws, key, input_norm2=norm2)
        yield point | estimates.estimated(few_draws, "paper", init, norm2)
        if closed_form:
            yield point | estimates.exact(init, norm2)
        else:
            yield point | estimates.estimated(many_draws[depth, init.sigma_w2], "ours")


def _depths(width: int, settings: DepthCurves) -> list[int]:
    """The depths of the curve of a width."""
    largest = min(settings.largest_depth, round(settings.largest_lambda * width))
    spaced = np.linspace(1, max(1, largest), settings.points)
    return np.unique(spaced.round().astype(int)).tolist()


def _limits(variance: float, largest: float) -> Iterator[dict[str, Any]]:
    # For |x|^2 = n_0 the biases' part is of order 1/M of the weights' part, so the theorem's limit
    # of the chaotic phase also holds at the edge of chaos. At |x| = 1 both parts matter there.
    phase = "ordered" if phase_of("relu", variance) == "ordered" else "chaotic"
    for form in ("printed", "corrected"):
        for ratio in np.linspace(0, largest, 41).tolist():
            value = dispersion_limit(ratio, phase, form=form)
            yield {"form": form, "lambda": ratio, "dispersion": value}
