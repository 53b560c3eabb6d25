"""Variance of a trained network's output compared with Theorem 5.3, job `trust_solutions`."""

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.papers.trust.experiments.mean_field import pairs_of
from finitewidth.records.provenance import seed_for


class Means(NamedTuple):
    """Mean entries, on and off the diagonal, of the tangent kernel and the outputs' covariance."""

    kappa_1: float
    kappa_2: float
    q: float
    q_sr: float


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Var f(x) after infinite training on S samples, compared with the formula of the theorem.

    By equation 10, f = f_0(x) - K(x, X) K(X)^-1 f_0(X) plus a term fixed by the labels. Here f_0 is
    normal with covariance q^L, and K = kappa. Inputs have |x|^2 = n_0 and random directions.

    The variance and the formula are in units of q^L; the error is that of their ratio. The kernel
    ``constant`` has the means kappa_1 and kappa_2 as entries, as in the theorem, and its variance
    is estimated from ``draws`` random outputs. The kernel ``infinite_width`` has its own entries;
    its variance is exact, and the three numbers are averaged over ``draws`` datasets.
    """
    rows, (count, datasets, draws) = [], (settings[n] for n in ("samples", "datasets", "draws"))
    for tag, depth in product(pairs_of(settings["pairs"]), settings["depths"]):
        seed = seed_for(
            "trust/solutions",
            tag["activation"],
            repr(tag["sigma_w2"]),
            repr(tag["sigma_b2"]),
            depth,
        )
        rng = np.random.default_rng(seed)
        kernels = [_kernels(tag, depth, settings, rng) for _ in range(datasets)]
        means = [means_of(*pair) for pair in kernels]
        typical = Means(*np.mean(means, axis=0))
        drawn, predicted = drawn_variance(typical, count, draws, rng), formula(typical, count)
        ratio = drawn / predicted
        rows.append(
            {
                **tag,
                "depth": depth,
                "kernel": "constant",
                "variance": drawn,
                "formula": predicted,
                "ratio": ratio,
                "error": ratio * float(np.sqrt(2 / (draws - 1))),
                "draws": draws,
            }
        )
        exact = np.array([exact_variance(*pair) for pair in kernels])
        formulas = np.array([formula(mean, count) for mean in means])
        ratios = exact / formulas
        rows.append(
            {
                **tag,
                "depth": depth,
                "kernel": "infinite_width",
                "variance": float(exact.mean()),
                "formula": float(formulas.mean()),
                "ratio": float(ratios.mean()),
                "error": float(ratios.std(ddof=1) / np.sqrt(datasets)),
                "draws": datasets,
            }
        )
    return {"solutions": pd.DataFrame(rows)}


def _kernels(
    tag: Mapping[str, Any], depth: int, settings: Mapping[str, Any], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Kernels of random inputs, the last of which is the test point.

    These are kappa over its largest entry, and q^L over its diagonal; (S + 1, S + 1) each.
    """
    x = rng.standard_normal((settings["samples"] + 1, settings["input_width"]))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    # the recursions do not depend on the width
    init = constant_width(depth, 1, sigma_w2=tag["sigma_w2"], sigma_b2=tag["sigma_b2"])
    field = infinite_width_of_gram(init, x @ x.T, activation=tag["activation"])
    sign, log = field.log_kappa
    covariance = field.scaled_q[-1]
    return sign * np.exp(log - log.max()), covariance / covariance[0, 0]


def means_of(kappa: np.ndarray, covariance: np.ndarray) -> Means:
    """Mean diagonal and off-diagonal entries of both kernels."""
    beside = ~np.eye(len(kappa), dtype=bool)
    return Means(
        *(
            float(entries.mean())
            for kernel in (kappa, covariance)
            for entries in (np.diagonal(kernel), kernel[beside])
        )
    )


def formula(means: Means, samples: int) -> float:
    """Theorem 5.3: (1 + A^2 / S) (q - q_sr) + (A - 1)^2 q_sr, A = S / (kappa_1/kappa_2 + S - 1)."""
    a = samples / (means.kappa_1 / means.kappa_2 + samples - 1)
    return (1 + a * a / samples) * (means.q - means.q_sr) + (a - 1) ** 2 * means.q_sr


def _solution(kappa: np.ndarray) -> np.ndarray:
    """Coefficients (S + 1,) of the trained output in the initial outputs f_0, without labels."""
    return np.append(-np.linalg.solve(kappa[:-1, :-1], kappa[:-1, -1]), 1.0)


def exact_variance(kappa: np.ndarray, covariance: np.ndarray) -> float:
    """Variance of the trained output over initialisations for one dataset."""
    solution = _solution(kappa)
    return float(solution @ covariance @ solution)


def drawn_variance(means: Means, samples: int, draws: int, rng: np.random.Generator) -> float:
    """The same for kernels of constant entries, estimated from random initial outputs."""
    size = samples + 1
    kappa = np.full((size, size), means.kappa_2) + np.eye(size) * (means.kappa_1 - means.kappa_2)
    covariance = np.full((size, size), means.q_sr) + np.eye(size) * (means.q - means.q_sr)
    outputs = rng.standard_normal((draws, size)) @ np.linalg.cholesky(covariance).T
    return float((outputs @ _solution(kappa)).var(ddof=1))
