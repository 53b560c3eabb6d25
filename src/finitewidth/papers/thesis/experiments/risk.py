"""Double descent in linear regression, job `thesis_risk` (``thesis`` Figure 2.4).

It is about Theorems 2.4 and 2.5. The regressions are drawn as in (2.40), with Gaussian inputs of
unit covariance. Parameters are P, samples N, signal r^2 and noise sigma^2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.papers.thesis import columns
from finitewidth.papers.thesis.settings import Risk
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

NEAR = 20  # parameters next to N at which curves have every point
TABLES = {
    "drawn": Table(
        columns.CASE,
        columns.SIGMA2,
        columns.RATIO,
        columns.SIZE,
        columns.PARAMETERS,
        columns.DRAWS,
        columns.RISK_MEAN,
        columns.RISK_MEAN_ERROR,
        columns.RISK_MEDIAN,
        columns.RISK_MEDIAN_ERROR,
        columns.RISK_LOW,
        columns.RISK_HIGH,
        columns.EXACT,
        columns.HAS_MEAN,
        columns.HAS_VARIANCE,
    ),
    "curves": Table(
        columns.CASE,
        columns.SIGMA2,
        columns.CURVE,
        columns.RATIO,
        columns.SIZE,
        columns.RISK_ON_CURVE,
    ),
    "shape": Table(
        columns.CASE,
        columns.SIGMA2,
        columns.LOWEST_RATIO,
        columns.PRINTED_ROOT,
    ),
    "doubled": Table(
        columns.CASE,
        columns.SIGMA2,
        columns.RATIO,
        columns.SIZE,
        columns.EXACT,
        columns.LIMIT,
    ),
    "descent": Table(
        columns.RATIO,
        columns.SIZE,
        columns.STEPS,
        columns.CONDITION,
        columns.DISTANCE,
    ),
}


def measure(inputs: Mapping[str, Any], settings: Risk) -> dict[str, pd.DataFrame]:
    """Drawn risks, exact means and limits, and gradient descent beside the pseudoinverse.

    Returns:
        ``drawn``, ``curves``, ``shape``, ``doubled`` and ``descent``, see `TABLES`.
    """
    parts = {
        "drawn": _drawn,
        "curves": _curves,
        "shape": _shape,
        "doubled": _doubled,
        "descent": _descent,
    }
    return {name: pd.DataFrame(rows(settings)) for name, rows in parts.items()}


def _cases(settings: Risk) -> Iterator[dict[str, Any]]:
    for noise in settings.noises:
        yield {"case": f"r^2/sigma^2 = {settings.signal / noise:g}", "noise": noise}


def _drawn(settings: Risk) -> Iterator[dict[str, Any]]:
    samples = settings.samples
    signal = settings.signal
    draws = settings.draws
    for ratio in settings.ratios:
        parameters = round(ratio * samples)
        rng = np.random.default_rng(seed_for("thesis/risk", samples, parameters))
        parts = [unit_risks(parameters, samples, settings.targets, rng) for _ in range(draws)]
        bias, variance = np.mean(parts, axis=-1).T  # (draws,) each, means over targets
        for case in _cases(settings):
            exact = exact_mean(parameters, samples, signal, case["noise"])
            yield {
                **case,
                "x": ratio,
                "size": samples,
                "parameters": parameters,
                "draws": draws,
                **_summary(signal * bias + case["noise"] * variance),
                "exact": exact,
                "has_mean": not math.isnan(exact),
                "has_variance": abs(parameters - samples) > 3,  # for Gaussian inputs
            }


def unit_risks(
    parameters: int, samples: int, targets: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The two parts of |w - w*|^2 for one matrix of inputs X and several w* and noises.

    For P < N the error of w is (X'X)^-1 X' noise. For P >= N it is the projection of w* on the
    null space of X plus X' (XX')^-1 noise, and both are orthogonal.

    Returns:
        The bias for |w*| = 1 and the variance for noise of variance 1, (targets,) each.
    """
    x = rng.standard_normal((samples, parameters))
    weights = rng.standard_normal((parameters, targets))
    weights /= np.linalg.norm(weights, axis=0)
    noise = rng.standard_normal((samples, targets))
    if parameters < samples:
        error = np.linalg.solve(x.T @ x, x.T @ noise)
        return np.zeros(targets), (error**2).sum(axis=0)

    outputs = x @ weights
    dual = np.linalg.solve(x @ x.T, np.hstack([outputs, noise]))  # (XX')^-1 of both
    dual_of_outputs = dual[:, :targets]
    dual_of_noise = dual[:, targets:]
    bias = 1 - (outputs * dual_of_outputs).sum(axis=0)
    variance = (noise * dual_of_noise).sum(axis=0)
    # rounding can leave less than nothing where P = N
    return np.maximum(bias, 0), variance


def _summary(risks: np.ndarray) -> dict[str, float]:
    """Mean, median and their standard errors, and the range of the middle 80 % of draws (n,).

    The error of the median is half the distance between two order statistics, those sqrt(n)/2 ranks
    below and above it.
    """
    count = len(risks)
    root = math.sqrt(count)
    ordered = np.sort(risks)
    below = max(0, math.floor((count - root) / 2))
    above = min(count - 1, math.ceil((count + root) / 2))
    distance = float(ordered[above] - ordered[below])
    low, high = np.quantile(risks, (0.1, 0.9))
    deviation = risks.std(ddof=1)
    return {
        "mean": float(risks.mean()),
        "mean_error": float(deviation / root),
        "median": float(np.median(risks)),
        "median_error": distance / 2,
        "low": float(low),
        "high": float(high),
    }


