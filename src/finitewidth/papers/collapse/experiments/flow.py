"""The flow of ``collapse`` (25) and the linear dynamics of (9), job `collapse_flow`.

It is about Section 4.1, Theorems 5.1 and 5.2, their remarks, and Appendix B.4. The kernel has exact
blocks, so that no network is trained.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.measures.collapse import ClassParts, bias_gap, nc2, nc3, nc4
from finitewidth.papers.collapse.columns import flow as columns
from finitewidth.papers.collapse.experiments import block_flow
from finitewidth.papers.collapse.experiments.block_flow import BlockKernel, FlowState
from finitewidth.papers.collapse.settings.flow import Flow
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

# kinds of starts
ZERO = "zero_invariant"
FREE = "free_biases"
RANDOM = "random_weights"
POSITIVE = "positive_invariant"
COMPONENTS = ("global", "class", "single")
# kind of start, name, and keyword arguments of `block_flow.random_start`
Case = tuple[str, str, dict[str, Any]]
EARLIER = 4  # quantities of the last time are also given at this fraction of it
TABLES = {
    "curves": Table(
        columns.START,
        columns.CASE,
        columns.RUN,
        columns.TIME,
        columns.NC1,
        columns.NC2_OF_FLOW,
        columns.NC3_OF_FLOW,
        columns.NC4,
        columns.H2,
        columns.MEAN,
        columns.BIAS_GAP,
        columns.ALIGNMENT,
        columns.DRIFT,
        columns.BOUND,
    ),
    "uncentred": Table(
        columns.CASE_OF_WEIGHTS,
        columns.RUN,
        columns.TIME,
        columns.LARGEST_RESIDUAL,
        columns.GAP,
        columns.ERROR,
    ),
    "leading": Table(columns.TIME, columns.H2, columns.NC3_OF_FLOW),
    "frozen": Table(
        columns.CASE_OF_BIASES,
        columns.KAPPA_N,
        columns.BETA,
        columns.RUN,
        columns.QUANTITY,
        columns.VALUE,
    ),
    "formulas": Table(
        columns.CASE_OF_BIASES,
        columns.KAPPA_N,
        columns.BETA,
        columns.ANGLE,
        columns.FORM,
        columns.ANGLE_BY_FORMULA,
    ),
    "residuals": Table(
        columns.BLOCKS,
        columns.RESIDUAL_PART,
        columns.RUN,
        columns.REACHED,
        columns.EIGENVALUE,
        columns.PREDICTED,
    ),
    "orders": Table(columns.METHOD, columns.STEP, columns.DISTANCE, columns.DRIFT),
}


def measure(inputs: Mapping[str, Any], settings: Flow) -> dict[str, pd.DataFrame]:
    """Integrate the flow from five kinds of starts, with frozen biases, and the residuals.

    Returns:
        ``curves``: a row for each start and time, see `collapse_of`; the bound is `bound_within`.

        ``uncentred``: flows from <h> != 0 and b = 0, at the last time and a quarter of it.

        ``leading``: leading terms from zero_invariant, see `leading_terms`.

        ``frozen``: flows with frozen biases, at the last time.

        ``formulas``: gamma and theta by the formulas.

        ``residuals``: how fast components of residuals fall.

        ``orders``: a second integrator.
    """
    return {
        "curves": pd.DataFrame(_curves(settings)),
        "uncentred": pd.DataFrame(_uncentred(settings)),
        "leading": pd.DataFrame(leading_terms(_kernel(settings), _times(settings)[1:])),
        "frozen": pd.DataFrame(_frozen(settings)),
        "formulas": pd.DataFrame(_formulas(settings)),
        "residuals": pd.DataFrame(_residuals(settings)),
        "orders": pd.DataFrame(_orders(settings)),
    }


def _kernel(settings: Flow, other_class: float | None = None) -> BlockKernel:
    """The kernel of the settings, or one with another value between classes."""
    blocks = settings.kernel
    return BlockKernel(
        classes=settings.classes,
        samples=settings.samples,
        diagonal=blocks.diagonal,
        same_class=blocks.same_class,
        other_class=blocks.other_class if other_class is None else other_class,
    )


def _times(settings: Flow) -> list[float]:
    """0, and the last time divided by powers of the square root of 2."""
    count = 2 * settings.halvings
    return [0.0, *(settings.time * 2 ** (-k / 2) for k in range(count, -1, -1))]


def _stream(*words: str | int) -> np.random.Generator:
    """The random numbers with this name."""
    return np.random.default_rng(seed_for("collapse/flow", *words))


def _path(
    settings: Flow,
    kernel: BlockKernel,
    starts: Iterable[tuple[Sequence[str | int], dict[str, Any]]],
    times: Sequence[float],
    frozen: bool = False,
) -> list[FlowState]:
    """Stacked states at these times.

    Each of ``starts`` is the name of its random numbers, see `_stream`, and the keyword arguments
    of `block_flow.random_start`.
    """
    states = []
    for words, arguments in starts:
        rng = _stream(*words)
        state = block_flow.random_start(kernel, settings.features, settings.start, rng, **arguments)
        states.append(state)
    start = FlowState(
        weights=np.concatenate([state.weights for state in states]),
        biases=np.concatenate([state.biases for state in states]),
        means=np.concatenate([state.means for state in states]),
        scatter=np.concatenate([state.scatter for state in states]),
    )
    return block_flow.integrate(kernel, start, times, settings.tolerance, frozen=frozen)


def _curves(settings: Flow) -> Iterator[dict[str, Any]]:
    """Rows of ``curves``."""
    fitting: dict[str, Any] = {"centred": True, "bias": 1 / settings.classes}
    cases: list[Case] = [
        (ZERO, "E = 0, b = 1/C", fitting),
        (FREE, "E = 0, b = 0", {"centred": True}),
    ]
    for scale in settings.weights:
        cases.append((RANDOM, f"random W, scale {scale:g}", fitting | {"weight_scale": scale}))
    # positive semidefinite E, features with a global mean, and biases 0
    positive: list[Case] = [(POSITIVE, "E >= 0", {"excess": settings.excess})]
    # the steps of an integration depend on all states that are integrated together
    yield from _curves_of(cases, settings)
    yield from _curves_of(positive, settings)


def _curves_of(cases: Sequence[Case], settings: Flow) -> Iterator[dict[str, Any]]:
    """Rows of ``curves`` of cases that are integrated together."""
    kernel = _kernel(settings)
    times = _times(settings)
    points = _stream("points").standard_normal((settings.probes, settings.features))
    runs = list(product(cases, range(settings.runs)))
    starts = [((case, run), arguments) for (_, case, arguments), run in runs]
    path = _path(settings, kernel, starts, times)
    drifts = _drifts(kernel, path)
    for index, ((start, case, _), run) in enumerate(runs):
        scatter = float(np.trace(path[0].scatter[index]))
        for time, states, drift in zip(times, path, drifts, strict=True):
            bound = bound_within(kernel, settings.features, scatter, time)
            yield {
                "start": start,
                "case": case,
                "run": run,
                "time": time,
                **collapse_of(kernel, states, index, points),
                "drift": float(drift[index]),
                "bound": math.nan if start == RANDOM else bound,
            }


def bound_within(kernel: BlockKernel, features: int, scatter: float, time: float) -> float:
    """Bound of |H2| at a time, from a positive semidefinite E (docs/collapse.md).

    By E >= 0, W^T W - (m / mu_single) S is positive semidefinite for S = H2 H2^T, so that the rank
    of S is at most r = min(n, C), as that of W. Then (25) gives
    d/dt tr S = -2 mu_single tr(W^T W S) <= -2 m tr S^2 <= -(2 m / r) (tr S)^2, hence
    tr S <= 1 / (1 / tr S(0) + 2 m t / r). Neither a fit of the class means nor an end of training
    is needed. ``features`` is n, and ``scatter`` is tr S(0).
    """
    rank = min(features, kernel.classes)
    return math.sqrt(scatter / (1 + 2 * kernel.samples * time * scatter / rank))


def _uncentred(settings: Flow) -> Iterator[dict[str, Any]]:
    """Rows of ``uncentred``: biases at the end of flows whose features have a global mean."""
    kernel = _kernel(settings)
    times = [0.0, settings.time / EARLIER, settings.time]
    scales: dict[str, float | None] = {"E = 0": None}
    for scale in settings.weights:
        scales[f"random W, scale {scale:g}"] = scale
    runs = list(product(scales, range(settings.runs)))
    starts = [(("uncentred", case, run), {"weight_scale": scales[case]}) for case, run in runs]
    path = _path(settings, kernel, starts, times)
    for time, states in zip(times[1:], path[1:], strict=True):
        global_mean = states.means.mean(axis=-1)  # <h>, (R, n)
        gaps = states.biases - 1 / kernel.classes  # (R, C)
        errors = gaps + (states.weights @ global_mean[..., None])[..., 0]
        for index, (case, run) in enumerate(runs):
            yield {
                "case": case,
                "run": run,
                "time": time,
                "residual": float(np.abs(states.residuals[index]).max()),
                "gap": float(np.abs(gaps[index]).max()),
                "error": float(np.abs(errors[index]).max()),
            }


def _drifts(kernel: BlockKernel, path: Sequence[FlowState]) -> list[np.ndarray]:
    """|E - E at the start| over the norms of both parts of E at the start, (R,) for each state."""
    first = path[0]
    at_the_start = block_flow.invariant(kernel, first)
    scale = _norms(first.weight_gram / kernel.samples)
    scale = scale + _norms(block_flow.feature_terms(kernel, first))
    drifts = []
    for states in path:
        change = block_flow.invariant(kernel, states) - at_the_start
        drifts.append(_norms(change) / scale)
    return drifts


def _norms(matrices: np.ndarray) -> np.ndarray:
    """Frobenius norm of each of some matrices, (R, n, n)."""
    return np.asarray(np.linalg.norm(matrices, axis=(-2, -1)))


def collapse_of(
    kernel: BlockKernel, states: FlowState, index: int, points: np.ndarray
) -> dict[str, float]:
    """How near the stacked state ``index`` is to neural collapse, by the measures of `measure`.

    ``points`` are standard normal numbers (P, n), for NC4. A point of class c is its mean plus such
    a vector, as long as the root mean square norm of centred class means on average.
    """
    weights = states.weights[index]  # W, (C, n)
    biases = states.biases[index]  # b, (C,)
    means = states.means[index]  # H1, (n, C)
    scatter = float(np.trace(states.scatter[index]))
    terms = block_flow.feature_terms(kernel, states)[index]  # (n, n)
    parts = ClassParts(means, np.empty(0), means.mean(axis=1), kernel.samples)
    centred = np.linalg.norm(parts.centred)
    radius = centred / math.sqrt(kernel.classes)  # root mean square norm of centred class means
    classes = np.arange(len(points)) % kernel.classes
    features = means.T[classes] + radius / math.sqrt(len(means)) * points  # (P, n)
    return {
        "nc1": float(scatter / centred**2),
        "nc2": nc2(parts),
        "nc3": nc3(parts, weights),
        "nc4": nc4(parts, features, weights, biases),
        "h2": math.sqrt(max(scatter, 0.0)),
        "mean": float(np.linalg.norm(parts.mean) / radius),
        "bias_gap": bias_gap(biases),
        "alignment": _cosine(weights.T @ weights, terms),
    }


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Cosine of the angle between two matrices of one shape."""
    product = (first * second).sum()
    return float(product / np.linalg.norm(first) / np.linalg.norm(second))


