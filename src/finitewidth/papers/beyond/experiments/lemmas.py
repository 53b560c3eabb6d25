"""Statements of ``beyond`` that no figure shows, job `beyond_lemmas`.

These are Lemmas A.1 to A.4, Theorem 4.1 and the estimators of appendix C.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import torch

from finitewidth.declarations import columns as shared
from finitewidth.kernels.ntk_init.brute_force import drawn_network, tangent_kernel
from finitewidth.kernels.ntk_init.estimators import ESTIMATORS
from finitewidth.kernels.ntk_init.gradient_step import log_mean_decrease
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.normals import Normals
from finitewidth.kernels.ntk_init.phases import phase as phase_of
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.experiments.grids import network
from finitewidth.papers.beyond.settings import (
    Estimators,
    GradientSteps,
    Lemmas,
    Moments,
    Products,
)
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

PIECE = 10_000  # networks per batch, for moments
STEPPED = 25  # networks per batch, for gradient steps
REPEATS = 1000  # samples per batch, for estimators
TABLES = {
    "moments": Table(
        columns.INPUT_AND_HIDDEN_WIDTH,
        columns.HIDDEN_LAYERS,
        columns.MOMENT,
        columns.WEIGHTS,
        columns.MEAN_MOMENT,
        columns.MEAN_MOMENT_ERROR,
        columns.MOMENT_DRAWS,
        columns.PRINTED_MOMENT,
        columns.EXACT_MOMENT,
    ),
    "products": Table(
        columns.INPUT_AND_HIDDEN_WIDTH,
        columns.HIDDEN_LAYERS,
        columns.EXACT_PRODUCT,
        columns.PRINTED_PRODUCT,
    ),
    "steps": Table(
        columns.SIGMA_W2,
        columns.PHASE,
        shared.DEPTH,
        shared.WIDTH,
        columns.CHANGE,
        columns.RELATIVE_CHANGE,
        columns.RELATIVE_CHANGE_ERROR,
        columns.DRAWS,
        columns.SIGNED_CHANGE,
        columns.SIGNED_CHANGE_ERROR,
        columns.EXACT_CHANGE,
    ),
    "estimators": Table(
        columns.ESTIMATOR,
        columns.SAMPLE_SIZE,
        columns.TRUE_DISPERSION,
        columns.MEAN_ESTIMATE,
        columns.MEAN_ESTIMATE_ERROR,
        columns.SAMPLES,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Lemmas) -> dict[str, pd.DataFrame]:
    """Moments of norm ratios, their products, changes in one step, and means of estimators.

    Returns:
        A table of the rows of each function of its name, see `TABLES`.
    """
    return {
        "moments": pd.DataFrame(moments(settings.moments)),
        "products": pd.DataFrame(products(settings.products)),
        "steps": pd.DataFrame(steps(settings.steps)),
        "estimators": pd.DataFrame(estimators(settings.estimators)),
    }


def moments(settings: Moments) -> list[dict[str, Any]]:
    """Moments of N_x^l = |x^l|^2 / |x^(l-1)|^2 and N_d^l = |delta^l|^2 / |delta^(l+1)|^2.

    All weights of the ReLU networks are drawn. They have ``layers`` hidden layers, ``width`` units
    per hidden layer and input, and one output. The errors are propagated backward through the same
    weights as the forward pass (tied), or through independent weights with the same gates (untied),
    which is the assumption A.3; ``difference`` denotes tied minus untied.

    With a = sigma_w2 / 2 the quantities are E[N] / a, E[N^2] / a^2 and E[N_x N_d] / a^2, as means
    over layers, and the same for products over all layers (``chain``). The parts are phi(U)^2 and
    phi'(U) V^2 of the proofs of the lemmas, where U and V are standard normal.
    """
    width = settings.width
    layers = settings.layers
    draws = settings.draws
    sigma_w2 = settings.sigma_w2
    rng = np.random.default_rng(seed_for("beyond/lemmas/moments", width, layers))
    parts = []
    for first in range(0, draws, PIECE):
        count = min(PIECE, draws - first)
        parts.append(norm_ratios(rng, count, width, layers, sigma_w2))
    ratios = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    samples = [
        *_layer_samples(ratios, width, sigma_w2 / 2),
        *_chain_samples(ratios, width, layers, sigma_w2 / 2),
        *_part_samples(ratios),
    ]
    return [
        {
            "width": width,
            "layers": layers,
            "quantity": sample.quantity,
            "weights": sample.weights,
            **_mean(sample.values),
            "printed": float(sample.printed),
            "exact": float(sample.exact),
        }
        for sample in samples
    ]


@dataclass(frozen=True)
class Sample:
    """Values of a quantity, one per draw, and its mean as printed and as it is exactly.

    ``weights`` says whether the errors were propagated through tied or untied weights, see
    `moments`. ``printed`` is nan where the paper has no value.
    """

    quantity: str
    weights: str
    values: np.ndarray
    printed: float
    exact: float


def norm_ratios(
    rng: np.random.Generator, count: int, width: int, layers: int, sigma_w2: float
) -> dict[str, np.ndarray]:
    """Ratios of norms of ``count`` networks.

    ``forward``, ``tied``, ``untied`` are (count, layers); 0 above a dead layer. ``forward_part``
    and ``backward_part`` are (count · width,), the summands of the first and last hidden layer.
    """
    scale = np.sqrt(sigma_w2 / width)
    square = (count, width, width)
    weights = [rng.standard_normal(square) for _ in range(layers)]
    x = np.zeros((count, width))
    x[:, 0] = 1.0
    gates = []  # (count, width) of each hidden layer
    norms = [np.ones(count)]  # |x^l|^2, (count,)
    for matrix in weights:
        x = np.maximum(scale * np.einsum("bij,bj->bi", matrix, x), 0)
        gates.append(x > 0)
        norms.append(np.einsum("bi,bi->b", x, x))
    last = rng.standard_normal((count, 1, width))
    other_weights = [rng.standard_normal(square) for _ in range(layers - 1)]
    other_last = rng.standard_normal((count, 1, width))
    first_units = np.maximum(weights[0][:, :, 0], 0) ** 2
    last_units = gates[-1] * last[:, 0] ** 2
    return {
        "forward": _ratios(norms),
        "tied": _backward([*weights[1:], last], gates, scale),
        "untied": _backward([*other_weights, other_last], gates, scale),
        "forward_part": first_units.ravel(),
        "backward_part": last_units.ravel(),
    }


def _backward(weights: list[np.ndarray], gates: list[np.ndarray], scale: float) -> np.ndarray:
    """Ratios of the norms of errors in layers 1, 2, …, from the weights above each layer."""
    delta = np.ones((len(gates[0]), 1))
    norms = [np.ones(len(delta))]
    for matrix, gate in zip(reversed(weights), reversed(gates), strict=True):
        delta = gate * scale * np.einsum("bij,bi->bj", matrix, delta)
        norms.append(np.einsum("bi,bi->b", delta, delta))
    return _ratios(norms)[:, ::-1]


def _ratios(norms: list[np.ndarray]) -> np.ndarray:
    """Norms of each layer over those of the layer before it, (count, layers); 0 over 0 is 0."""
    top = np.stack(norms[1:], axis=1)
    bottom = np.stack(norms[:-1], axis=1)
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _layer_samples(ratios: Mapping[str, np.ndarray], width: int, a: float) -> list[Sample]:
    """Moments of one layer, means over layers (Lemmas A.1, A.2 and A.4)."""
    forward = ratios["forward"] / a  # (draws, layers)
    tied = ratios["tied"] / a
    square = 1 + 5 / width  # E[N^2] / a^2
    both = 1 + 1 / width  # E[N_x N_d] / a^2
    return [
        Sample("forward", "tied", forward.mean(axis=1), 1, 1),
        Sample("backward", "tied", tied.mean(axis=1), 1, 1),
        Sample("forward_square", "tied", (forward**2).mean(axis=1), square, square),
        Sample("backward_square", "tied", (tied**2).mean(axis=1), square, square),
        Sample("product", "tied", (forward * tied).mean(axis=1), both, both),
    ]


def _chain_samples(
    ratios: Mapping[str, np.ndarray], width: int, layers: int, a: float
) -> list[Sample]:
    """Moments of products over all layers, Lemma A.4.

    The product of N_x N_d / a^2 has the mean (2 Q + P) / 3 with Q = (1 - 1/n)^L and P =
    (1 + 5/n)^L, see docs/theory.md. With untied weights it has the printed one, (1 + 1/n)^L.
    """
    forward = ratios["forward"] / a  # (draws, layers)
    tied = ratios["tied"] / a
    untied = ratios["untied"] / a
    product_tied = (forward * tied).prod(axis=1)
    product_untied = (forward * untied).prod(axis=1)
    difference = product_tied - product_untied
    square = (1 + 5 / width) ** layers
    printed = (1 + 1 / width) ** layers
    exact = (2 * (1 - 1 / width) ** layers + square) / 3
    return [
        Sample("chain_backward", "tied", tied.prod(axis=1), 1, 1),
        Sample("chain_backward_square", "tied", (tied**2).prod(axis=1), square, square),
        Sample("chain_product", "tied", product_tied, printed, exact),
        Sample("chain_product", "untied", product_untied, np.nan, printed),
        Sample("chain_product", "difference", difference, np.nan, exact - printed),
    ]


def _part_samples(ratios: Mapping[str, np.ndarray]) -> list[Sample]:
    """Means and variances of the summands phi(U)^2 and phi'(U) V^2, which are 1/2 and 5/4."""
    samples = []
    for name in ("forward_part", "backward_part"):
        values = ratios[name]  # (draws * width,)
        squares = (values - values.mean()) ** 2
        samples.append(Sample(name, "tied", values, 0.5, 0.5))
        samples.append(Sample(f"{name}_variance", "tied", squares, 1.25, 1.25))
    return samples


