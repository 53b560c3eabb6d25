"""Errata of ``collapse`` in the dynamics under a block kernel, which is taken from its definition.

There are C classes of m samples each; the samples are sorted by class. Features are H (n, N),
outputs are W H + b 1ᵀ, labels are Y. The kernel of two features is the matrix A_d + A_c + A_n for a
sample with itself, A_c + A_n within a class, and A_n between classes (Assumption D.1). In
Assumption 3.2 these matrices are multiples of the identity.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from scipy.linalg import null_space

from finitewidth.errata.evidence import Evidence, exactly, generator
from finitewidth.papers.collapse.experiments.block_flow import BlockKernel, FlowState, integrate

CLASSES = 3  # C
SAMPLES = 2  # m
FEATURES = 5  # n
KERNEL = BlockKernel(CLASSES, SAMPLES, diagonal=1.7, same_class=0.9, other_class=0.3)
KAPPA_C = KERNEL.same_class
KAPPA_N = KERNEL.other_class
MU_SINGLE = KERNEL.mu_single
MU_CLASS = KERNEL.mu_class
ALPHA = KERNEL.alpha
ONES = np.ones((CLASSES, CLASSES))
EYE = np.eye(CLASSES)
LABELS = np.kron(EYE, np.ones(SAMPLES))  # Y, (C, N)


@dataclass(frozen=True)
class State:
    """Parameters and features at one time."""

    weights: np.ndarray  # W (C, n)
    biases: np.ndarray  # b (C,)
    features: np.ndarray  # H (n, N)

    @property
    def residuals(self) -> np.ndarray:
        """R = W H + b 1ᵀ - Y, (C, N)."""
        return self.weights @ self.features + self.biases[:, None] - LABELS

    @property
    def means(self) -> np.ndarray:
        """H₁, (n, C): the class means."""
        return first_part(self.features)

    @property
    def rest(self) -> np.ndarray:
        """H₂, (n, N - C): the variation within classes."""
        return second_part(self.features)


def first_part(features: np.ndarray) -> np.ndarray:
    """H Q₁ / √m (equation 23)."""
    return features @ np.kron(EYE, np.ones((SAMPLES, 1))) / SAMPLES


def second_part(features: np.ndarray) -> np.ndarray:
    """H Q₂ / √m (equation 23)."""
    across = null_space(np.ones((1, SAMPLES)))
    return features @ np.kron(EYE, across) / SAMPLES**0.5


def random_state(rng: np.random.Generator, *, centred: bool = False, fitted: bool = False) -> State:
    """A random state; ``centred`` with ⟨h⟩ = 0, ``fitted`` with R₁ = 0."""
    count = CLASSES * SAMPLES
    weights = rng.standard_normal((CLASSES, FEATURES))
    biases = rng.standard_normal(CLASSES)
    features = rng.standard_normal((FEATURES, count))
    if fitted:
        means = np.linalg.pinv(weights) @ (EYE - biases[:, None])
        features += np.kron(means - first_part(features), np.ones(SAMPLES))
    if centred:
        features -= features.mean(axis=1, keepdims=True)
    return State(weights, biases, features)


def flow(state: State, blocks: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None) -> State:
    """Time derivatives of weights, biases and features, summed sample by sample.

    ``blocks`` are A_d, A_c and A_n, each (n, n); None for those of Assumption 3.2.
    """
    if blocks is None:
        eye = np.eye(FEATURES)
        blocks = (MU_SINGLE * eye, (KAPPA_C - KAPPA_N) * eye, KAPPA_N * eye)
    diagonal, within, between = blocks
    residuals = state.residuals
    count = CLASSES * SAMPLES
    features = np.zeros_like(state.features)
    for i in range(count):
        for j in range(count):
            same_class = i // SAMPLES == j // SAMPLES
            kernel = between + same_class * within + (i == j) * diagonal
            features[:, i] -= kernel @ state.weights.T @ residuals[:, j]
    return State(
        weights=-residuals @ state.features.T,
        biases=-residuals.sum(axis=1),
        features=features,
    )


def product_rate(a: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Time derivative of A Aᵀ, given A and its time derivative."""
    return a @ rate.T + rate @ a.T


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
    return exactly(truth[0, 0], (means - rest)[0, 0], (means + rest)[0, 0])


def rate_of_weights() -> Evidence:
    """Entry (1, 1) of the rate of the weights."""
    state = random_state(generator("collapse-2"))
    residuals = state.weights @ state.means + state.biases[:, None] - np.eye(CLASSES)
    signal = residuals @ state.means.T
    noise = state.weights @ state.rest @ state.rest.T
    printed = -SAMPLES * (signal - noise)
    corrected = -SAMPLES * (signal + noise)
    return exactly(flow(state).weights[0, 0], printed[0, 0], corrected[0, 0])


def two_eigenvalues() -> Evidence:
    """μ_single + μ_class, compared with sums of two eigenvalues of the block kernel."""
    values = np.unique(np.linalg.eigvalsh(KERNEL.matrix).round(10))
    largest_two = values[-2:].sum()
    smallest_two = values[:2].sum()
    return exactly(MU_SINGLE + MU_CLASS, largest_two, smallest_two)