def leading_terms(kernel: BlockKernel, times: Sequence[float]) -> list[dict[str, float]]:
    """|H2| and NC3 at late times from E = 0, <h> = 0 and b = 1/C, at leading order.

    In the one direction u of the features' space that the class means leave free, E = 0 makes
    u^T W^T W u = (m / mu_single) u^T S u. Then (25) is ds/dt = -2 m s^2 for s = u^T S u, hence
    s = 1 / (2 m t), while S falls exponentially elsewhere. The other directions of W have the norm
    of (58). Times are above 0.
    """
    norm2 = (kernel.classes - 1) * math.sqrt(kernel.samples / kernel.mu_class)  # |W|^2 by (58)
    rows = []
    for time in times:
        h2 = (2 * kernel.samples * time) ** -0.5
        distance = (2 * kernel.mu_single * time * norm2) ** -0.5
        rows.append({"time": time, "h2": h2, "nc3": distance})
    return rows


# equal biases that are held fixed


def _frozen(settings: Flow) -> Iterator[dict[str, Any]]:
    """Rows of ``frozen``."""
    frozen = settings.frozen
    times = [0.0, settings.time / EARLIER, settings.time]
    for other_class, beta in product(frozen.other_class, frozen.biases):
        kernel = _kernel(settings, other_class=other_class)
        case = _case(other_class, beta)
        starts = [((case, run), {"bias": beta}) for run in range(settings.runs)]
        path = _path(settings, kernel, starts, times, frozen=True)
        for run in range(settings.runs):
            for quantity, value in _ends_of_frozen(kernel, path, run).items():
                yield {
                    "case": case,
                    "kappa_n": other_class,
                    "beta": beta,
                    "run": run,
                    "quantity": quantity,
                    "value": value,
                }


