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

LARGEST_LOG = 700  # the exponential of larger ones is no number


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Sums over layers kappa = sum_l qhat^(l-1) p^l for every depth, by the corrected recursions.

    The inputs have |x|^2 = n_0. Logarithms are natural. ``kappa_2`` and ``kappa_ratio``, which is
    kappa_1 over kappa_2, are cut off at exp(700), since the values themselves overflow.
    """
    # Gram matrix of one input and others with the given covariances with it, all of norm 1
    first = np.array([1.0, *settings["covariances"]])
    gram = np.outer(first, first) + np.diag(np.sqrt(1 - first**2)) ** 2
    rows = []
    for tag, depth in product(pairs_of(settings["pairs"]), range(1, settings["depth"] + 1)):
        # the recursions do not depend on the width
        init = constant_width(depth, 1, sigma_w2=tag["sigma_w2"], sigma_b2=tag["sigma_b2"])
        field = infinite_width_of_gram(init, gram, activation=tag["activation"])
        own, *others = field.log_kappa[1][0].tolist()
        for covariance, other in zip(settings["covariances"], others, strict=True):
            logs = {"log_kappa_1": own, "log_kappa_2": other, "log_ratio": own - other}
            rows.append(tag | {"covariance": covariance, "depth": depth} | logs)
    kappa = pd.DataFrame(rows)
    for name, log in {"kappa_2": "log_kappa_2", "kappa_ratio": "log_ratio"}.items():
        kappa[name] = np.exp(np.minimum(kappa[log], LARGEST_LOG))
    return {"kappa": kappa}


def pairs_of(pairs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Activation, phase, sigma_w2 and sigma_b2 of all pairs.

    ``border`` is replaced by the weight variance at the border between the phases.
    """
    for activation, variances in pairs.items():
        for variance, bias in variances:
            at_border = variance == "border"
            value = border(activation, bias) if at_border else variance
            name = "critical" if at_border else phase(activation, variance, bias)
            yield {"activation": activation, "phase": name, "sigma_w2": value, "sigma_b2": bias}
