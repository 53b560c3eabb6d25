"""Errata of ``collapse`` in the dynamics under a block kernel."""

from itertools import combinations_with_replacement

import numpy as np

from finitewidth.errata.erratum import Evidence, exactly
from finitewidth.errata.shared import generator
from finitewidth.papers.collapse.errata.block_kernel import (
    ALPHA,
    CLASSES,
    FEATURES,
    KAPPA_C,
    KAPPA_N,
    LABELS,
    MU_CLASS,
    MU_SINGLE,
    ONES,
    SAMPLES,
    first_part,
    flow,
    product_rate,
    random_state,
    second_part,
)

SETTING = "C = 3, m = 2, n = 5, random state"


def aligned_weights() -> Evidence:
    """Rate of WᵀW.

    The sum of the features' terms has the same rate if the invariant stays 0.
    """
    state = random_state(generator("collapse-1"), centred=True)
    rate = flow(state)
    # the term with α vanishes, because H₁ 1 = 0 for centred features
    means = product_rate(state.means, first_part(rate.features)) / MU_CLASS
    rest = product_rate(state.rest, second_part(rate.features)) / MU_SINGLE
    truth = product_rate(state.weights.T, rate.weights.T) / SAMPLES
    quantity = f"entry (1, 1) of d(WᵀW)/dt / m; {SETTING}, ⟨h⟩ = 0"
    return exactly(quantity, *(value[0, 0] for value in (truth, means - rest, means + rest)))


def rate_of_weights() -> Evidence:
    """Entry (1, 1) of the rate of the weights."""
    state = random_state(generator("collapse-2"))
    residuals = state.weights @ state.means + state.biases[:, None] - np.eye(CLASSES)
    signal, noise = residuals @ state.means.T, state.weights @ state.rest @ state.rest.T
    forms = (-SAMPLES * (signal + sign * noise)[0, 0] for sign in (-1, 1))
    return exactly(f"entry (1, 1) of dW/dt; {SETTING}", flow(state).weights[0, 0], *forms)


def two_eigenvalues() -> Evidence:
    """μ_single + μ_class, compared with sums of two eigenvalues of the block kernel."""
    same = np.kron(np.eye(CLASSES), np.ones((SAMPLES, SAMPLES)))
    kernel = KAPPA_N + (KAPPA_C - KAPPA_N) * same + MU_SINGLE * np.eye(CLASSES * SAMPLES)
    values = np.unique(np.linalg.eigvalsh(kernel).round(10))
    quantity = "μ_single + μ_class at κ = (1.7, 0.9, 0.3), C = 3, m = 2"
    return exactly(quantity, MU_SINGLE + MU_CLASS, values[-2:].sum(), values[:2].sum())


def _end_of_training(erratum: str) -> tuple:
    """Return H₂ of a fitted state, its rate, and Ẽ of (45)."""
    state = random_state(generator(erratum), fitted=True)
    conserved = MU_SINGLE * state.weights.T @ state.weights - SAMPLES * state.rest @ state.rest.T
    return state.rest, second_part(flow(state).features), conserved


def end_rate() -> Evidence:
    """Entry (1, 1) of the rate of H₂ at the end of training."""
    rest, rate, conserved = _end_of_training("collapse-4")
    corrected = -((conserved + SAMPLES * rest @ rest.T) @ rest)[0, 0]
    quantity = f"entry (1, 1) of dH₂/dt; {SETTING} with R₁ = 0"
    return exactly(quantity, rate[0, 0], MU_SINGLE * corrected, corrected)


def end_products() -> Evidence:
    """Entry (1, 1) of the rate of H₂ H₂ᵀ at the end of training."""
    rest, rate, conserved = _end_of_training("collapse-5")
    gram = rest @ rest.T
    common = -conserved @ gram - gram @ conserved
    forms = ((common - 2 * factor * gram @ gram)[0, 0] for factor in (1, SAMPLES))
    quantity = f"entry (1, 1) of d(H₂H₂ᵀ)/dt; {SETTING} with R₁ = 0"
    return exactly(quantity, product_rate(rest, rate)[0, 0], *forms)