def _ends_of_frozen(kernel: BlockKernel, path: Sequence[FlowState], run: int) -> dict[str, float]:
    """Quantity of ``frozen`` -> its value at the end of a path, of the state number ``run``."""
    _, earlier, end = path
    weights = end.weights[run]  # (C, n)
    means = end.means[run]  # (n, C)
    no_points = np.zeros((kernel.classes, len(means)))  # NC4 is not among the quantities
    measures = collapse_of(kernel, end, run, no_points)
    measures_earlier = collapse_of(kernel, earlier, run, no_points)
    return {
        "gamma": off_diagonal_part(weights @ weights.T),
        "theta": off_diagonal_part(means.T @ means),
        "nc2": measures["nc2"],
        "nc3": measures["nc3"],
        "h2": measures["h2"],
        "nc3_earlier": measures_earlier["nc3"],
        "drift": float(_drifts(kernel, path)[-1][run]),
    }


def _case(other_class: float, beta: float) -> str:
    """Name of a case of ``frozen`` and ``formulas``."""
    return f"kappa_n = {other_class:g}, beta = {beta:g}"


def off_diagonal_part(gram: np.ndarray) -> float:
    """The g of a matrix (C, C) proportional to I - g 1 1^T, from means on and off its diagonal."""
    count = len(gram)
    diagonal = np.trace(gram) / count
    off_diagonal = (gram.sum() - np.trace(gram)) / (count * (count - 1))
    return float(-off_diagonal / (diagonal - off_diagonal))


