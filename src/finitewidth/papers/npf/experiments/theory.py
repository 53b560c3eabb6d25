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
INDEPENDENT, OWN = "independent", "own"  # Theta^f is independent of Theta^v or equal to it
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
    x, chosen = points(settings["inputs"], settings["n0"]), settings["limits"]
    for law, depth in itertools.product(LAWS, chosen["depths"]):
        gaussian, signed = (wide_limits(x.numpy(), depth, kind) for kind in LAWS)
        limits = {"tangent": gaussian.tangent, "halved": gaussian.halved, "signed": signed.tangent}
        for run in range(chosen["runs"]):
            width = chosen["width"]  # all layers have weights of variance 2 / width
            stream = np.random.default_rng(seed_for("npf/theory/limits", law, depth, width, run))
            *hidden, last = _one(sizes_of(x.shape[1], width, depth), sigma_of(width), stream, law)
            for variance, output in (("2/w", last), ("1/w", last / 2**0.5)):
                network = FullyConnected([*hidden, output], None, "relu")
                kernel = traced_kernel(network, x, dtype=torch.float32).numpy()
                for name, limit in limits.items():
                    with named("limits", width, depth):
                        yield {
                            "weights": law,
                            "output_variance": variance,
                            "limit": name,
                            "depth": depth,
                            "width": width,
                            "run": run,
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
    grown, padded = settings["widths"], settings["padding"]
    cells = [("width", d, w, 1) for d in grown["depths"] for w in grown["widths"]]
    cells += [("copies", d, padded["width"], m) for d in padded["depths"] for m in padded["copies"]]
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
    rows = []
    for (grows, gates, depth), own in runs.groupby(["grows", "gates", "depth"], sort=False):
        key = {"grows": grows, "gates": gates, "depth": depth}
        for place, cell in own.groupby(grows):
            key |= {"x": place, "runs": len(cell)}
            squares = cell["error"] ** 2
            height = float(np.sqrt(squares.mean()))
            spread = float(squares.sem()) / (2 * height)
            rows.append(key | {"curve": "drawn", "y": height, "spread": spread})
            if gates == INDEPENDENT:
                exact = float(np.sqrt((cell["predicted"] ** 2).mean()))
                rows.append(key | {"curve": "exact", "y": exact})
    x = points(settings["inputs"], settings["n0"]).numpy()
    widths = settings["widths"]["widths"]
    for depth in settings["widths"]["depths"]:
        wide = wide_limits(x, depth, "signed")
        limit = float(relative_error(wide.tangent, wide.path))
        key = {"grows": "width", "gates": OWN, "depth": depth, "curve": "limit", "y": limit}
        rows += [key | {"x": width} for width in (min(widths), max(widths))]
    curves = pd.DataFrame(rows)
    for grows, own in curves[curves["curve"] == "exact"].groupby("grows"):
        first, last = float(own["x"].min()), float(own["x"].max())
        height = 0.6 * own[own["x"] == first]["y"].min()  # below the lowest exact curve
        key = {"grows": grows, "gates": INDEPENDENT, "depth": 0, "curve": "guide"}
        rows += [key | {"x": x, "y": height * np.sqrt(first / x)} for x in (first, last)]
    columns = ["grows", "gates", "depth", "curve", "x", "y", "spread", "runs"]
    return pd.DataFrame(rows, columns=columns)


def _run(
    x: Tensor, grows: str, depth: int, width: int, copies: int, run: int
) -> Iterator[dict[str, Any]]:
    """Errors for one feature network, with an independent value network.

    If the width grows, the network that uses its own weights for the gates is measured too.
    """
    sizes, sigma = sizes_of(x.shape[-1], width, depth), sigma_of(width)
    # the feature network does not depend on the number of copies
    features = np.random.default_rng(seed_for("npf/theory/features", grows, depth, width, run))
    values = np.random.default_rng(seed_for("npf/theory/values", grows, depth, width, copies, run))
    feature = _one(sizes, sigma, features)[:-1]
    gates = feature_gates(x, feature, None)
    wide_gates = [gate.repeat(1, copies) for gate in gates]
    wide_sizes = sizes_of(x.shape[-1], copies * width, depth)
    value = _one(wide_sizes, sigma / np.sqrt(copies), values)
    exact = value_kernel_moments(x, gate_counts(wide_gates), sigma**2 / copies)
    if not exact.mean.any():
        raise ConfigError(f"no path is open in run {run}, and its kernel is zero")
    overlap = float(np.mean(np.diagonal(exact.mean) / np.diagonal(x @ x.T))) / depth
    predicted = float(np.sqrt(exact.variance.sum()) / np.linalg.norm(exact.mean))
    measured = [(INDEPENDENT, value, predicted)]
    if grows == "width":
        measured.append((OWN, [*feature, value[-1]], np.nan))
    for name, weights, expected in measured:
        # the rounding error of float32, 1e-6, is far below the errors measured
        drawn = value_kernel(x, weights, None, wide_gates, with_biases=False, dtype=torch.float32)
        kernel = drawn.double().numpy()
        yield {
            "gates": name,
            "error": float(relative_error(kernel, exact.mean)),
            "predicted": expected,
            "correlation": float(correlation(kernel, exact.mean)),
            "self_overlap": overlap,
        }


def _one(
    sizes: Sequence[int], sigma: float, stream: np.random.Generator, law: Law = "signed"
) -> list[Tensor]:
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
    stream = generator("npf/theory/enumerated", *sizes)
    x = torch.randn(3, sizes[0], generator=stream, dtype=torch.float64)
    gates = [draw_gates((3, width), OPEN, stream) for width in sizes[1:-1]]
    sigma = sigma_of(sizes[1])
    weights = every_signed_network(sizes, sigma)
    kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()
    formula = _formula(x, gates, sigma)
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2)
    mean = kernels.mean(axis=0)
    return {
        "networks": "enumerated",
        "gates": "bernoulli",
        "depth": len(sizes) - 1,
        "width": sizes[1],
        "draws": len(kernels),
        "pairs": 6,
        "mean_error": _largest(mean - formula, formula),
        "variance_error": _largest(kernels.var(axis=0) - exact.variance, exact.variance),
        "max_z": np.nan,
        "trace_ratio": float(np.trace(mean) / np.trace(formula)),
        "trace_ratio_se": 0.0,
    }


