"""Checks of the theory of npf: mean, convergence, variance and limits of K^v, job `npf_theory`.

Networks have no biases and one output, and sigma = sqrt(2 / w) unless said otherwise. Means and
variances (npf B.1 and B.2, dgn 2.3) are over all networks of a small size, or over many random
networks of a larger one.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.progress import Progress
from finitewidth.kernels.gated_moments import (
    gate_counts,
    leading_variance,
    unit_counts,
    value_kernel_moments,
)
from finitewidth.kernels.gated_ntk import feature_gates, value_kernel
from finitewidth.kernels.npk import npk
from finitewidth.kernels.trained import FullyConnected, traced_kernel
from finitewidth.kernels.wide_limits import wide_limits
from finitewidth.measures.kernels import correlation, relative_error, scale
from finitewidth.networks.random_gated import Law, draw_gates, draw_weights, every_signed_network
from finitewidth.networks.weights import generator
from finitewidth.records.provenance import seed_for

LAWS = ("gaussian", "signed")  # of the weights
# Theta^f is independent of Theta^v, or equal to it
INDEPENDENT = "independent"
OWN = "own"
PIECE = 4_000_000  # weights per batch
OPEN = 0.75  # share of open gates in enumerated networks, high so that some path is open
X = np.ones((2, 1))  # the memorisation network: both inputs are 1
# entry -> share of units open for one input, share open for both inputs
SHARES = {"open": (1.0, 1.0), "half": (0.5, 0.5), "pair": (0.5, 0.25)}


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Run all checks of section ``npf.theory``. The inputs are random points, not a dataset.

    Returns:
        ``mean`` and ``variance``: see `mean_rows` and `variance_rows`.
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
    x = points(settings["inputs"], settings["n0"])
    width = settings["limits"]["width"]
    for law, depth in itertools.product(LAWS, settings["limits"]["depths"]):
        gaussian = wide_limits(x.numpy(), depth, "gaussian")
        signed = wide_limits(x.numpy(), depth, "signed")
        limits = {"tangent": gaussian.tangent, "halved": gaussian.halved, "signed": signed.tangent}
        for run in range(settings["limits"]["runs"]):
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


def error_runs(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Relative errors of K^v with respect to d sigma^{2(d-1)} H, run by run.

    Width or copies of the gates grow; ``width`` is that of the feature network. ``predicted`` is
    the exact root mean square error over value weights given the gates (NaN for gates of the
    network itself), ``self_overlap`` the mean of sigma^{2(d-1)} Lambda(s, s).
    """
    widths = settings["widths"]
    padding = settings["padding"]
    # what grows, depth, width and copies
    cells = [("width", d, w, 1) for d in widths["depths"] for w in widths["widths"]]
    for depth, copies in itertools.product(padding["depths"], padding["copies"]):
        cells.append(("copies", depth, padding["width"], copies))
    x = points(settings["inputs"], settings["n0"])
    progress = Progress(len(cells) * settings["runs"], "networks of fixed gates")
    rows = []
    for (grows, depth, width, copies), run in itertools.product(cells, range(settings["runs"])):
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
    rows = [*_mean_errors(runs), *_limiting_errors(settings)]
    rows += _guides(pd.DataFrame(rows))
    columns = ["grows", "gates", "depth", "curve", "x", "y", "spread", "runs"]
    return pd.DataFrame(rows, columns=columns)


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


def _limiting_errors(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Errors of infinitely wide networks whose gates are their own, as horizontal lines."""
    x = points(settings["inputs"], settings["n0"]).numpy()
    widths = settings["widths"]["widths"]
    for depth in settings["widths"]["depths"]:
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


def mean_rows(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the mean kernel over networks with the formula.

    Columns: networks (enumerated, drawn), gates (bernoulli, relu), depth, width, draws (number of
    networks), pairs of inputs, mean_error (largest difference divided by the formula's largest
    entry), variance_error (likewise for the variance), max_z (largest difference in standard
    errors; NaN if enumerated), trace_ratio (of mean kernel to formula), trace_ratio_se.
    """
    rows = [_enumerated(tuple(sizes)) for sizes in settings["mean"]["enumerated"]]
    return pd.DataFrame([*rows, *_drawn(settings)])


def _enumerated(sizes: tuple[int, ...]) -> dict[str, Any]:
    """All networks with weights ±sigma at three inputs, sigma = sqrt(2 / first hidden width)."""
    n0, width, *_ = sizes
    stream = generator("npf/theory/enumerated", *sizes)
    x = torch.randn(3, n0, generator=stream, dtype=torch.float64)
    gates = [draw_gates((3, units), OPEN, stream) for units in sizes[1:-1]]
    sigma = sigma_of(width)
    weights = every_signed_network(sizes, sigma)
    kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()  # (networks, 3, 3)
    mean = kernels.mean(axis=0)
    variance = kernels.var(axis=0)
    formula = _formula(x, gates, sigma)
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2)
    return {
        "networks": "enumerated",
        "gates": "bernoulli",
        "depth": len(sizes) - 1,
        "width": width,
        "draws": len(kernels),
        "pairs": 6,
        "mean_error": _largest(mean - formula, formula),
        "variance_error": _largest(variance - exact.variance, exact.variance),
        "max_z": np.nan,
        "trace_ratio": float(np.trace(mean) / np.trace(formula)),
        "trace_ratio_se": 0.0,
    }


