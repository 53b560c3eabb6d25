"""Checks of the theory of npf: mean, convergence, variance and limits of K^v, job `npf_theory`.

Networks have no biases and one output, and sigma = sqrt(2 / w) unless said otherwise. Means and
variances (npf B.1 and B.2, dgn 2.3) are over all networks of a small size, or over many random
networks of a larger one.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import Progress
from finitewidth.declarations import columns as shared
from finitewidth.kernels.gated_moments import gate_counts, value_kernel_moments
from finitewidth.kernels.gated_ntk import feature_gates, value_kernel
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.kernels.wide_limits import wide_limits
from finitewidth.measures.kernels import correlation, relative_error, scale
from finitewidth.networks.random_gated import Law, draw_weights
from finitewidth.papers.npf.columns import theory as columns
from finitewidth.papers.npf.experiments.fixed_gates import points, sigma_of, sizes_of
from finitewidth.papers.npf.experiments.kernel_means import mean_rows
from finitewidth.papers.npf.experiments.kernel_variances import variance_rows
from finitewidth.papers.npf.settings import Theory
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

LAWS: tuple[Law, ...] = ("gaussian", "signed")  # of the weights
# Theta^f is independent of Theta^v, or equal to it
INDEPENDENT = "independent"
OWN = "own"
TABLES = {
    "mean": Table(
        columns.HOW_NETWORKS,
        columns.GATES,
        shared.DEPTH,
        columns.FIRST_WIDTH,
        columns.DRAWS,
        columns.PAIRS,
        columns.MEAN_ERROR,
        columns.VARIANCE_ERROR,
        columns.MAX_Z,
        columns.TRACE_RATIO,
        columns.TRACE_RATIO_SE,
    ),
    "runs": Table(
        columns.GROWS,
        shared.DEPTH,
        columns.FEATURE_WIDTH,
        columns.COPIES,
        shared.RUN,
        columns.WHOSE_GATES,
        columns.KERNEL_ERROR,
        columns.PREDICTED,
        columns.CORRELATION,
        columns.SELF_OVERLAP,
    ),
    "curves": Table(
        columns.GROWS,
        columns.WHOSE_GATES,
        columns.DEPTH_OF_CURVE,
        columns.CURVE,
        columns.GROWN,
        columns.ROOT_MEAN_SQUARE,
        columns.ROOT_MEAN_SQUARE_ERROR,
        columns.CURVE_RUNS,
    ),
    "variance": Table(
        columns.ENTRY,
        columns.FORM,
        columns.WIDTH_OR_NONE,
        shared.DEPTH,
        columns.DRAWS_OR_NONE,
        columns.VARIANCE,
        columns.VARIANCE_ERROR_BAR,
        columns.PER_D2,
        columns.PER_D2_SPREAD,
        columns.PER_D3,
        columns.PER_D3_SPREAD,
    ),
    "limits": Table(
        columns.LAW,
        columns.OUTPUT_VARIANCE,
        columns.LIMIT,
        shared.DEPTH,
        shared.WIDTH,
        shared.RUN,
        columns.SCALE,
        columns.LIMIT_CORRELATION,
        columns.LIMIT_ERROR,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Theory) -> dict[str, pd.DataFrame]:
    """Run all checks of section ``npf.theory``. The inputs are random points, not a dataset.

    Returns:
        ``mean`` and ``variance`` of K^v; ``runs`` and ``curves``, its errors; and ``limits``, ReLU
        networks compared with infinite-width limits (`finitewidth.kernels.wide_limits`). See
        `TABLES`.
    """
    runs = error_runs(settings)
    return {
        "mean": mean_rows(settings),
        "runs": runs,
        "curves": error_curves(runs, settings),
        "variance": variance_rows(settings.variance),
        "limits": pd.DataFrame(_limits(settings)),
    }


def _limits(settings: Theory) -> Iterator[dict[str, Any]]:
    x = points(settings.inputs, settings.n0)
    width = settings.limits.width
    for law, depth in itertools.product(LAWS, settings.limits.depths):
        gaussian = wide_limits(x.numpy(), depth, "gaussian")
        signed = wide_limits(x.numpy(), depth, "signed")
        limits = {"tangent": gaussian.tangent, "halved": gaussian.halved, "signed": signed.tangent}
        for run in range(settings.limits.runs):
            for variance, kernel in _relu_kernels(x, law, depth, width, run):
                key = {"weights": law, "output_variance": variance}
                for name, limit in limits.items():
                    cell = {"limit": name, "depth": depth, "width": width, "run": run}
                    with named("limits", width, depth):
                        yield key | cell | _fit(kernel, limit)


def _relu_kernels(
    x: Tensor, law: Law, depth: int, width: int, run: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Tangent kernels of a ReLU network, for both variances of the weights of its output.

    The weights of the other layers have the variance 2/w.
    """
    stream = np.random.default_rng(seed_for("npf/theory/limits", law, depth, width, run))
    sizes = sizes_of(x.shape[1], width, depth)
    *hidden, last = _one_network(sizes, sigma_of(width), stream, law)
    for variance, output in (("2/w", last), ("1/w", last / 2**0.5)):
        network = FullyConnected([*hidden, output], None, "relu")
        yield variance, traced_kernel(network, x, dtype=torch.float32).numpy()


def _fit(kernel: np.ndarray, limit: np.ndarray) -> dict[str, float]:
    """How a limit fits to a kernel."""
    return {
        "scale": float(scale(kernel, limit)),
        "correlation": float(correlation(kernel, limit)),
        "error": float(relative_error(kernel, limit)),
    }


