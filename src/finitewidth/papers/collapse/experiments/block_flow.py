"""Gradient flow of the last two layers under a block kernel, in closed form (``collapse`` (25)).

There are C classes of m samples. The flow needs the class means H1 (n, C) and the weights W (C, n)
and biases b (C,) of the last layer. Of the variation within classes, H2, only S = H2 H2^T (n, n)
enters: by (25), dS/dt = -mu_single (W^T W S + S W^T W). Several states are integrated at once; they
are stacked along a first axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from finitewidth.common.errors import ConfigError

MOST_RATES = 600_000  # ten times as often as for the settings of the paper


@dataclass(frozen=True)
class BlockKernel:
    """The kernel of one feature, ``collapse`` Assumption 3.2."""

    classes: int  # C
    samples: int  # m, of each class
    diagonal: float  # kappa_d, a sample with itself
    same_class: float  # kappa_c, two samples of one class
    other_class: float  # kappa_n, samples of two classes

    @property
    def mu_single(self) -> float:
        """kappa_d - kappa_c."""
        return self.diagonal - self.same_class

    @property
    def mu_class(self) -> float:
        """mu_single + m (kappa_c - kappa_n)."""
        return self.mu_single + self.samples * (self.same_class - self.other_class)

    @property
    def mu_global(self) -> float:
        """mu_class + N kappa_n, the largest eigenvalue (Table 1)."""
        return self.mu_class + self.classes * self.samples * self.other_class

    @property
    def alpha(self) -> float:
        """kappa_n m / (mu_class + C kappa_n m)."""
        return self.other_class * self.samples / self.mu_global

    @property
    def matrix(self) -> np.ndarray:
        """The kernel of all N = C m samples, sorted by class, (N, N)."""
        same = np.kron(np.eye(self.classes), np.ones((self.samples, self.samples)))
        eye = np.eye(self.classes * self.samples)
        across = self.same_class - self.other_class
        return self.other_class + across * same + self.mu_single * eye


class FlowState(NamedTuple):
    """Stacked states of the flow."""

    weights: np.ndarray  # W, (R, C, n)
    biases: np.ndarray  # b, (R, C)
    means: np.ndarray  # H1, (R, n, C)
    scatter: np.ndarray  # S = H2 H2^T in the scale of (23), (R, n, n)

    @property
    def residuals(self) -> np.ndarray:
        """R1 = W H1 + b 1^T - I, (R, C, C)."""
        eye = np.eye(self.weights.shape[-2])
        return self.weights @ self.means + self.biases[..., None] - eye

    @property
    def weight_gram(self) -> np.ndarray:
        """W^T W, (R, n, n)."""
        return self.weights.mT @ self.weights

    def flat(self) -> np.ndarray:
        """All numbers of all states, one after the other."""
        return np.concatenate([part.ravel() for part in self])

    def like(self, values: np.ndarray) -> "FlowState":
        """States of the same shapes with other numbers, see `flat`."""
        pieces, end = [], 0
        for part in self:  # np.split takes as long as a whole derivative
            start, end = end, end + part.size
            pieces.append(values[start:end].reshape(part.shape))
        return FlowState(*pieces)


def rates(kernel: BlockKernel, state: FlowState, *, frozen: bool = False) -> FlowState:
    """Time derivatives by ``collapse`` (25); ``frozen`` keeps the biases, as in Appendix B.4."""
    back, residuals, m = state.weights.mT, state.residuals, kernel.samples
    summed = residuals.sum(axis=-1)
    moved = kernel.mu_class * residuals + kernel.other_class * m * summed[..., None]
    shrink = (back @ state.weights) @ state.scatter
    return FlowState(
        weights=-m * (residuals @ state.means.mT + state.weights @ state.scatter),
        biases=np.zeros_like(state.biases) if frozen else -m * summed,
        means=-back @ moved,
        scatter=-kernel.mu_single * (shrink + shrink.mT),
    )


def feature_terms(kernel: BlockKernel, state: FlowState) -> np.ndarray:
    """The part of the invariant (26) that has features: W^T W / m - E, (R, n, n)."""
    means = state.means
    summed = means.sum(axis=-1)
    inner = means @ means.mT - kernel.alpha * summed[..., None] * summed[..., None, :]
    return inner / kernel.mu_class + state.scatter / kernel.mu_single


def invariant(kernel: BlockKernel, state: FlowState) -> np.ndarray:
    """E of ``collapse`` (26) in the paper's scale, (R, n, n)."""
    return state.weight_gram / kernel.samples - feature_terms(kernel, state)


