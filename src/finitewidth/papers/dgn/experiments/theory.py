"""Statements of dgn on networks without biases, shared paths and deep linear networks."""

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.progress import Progress
from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_moments import gate_counts, value_kernel_moments
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.npk import overlap
from finitewidth.networks.random_gated import draw_gates, draw_weights
from finitewidth.networks.weights import generator
from finitewidth.papers.dgn import columns
from finitewidth.papers.dgn.settings import Fit, Linear, Overlaps, Theory
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

LABELS = (1.0, -1.0)  # of x and of 2x
# A network with f(2x) = 2 f(x) cannot have a smaller sum of squares on (x, 1) and (2x, -1), the
# hard dataset of section 1: it is the minimum of (a - 1)^2 + (2a + 1)^2 over a, at a = -1/5.
FLOOR = 9 / 5
TABLES = {
    "fits": Table(
        columns.HIDDEN,
        shared.WIDTH,
        columns.BIASES,
        shared.RUN,
        columns.LOWEST_LOSS,
        columns.FLOOR,
    ),
    "identities": Table(
        columns.IDENTITY,
        columns.CASE,
        columns.EXPECTED,
        columns.DRAWN_MEAN,
        columns.EXACT_ERROR,
        columns.DRAWS,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Theory) -> dict[str, pd.DataFrame]:
    """Train networks on two points of one direction, and average overlaps and kernels.

    Returns:
        ``fits`` and ``identities``, see `TABLES`. The standard error of an identity follows from
        the exact variance, because samples of such products are skewed and underestimate it.
    """
    identities = [*_overlaps(settings.overlaps), *_linear(settings.linear)]
    return {"fits": _fits(settings), "identities": pd.DataFrame(identities)}


def _fits(settings: Theory) -> pd.DataFrame:
    fit = settings.fit
    runs = settings.runs
    progress = Progress(2 * len(fit.networks), "fits of two points of one direction")
    rows = []
    for network, biases in itertools.product(fit.networks, (False, True)):
        lowest = _train(network.hidden, network.width, biases, runs, fit)
        for run, value in enumerate(lowest.tolist()):
            row = {
                "hidden": network.hidden,
                "width": network.width,
                "biases": int(biases),
                "run": run,
                "lowest": value,
                "floor": FLOOR,
            }
            rows.append(row)
        progress.advance()
    progress.close()
    return pd.DataFrame(rows)


def _train(hidden: int, width: int, biases: bool, runs: int, fit: Fit) -> Tensor:
    """The smallest loss of each run of Adam from Gaussian weights of variance 2 / fan_in."""
    stream = generator("dgn/theory/fit", hidden, width, int(biases))
    draw = partial(torch.randn, generator=stream, dtype=torch.float64)
    sizes = [fit.n0, *[width] * hidden, 1]
    x = draw(runs, 1, sizes[0])
    points = torch.cat([x, 2 * x], dim=1)  # (R, 2, n0)
    labels = torch.tensor(LABELS, dtype=torch.float64)
    weights = []
    offsets = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        weights.append(draw(runs, fan_in, fan_out) * math.sqrt(2 / fan_in))
        offsets.append(torch.zeros(runs, 1, fan_out, dtype=torch.float64))
    trained = weights + offsets if biases else weights
    for tensor in trained:
        tensor.requires_grad_()

    optimiser = torch.optim.Adam(trained, lr=fit.step_size)
    lowest = torch.full((runs,), math.inf, dtype=torch.float64)
    for _ in range(fit.steps):
        z = points
        for layer, (weight, offset) in enumerate(zip(weights, offsets, strict=True)):
            q = z @ weight + offset  # (R, 2, fan_out)
            z = torch.relu(q) if layer < hidden else q
        losses = ((z[..., 0] - labels) ** 2).sum(dim=1)  # (R,)
        lowest = torch.minimum(lowest, losses.detach())
        optimiser.zero_grad()
        torch.autograd.backward(losses.sum())
        optimiser.step()
    return lowest


def _overlaps(settings: Overlaps) -> Iterator[dict[str, Any]]:
    """Lemma 2.4: mean overlaps under random gates, relative to their expectation.

    The expectation is (mu w)^{d-1} for an input with itself and (mu^2 w)^{d-1} for two inputs.
    """
    width = settings.width
    mu = settings.mu
    draws = settings.draws
    for depth in settings.depths:
        stream = generator("dgn/theory/overlaps", depth)
        gates = draw_gates((depth - 1, draws, 2, width), mu, stream)
        counts = overlap(gates.unbind()).numpy()  # (draws, 2, 2)
        for case, entry, share in (("self", (0, 0), mu), ("cross", (0, 1), mu**2)):
            first, second = entry
            # relative to the expectation, because the numbers grow exponentially with depth
            relative = counts[:, first, second] / (share * width) ** (depth - 1)
            variance = (1 + (1 - share) / (share * width)) ** (depth - 1) - 1  # of a product
            name = f"{case} overlap / expectation, d={depth}"
            yield _identity("D03", name, 1.0, variance, relative)


def _linear(settings: Linear) -> Iterator[dict[str, Any]]:
    """Corollary 8.1: E[K_0] = d for deep linear networks with weights ±sqrt(1/w) at the input 1."""
    width = settings.width
    draws = settings.draws
    x = torch.ones(1, 1)
    for depth in settings.depths:
        gates = [torch.ones(1, width)] * (depth - 1)
        exact = value_kernel_moments(x, gate_counts(gates), 1 / width)
        sizes = (1, *[width] * (depth - 1), 1)
        stream = np.random.default_rng(seed_for("dgn/theory/linear", depth))
        kernels = []
        for start in range(0, draws, 50):  # networks at a time
            weights = draw_weights(sizes, width**-0.5, min(50, draws - start), stream)
            kernel = value_kernel(x, weights, None, gates, with_biases=False)
            kernels.append(kernel[:, 0, 0].numpy())
        variance = float(exact.variance[0, 0])
        yield _identity("D10", f"mean kernel, d={depth}", depth, variance, np.concatenate(kernels))


def _identity(
    identity: str, case: str, expected: float, variance: float, sample: np.ndarray
) -> dict[str, Any]:
    """Mean of a sample next to its expectation; the standard error uses the known variance."""
    return {
        "identity": identity,
        "case": case,
        "expected": float(expected),
        "value": float(sample.mean()),
        "standard_error": math.sqrt(variance / len(sample)),
        "draws": len(sample),
    }
