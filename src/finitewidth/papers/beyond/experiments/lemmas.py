"""Statements of ``beyond`` that no figure shows, job `beyond_lemmas`.

These are Lemmas A.1 to A.4, Theorem 4.1 and the estimators of appendix C.3.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.ntk_init.estimators import ESTIMATORS
from finitewidth.papers.beyond.experiments.gradient_steps import steps

PIECE = 10_000  # networks per batch
REPEATS = 1000  # samples per batch


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Moments of norm ratios, their products, changes in one step, and means of estimators.

    Args:
        inputs: none.
        settings: ``moments``, ``products``, ``steps`` and ``estimators``; see the functions of
            these names.

    Returns:
        ``moments``, ``products``, ``steps``, ``estimators``: the tables of these functions.
    """
    parts = {"moments": moments, "products": products, "steps": steps, "estimators": estimators}
    return {name: pd.DataFrame(part(settings[name])) for name, part in parts.items()}


def moments(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Moments of N_x^l = |x^l|^2 / |x^(l-1)|^2 and N_d^l = |delta^l|^2 / |delta^(l+1)|^2.

    All weights of the ReLU networks are drawn. They have ``layers`` hidden layers, ``width`` units
    per hidden layer and input, and one output. The errors are propagated backward through the same
    weights as the forward pass (tied), or through independent weights with the same gates (untied),
    which is the assumption A.3.

    Args:
        settings: ``draws``, ``width``, ``layers``, ``sigma_w2``.

    Returns:
        Rows quantity, weights, width, layers, value, error, draws, printed and exact. With
        a = sigma_w2 / 2 the quantities are E[N] / a, E[N^2] / a^2 and E[N_x N_d] / a^2, as means
        over layers, and the same for products over all layers (``chain``). The weights
        ``difference`` denote tied minus untied. The parts are phi(U)^2 and phi'(U) V^2 of the
        proofs of the lemmas, where U and V are standard normal.
    """
    width, layers, draws = (settings[name] for name in ("width", "layers", "draws"))
    rng = np.random.default_rng(seed_for("beyond/lemmas/moments", width, layers))
    parts = [
        norm_ratios(rng, min(PIECE, draws - first), width, layers, settings["sigma_w2"])
        for first in range(0, draws, PIECE)
    ]
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    tag = {"width": width, "layers": layers}
    return [tag | row for row in _moment_rows(found, width, layers, settings["sigma_w2"] / 2)]


def norm_ratios(
    rng: np.random.Generator, count: int, width: int, layers: int, sigma_w2: float
) -> dict[str, np.ndarray]:
    """Ratios of norms of ``count`` networks.

    Returns:
        ``forward``, ``tied``, ``untied``: (count, layers); 0 above a dead layer. ``forward_part``,
        ``backward_part``: (count · width,), the summands of the first and the last hidden layer.
    """
    scale = np.sqrt(sigma_w2 / width)
    weights = [rng.standard_normal((count, width, width)) for _ in range(layers)]
    x = np.zeros((count, width))
    x[:, 0] = 1.0
    gates, norms = [], [np.ones(count)]
    for matrix in weights:
        x = np.maximum(scale * np.einsum("bij,bj->bi", matrix, x), 0)
        gates.append(x > 0)
        norms.append(np.einsum("bi,bi->b", x, x))
    last = rng.standard_normal((count, 1, width))
    others = [rng.standard_normal((count, width, width)) for _ in range(layers - 1)]
    first_units = np.maximum(weights[0][:, :, 0], 0) ** 2
    return {
        "forward": _ratios(norms[1:], norms[:-1]),
        "tied": _backward([*weights[1:], last], gates, scale),
        "untied": _backward([*others, rng.standard_normal((count, 1, width))], gates, scale),
        "forward_part": first_units.ravel(),
        "backward_part": (gates[-1] * last[:, 0] ** 2).ravel(),
    }


def _backward(weights: list[np.ndarray], gates: list[np.ndarray], scale: float) -> np.ndarray:
    """Ratios of the norms of errors in layers 1, 2, …, from the weights above each layer."""
    delta = np.ones((len(gates[0]), 1))
    norms = [np.ones(len(delta))]
    for matrix, gate in zip(reversed(weights), reversed(gates), strict=True):
        delta = gate * scale * np.einsum("bij,bi->bj", matrix, delta)
        norms.append(np.einsum("bi,bi->b", delta, delta))
    return _ratios(norms[1:], norms[:-1])[:, ::-1]


def _ratios(norms: list[np.ndarray], before: list[np.ndarray]) -> np.ndarray:
    top, bottom = np.stack(norms, axis=1), np.stack(before, axis=1)
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _moment_rows(
    found: Mapping[str, np.ndarray], width: int, layers: int, a: float
) -> list[dict[str, Any]]:
    square, once = 1 + 5 / width, 1 + 1 / width
    forward, tied, untied = (found[name] / a for name in ("forward", "tied", "untied"))
    chained = (2 * (1 - 1 / width) ** layers + square**layers) / 3  # docs/theory.md
    both, others = (forward * tied).prod(axis=1), (forward * untied).prod(axis=1)
    rows = [
        _mean("forward", "tied", forward.mean(axis=1), 1, 1),
        _mean("backward", "tied", tied.mean(axis=1), 1, 1),
        _mean("forward_square", "tied", (forward**2).mean(axis=1), square, square),
        _mean("backward_square", "tied", (tied**2).mean(axis=1), square, square),
        _mean("product", "tied", (forward * tied).mean(axis=1), once, once),
        _mean("chain_backward", "tied", tied.prod(axis=1), 1, 1),
        _mean("chain_backward_square", "tied", (tied**2).prod(axis=1), *[square**layers] * 2),
        _mean("chain_product", "tied", both, once**layers, chained),
        _mean("chain_product", "untied", others, np.nan, once**layers),
        _mean("chain_product", "difference", both - others, np.nan, chained - once**layers),
    ]
    for name in ("forward", "backward"):
        part = found[f"{name}_part"]
        centred = (part - part.mean()) ** 2
        rows.append(_mean(f"{name}_part", "tied", part, 0.5, 0.5))
        rows.append(_mean(f"{name}_part_variance", "tied", centred, 1.25, 1.25))
    return rows


def _mean(
    quantity: str, weights: str, sample: np.ndarray, printed: float, exact: float
) -> dict[str, Any]:
    return {
        "quantity": quantity, "weights": weights, "value": float(sample.mean()),
        "error": float(sample.std(ddof=1) / len(sample) ** 0.5), "draws": len(sample),
        "printed": float(printed), "exact": float(exact),
    }  # fmt: skip


def products(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """E[prod N_x N_d] over all hidden layers, exactly, at several widths n and one s / n.

    J is the matrix of derivatives of the last of s hidden layers with respect to the
    pre-activations of the first, x the last hidden layer, and a = sigma_w2 / 2. For |x^0| = 1 the
    quantity is 2 a / n times S, the mean of |J|_F^2 |x|^2. Let T be the mean of |J^T x|^2. One more
    layer maps them to

        S' = a^2 ((1 + 1/n) S + (4/n) T),    T' = a^2 ((2/n) S + (1 + 3/n) T),

    because a row w of its weights adds (w x)^2 to |x|^2 and |J^T w|^2 to |J|_F^2 if its unit is
    active. The first layer obeys the same rule from S = n / (2 a), T = 0.

    Args:
        settings: ``ratio``, hidden layers over width, and ``widths``.

    Returns:
        Rows width, layers, exact (the mean over the product of the means) and printed (Lemma A.4,
        without its remainder).
    """
    rows = []
    for width in settings["widths"]:
        layers = round(settings["ratio"] * width)
        step = np.array([[1 + 1 / width, 4 / width], [2 / width, 1 + 3 / width]])
        exact = float(np.linalg.matrix_power(step, layers)[0, 0])
        printed = (1 + 1 / width) ** layers
        rows.append({"width": width, "layers": layers, "exact": exact, "printed": printed})
    return rows


def estimators(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Means of estimators of the dispersion over many samples from a law of known dispersion.

    Args:
        settings: ``draws``, the number of samples; ``sizes``, their sizes N; ``dispersions`` r of
            lognormal kernels.

    Returns:
        Rows estimator, size, truth, value (mean of the estimator divided by the truth), error,
        draws.
    """
    rows = []
    for size in settings["sizes"]:
        for truth in settings["dispersions"]:
            rng = np.random.default_rng(seed_for("beyond/lemmas/estimators", size, repr(truth)))
            found: dict[str, list[np.ndarray]] = {name: [] for name in ESTIMATORS}
            for first in range(0, settings["draws"], REPEATS):
                count = min(REPEATS, settings["draws"] - first)
                theta = np.exp(np.sqrt(np.log(truth)) * rng.standard_normal((count, size)))
                for name, estimator in ESTIMATORS.items():
                    found[name].append(estimator(theta) / truth)
            for name, values in found.items():
                sample = np.concatenate(values)
                rows.append({
                    "estimator": name, "size": size, "truth": truth, "value": float(sample.mean()),
                    "error": float(sample.std(ddof=1) / len(sample) ** 0.5),
                    "draws": len(sample),
                })  # fmt: skip
    return rows
