"""Variance of a trained network's output compared with Theorem 5.3, job `trust_solutions`."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from finitewidth.declarations.columns import DEPTH
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import constant_width
from finitewidth.papers.trust import columns
from finitewidth.papers.trust.experiments.mean_field import PAIR, pairs_of
from finitewidth.papers.trust.settings import Solutions
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

TABLES = {
    "solutions": Table(
        *PAIR,
        DEPTH,
        columns.KERNEL,
        columns.VARIANCE,
        columns.FORMULA,
        columns.VARIANCE_RATIO,
        columns.VARIANCE_RATIO_ERROR,
        columns.OUTPUTS_OR_DATASETS,
    ),
}

# the tangent kernel and the outputs' covariance of a dataset, see `_kernels`
Kernels = tuple[np.ndarray, np.ndarray]


class Means(NamedTuple):
    """Mean entries, on and off the diagonal, of the tangent kernel and the outputs' covariance."""

    kappa_1: float
    kappa_2: float
    q: float
    q_sr: float


def measure(inputs: Mapping[str, Any], settings: Solutions) -> dict[str, pd.DataFrame]:
    """Var f(x) after infinite training on S samples, compared with the formula of the theorem.

    By equation 10, f = f_0(x) - K(x, X) K(X)^-1 f_0(X) plus a term fixed by the labels. Here f_0 is
    normal with covariance q^L, and K = kappa. Inputs have |x|^2 = n_0 and random directions.
    """
    rows = []
    for pair, depth in product(pairs_of(settings.pairs), settings.depths):
        seed = seed_for(
            "trust/solutions",
            pair["activation"],
            repr(pair["sigma_w2"]),
            repr(pair["sigma_b2"]),
            depth,
        )
        rng = np.random.default_rng(seed)
        kernels = [_kernels(pair, depth, settings, rng) for _ in range(settings.datasets)]
        tag = {**pair, "depth": depth}
        rows.append(tag | _of_constant_kernel(kernels, settings, rng))
        rows.append(tag | _of_real_kernels(kernels, settings.samples))
    return {"solutions": pd.DataFrame(rows)}


def _of_constant_kernel(
    kernels: Sequence[Kernels], settings: Solutions, rng: np.random.Generator
) -> dict[str, Any]:
    """Variance for a kernel of constant entries, the means of ``kernels``, from random outputs."""
    samples = settings.samples
    draws = settings.draws
    means = [means_of(*pair) for pair in kernels]
    typical = Means(*np.mean(means, axis=0))
    variance = drawn_variance(typical, samples, draws, rng)
    predicted = formula(typical, samples)
    ratio = variance / predicted
    return {
        "kernel": "constant",
        "variance": variance,
        "formula": predicted,
        "ratio": ratio,
        "error": ratio * float(np.sqrt(2 / (draws - 1))),
        "draws": draws,
    }


def _of_real_kernels(kernels: Sequence[Kernels], samples: int) -> dict[str, Any]:
    """Mean over datasets of the exact variance for the kernels themselves."""
    variances = np.array([exact_variance(*pair) for pair in kernels])
    formulas = np.array([formula(means_of(*pair), samples) for pair in kernels])
    ratios = variances / formulas
    return {
        "kernel": "infinite_width",
        "variance": float(variances.mean()),
        "formula": float(formulas.mean()),
        "ratio": float(ratios.mean()),
        "error": float(ratios.std(ddof=1) / np.sqrt(len(kernels))),
        "draws": len(kernels),
    }


def _kernels(
    pair: Mapping[str, Any], depth: int, settings: Solutions, rng: np.random.Generator
) -> Kernels:
    """Kernels of random inputs, the last of which is the test point.

    These are kappa over its largest entry, and q^L over its diagonal; (S + 1, S + 1) each.
    """
    x = rng.standard_normal((settings.samples + 1, settings.input_width))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    # the recursions do not depend on the width
    init = constant_width(depth, 1, sigma_w2=pair["sigma_w2"], sigma_b2=pair["sigma_b2"])
    field = infinite_width_of_gram(init, x @ x.T, activation=pair["activation"])
    sign, log = field.log_kappa
    covariance = field.scaled_q[-1]
    return sign * np.exp(log - log.max()), covariance / covariance[0, 0]


def means_of(kappa: np.ndarray, covariance: np.ndarray) -> Means:
    """Mean diagonal and off-diagonal entries of both kernels."""
    off_diagonal = ~np.eye(len(kappa), dtype=bool)
    return Means(
        kappa_1=float(np.diagonal(kappa).mean()),
        kappa_2=float(kappa[off_diagonal].mean()),
        q=float(np.diagonal(covariance).mean()),
        q_sr=float(covariance[off_diagonal].mean()),
    )


def formula(means: Means, samples: int) -> float:
    """Theorem 5.3: (1 + A^2 / S) (q - q_sr) + (A - 1)^2 q_sr, A = S / (kappa_1/kappa_2 + S - 1)."""
    a = samples / (means.kappa_1 / means.kappa_2 + samples - 1)
    return (1 + a * a / samples) * (means.q - means.q_sr) + (a - 1) ** 2 * means.q_sr


def _solution(kappa: np.ndarray) -> np.ndarray:
    """Coefficients (S + 1,) of the trained output in the initial outputs f_0, without labels."""
    # the last input is the test point
    weights = np.linalg.solve(kappa[:-1, :-1], kappa[:-1, -1])
    return np.append(-weights, 1.0)


def exact_variance(kappa: np.ndarray, covariance: np.ndarray) -> float:
    """Variance of the trained output over initialisations for one dataset."""
    solution = _solution(kappa)
    return float(solution @ covariance @ solution)


def drawn_variance(means: Means, samples: int, draws: int, rng: np.random.Generator) -> float:
    """Variance of the trained output for kernels of constant entries, from random outputs f_0."""
    size = samples + 1
    eye = np.eye(size)
    kappa = np.full((size, size), means.kappa_2) + eye * (means.kappa_1 - means.kappa_2)
    covariance = np.full((size, size), means.q_sr) + eye * (means.q - means.q_sr)
    outputs = rng.standard_normal((draws, size)) @ np.linalg.cholesky(covariance).T
    trained = outputs @ _solution(kappa)
    return float(trained.var(ddof=1))