def _formulas(settings: Flow) -> Iterator[dict[str, Any]]:
    """Values of gamma and theta at the biases that are integrated, and on a grid around them."""
    frozen = settings.frozen
    biases = frozen.biases
    first = min(biases) - frozen.margin
    last = max(biases) + frozen.margin
    grid = np.linspace(first, last, frozen.points)
    between = [float(beta) for beta in grid if not np.isclose(beta, biases, rtol=0).any()]
    for other_class in frozen.other_class:
        kernel = _kernel(settings, other_class=other_class)
        for beta in sorted({*between, *biases}):
            for (quantity, form), value in angles(kernel, beta).items():
                yield {
                    "case": _case(other_class, beta),
                    "kappa_n": other_class,
                    "beta": beta,
                    "quantity": quantity,
                    "form": form,
                    "value": value,
                }


def angles(kernel: BlockKernel, beta: float) -> dict[tuple[str, str], float]:
    """Printed and corrected gamma and theta of ``collapse`` (30) and (68) at equal biases beta.

    The gamma of (68) is right; after (30) it has |beta C| (erratum collapse-7). The theta of (66)
    and (68) follows from a wrong inverse (errata collapse-10 and collapse-11).
    """
    count = kernel.classes
    shrink = math.sqrt(1 - kernel.alpha * count)
    off = abs(1 - beta * count)
    return {
        ("gamma", "printed"): (1 - abs(beta * count) * shrink) / count,
        ("gamma", "corrected"): (1 - off * shrink) / count,
        ("theta", "printed"): (1 - off / (2 - shrink)) / count,
        ("theta", "corrected"): (1 - off / shrink) / count,
    }


