"""Checks of the theory of npf: mean, convergence, variance and limits of K^v, job `npf_theory`."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.provenance import seed_for
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.kernels.wide_limits import wide_limits
from finitewidth.measures.kernels import correlation, relative_error, scale
from finitewidth.networks.random_gated import Law, draw_weights
from finitewidth.papers.npf.experiments.theory_errors import error_curves, error_runs
from finitewidth.papers.npf.experiments.theory_mean import mean_rows
from finitewidth.papers.npf.experiments.theory_networks import named, points, sigma_of, sizes_of
from finitewidth.papers.npf.experiments.theory_variance import variance_rows

LAWS = ("gaussian", "signed")  # of the weights


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Run all checks. No dataset is needed: the inputs are random points.

    Args:
        inputs: none.
        settings: section ``npf.theory``.

    Returns:
        ``mean``: see `theory_mean.mean_rows`. ``runs`` and ``curves``: see `theory_errors`.
        ``variance``: see `theory_variance.variance_rows`.
        ``limits``: ReLU networks compared with infinite-width limits: weights (gaussian, signed),
        output_variance (2/w, 1/w), limit (tangent, halved, signed, see
        `finitewidth.kernels.wide_limits`), depth, width, run, scale, correlation, error.
    """
    runs = error_runs(settings)
    return {
        "mean": mean_rows(settings),
        "runs": runs,
        "curves": error_curves(runs, settings),
        "variance": variance_rows(settings),
        "limits": pd.DataFrame(_limits(settings)),
    }


def _limits(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    x, chosen = points(settings["inputs"], settings["n0"]), settings["limits"]
    for law, depth in itertools.product(LAWS, chosen["depths"]):
        gaussian, signed = (wide_limits(x.numpy(), depth, kind) for kind in LAWS)
        limits = {"tangent": gaussian.tangent, "halved": gaussian.halved, "signed": signed.tangent}
        for run in range(chosen["runs"]):
            weights = _network(law, x.shape[1], depth, chosen["width"], run)
            for variance, last in (("2/w", weights[-1]), ("1/w", weights[-1] / 2**0.5)):
                network = FullyConnected([*weights[:-1], last], None, "relu")
                kernel = traced_kernel(network, x, dtype=torch.float32).numpy()
                for name, limit in limits.items():
                    with named("limits", chosen["width"], depth):
                        found = {
                            "scale": float(scale(kernel, limit)),
                            "correlation": float(correlation(kernel, limit)),
                            "error": float(relative_error(kernel, limit)),
                        }
                    yield {
                        "weights": law, "output_variance": variance, "limit": name,
                        "depth": depth, "width": chosen["width"], "run": run, **found,
                    }  # fmt: skip


def _network(law: Law, n0: int, depth: int, width: int, run: int) -> list[Tensor]:
    """Draw weights of variance 2 / width in every layer."""
    sizes, sigma = sizes_of(n0, width, depth), sigma_of(width)
    stream = np.random.default_rng(seed_for("npf/theory/limits", law, depth, width, run))
    drawn = draw_weights(sizes, sigma, 1, stream, law, torch.float32)
    return [weight[0] for weight in drawn]
