"""Gradient flow of features under a block-structured kernel, from its definition, for ``collapse``.

There are C classes of m samples each; the samples are sorted by class. Features are H (n, N),
outputs are W H + b 1ᵀ, labels are Y. The kernel of two features is the matrix A_d + A_c + A_n for a
sample with itself, A_c + A_n within a class, and A_n between classes (Assumption D.1). In
Assumption 3.2 these matrices are multiples of the identity.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

CLASSES, SAMPLES, FEATURES = 3, 2, 5
KAPPA_D, KAPPA_C, KAPPA_N = 1.7, 0.9, 0.3
MU_SINGLE = KAPPA_D - KAPPA_C
MU_CLASS = MU_SINGLE + SAMPLES * (KAPPA_C - KAPPA_N)
ALPHA = KAPPA_N * SAMPLES / (MU_CLASS + CLASSES * KAPPA_N * SAMPLES)
ONES = np.ones((CLASSES, CLASSES))
EYE = np.eye(CLASSES)
LABELS = np.kron(EYE, np.ones(SAMPLES))


@dataclass(frozen=True)
class State:
    """Parameters and features at one time.

    Attributes:
        weights: W (C, n).
        biases: b (C,).
        features: H (n, N).
    """

    weights: np.ndarray
    biases: np.ndarray
    features: np.ndarray

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
    """A random state.

    Args:
        rng: random generator.
        centred: whether the global mean of the features is zero.
        fitted: whether the class means are fitted, so that R₁ = 0.
    """
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


def scalar_blocks() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A_d, A_c and A_n of Assumption 3.2, each (n, n)."""
    eye = np.eye(FEATURES)
    return (KAPPA_D - KAPPA_C) * eye, (KAPPA_C - KAPPA_N) * eye, KAPPA_N * eye


def flow(state: State, blocks: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None) -> State:
    """Time derivatives of weights, biases and features, summed sample by sample."""
    diagonal, within, between = blocks or scalar_blocks()
    residuals = state.residuals
    count = CLASSES * SAMPLES
    features = np.zeros_like(state.features)
    for i in range(count):
        for j in range(count):
            kernel = between + (i // SAMPLES == j // SAMPLES) * within + (i == j) * diagonal
            features[:, i] -= kernel @ state.weights.T @ residuals[:, j]
    return State(-residuals @ state.features.T, -residuals.sum(axis=1), features)


def product_rate(a: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Time derivative of A Aᵀ, given A and its time derivative."""
    return a @ rate.T + rate @ a.T
