"""kappa_1 and kappa_2 of infinitely wide networks, job `trust_mean_field`.

Used for ``trust`` Figures 5 and 6. The values are exact.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations.columns import DEPTH, SIGMA_B2, SIGMA_W2
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.ntk_init.phases import border, phase
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.settings import MeanField, MeanFieldPairs
from finitewidth.records.tables import Table

LARGEST_LOG = 700  # the exponential of larger ones overflows
PAIR = Table(columns.ACTIVATION, columns.PHASE, SIGMA_W2, SIGMA_B2)  # columns of `pairs_of`
TABLES = {
    "kappa": Table(
        *PAIR,
        columns.COVARIANCE,
        DEPTH,
        columns.LOG_KAPPA_1,
        columns.LOG_KAPPA_2,
        columns.LOG_RATIO,
        columns.KAPPA_2,
        columns.KAPPA_RATIO,
    ),
}


def measure(inputs: Mapping[str, Any], settings: MeanField) -> dict[str, pd.DataFrame]:
    """Sums over layers kappa = sum_l qhat^(l-1) p^l for every depth, by the corrected recursions.

    The inputs have |x|^2 = n_0. Logarithms are stored, since kappa can overflow.
    """
    covariances = settings.covariances
    # Gram matrix of one input and others with the given covariances with it, all of norm 1
    first = np.array([1.0, *covariances])
    gram = np.outer(first, first) + np.diag(np.sqrt(1 - first**2)) ** 2
    depths = range(1, settings.depth + 1)
    rows = []
    for pair, depth in product(pairs_of(settings.pairs), depths):
        # the recursions do not depend on the width
        init = constant_width(depth, 1, sigma_w2=pair["sigma_w2"], sigma_b2=pair["sigma_b2"])
        field = infinite_width_of_gram(init, gram, activation=pair["activation"])
        _, log_kappa = field.log_kappa
        log_kappa_1, *logs_kappa_2 = log_kappa[0].tolist()
        for covariance, log_kappa_2 in zip(covariances, logs_kappa_2, strict=True):
            row = {
                **pair,
                "covariance": covariance,
                "depth": depth,
                "log_kappa_1": log_kappa_1,
                "log_kappa_2": log_kappa_2,
                "log_ratio": log_kappa_1 - log_kappa_2,
            }
            rows.append(row)
    kappa = pd.DataFrame(rows)
    kappa["kappa_2"] = np.exp(np.minimum(kappa["log_kappa_2"], LARGEST_LOG))
    kappa["kappa_ratio"] = np.exp(np.minimum(kappa["log_ratio"], LARGEST_LOG))
    return {"kappa": kappa}


def pairs_of(pairs: MeanFieldPairs) -> Iterator[dict[str, Any]]:
    """The columns `PAIR` of all pairs.

    ``border`` is replaced by the weight variance at the border between the phases.
    """
    by_activation: dict[str, list[Any]] = {"erf": pairs.erf, "relu": pairs.relu}
    for activation, variances in by_activation.items():
        for variance, bias in variances:
            if variance == "border":
                sigma_w2 = border(activation, bias)
                name = "critical"
            else:
                sigma_w2 = variance
                name = phase(activation, variance, bias)
            yield {"activation": activation, "phase": name, "sigma_w2": sigma_w2, "sigma_b2": bias}
