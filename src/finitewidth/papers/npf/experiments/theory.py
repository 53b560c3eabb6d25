"""Checks of the theory of npf: mean, convergence, variance and limits of K^v, job `npf_theory`."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import Progress
from finitewidth.common.provenance import seed_for
from finitewidth.kernels.gated_moments import GateCounts, value_kernel_moments
from finitewidth.kernels.gated_networks import feature_gates
from finitewidth.kernels.gated_ntk import value_kernel
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.kernels.wide_limits import wide_limits
from finitewidth.measures.kernels import correlation, relative_error, scale
from finitewidth.networks.random_gated import Law, draw_weights
from finitewidth.papers.npf.experiments.theory_moments import (
    mean_rows,
    named,
    points,
    sigma_of,
    sizes_of,
    variance_rows,
)

LAWS = ("gaussian", "signed")  # of the weights
INDEPENDENT, OWN = "independent", "own"  # Theta^f is independent of Theta^v or equal to it


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Run all checks of section ``npf.theory``. The inputs are random points, not a dataset.

    Returns:
        ``mean`` and ``variance``: see `theory_moments.mean_rows` and `variance_rows`.
        ``runs`` and ``curves``: see `error_runs` and `error_curves`.
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
            width = chosen["width"]  # all layers have weights of variance 2 / width
            stream = np.random.default_rng(seed_for("npf/theory/limits", law, depth, width, run))
            weights = _one(sizes_of(x.shape[1], width, depth), sigma_of(width), stream, law)
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


def error_runs(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Relative errors of K^v with respect to d sigma^{2(d-1)} H, run by run.

    Width or copies of the gates grow; ``width`` is that of the feature network. ``predicted`` is
    the exact root mean square error over value weights given the gates (NaN for gates of the
    network itself), ``self_overlap`` the mean of sigma^{2(d-1)} Lambda(s, s).
    """
    grown, padded = settings["widths"], settings["padding"]
    cells = [("width", d, w, 1) for d in grown["depths"] for w in grown["widths"]]
    cells += [("copies", d, padded["width"], m) for d in padded["depths"] for m in padded["copies"]]
    x = points(settings["inputs"], settings["n0"])
    progress = Progress(len(cells) * settings["runs"], "networks of fixed gates")
    rows = []
    for grows, depth, width, copies in cells:
        for run in range(settings["runs"]):
            key = {"grows": grows, "depth": depth, "width": width, "copies": copies, "run": run}
            with named("widths" if grows == "width" else "padding", width, depth):
                rows += [key | row for row in _run(x, **key)]
            progress.advance()
    progress.close()
    return pd.DataFrame(rows)


def error_curves(runs: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Root mean squares over runs (drawn), their expected values, and a line of slope -1/2.

    ``x`` is the width or the copies, ``spread`` a standard error. Curves: drawn; exact, the root
    mean square of ``predicted``; limit, at infinite width for gates of the network itself; guide,
    with depth 0.
    """
    rows = []
    for (grows, gates, depth), own in runs.groupby(["grows", "gates", "depth"], sort=False):
        key = {"grows": grows, "gates": gates, "depth": depth}
        rows += [key | row for row in _curves(own, grows, gates)]
    x = points(settings["inputs"], settings["n0"]).numpy()
    widths = settings["widths"]["widths"]
    for depth in settings["widths"]["depths"]:
        wide = wide_limits(x, depth, "signed")
        limit = float(relative_error(wide.tangent, wide.path))
        key = {"grows": "width", "gates": OWN, "depth": depth, "curve": "limit", "y": limit}
        rows += [key | {"x": width} for width in (min(widths), max(widths))]
    return pd.concat([pd.DataFrame(rows), _guides(pd.DataFrame(rows))], ignore_index=True)


def _run(
    x: Tensor, grows: str, depth: int, width: int, copies: int, run: int
) -> Iterator[dict[str, Any]]:
    """Errors for one feature network.

    The value network has independent weights. If the width grows, the network that uses its own
    weights for the gates is measured too.
    """
    sizes, sigma = sizes_of(x.shape[-1], width, depth), sigma_of(width)
    # the feature network does not depend on the number of copies
    features = np.random.default_rng(seed_for("npf/theory/features", grows, depth, width, run))
    values = np.random.default_rng(seed_for("npf/theory/values", grows, depth, width, copies, run))
    feature = _one(sizes, sigma, features)[:-1]
    gates = feature_gates(x, feature, None, beta=None)
    wide_gates = [gate.repeat(1, copies) for gate in gates]
    wide_sizes = sizes_of(x.shape[-1], copies * width, depth)
    value = _one(wide_sizes, sigma / np.sqrt(copies), values)
    exact = value_kernel_moments(x, GateCounts.of_gates(wide_gates), sigma**2 / copies)
    if not exact.mean.any():
        raise ConfigError(f"no path is open in run {run}, and its kernel is zero")
    overlap = float(np.mean(np.diagonal(exact.mean) / np.diagonal(x @ x.T))) / depth
    predicted = float(np.sqrt(exact.variance.sum()) / np.linalg.norm(exact.mean))
    for name, weights in ((INDEPENDENT, value), (OWN, [*feature, value[-1]])):
        if name == INDEPENDENT or grows == "width":
            # the rounding error of float32, 1e-6, is far below the errors measured
            drawn = value_kernel(
                x, weights, None, wide_gates, with_biases=False, dtype=torch.float32
            )
            kernel = drawn.double().numpy()
            yield {
                "gates": name,
                "error": float(relative_error(kernel, exact.mean)),
                "predicted": predicted if name == INDEPENDENT else np.nan,
                "correlation": float(correlation(kernel, exact.mean)),
                "self_overlap": overlap,
            }


def _one(
    sizes: Sequence[int], sigma: float, stream: np.random.Generator, law: Law = "signed"
) -> list[Tensor]:
    return [weight[0] for weight in draw_weights(sizes, sigma, 1, stream, law, torch.float32)]


def _curves(own: pd.DataFrame, grows: str, gates: str) -> Iterator[dict[str, Any]]:
    for place, cell in own.groupby(grows):
        squares = cell["error"] ** 2
        height = float(np.sqrt(squares.mean()))
        spread = float(squares.sem()) / (2 * height)
        yield {"curve": "drawn", "x": place, "y": height, "spread": spread, "runs": len(cell)}
        if gates == INDEPENDENT:
            exact = float(np.sqrt((cell["predicted"] ** 2).mean()))
            yield {"curve": "exact", "x": place, "y": exact, "runs": len(cell)}


def _guides(curves: pd.DataFrame) -> pd.DataFrame:
    """Lines of slope -1/2 at 0.6 times the lowest exact curve, for both values of ``grows``."""
    rows = []
    exact = curves[curves["curve"] == "exact"]
    for grows, own in exact.groupby("grows"):
        lowest = own[own["x"] == own["x"].min()]["y"].min()
        ends = np.array([own["x"].min(), own["x"].max()], dtype=float)
        rows += [
            {"grows": grows, "gates": INDEPENDENT, "depth": 0, "curve": "guide", "x": x, "y": y}
            for x, y in zip(ends, 0.6 * lowest * np.sqrt(ends[0] / ends), strict=True)
        ]
    return pd.DataFrame(rows)