def mean_term() -> Evidence:
    """The term of the global mean in E of (26)."""
    state = random_state(generator("collapse-6"))
    means, rest = state.means, state.rest
    plain = state.weights.T @ state.weights / SAMPLES - rest @ rest.T / MU_SINGLE
    invariant = plain - means @ (np.eye(CLASSES) - ALPHA * ONES) @ means.T / MU_CLASS
    mean = state.features.mean(axis=1)
    term = ALPHA * CLASSES**2 / MU_CLASS * mean[0] ** 2
    truth = (plain - means @ means.T / MU_CLASS - invariant)[0, 0]
    quantity = f"entry (1, 1) of WᵀW/m − H₁H₁ᵀ/μ_class − H₂H₂ᵀ/μ_single − E; {SETTING}"
    return exactly(quantity, truth, -SAMPLES * term, -term)


def _general_blocks(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    roots = [rng.standard_normal((FEATURES, FEATURES)) for _ in range(3)]
    return tuple(root @ root.T for root in roots)


def general_rate() -> Evidence:
    """Entry (1, 1) of the rate of the features under a general block kernel."""
    rng = generator("collapse-14")
    state, blocks = random_state(rng), _general_blocks(rng)
    residuals = state.residuals
    per_class = residuals @ LABELS.T @ LABELS / SAMPLES
    overall = np.repeat(residuals.mean(axis=1, keepdims=True), CLASSES * SAMPLES, axis=1)
    first, second, third = (
        count * block @ state.weights.T @ part
        for block, count, part in zip(
            blocks,
            (1, SAMPLES, CLASSES * SAMPLES),
            (residuals, per_class, overall),
            strict=True,
        )
    )
    truth = flow(state, blocks).features[0, 0]
    forms = (value[0, 0] for value in (-first + second + third, -first - second - third))
    return exactly(f"entry (1, 1) of dH/dt; general blocks, {SETTING}", truth, *forms)


def general_invariant() -> Evidence:
    """Entry (1, 2) of the rate of WᵀW - c₁ H₁H₁ᵀ - c₂ H₂H₂ᵀ under a general block kernel."""
    rng = generator("collapse-15")
    state, blocks = random_state(rng, centred=True), _general_blocks(rng)
    c1, c2, eye = 0.7, 1.3, np.eye(FEATURES)
    rate = flow(state, blocks)
    means, rest, weights = state.means, state.rest, state.weights
    truth = (
        product_rate(weights.T, rate.weights.T)
        - c1 * product_rate(means, first_part(rate.features))
        - c2 * product_rate(rest, second_part(rate.features))
    )
    residuals = weights @ means + state.biases[:, None] - np.eye(CLASSES)
    factor = c1 * (blocks[0] + SAMPLES * blocks[1]) - SAMPLES * eye
    one = factor @ weights.T @ residuals @ means.T
    two = (c2 * blocks[0] - SAMPLES * eye) @ weights.T @ weights @ rest @ rest.T
    forms = ((one + two + sign * (one + two).T)[0, 1] for sign in (-1, 1))
    quantity = f"entry (1, 2) of dE/dt; general blocks, c = (0.7, 1.3), {SETTING}, ⟨h⟩ = 0"
    return exactly(quantity, truth[0, 1], *forms)


def number_of_kernels() -> Evidence:
    """Kernels of pairs of outputs and of pairs of features, listed."""
    outputs, features = 10, 64
    pairs = [list(combinations_with_replacement(range(n), 2)) for n in (outputs, features)]
    printed = outputs * (outputs + 1) + features * (features + 1)
    quantity = "kernels Θ_ks and Θʰ_ks with k ≤ s, C = 10, n = 64"
    return exactly(quantity, sum(map(len, pairs)), printed, printed / 2)