def random_start(
    kernel: BlockKernel,
    start: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    centred: bool = False,
    bias: float = 0.0,
    weight_scale: float | None = None,
    excess: float = 0.0,
) -> FlowState:
    """Draw one state.

    ``start`` has ``features``: n, at least C; and the standard deviations ``means`` of the entries
    of H1 and ``within`` of features within a class. ``centred`` class means sum to 0; all biases
    are ``bias``. ``weight_scale`` is the standard deviation of the entries of W. For None, W is
    chosen such that the invariant is E = 0; the features then lie in a random subspace of C
    dimensions, since W^T W has at most the rank C. With an ``excess``, E is a random positive
    semidefinite matrix of rank 1 in this subspace, and the excess is its trace over that of the
    features' terms.
    """
    classes, features = kernel.classes, start["features"]
    inside = classes if weight_scale is None else features
    frame = np.linalg.qr(rng.standard_normal((features, inside)))[0]
    means = start["means"] * frame @ rng.standard_normal((inside, classes))
    if centred:
        means = means - means.mean(axis=1, keepdims=True)
    within = start["within"] * frame @ rng.standard_normal((inside, classes * kernel.samples))
    across = within.reshape(features, classes, kernel.samples)
    across = (across - across.mean(axis=-1, keepdims=True)).reshape(features, -1)
    scatter = across @ across.T / kernel.samples
    parts = np.zeros((classes, features)), np.full(classes, float(bias)), means, scatter
    drawn = FlowState(*(part[None] for part in parts))
    if weight_scale is not None:
        return drawn._replace(weights=weight_scale * rng.standard_normal((1, classes, features)))
    # W = Q T^(1/2) U^T with W^T W = U T U^T = m (features' terms + E), and Q any rotation
    wanted = kernel.samples * frame.T @ feature_terms(kernel, drawn)[0] @ frame
    if excess:
        factor = rng.standard_normal(len(wanted))
        square = np.outer(factor, factor)
        wanted = wanted + excess * np.trace(wanted) / np.trace(square) * square
    values, vectors = np.linalg.eigh((wanted + wanted.T) / 2)
    rotation = np.linalg.qr(rng.standard_normal(wanted.shape))[0]
    weights = rotation * np.sqrt(np.maximum(values, 0)) @ (frame @ vectors).T
    return drawn._replace(weights=weights[None])


def integrate(
    kernel: BlockKernel,
    start: FlowState,
    times: Sequence[float],
    tolerance: float,
    *,
    frozen: bool = False,
) -> list[FlowState]:
    """States at times that ascend from 0, by the Runge-Kutta method DOP853 of scipy.

    ``tolerance`` is the relative and the absolute error of a step. Biases stay if ``frozen``.
    """
    from scipy.integrate import solve_ivp

    asked = count()

    def derivative(time: float, values: np.ndarray) -> np.ndarray:
        if next(asked) > MOST_RATES:
            raise ConfigError(
                f"collapse.flow: at time {time:.3g} of {times[-1]:g} the rates of the flow were "
                f"computed {MOST_RATES:,} times already, since large states change fast; lower "
                "start.means, start.within, weights, kernel or time, or raise tolerance"
            )
        return rates(kernel, start.like(values), frozen=frozen).flat()

    solution = solve_ivp(
        derivative,
        (0.0, times[-1]),
        start.flat(),
        method="DOP853",
        t_eval=list(times),
        rtol=tolerance,
        atol=tolerance,
    )
    if not solution.success:
        raise ConfigError(
            f"collapse.flow: the flow could not be integrated to time {times[-1]:g} "
            f"({solution.message}); lower start.means, start.within, weights, kernel or time"
        )
    return [start.like(values) for values in solution.y.T]


def runge_kutta_4(kernel: BlockKernel, start: FlowState, time: float, step: float) -> FlowState:
    """States at a time, a multiple of the step, by the classical Runge-Kutta method of order 4."""
    values = start.flat()

    def derivative(at: np.ndarray) -> np.ndarray:
        return rates(kernel, start.like(at)).flat()

    for _ in range(round(time / step)):
        first = derivative(values)
        second = derivative(values + step / 2 * first)
        third = derivative(values + step / 2 * second)
        fourth = derivative(values + step * third)
        values = values + step / 6 * (first + 2 * second + 2 * third + fourth)
    return start.like(values)
