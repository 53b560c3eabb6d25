"""kappa_1 and kappa_2 of infinitely wide networks, job `trust_mean_field`.

Used for ``trust`` Figures 5 and 6. The values are exact.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.kernels.ntk_init.phases import border, phase

LARGEST_LOG = 700  # the exponential of larger ones overflows


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Sums over layers kappa = sum_l qhat^(l-1) p^l for every depth, by the corrected recursions.

    The inputs have |x|^2 = n_0. Logarithms are natural.

    Returns:
        ``kappa``: the columns of `pairs_of`; covariance of the two inputs of kappa_2, depth,
        log_kappa_1, log_kappa_2, log_ratio; and the exponentials of the last two, kappa_2 and
        kappa_ratio (kappa_1 over kappa_2), which are cut off at exp(700), since larger ones
        overflow.
    """
    covariances = settings["covariances"]
    # Gram matrix of one input and others with the given covariances with it, all of norm 1
    first = np.array([1.0, *covariances])
    gram = np.outer(first, first) + np.diag(np.sqrt(1 - first**2)) ** 2
    depths = range(1, settings["depth"] + 1)
    rows = []
    for pair, depth in product(pairs_of(settings["pairs"]), depths):
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


def pairs_of(pairs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Activation, phase, sigma_w2 and sigma_b2 of all pairs.

    ``border`` is replaced by the weight variance at the border between the phases.
    """
    for activation, variances in pairs.items():
        for variance, bias in variances:
            if variance == "border":
                sigma_w2 = border(activation, bias)
                name = "critical"
            else:
                sigma_w2 = variance
                name = phase(activation, variance, bias)
            yield {"activation": activation, "phase": name, "sigma_w2": sigma_w2, "sigma_b2": bias}