def error_runs(settings: Theory) -> pd.DataFrame:
    """Relative errors of K^v with respect to d sigma^{2(d-1)} H, run by run.

    Width or copies of the gates grow.
    """
    widths = settings.widths
    padding = settings.padding
    # what grows, depth, width and copies
    cells = [("width", d, w, 1) for d in widths.depths for w in widths.widths]
    for depth, copies in itertools.product(padding.depths, padding.copies):
        cells.append(("copies", depth, padding.width, copies))
    x = points(settings.inputs, settings.n0)
    progress = Progress(len(cells) * settings.runs, "networks of fixed gates")
    rows = []
    for (grows, depth, width, copies), run in itertools.product(cells, range(settings.runs)):
        key = {"grows": grows, "depth": depth, "width": width, "copies": copies, "run": run}
        with named("widths" if grows == "width" else "padding", width, depth):
            rows += [key | row for row in _run(x, grows, depth, width, copies, run)]
        progress.advance()
    progress.close()
    return pd.DataFrame(rows)


def error_curves(runs: pd.DataFrame, settings: Theory) -> pd.DataFrame:
    """Root mean squares over runs (drawn), their expected values, and a line of slope -1/2.

    A limit, at infinite width, is for gates of the network itself.
    """
    rows = [*_mean_errors(runs), *_limiting_errors(settings)]
    rows += _guides(pd.DataFrame(rows))
    return pd.DataFrame(rows, columns=TABLES["curves"].names)


def _mean_errors(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Root mean square errors over runs, and the exact ones for independent gates."""
    for (grows, gates, depth), networks in runs.groupby(["grows", "gates", "depth"], sort=False):
        for size, cell in networks.groupby(grows):
            key = {"grows": grows, "gates": gates, "depth": depth, "x": size, "runs": len(cell)}
            squares = cell["error"] ** 2
            height = float(np.sqrt(squares.mean()))
            spread = float(squares.sem()) / (2 * height)
            yield key | {"curve": "drawn", "y": height, "spread": spread}
            if gates == INDEPENDENT:
                exact = float(np.sqrt((cell["predicted"] ** 2).mean()))
                yield key | {"curve": "exact", "y": exact}


def _limiting_errors(settings: Theory) -> Iterator[dict[str, Any]]:
    """Errors of infinitely wide networks whose gates are their own, as horizontal lines."""
    x = points(settings.inputs, settings.n0).numpy()
    widths = settings.widths.widths
    for depth in settings.widths.depths:
        wide = wide_limits(x, depth, "signed")
        limit = float(relative_error(wide.tangent, wide.path))
        for width in (min(widths), max(widths)):
            key = {"grows": "width", "gates": OWN, "depth": depth, "curve": "limit"}
            yield key | {"y": limit, "x": width}


def _guides(curves: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Lines of slope -1/2 below the lowest exact curve."""
    for grows, exact in curves[curves["curve"] == "exact"].groupby("grows"):
        first = float(exact["x"].min())
        last = float(exact["x"].max())
        height = 0.6 * exact[exact["x"] == first]["y"].min()
        for x in (first, last):
            key = {"grows": grows, "gates": INDEPENDENT, "depth": 0, "curve": "guide"}
            yield key | {"x": x, "y": height * np.sqrt(first / x)}


def _run(
    x: Tensor, grows: str, depth: int, width: int, copies: int, run: int
) -> Iterator[dict[str, Any]]:
    """Errors for one feature network, with an independent value network.

    If the width grows, the network that uses its own weights for the gates is measured too.
    """
    inputs = x.shape[-1]
    sigma = sigma_of(width)
    # the feature network does not depend on the number of copies
    features = np.random.default_rng(seed_for("npf/theory/features", grows, depth, width, run))
    values = np.random.default_rng(seed_for("npf/theory/values", grows, depth, width, copies, run))
    *feature, _ = _one_network(sizes_of(inputs, width, depth), sigma, features)
    value = _one_network(sizes_of(inputs, copies * width, depth), sigma / np.sqrt(copies), values)
    gates = [gate.repeat(1, copies) for gate in feature_gates(x, feature, None)]
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2 / copies)
    if not exact.mean.any():
        raise ConfigError(f"no path is open in run {run}, and its kernel is zero")
    self_overlap = float(np.mean(np.diagonal(exact.mean) / np.diagonal(x @ x.T))) / depth
    predicted = float(np.sqrt(exact.variance.sum()) / np.linalg.norm(exact.mean))
    networks = [(INDEPENDENT, value, predicted)]
    if grows == "width":
        networks.append((OWN, [*feature, value[-1]], np.nan))
    for name, weights, expected in networks:
        # the rounding error of float32, 1e-6, is far below the errors measured
        drawn = value_kernel(x, weights, None, gates, with_biases=False, dtype=torch.float32)
        kernel = drawn.double().numpy()
        yield {
            "gates": name,
            "error": float(relative_error(kernel, exact.mean)),
            "predicted": expected,
            "correlation": float(correlation(kernel, exact.mean)),
            "self_overlap": self_overlap,
        }


def _one_network(
    sizes: Sequence[int], sigma: float, stream: np.random.Generator, law: Law = "signed"
) -> list[Tensor]:
    """Weights of one network, float32."""
    return [weight[0] for weight in draw_weights(sizes, sigma, 1, stream, law, torch.float32)]


@contextmanager
def named(section: str, width: int, depth: int) -> Iterator[None]:
    """Add the section to refusals of kernels that are zero or constant, as of a closed network."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(
            f"npf.theory.{section}: in a network of width {width} and depth {depth} "
            f"{error}; raise the width or lower the depth"
        ) from error