def _curves(settings: Risk) -> Iterator[dict[str, Any]]:
    samples = settings.samples
    signal = settings.signal
    grid = _grid(samples, settings.ratios, settings.points)
    for case in _cases(settings):
        noise = case["noise"]
        for curve in ("exact", "corrected", "printed"):
            for parameters in grid:
                ratio = parameters / samples
                if curve == "exact":
                    y = exact_mean(parameters, samples, signal, noise)
                else:
                    y = limit(ratio, signal, noise, curve)
                yield {**case, "curve": curve, "x": ratio, "size": samples, "y": y}


def _grid(samples: int, ratios: Sequence[float], points: int) -> list[int]:
    """Numbers of parameters: ``points`` spaced by their logarithm, and every one near N."""
    first = round(samples * min(ratios))
    last = round(samples * max(ratios))
    spaced = np.geomspace(first, last, points).round().astype(int).tolist()
    near = range(max(first, samples - NEAR), min(last, samples + NEAR) + 1)
    return sorted({*spaced, *near})


def _shape(settings: Risk) -> Iterator[dict[str, Any]]:
    signal = settings.signal
    for case in _cases(settings):
        yield {
            **case,
            "lowest": lowest_ratio(signal, case["noise"]),
            "printed_root": printed_root(signal, case["noise"]),
        }


def _doubled(settings: Risk) -> Iterator[dict[str, Any]]:
    signal = settings.signal
    for case in _cases(settings):
        noise = case["noise"]
        for ratio in settings.ratios:
            if ratio == 1:  # has neither a mean nor a limit
                continue
            for samples in settings.doubled:
                yield {
                    **case,
                    "x": ratio,
                    "size": samples,
                    "exact": exact_mean(round(ratio * samples), samples, signal, noise),
                    "limit": limit(ratio, signal, noise),
                }


def _descent(settings: Risk) -> Iterator[dict[str, Any]]:
    """Gradient descent (2.42) from zero at the largest rate of Theorem 2.4.

    It takes as many steps as its slowest direction needs to come within the tolerance.
    """
    samples = settings.samples
    tolerance = settings.descent.tolerance
    for ratio in settings.descent.ratios:
        parameters = round(ratio * samples)
        rng = np.random.default_rng(seed_for("thesis/risk/descent", samples, parameters))
        x = rng.standard_normal((samples, parameters))
        y = rng.standard_normal(samples)
        eigenvalues = np.linalg.svd(x, compute_uv=False) ** 2  # of X'X, the nonzero ones
        largest = float(eigenvalues.max())
        condition = float(eigenvalues.max() / eigenvalues.min())
        # an error shrinks by 1 - 1/condition a step in the slowest direction
        steps = math.ceil(math.log(tolerance) / math.log1p(-1 / condition))
        descended = descend(x, y, 1 / largest, steps)
        least_norm = np.linalg.pinv(x) @ y
        distance = np.linalg.norm(descended - least_norm) / np.linalg.norm(least_norm)
        yield {
            "x": parameters / samples,
            "size": samples,
            "steps": steps,
            "condition": condition,
            "distance": float(distance),
        }


def descend(x: np.ndarray, y: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """Weights (P,) after some steps of (2.42) from zero, for inputs (N, P) and targets (N,)."""
    weights = np.zeros(x.shape[1])
    transposed = np.ascontiguousarray(x.T)
    for _ in range(steps):
        weights -= rate * (transposed @ (x @ weights - y))
    return weights


def exact_mean(parameters: int, samples: int, signal: float, noise: float) -> float:
    """Mean risk for Gaussian inputs, from the means of inverse Wishart matrices.

    It is sigma^2 P / (N - P - 1) for P < N - 1, and r^2 (1 - N/P) + sigma^2 N / (P - N - 1) for
    P > N + 1. In between there is no mean, and the result is nan.
    """
    distance = abs(parameters - samples)
    if distance < 2:
        return math.nan
    variance = noise * min(parameters, samples) / (distance - 1)
    return variance + signal * max(0.0, 1 - samples / parameters)


def lowest_ratio(signal: float, noise: float) -> float:
    """The ratio above 1 where the limit of the risk is lowest, r / (r - sigma).

    It is nan if the limit falls for all ratios above 1, which is so for sigma >= r.
    """
    r = math.sqrt(signal)
    sigma = math.sqrt(noise)
    return r / (r - sigma) if sigma < r else math.nan


def printed_root(signal: float, noise: float) -> float:
    """The ratio above 1 up to which the limit as printed is negative.

    It is the larger root of r^2 (gamma - 1)^2 = sigma^2 gamma.
    """
    half = noise / signal / 2
    return 1 + half + math.sqrt(half * (half + 2))


def limit(ratio: float, signal: float, noise: float, form: str = "corrected") -> float:
    """Limit of the risk for P, N to infinity with P/N = gamma, (2.46); nan at ratio 1.

    As printed it has 1 - gamma in place of gamma - 1 in the last denominator.
    """
    if ratio == 1:
        return math.nan
    if ratio < 1:
        return noise * ratio / (1 - ratio)
    sign = -1 if form == "printed" else 1
    return signal * (1 - 1 / ratio) + sign * noise / (ratio - 1)