def _drawn(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Fixed gates of an independent ReLU network, or random ones; random value networks."""
    count, chosen = settings["inputs"], settings["mean"]
    width, draws = chosen["width"], chosen["draws"]
    for kind, depth in itertools.product(("relu", "bernoulli"), chosen["depths"]):
        if kind == "relu":
            x = points(count, settings["n0"])
            random = np.random.default_rng(seed_for("npf/theory/mean gates", depth, width))
            sizes = sizes_of(x.shape[1], width, depth)
            feature = draw_weights(sizes, sigma_of(width), 1, random)[:-1]
            gates = feature_gates(x, [weight[0] for weight in feature], None)
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


def _compared(x: Tensor, gates: list[Tensor], width: int, draws: int, kind: str) -> dict[str, Any]:
    depth, sigma = len(gates) + 1, sigma_of(width)
    formula = _formula(x, gates, sigma)
    sizes = sizes_of(x.shape[1], width, depth)
    piece = max(1, PIECE // sum(a * b for a, b in itertools.pairwise(sizes)))
    first, second, traces = np.zeros_like(formula), np.zeros_like(formula), []
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/mean", kind, depth, width, start))
        weights = draw_weights(sizes, sigma, min(piece, draws - start), stream)
        kernels = value_kernel(x, weights, None, gates, with_biases=False).numpy()
        off = kernels - formula
        first, second = first + off.sum(axis=0), second + (off**2).sum(axis=0)
        traces.append(np.trace(kernels, axis1=1, axis2=2) / np.trace(formula))
    mean = first / draws
    variance = (second - draws * mean**2) / (draws - 1)
    exact = value_kernel_moments(x, gate_counts(gates), sigma**2)
    ratios = np.concatenate(traces)
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
    chosen = settings["variance"]
    rows, drawn = list(_exact(chosen)), chosen["drawn"]
    cells = list(itertools.product(drawn["widths"], drawn["depths"]))
    progress = Progress(len(cells) * drawn["draws"], "networks for the variance")
    for width, depth in cells:
        rows += _drawn_variances(width, depth, drawn["draws"])
        progress.advance(drawn["draws"])
    progress.close()
    return pd.DataFrame(rows)


def _exact(chosen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for (entry, (own, shared)), depth in itertools.product(SHARES.items(), chosen["depths"]):
        for width in chosen["widths"]:
            numbers = (np.full((depth - 1, 1, 1), width * share) for share in (shared, own, own))
            moments = value_kernel_moments(X[:1], unit_counts(*numbers), 1 / (own * width))
            yield _row(entry, "exact", width, depth, float(moments.variance[0, 0]))
        if entry != "pair":
            # this is the variance times the width; the columns then hold its coefficient
            yield _row(entry, "leading", 0, depth, leading_variance(depth, own))


def _drawn_variances(width: int, depth: int, draws: int) -> Iterator[dict[str, Any]]:
    """All three entries from random networks; both kernels of a network use the same weights."""
    pieces = {entry: [] for entry in SHARES}
    piece = max(1, PIECE // (width * width * depth))
    sizes = sizes_of(1, width, depth)
    halves = torch.zeros(2, width)  # of the two inputs, which share a quarter
    halves[0, : width // 2] = 1
    halves[1, width // 4 : width // 4 + width // 2] = 1
    for start in range(0, draws, piece):
        stream = np.random.default_rng(seed_for("npf/theory/variance", width, depth, start))
        signs = draw_weights(sizes, 1.0, min(piece, draws - start), stream, dtype=torch.float32)
        for gate, entries in (
            (halves, {"half": (0, 0), "pair": (0, 1)}),
            (torch.ones(2, width), {"open": (0, 0)}),
        ):
            weights = [float(gate[0].sum()) ** -0.5 * sign for sign in signs]
            gates = [gate] * (depth - 1)
            kernels = value_kernel(
                torch.from_numpy(X), weights, None, gates, with_biases=False, dtype=torch.float32
            )
            for entry, (s, t) in entries.items():
                pieces[entry].append(kernels[:, s, t].double().numpy())
    for entry, values in pieces.items():
        own, shared = SHARES[entry]
        squares = (np.concatenate(values) - depth * (shared / own) ** (depth - 1)) ** 2
        spread = float(squares.std(ddof=1)) / np.sqrt(draws)
        yield _row(entry, "drawn", width, depth, float(squares.mean()), spread, draws)


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