def _mean(sample: np.ndarray) -> dict[str, Any]:
    return {
        "value": float(sample.mean()),
        "error": float(sample.std(ddof=1) / len(sample) ** 0.5),
        "draws": len(sample),
    }


def products(settings: Products) -> list[dict[str, Any]]:
    """E[prod N_x N_d] over all hidden layers, exactly, at several widths n and one s / n.

    J is the matrix of derivatives of the last of s hidden layers with respect to the
    pre-activations of the first, x the last hidden layer, and a = sigma_w2 / 2. For |x^0| = 1 the
    quantity is 2 a / n times S, the mean of |J|_F^2 |x|^2. Let T be the mean of |J^T x|^2. One more
    layer maps them to

        S' = a^2 ((1 + 1/n) S + (4/n) T),    T' = a^2 ((2/n) S + (1 + 3/n) T),

    because a row w of its weights adds (w x)^2 to |x|^2 and |J^T w|^2 to |J|_F^2 if its unit is
    active. The first layer obeys the same rule from S = n / (2 a), T = 0.
    """
    rows = []
    for width in settings.widths:
        layers = round(settings.ratio * width)
        step = np.array([[1 + 1 / width, 4 / width], [2 / width, 1 + 3 / width]])
        exact = float(np.linalg.matrix_power(step, layers)[0, 0])
        printed = (1 + 1 / width) ** layers
        rows.append({"width": width, "layers": layers, "exact": exact, "printed": printed})
    return rows


