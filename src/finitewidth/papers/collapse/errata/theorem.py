"""Errata of ``collapse`` in Theorem 5.2 and its proof of NC1."""

import numpy as np
from scipy.integrate import solve_ivp

from finitewidth.errata.erratum import Evidence, exactly
from finitewidth.errata.shared import generator
from finitewidth.papers.collapse.errata.block_kernel import (
    CLASSES,
    FEATURES,
    MU_CLASS,
    MU_SINGLE,
    SAMPLES,
    State,
    first_part,
    flow,
    random_state,
    second_part,
)


def slim_state() -> State:
    """A start with E = 0, ⟨h⟩ = 0, b = 1/C and W of rank 1.

    W = u wᵀ, H₁ = w aᵀ and H₂ = w cᵀ with Σ a = 0 and |u|²/m = |a|²/μ_class + |c|²/μ_single.
    """
    rng = generator("collapse-18")
    direction = rng.standard_normal(FEATURES)
    direction /= np.linalg.norm(direction)
    inputs = rng.standard_normal(CLASSES * SAMPLES)
    features = np.outer(direction, inputs - inputs.mean())
    terms = (first_part(features) ** 2).sum() / MU_CLASS
    terms += (second_part(features) ** 2).sum() / MU_SINGLE
    left = rng.standard_normal(CLASSES)
    left *= np.sqrt(SAMPLES * terms) / np.linalg.norm(left)
    return State(np.outer(left, direction), np.full(CLASSES, 1 / CLASSES), features)


def product_after(start: State, time: float) -> np.ndarray:
    """W H₁ after this time of gradient flow, (C, C), integrated."""
    sizes = np.cumsum([start.weights.size, start.biases.size])

    def state(values: np.ndarray) -> State:
        weights, biases, features = np.split(values, sizes)
        shapes = start.weights.shape, start.features.shape
        return State(weights.reshape(shapes[0]), biases, features.reshape(shapes[1]))

    def law(_: float, values: np.ndarray) -> np.ndarray:
        return flat(flow(state(values)))

    def flat(parts: State) -> np.ndarray:
        return np.concatenate([parts.weights.ravel(), parts.biases, parts.features.ravel()])

    end = solve_ivp(law, (0, time), flat(start), method="DOP853", rtol=1e-10, atol=1e-12)
    last = state(end.y[:, -1])
    return last.weights @ last.means


def slim_start() -> Evidence:
    """Rank of W H₁ after gradient flow from a start with weights of rank 1."""
    rank = np.linalg.matrix_rank(product_after(slim_state(), 4.0), tol=1e-6)
    quantity = (
        "rank of WH₁ at t = 4 from E = 0, ⟨h⟩ = 0, b = 1/C, rank W = 1; C = 3; printed: at the end"
    )
    return exactly(quantity, rank, CLASSES - 1, 1)


def end_residuals() -> Evidence:
    """Entry (1, 1) of the rate of R₁ at R₁ = 0."""
    state = random_state(generator("collapse-19"), fitted=True)
    rate = flow(state)
    truth = rate.weights @ state.means + state.weights @ first_part(rate.features)
    truth = truth + rate.biases[:, None]
    corrected = -SAMPLES * state.weights @ state.rest @ state.rest.T @ state.means
    quantity = "entry (1, 1) of dR₁/dt; C = 3, m = 2, n = 5, random state with R₁ = 0"
    return exactly(quantity, truth[0, 0], 0.0, corrected[0, 0])