# residuals of one output under its own block kernel


def _residuals(settings: Flow) -> Iterator[dict[str, Any]]:
    """Rows of ``residuals``."""
    chosen = settings.residuals
    count = settings.classes * settings.samples
    for values in chosen.kernels:
        kernel = BlockKernel(settings.classes, settings.samples, *values)
        name = ", ".join(f"{value:g}" for value in values)
        starts = _stream("residuals", name).standard_normal((count, settings.runs))
        reached = times_to_fall(kernel, starts, chosen.below, chosen.step)  # (3, R)
        eigenvalues = (kernel.mu_global, kernel.mu_class, kernel.mu_single)
        for component, eigenvalue, times in zip(COMPONENTS, eigenvalues, reached, strict=True):
            for run, time in enumerate(times):
                yield {
                    "kernel": name,
                    "component": component,
                    "run": run,
                    "reached": float(time),
                    "eigenvalue": eigenvalue,
                    "predicted": -math.log(chosen.below) / eigenvalue,
                }


def times_to_fall(kernel: BlockKernel, starts: np.ndarray, below: float, step: float) -> np.ndarray:
    """Times at which the components of residuals have fallen, by gradient descent (9).

    The residuals of one output (N, R), sorted by class, start at ``starts``. Their components are
    the global mean, the class means minus it, and the samples minus their class mean; ``below`` is
    the fraction of its start to which the norm of each falls. ``step`` is the step size times the
    largest eigenvalue of the kernel. Times are steps times step size, (3, R).
    """
    matrix = kernel.matrix
    eta = step / kernel.mu_global
    residuals = starts
    thresholds = below * _components(kernel, starts)  # (3, R)
    reached = np.full(thresholds.shape, np.nan)
    # twice as many steps as the slowest component needs
    most_steps = math.ceil(2 * math.log(below) / math.log1p(-eta * kernel.mu_single))
    for steps in range(1, most_steps + 1):
        residuals = residuals - eta * (matrix @ residuals)
        low = np.isnan(reached) & (_components(kernel, residuals) <= thresholds)
        reached[low] = steps * eta
        if not np.isnan(reached).any():
            break
    return reached


def _components(kernel: BlockKernel, residuals: np.ndarray) -> np.ndarray:
    """Norms of the three components of residuals (N, R), (3, R)."""
    grouped = residuals.reshape(kernel.classes, kernel.samples, -1)  # (C, m, R)
    classes = grouped.mean(axis=1)  # (C, R)
    overall = classes.mean(axis=0)  # (R,)
    single = (grouped - classes[:, None]).reshape(len(residuals), -1)  # (N, R)
    class_norm = np.linalg.norm(classes - overall, axis=0)
    single_norm = np.linalg.norm(single, axis=0)
    return np.stack([np.abs(overall), class_norm, single_norm])


# a second integrator


def _orders(settings: Flow) -> Iterator[dict[str, Any]]:
    """Rows of ``orders``: the classical Runge-Kutta method beside DOP853, from random weights."""
    kernel = _kernel(settings)
    time = settings.steps.time
    starts = []
    for run, scale in enumerate(settings.weights):
        starts.append((("orders", run), {"weight_scale": scale}))
    first, exact = _path(settings, kernel, starts, [0.0, time])
    size = np.linalg.norm(exact.flat())
    ends = [("DOP853", math.nan, exact)]
    for step in settings.steps.steps:
        ends.append(("RK4", step, block_flow.runge_kutta_4(kernel, first, time, step)))
    for method, step, end in ends:
        drift = _drifts(kernel, [first, end])[-1].max()
        distance = float(np.linalg.norm(end.flat() - exact.flat()) / size)
        yield {"method": method, "step": step, "distance": distance, "drift": float(drift)}