def steps(settings: GradientSteps) -> list[dict[str, Any]]:
    """Change of Theta(x, x) in one step on (x, y), with |x| = 1, y = 1 and loss (f - y)^2 / 2.

    All weights of the ReLU networks are drawn. The ratio of depth to width is constant, as in the
    limit of the theorem. The changes are those of `kernel_changes`, over the exact mean of Theta.
    """
    rate = settings.rate
    rows = []
    for variance, depth in product(settings.sigma_w2, settings.depths):
        width = max(1, round(depth / settings.ratio))
        init = network(depth, width, 1.0, variance)
        log_mean = log_moments(init).mean
        exact = -rate * float(np.exp(log_mean_decrease(init) - log_mean))
        phase = phase_of("relu", variance)
        key = {"sigma_w2": variance, "phase": phase, "depth": depth, "width": width}
        for name, changes in kernel_changes(init, rate, settings.draws).items():
            relative = changes / float(np.exp(log_mean))
            signed = _mean(relative)
            columns = {
                "with_sign": signed["value"],
                "with_sign_error": signed["error"],
                "exact_with_sign": exact if name == "derivative" else np.nan,
            }
            rows.append(key | {"change": name} | _mean(np.abs(relative)) | columns)
    return rows


def kernel_changes(init: Initialisation, rate: float, draws: int) -> dict[str, np.ndarray]:
    """Theta(x, x) after a step of size ``rate`` minus its value before the step.

    All weights are drawn. Changes are (draws,) each: ``step``; ``step_of_weights``, where the
    biases stay 0; ``derivative``, to first order in the step size, in which gates do not change.
    The proof of the theorem computes the last one.
    """
    seed = seed_for("beyond/gradient_steps", repr(init.sigma_w2), *init.widths)
    x = torch.zeros(1, init.widths[0], dtype=torch.float64)
    x[0, 0] = 1.0
    parts = []
    for block in range(-(-draws // STEPPED)):
        normals = Normals(seed, range(block, block + 1), STEPPED, torch.device("cpu"))
        parts.append(_changes(*drawn_network(init, normals), x, rate))
    return {name: torch.cat([part[name] for part in parts])[:draws].numpy() for name in parts[0]}


def _changes(
    weights: list[torch.Tensor], biases: list[torch.Tensor], x: torch.Tensor, rate: float
) -> dict[str, torch.Tensor]:
    """The changes of `kernel_changes` of a batch of networks, (draws,) each, for one input x."""
    depth = len(weights)
    parameters = [parameter.requires_grad_() for parameter in (*weights, *biases)]

    def kernel_of(values: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Theta(x, x), (draws,), and the output of networks with these parameters."""
        weights, biases = values[:depth], values[depth:]
        of_weights, of_biases, output = tangent_kernel(weights, biases, x, activation="relu")
        return (of_weights + of_biases)[:, 0, 0], output

    before, output = kernel_of(parameters)
    slopes = torch.autograd.grad(
        before.sum(), parameters, materialize_grads=True, retain_graph=True
    )
    loss = ((output - 1) ** 2).sum() / 2
    gradients = torch.autograd.grad(loss, parameters)
    # d Theta = sum over parameters of slope * step, for each network
    moved = []
    differentials = []
    with torch.no_grad():
        for parameter, slope, gradient in zip(parameters, slopes, gradients, strict=True):
            step = -rate * gradient
            moved.append(parameter + step)
            differentials.append((slope * step).flatten(1).sum(dim=1))
        after, _ = kernel_of(moved)
        after_weights, _ = kernel_of(moved[:depth] + parameters[depth:])
    return {
        "step": after - before.detach(),
        "step_of_weights": after_weights - before.detach(),
        "derivative": torch.stack(differentials).sum(dim=0),
    }


def estimators(settings: Estimators) -> list[dict[str, Any]]:
    """Means of estimators of the dispersion over samples of known dispersion, divided by it.

    The kernels are lognormal: theta = exp(s z) with z standard normal has the dispersion e^(s^2).
    """
    rows = []
    for size, truth in product(settings.sizes, settings.dispersions):
        rng = np.random.default_rng(seed_for("beyond/lemmas/estimators", size, repr(truth)))
        ratios: dict[str, list[np.ndarray]] = {name: [] for name in ESTIMATORS}
        for first in range(0, settings.draws, REPEATS):
            count = min(REPEATS, settings.draws - first)
            normal = rng.standard_normal((count, size))
            theta = np.exp(np.sqrt(np.log(truth)) * normal)
            for name, estimator in ESTIMATORS.items():
                ratios[name].append(estimator(theta) / truth)
        for name, parts in ratios.items():
            key = {"estimator": name, "size": size, "truth": truth}
            rows.append(key | _mean(np.concatenate(parts)))
    return rows
