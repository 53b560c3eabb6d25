"""The flow of ``collapse`` (25) and the linear dynamics of (9), job `collapse_flow`.

It is about Section 4.1, Theorems 5.1 and 5.2, their remarks, and Appendix B.4. The kernel has exact
blocks, so that no network is trained.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.measures.collapse import ClassParts, bias_gap, nc2, nc3, nc4
from finitewidth.papers.collapse.experiments import block_flow
from finitewidth.papers.collapse.experiments.block_flow import BlockKernel, FlowState
from finitewidth.records.provenance import seed_for

ZERO, FREE, RANDOM = "zero_invariant", "free_biases", "random_weights"
POSITIVE = "positive_invariant"
COMPONENTS = ("global", "class", "single")
EARLIER = 4  # quantities of the last time are also given at this fraction of it


def measure(inputs: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Integrate the flow from five kinds of starts, with frozen biases, and the residuals.

    The settings are those of `finitewidth.papers.collapse.settings.flow.Flow`.

    Returns:
        ``curves``: start (zero_invariant, free_biases, random_weights, positive_invariant), case,
        run, time, nc1 (variance within classes over variance of class means), nc2, nc3, nc4 (share
        of random points at which both rules agree), h2 (|H2|), mean (|<h>| over the root mean
        square norm of centred class means), bias_gap, alignment (of W^T W with the features' part
        of E), drift (|E - E at the start| over |W^T W / m| + |features' part| at the start), bound
        (of h2, where E is positive semidefinite, see `bound_within`; nan elsewhere).
        ``uncentred``, from starts with <h> != 0 and b = 0: case, run, time (the last one, and a
        quarter of it), residual (largest size of an entry of R1), gap (largest |b - 1/C|), and
        error (largest |b - 1/C + W <h>|, which is 0 where R1 = 0).
        ``leading``: time, h2, nc3: leading terms from zero_invariant, see `leading_terms`.
        ``frozen``: case, kappa_n, beta, run, quantity (gamma, theta, nc2, nc3, nc3_earlier, h2,
        drift), value at the last time.
        ``formulas``: case, kappa_n, beta, quantity (gamma, theta), form (printed, corrected),
        value.
        ``residuals``: kernel, component, run, eigenvalue, reached (time at which the norm has
        fallen to ``below`` of its start), predicted.
        ``orders``: method, step, distance (of the state from that of DOP853, relative), drift.
    """
    return {
        "curves": pd.DataFrame(_curves(settings)),
        "uncentred": pd.DataFrame(_uncentred(settings)),
        "leading": pd.DataFrame(leading_terms(_kernel(settings), _times(settings)[1:])),
        "frozen": pd.DataFrame(_frozen(settings)),
        "formulas": pd.DataFrame(_formulas(settings["frozen"], settings)),
        "residuals": pd.DataFrame(_residuals(settings)),
        "orders": pd.DataFrame(_orders(settings)),
    }


def _kernel(settings: Mapping[str, Any], **changed: float) -> BlockKernel:
    return BlockKernel(settings["classes"], settings["samples"], **settings["kernel"] | changed)


def _times(settings: Mapping[str, Any]) -> list[float]:
    """0, and the last time divided by powers of the square root of 2."""
    last, count = settings["time"], 2 * settings["halvings"]
    return [0.0, *(last * 2 ** (-k / 2) for k in range(count, -1, -1))]


def _stream(*words: str | int) -> np.random.Generator:
    return np.random.default_rng(seed_for("collapse/flow", *words))


def _path(
    settings: Mapping[str, Any],
    kernel: BlockKernel,
    starts: Iterable[tuple[Sequence[str | int], dict[str, Any]]],
    times: Sequence[float],
    frozen: bool = False,
) -> list[FlowState]:
    """Stacked states at these times, of starts by the words of their random streams.

    With the words stand the arguments of `block_flow.random_start`.
    """
    given = {"features": settings["features"], **settings["start"]}
    states = [
        block_flow.random_start(kernel, given, _stream(*words), **arguments)
        for words, arguments in starts
    ]
    start = FlowState(*map(np.concatenate, zip(*states, strict=True)))
    return block_flow.integrate(kernel, start, times, settings["tolerance"], frozen=frozen)