def _drawn(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Fixed gates of an independent ReLU network, or random ones; random value networks."""
    count = settings["inputs"]
    width = settings["mean"]["width"]
    draws = settings["mean"]["draws"]
    for kind, depth in itertools.product(("relu", "bernoulli"), settings["mean"]["depths"]):
        if kind == "relu":
            x = points(count, settings["n0"])
            gates = _relu_gates(x, width, depth)
        else:  # the memorisation network: every input is 1, only the gates differ
            stream = generator("npf/theory/mean", kind, depth, width)
            x = torch.ones(count, 1, dtype=torch.float64)
            gates = [draw_gates((count, width), 0.5, stream) for _ in range(depth - 1)]
        yield {
            "networks": "drawn",
            "gates": kind,
            "depth": depth,
            "width": width,
            "draws": draws,
            "pairs": count * (count + 1) // 2,
            **_compared(x, gates, width, draws, kind),
        }


def _relu_gates(x: Tensor, width: int, depth: int) -> list[Tensor]:
    """Gates of a ReLU network that is independent of the value networks."""
    stream = np.random.default_rng(seed_for("npf/theory/mean gates", depth, width))
    *feature, _ = draw_weights(sizes_of(x.shape[1], width, depth), sigma_of(width), 1, stream)
    return feature_gates(x, [weight[0] for weight in feature], None)


def _compared(x: Tensor, gates: list[Tensor], width: int, draws: int, kind: str) -> dict[str, Any]:
    """Mean and variance of the kernels of many value networks, compared with the formulas."""
    depth = len(gates) + 1
    sigma = sigma_of(width)
    formula = _formula(x, gates, sigma)
    sizes = sizes_of(x.shape[1], width, depth)
    weights_of_network = sum(below * above for below, above in itertools.pairwise(sizes))
    piece = max(1, PIECE // weights_of_network)
    # sums of the differences from the formula, which is near the mean, and of their squares
    total = np.zeros_like(formula)
    total_of_squares = np.zeros_like(formula)
    trace_ratios = []
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/mean", kind, depth, width, start))
        weights = draw_weights(sizes, sigma, min(piece, draws - start), stream)
        kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()
        differences = kernels - formula
        total = total + differences.sum(axis=0)
        total_of_squares = total_of_squares + (differences**2).sum(axis=0)
        trace_ratios.append(np.trace(kernels, axis1=1, axis2=2) / np.trace(formula))
    mean = total / draws
    variance = (total_of_squares - draws * mean**2) / (draws - 1)
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2)
    ratios = np.concatenate(trace_ratios)
    with np.errstate(invalid="ignore"):  # 0 / 0 for pairs without a common path
        z = np.abs(mean) / np.sqrt(variance / draws)
    return {
        "mean_error": _largest(mean, formula),
        "variance_error": _largest(variance - exact.variance, exact.variance),
        "max_z": float(np.nanmax(z)),
        "trace_ratio": float(ratios.mean()),
        "trace_ratio_se": float(ratios.std(ddof=1)) / math.sqrt(draws),
    }


def _formula(x: Tensor, gates: list[Tensor], sigma: float) -> np.ndarray:
    """The mean kernel of Theorem B.1: d sigma^(2 (d-1)) H."""
    depth = len(gates) + 1
    return (depth * sigma ** (2 * (depth - 1)) * npk(x, gates)).numpy()


def _largest(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.abs(difference).max() / np.abs(size).max())


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


def points(count: int, n0: int) -> Tensor:
    """Inputs (count, n0), uniform on the unit sphere; the same in all jobs of a run."""
    stream = generator("npf/theory/points", count, n0)
    drawn = torch.randn(count, n0, generator=stream, dtype=torch.float64)
    return drawn / drawn.norm(dim=1, keepdim=True)


def sizes_of(n0: int, width: int, depth: int) -> tuple[int, ...]:
    """Units per layer of a network with ``depth`` layers of weights, including input and output."""
    return (n0, *[width] * (depth - 1), 1)


def sigma_of(width: int) -> float:
    """sqrt(2 / w) for every layer including the first (npf 5 and D.1)."""
    return math.sqrt(2 / width)


def variance_rows(settings: Mapping[str, Any]) -> pd.DataFrame:
    """Var[K] for fixed gates at sigma^2 = 1 / (open units), where E[K(s, s)] = d.

    Columns: entry (of `SHARES`: K(s, s) with all or half of the gates open, or K(s, s')), form
    (exact, drawn, or leading, the first order in 1 / w), width (0 for ``leading``), depth, draws,
    variance, per_d3 = variance w / d^3, per_d2 = variance w / d^2, and their standard errors
    ``spread``, per_d3_spread, per_d2_spread.
    """
    drawn = settings["variance"]["drawn"]
    rows = list(_exact(settings["variance"]))
    cells = list(itertools.product(drawn["widths"], drawn["depths"]))
    progress = Progress(len(cells) * drawn["draws"], "networks for the variance")
    for width, depth in cells:
        rows += _drawn_variances(width, depth, drawn["draws"])
        progress.advance(drawn["draws"])
    progress.close()
    return pd.DataFrame(rows)


def _exact(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entry, depth in itertools.product(SHARES, settings["depths"]):
        open_share, shared = SHARES[entry]
        for width in settings["widths"]:
            # units of each layer that are open for both inputs, for the first, for the second
            shares = (shared, open_share, open_share)
            units = (np.full((depth - 1, 1, 1), width * share) for share in shares)
            sigma2 = 1 / (open_share * width)
            moments = value_kernel_moments(X[:1], unit_counts(*units), sigma2)
            yield _row(entry, "exact", width, depth, float(moments.variance[0, 0]))
        if entry != "pair":
            # this is the variance times the width; the columns then hold its coefficient
            yield _row(entry, "leading", 0, depth, leading_variance(depth, open_share))


def _drawn_variances(width: int, depth: int, draws: int) -> Iterator[dict[str, Any]]:
    """All three entries from random networks; both kernels of a network use the same weights."""
    kernels: dict[str, list[np.ndarray]] = {entry: [] for entry in SHARES}
    piece = max(1, PIECE // (width * width * depth))
    sizes = sizes_of(1, width, depth)
    halves = torch.zeros(2, width)  # of the two inputs, which share a quarter
    halves[0, : width // 2] = 1
    halves[1, width // 4 : width // 4 + width // 2] = 1
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/variance", width, depth, start))
        signs = draw_weights(sizes, 1.0, min(piece, draws - start), stream, dtype=torch.float32)
        half_open = _kernels_of_signs(signs, halves)  # (networks, 2, 2)
        all_open = _kernels_of_signs(signs, torch.ones(2, width))
        kernels["half"].append(half_open[:, 0, 0])
        kernels["pair"].append(half_open[:, 0, 1])
        kernels["open"].append(all_open[:, 0, 0])
    for entry, parts in kernels.items():
        open_share, shared = SHARES[entry]
        mean = depth * (shared / open_share) ** (depth - 1)
        squares = (np.concatenate(parts) - mean) ** 2
        spread = float(squares.std(ddof=1)) / np.sqrt(draws)
        yield _row(entry, "drawn", width, depth, float(squares.mean()), spread, draws)


def _kernels_of_signs(signs: list[Tensor], gate: Tensor) -> np.ndarray:
    """Kernels (networks, 2, 2) of weights ±sigma, sigma^2 = 1 / (open units), in float32.

    All layers have the gates (2, w) of the two inputs.
    """
    sigma = float(gate[0].sum()) ** -0.5
    weights = [sigma * sign for sign in signs]
    gates = [gate] * (len(signs) - 1)
    x = torch.from_numpy(X)
    kernels = value_kernel(x, weights, None, gates, with_biases=False, dtype=torch.float32)
    return kernels.double().numpy()


def _row(
    entry: str,
    form: str,
    width: int,
    depth: int,
    variance: float,
    spread: float = 0.0,
    draws: int = 0,
) -> dict[str, Any]:
    row = {
        "entry": entry,
        "form": form,
        "width": width,
        "depth": depth,
        "draws": draws,
        "variance": variance,
        "spread": spread,
    }
    for power in (2, 3):
        row[f"per_d{power}"] = variance * max(width, 1) / depth**power
        row[f"per_d{power}_spread"] = spread * max(width, 1) / depth**power
    return row
