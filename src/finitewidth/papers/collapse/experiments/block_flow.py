"""Gradient flow of the last two layers under a block kernel, in closed form (``collapse`` (25)).

There are C classes of m samples. The flow needs the class means H1 (n, C) and the weights W (C, n)
and biases b (C,) of the last layer. Of the variation within classes, H2, only S = H2 H2^T (n, n)
enters: by (25), dS/dt = -mu_single (W^T W S + S W^T W). Several states are integrated at once; they
are stacked along a first axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.papers.collapse.settings.flow import Start

MOST_RATES = 600_000  # evaluations of `rates`: ten times as many as for the paper's settings


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
        """The eigenvalue kappa_d - kappa_c, of samples within a class (Table 1)."""
        return self.diagonal - self.same_class

    @property
    def mu_class(self) -> float:
        """The eigenvalue mu_single + m (kappa_c - kappa_n), of classes (Table 1)."""
        return self.mu_single + self.samples * (self.same_class - self.other_class)

    @property
    def mu_global(self) -> float:
        """The eigenvalue mu_class + N kappa_n, the largest one (Table 1)."""
        return self.mu_class + self.classes * self.samples * self.other_class

    @property
    def alpha(self) -> float:
        """The constant alpha = kappa_n m / (mu_class + C kappa_n m) of the invariant (26)."""
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
        parts = []
        start = 0
        for part in self:  # np.split takes as long as a whole derivative
            end = start + part.size
            parts.append(values[start:end].reshape(part.shape))
            start = end
        return FlowState(*parts)


def rates(kernel: BlockKernel, state: FlowState, *, frozen: bool = False) -> FlowState:
    """Time derivatives by ``collapse`` (25); ``frozen`` keeps the biases, as in Appendix B.4.

    With R1 the residuals: dW/dt = -m (R1 H1^T + W S), db/dt = -m R1 1,
    dH1/dt = -W^T (mu_class R1 + kappa_n m R1 1 1^T), dS/dt = -mu_single (W^T W S + S W^T W).
    """
    m = kernel.samples
    back = state.weights.mT  # (R, n, C)
    residuals = state.residuals  # (R, C, C)
    summed = residuals.sum(axis=-1)  # R1 1, (R, C)
    spread = kernel.mu_class * residuals + kernel.other_class * m * summed[..., None]
    decay = (back @ state.weights) @ state.scatter  # W^T W S, (R, n, n)
    return FlowState(
        weights=-m * (residuals @ state.means.mT + state.weights @ state.scatter),
        biases=np.zeros_like(state.biases) if frozen else -m * summed,
        means=-back @ spread,
        scatter=-kernel.mu_single * (decay + decay.mT),
    )


def feature_terms(kernel: BlockKernel, state: FlowState) -> np.ndarray:
    """The part of the invariant (26) that has features: W^T W / m - E, (R, n, n).

    It is (H1 H1^T - alpha H1 1 1^T H1^T) / mu_class + S / mu_single.
    """
    means = state.means
    summed = means.sum(axis=-1)  # H1 1, (R, n)
    inner = means @ means.mT - kernel.alpha * summed[..., None] * summed[..., None, :]
    return inner / kernel.mu_class + state.scatter / kernel.mu_single


def invariant(kernel: BlockKernel, state: FlowState) -> np.ndarray:
    """E of ``collapse`` (26) in the paper's scale, (R, n, n)."""
    return state.weight_gram / kernel.samples - feature_terms(kernel, state)


def random_start(
    kernel: BlockKernel,
    features: int,
    start: Start,
    rng: np.random.Generator,
    *,
    centred: bool = False,
    bias: float = 0.0,
    weight_scale: float | None = None,
    excess: float = 0.0,
) -> FlowState:
    """Draw one state, a stack of length 1.

    Args:
        kernel: the sizes C and m, and the kernel that the invariant E belongs to.
        features: n, at least C.
        start: standard deviations of the entries of H1 and of features within a class.
        rng: the source of all random numbers.
        centred: whether the class means sum to 0.
        bias: the value of all biases.
        weight_scale: standard deviation of the entries of W. For None, W is chosen such that the
            invariant is E = 0. The features then lie in a random subspace of C dimensions, since
            W^T W has at most the rank C.
        excess: trace of E over that of the features' terms. If it is not 0, E is a random positive
            semidefinite matrix of rank 1 in this subspace.
    """
    classes = kernel.classes
    dimensions = classes if weight_scale is None else features  # D, of the space of the features
    frame, _ = np.linalg.qr(rng.standard_normal((features, dimensions)))  # (n, D)
    means = start.means * frame @ rng.standard_normal((dimensions, classes))  # (n, C)
    if centred:
        means = means - means.mean(axis=1, keepdims=True)
    count = classes * kernel.samples
    deviations = start.within * frame @ rng.standard_normal((dimensions, count))  # (n, N)
    by_class = deviations.reshape(features, classes, kernel.samples)
    within = (by_class - by_class.mean(axis=-1, keepdims=True)).reshape(features, -1)
    drawn = FlowState(
        weights=np.zeros((1, classes, features)),
        biases=np.full((1, classes), float(bias)),
        means=means[None],
        scatter=(within @ within.T / kernel.samples)[None],
    )
    if weight_scale is not None:
        return drawn._replace(weights=weight_scale * rng.standard_normal((1, classes, features)))
    gram = kernel.samples * frame.T @ feature_terms(kernel, drawn)[0] @ frame  # W^T W, (D, D)
    if excess:
        factor = rng.standard_normal(len(gram))
        square = np.outer(factor, factor)
        gram = gram + excess * np.trace(gram) / np.trace(square) * square
    # W = Q T^(1/2) U^T with W^T W = U T U^T = m (features' terms + E), and Q any rotation
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    rotation, _ = np.linalg.qr(rng.standard_normal(gram.shape))
    weights = rotation * np.sqrt(np.maximum(values, 0)) @ (frame @ vectors).T  # (C, n)
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

    Raises:
        ConfigError: the flow needs too many evaluations or cannot be integrated to the last time.
    """
    from scipy.integrate import solve_ivp

    evaluations = 0

    def derivative(time: float, values: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        if evaluations > MOST_RATES:
            raise ConfigError(
                f"collapse.flow: at time {time:.3g} of {times[-1]:g} the rates of the flow were "
                f"computed {MOST_RATES:,} times already, since large states change fast; lower "
                "start.means, start.within, weights, kernel or time, or raise tolerance"
            )
        evaluations += 1
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

    def derivative(values: np.ndarray) -> np.ndarray:
        return rates(kernel, start.like(values)).flat()

    for _ in range(round(time / step)):
        first = derivative(values)
        second = derivative(values + step / 2 * first)
        third = derivative(values + step / 2 * second)
        fourth = derivative(values + step * third)
        values = values + step / 6 * (first + 2 * second + 2 * third + fourth)
    return start.like(values)