def _curves(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    fitting = {"centred": True, "bias": 1 / settings["classes"]}
    cases = [(ZERO, "E = 0, b = 1/C", fitting), (FREE, "E = 0, b = 0", {"centred": True})]
    cases += [
        (RANDOM, f"random W, scale {scale:g}", fitting | {"weight_scale": scale})
        for scale in settings["weights"]
    ]
    # positive semidefinite E, features with a global mean, and biases 0
    positive = [(POSITIVE, "E >= 0", {"excess": settings["excess"]})]
    kernel, times = _kernel(settings), _times(settings)
    points = _stream("points").standard_normal((settings["probes"], settings["features"]))
    # the steps of an integration depend on all states that are integrated together
    for together in (cases, positive):
        runs = list(product(together, range(settings["runs"])))
        starts = [((case, run), arguments) for (_, case, arguments), run in runs]
        path = _path(settings, kernel, starts, times)
        drifts = _drifts(kernel, path)
        for place, ((start, case, _), run) in enumerate(runs):
            scatter = float(np.trace(path[0].scatter[place]))
            for time, state, drift in zip(times, path, drifts, strict=True):
                bound = bound_within(kernel, settings["features"], scatter, time)
                yield {
                    "start": start,
                    "case": case,
                    "run": run,
                    "time": time,
                    **collapse_of(kernel, state, place, points),
                    "drift": float(drift[place]),
                    "bound": math.nan if start == RANDOM else bound,
                }


def bound_within(kernel: BlockKernel, features: int, scatter: float, time: float) -> float:
    """Return the bound of |H2| from a positive semidefinite E, at all times (docs/collapse.md).

    By E >= 0, W^T W - (m / mu_single) S is positive semidefinite for S = H2 H2^T, so that the rank
    of S is at most r = min(n, C), as that of W. Then (25) gives
    d/dt tr S = -2 mu_single tr(W^T W S) <= -2 m tr S^2 <= -(2 m / r) (tr S)^2, hence
    tr S <= 1 / (1 / tr S(0) + 2 m t / r). Neither a fit of the class means nor an end of training
    is needed. ``features`` is n, and ``scatter`` is tr S(0).
    """
    rank = min(features, kernel.classes)
    return math.sqrt(scatter / (1 + 2 * kernel.samples * time * scatter / rank))


def _uncentred(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Biases at the end of flows whose features have a global mean."""
    kernel, times = _kernel(settings), [0.0, settings["time"] / EARLIER, settings["time"]]
    scales = {"E = 0": None, **{f"random W, scale {w:g}": w for w in settings["weights"]}}
    runs = list(product(scales, range(settings["runs"])))
    starts = [(("uncentred", *run), {"weight_scale": scales[run[0]]}) for run in runs]
    path = _path(settings, kernel, starts, times)
    for time, state in list(zip(times, path, strict=True))[1:]:
        means = state.means.mean(axis=-1)
        away = state.biases - 1 / kernel.classes
        error = away + (state.weights @ means[..., None])[..., 0]
        for place, (case, run) in enumerate(runs):
            yield {
                "case": case,
                "run": run,
                "time": time,
                "residual": float(np.abs(state.residuals[place]).max()),
                "gap": float(np.abs(away[place]).max()),
                "error": float(np.abs(error[place]).max()),
            }


def _drifts(kernel: BlockKernel, path: Sequence[FlowState]) -> list[np.ndarray]:
    """|E - E at the start| over the norms of both parts of E at the start, (R,) for each state."""
    norms = partial(np.linalg.norm, axis=(-2, -1))
    first, wanted = path[0], block_flow.invariant(kernel, path[0])
    size = norms(first.weight_gram / kernel.samples)
    size = size + norms(block_flow.feature_terms(kernel, first))
    return [norms(block_flow.invariant(kernel, state) - wanted) / size for state in path]


def collapse_of(
    kernel: BlockKernel, states: FlowState, place: int, points: np.ndarray
) -> dict[str, float]:
    """How near the stacked state ``place`` is to neural collapse, by the measures of `measure`.

    ``points`` are standard normal numbers (P, n), for NC4. A point of class c is its mean plus such
    a vector, as long as the root mean square norm of centred class means on average.
    """
    W, b, H1, S = (part[place] for part in states)  # (C, n), (C,), (n, C), (n, n)
    parts = ClassParts(H1, np.empty(0), H1.mean(axis=1), kernel.samples)
    centred = np.linalg.norm(parts.centred)
    radius = centred / math.sqrt(kernel.classes)  # root mean square norm of centred class means
    scatter = float(np.trace(S))
    terms = block_flow.feature_terms(kernel, states)[place]  # (n, n)
    classes = np.arange(len(points)) % kernel.classes
    features = H1.T[classes] + radius / math.sqrt(len(H1)) * points  # (P, n)
    return {
        "nc1": scatter / centred**2,
        "nc2": nc2(parts),
        "nc3": nc3(parts, W),
        "nc4": nc4(parts, features, W, b),
        "h2": math.sqrt(max(scatter, 0.0)),
        "mean": float(np.linalg.norm(parts.mean)) / radius,
        "bias_gap": bias_gap(b),
        "alignment": _cosine(W.T @ W, terms),
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
    rows = (kernel.classes - 1) * math.sqrt(kernel.samples / kernel.mu_class)
    return [
        {
            "time": time,
            "h2": (2 * kernel.samples * time) ** -0.5,
            "nc3": (2 * kernel.mu_single * time * rows) ** -0.5,
        }
        for time in times
    ]


# equal biases that stay as they are


def _frozen(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    frozen, times = settings["frozen"], [0.0, settings["time"] / EARLIER, settings["time"]]
    points = np.zeros((settings["classes"], settings["features"]))  # NC4 is not told
    for other, beta in product(frozen["other_class"], frozen["biases"]):
        kernel, case = _kernel(settings, other_class=other), _case(other, beta)
        starts = [((case, run), {"bias": beta}) for run in range(settings["runs"])]
        path = _path(settings, kernel, starts, times, frozen=True)
        drifts = _drifts(kernel, path)[-1]
        for run in range(settings["runs"]):
            earlier, end = (collapse_of(kernel, state, run, points) for state in path[-2:])
            W, H1 = path[-1].weights[run], path[-1].means[run]
            ends = {
                "gamma": off_diagonal_part(W @ W.T),
                "theta": off_diagonal_part(H1.T @ H1),
                **{name: end[name] for name in ("nc2", "nc3", "h2")},
                "nc3_earlier": earlier["nc3"],
                "drift": float(drifts[run]),
            }
            for quantity, value in ends.items():
                yield {
                    "case": case,
                    "kappa_n": other,
                    "beta": beta,
                    "run": run,
                    "quantity": quantity,
                    "value": value,
                }


def _case(other_class: float, beta: float) -> str:
    return f"kappa_n = {other_class:g}, beta = {beta:g}"


def off_diagonal_part(gram: np.ndarray) -> float:
    """The g of a matrix (C, C) proportional to I - g 1 1^T, from means on and off its diagonal."""
    count = len(gram)
    diagonal = np.trace(gram) / count
    beside = (gram.sum() - np.trace(gram)) / (count * (count - 1))
    return float(-beside / (diagonal - beside))


def _formulas(frozen: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Values of gamma and theta at the biases that are integrated, and on a grid around them."""
    ends = min(frozen["biases"]) - frozen["margin"], max(frozen["biases"]) + frozen["margin"]
    own = frozen["biases"]
    grid = np.linspace(*ends, frozen["points"])
    between = [float(beta) for beta in grid if not np.isclose(beta, own, rtol=0).any()]
    for other in frozen["other_class"]:
        kernel = _kernel(settings, other_class=other)
        for beta in sorted({*between, *own}):
            for (quantity, form), value in angles(kernel, beta).items():
                yield {
                    "case": _case(other, beta),
                    "kappa_n": other,
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
    shrink, off = math.sqrt(1 - kernel.alpha * count), abs(1 - beta * count)
    return {
        ("gamma", "printed"): (1 - abs(beta * count) * shrink) / count,
        ("gamma", "corrected"): (1 - off * shrink) / count,
        ("theta", "printed"): (1 - off / (2 - shrink)) / count,
        ("theta", "corrected"): (1 - off / shrink) / count,
    }


# residuals of one output under its own block kernel


def _residuals(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    given, sizes = settings["residuals"], (settings["classes"], settings["samples"])
    for values in given["kernels"]:
        kernel, name = BlockKernel(*sizes, *values), ", ".join(f"{value:g}" for value in values)
        starts = _stream("residuals", name).standard_normal((sizes[0] * sizes[1], settings["runs"]))
        reached = times_to_fall(kernel, starts, given["below"], given["step"])
        eigenvalues = (kernel.mu_global, kernel.mu_class, kernel.mu_single)
        for component, eigenvalue, found in zip(COMPONENTS, eigenvalues, reached, strict=True):
            predicted = -math.log(given["below"]) / eigenvalue
            for run, time in enumerate(found):
                yield {
                    "kernel": name,
                    "component": component,
                    "run": run,
                    "reached": float(time),
                    "eigenvalue": eigenvalue,
                    "predicted": predicted,
                }


def times_to_fall(kernel: BlockKernel, starts: np.ndarray, below: float, step: float) -> np.ndarray:
    """Times at which the components of residuals have fallen, by gradient descent (9).

    The residuals of one output (N, R), sorted by class, start at ``starts``. Their components are
    the global mean, the class means minus it, and the samples minus their class mean; ``below`` is
    the fraction of its start to which the norm of each falls. ``step`` is the step size times the
    largest eigenvalue of the kernel. Times are steps times step size, (3, R).
    """
    matrix, eta = kernel.matrix, step / kernel.mu_global
    residuals, wanted = starts, below * _components(kernel, starts)
    reached = np.full(wanted.shape, np.nan)
    steps = math.ceil(2 * math.log(below) / math.log1p(-eta * kernel.mu_single))
    for done in range(1, steps + 1):
        residuals = residuals - eta * (matrix @ residuals)
        low = np.isnan(reached) & (_components(kernel, residuals) <= wanted)
        reached[low] = done * eta
        if not np.isnan(reached).any():
            break
    return reached


def _components(kernel: BlockKernel, residuals: np.ndarray) -> np.ndarray:
    """Norms of the three components of residuals (N, R), (3, R)."""
    grouped = residuals.reshape(kernel.classes, kernel.samples, -1)
    classes = grouped.mean(axis=1)
    overall = classes.mean(axis=0)
    rest = (grouped - classes[:, None]).reshape(len(residuals), -1)
    return np.stack(
        [np.abs(overall), *(np.linalg.norm(part, axis=0) for part in (classes - overall, rest))]
    )


# a second integrator


def _orders(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The classical Runge-Kutta method at several steps beside DOP853, from random weights."""
    kernel, given = _kernel(settings), settings["steps"]
    starts = [(("orders", run), {"weight_scale": w}) for run, w in enumerate(settings["weights"])]
    first, exact = _path(settings, kernel, starts, [0.0, given["time"]])
    size = np.linalg.norm(exact.flat())
    ends = [("DOP853", math.nan, exact)]
    for step in given["steps"]:
        ends.append(("RK4", step, block_flow.runge_kutta_4(kernel, first, given["time"], step)))
    for method, step, end in ends:
        drift = _drifts(kernel, [first, end])[-1].max()
        distance = float(np.linalg.norm(end.flat() - exact.flat()) / size)
        yield {"method": method, "step": step, "distance": distance, "drift": float(drift)}