def _end_of_training(erratum: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return H₂ of a fitted state and its rate, (n, N - C) each, and Ẽ of (45), (n, n)."""
    state = random_state(generator(erratum), fitted=True)
    conserved = MU_SINGLE * state.weights.T @ state.weights - SAMPLES * state.rest @ state.rest.T
    return state.rest, second_part(flow(state).features), conserved


def end_rate() -> Evidence:
    """Entry (1, 1) of the rate of H₂ at the end of training."""
    rest, rate, conserved = _end_of_training("collapse-4")
    corrected = -((conserved + SAMPLES * rest @ rest.T) @ rest)[0, 0]
    return exactly(rate[0, 0], MU_SINGLE * corrected, corrected)


def end_products() -> Evidence:
    """Entry (1, 1) of the rate of H₂ H₂ᵀ at the end of training."""
    rest, rate, conserved = _end_of_training("collapse-5")
    gram = rest @ rest.T
    common = -conserved @ gram - gram @ conserved
    printed = common - 2 * gram @ gram
    corrected = common - 2 * SAMPLES * gram @ gram
    return exactly(product_rate(rest, rate)[0, 0], printed[0, 0], corrected[0, 0])


def mean_term() -> Evidence:
    """The term of the global mean in E of (26)."""
    state = random_state(generator("collapse-6"))
    means = state.means
    rest = state.rest
    plain = state.weights.T @ state.weights / SAMPLES - rest @ rest.T / MU_SINGLE
    invariant = plain - means @ (EYE - ALPHA * ONES) @ means.T / MU_CLASS
    mean = state.features.mean(axis=1)
    term = ALPHA * CLASSES**2 / MU_CLASS * mean[0] ** 2
    truth = (plain - means @ means.T / MU_CLASS - invariant)[0, 0]
    return exactly(truth, -SAMPLES * term, -term)


def _general_blocks(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positive semidefinite A_d, A_c and A_n, each (n, n)."""
    roots = [rng.standard_normal((FEATURES, FEATURES)) for _ in range(3)]
    diagonal, within, between = (root @ root.T for root in roots)
    return diagonal, within, between


def general_rate() -> Evidence:
    """Entry (1, 1) of the rate of the features under a general block kernel."""
    rng = generator("collapse-14")
    state = random_state(rng)
    blocks = _general_blocks(rng)
    diagonal, within, between = blocks
    residuals = state.residuals
    per_class = residuals @ LABELS.T @ LABELS / SAMPLES  # mean residual of the class
    overall = np.repeat(residuals.mean(axis=1, keepdims=True), CLASSES * SAMPLES, axis=1)
    back = state.weights.T
    first = diagonal @ back @ residuals
    second = SAMPLES * within @ back @ per_class
    third = CLASSES * SAMPLES * between @ back @ overall
    printed = -first + second + third
    corrected = -first - second - third
    return exactly(flow(state, blocks).features[0, 0], printed[0, 0], corrected[0, 0])


def general_invariant() -> Evidence:
    """Entry (1, 2) of the rate of WᵀW - c₁ H₁H₁ᵀ - c₂ H₂H₂ᵀ under a general block kernel."""
    rng = generator("collapse-15")
    state = random_state(rng, centred=True)
    blocks = _general_blocks(rng)
    c1 = 0.7
    c2 = 1.3
    rate = flow(state, blocks)
    weights = state.weights
    means = state.means
    rest = state.rest
    truth = (
        product_rate(weights.T, rate.weights.T)
        - c1 * product_rate(means, first_part(rate.features))
        - c2 * product_rate(rest, second_part(rate.features))
    )
    diagonal, within, _ = blocks
    eye = np.eye(FEATURES)
    residuals = weights @ means + state.biases[:, None] - EYE  # R₁
    factor_1 = c1 * (diagonal + SAMPLES * within) - SAMPLES * eye
    factor_2 = c2 * diagonal - SAMPLES * eye
    term_1 = factor_1 @ weights.T @ residuals @ means.T
    term_2 = factor_2 @ weights.T @ weights @ rest @ rest.T
    terms = term_1 + term_2
    # the rate is symmetric: the transposed terms are added, not subtracted
    printed = terms - terms.T
    corrected = terms + terms.T
    return exactly(truth[0, 1], printed[0, 1], corrected[0, 1])


def number_of_kernels() -> Evidence:
    """Kernels of pairs of outputs and of pairs of features, listed."""
    outputs = 10
    features = 64
    output_pairs = list(combinations_with_replacement(range(outputs), 2))
    feature_pairs = list(combinations_with_replacement(range(features), 2))
    printed = outputs * (outputs + 1) + features * (features + 1)
    return exactly(len(output_pairs) + len(feature_pairs), printed, printed / 2)


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
    # a stack of one state
    stack = FlowState(
        weights=start.weights[None],
        biases=start.biases[None],
        means=start.means[None],
        scatter=(start.rest @ start.rest.T)[None],
    )
    end = integrate(KERNEL, stack, [0.0, time], 1e-10)[-1]
    return (end.weights @ end.means)[0]


def slim_start() -> Evidence:
    """Rank of W H₁ after gradient flow from a start with weights of rank 1."""
    rank = np.linalg.matrix_rank(product_after(slim_state(), 4.0), tol=1e-6)
    return exactly(rank, CLASSES - 1, 1)


def end_residuals() -> Evidence:
    """Entry (1, 1) of the rate of R₁ at R₁ = 0."""
    state = random_state(generator("collapse-19"), fitted=True)
    rate = flow(state)
    # R₁ = W H₁ + b 1ᵀ - I
    truth = (
        rate.weights @ state.means
        + state.weights @ first_part(rate.features)
        + rate.biases[:, None]
    )
    corrected = -SAMPLES * state.weights @ state.rest @ state.rest.T @ state.means
    return exactly(truth[0, 0], 0.0, corrected[0, 0])
