"""Dispersion of the NTK of ReLU networks at the border, from many draws, job `trust_border`.

These are cells of the maps of ``trust`` Figure 1 (`trust_heat_widths`), those at the border that
claim T03 is about. In deep narrow networks rare draws carry the second moment, so that the draws of
the maps do not suffice.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from finitewidth.declarations.columns import DEPTH, SIGMA_B2, SIGMA_W2, WIDTH
from finitewidth.kernels.ntk_init.depth_sweep import sample_depths
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.experiments import estimates
from finitewidth.papers.trust.settings import Border
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

TABLES = {
    "cells": Table(
        columns.ACTIVATION,
        WIDTH,
        SIGMA_W2,
        SIGMA_B2,
        DEPTH,
        *estimates.TABLE,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Border) -> dict[str, pd.DataFrame]:
    """The ratio E[Theta(x,x)^2] / E[Theta(x,x)]^2 at |x|^2 = n_0 in some cells."""
    sigma_w2 = settings.sigma_w2
    sigma_b2 = settings.sigma_b2
    depths = settings.depths
    rows = []
    for width in settings.widths:
        init = constant_width(max(depths), width, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
        seed = seed_for("trust/border", width, repr(sigma_w2), repr(sigma_b2))
        blocks = sample_depths(init, depths, settings.draws, seed, input_norm2=float(width))
        for (depth, _), draws in estimates.collected(blocks).items():
            cell = {
                "activation": "relu",
                "width": width,
                "sigma_w2": sigma_w2,
                "sigma_b2": sigma_b2,
                "depth": depth,
            }
            rows.append(cell | estimates.estimated(draws, "ours"))
    return {"cells": pd.DataFrame(rows)}
