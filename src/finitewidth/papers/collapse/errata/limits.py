"""Errata of ``collapse`` in limits: equal biases, the remark on α, the definition of collapse."""

import numpy as np

from finitewidth.errata.evidence import Evidence, exactly, extrapolated, generator

CLASSES = 4  # C
ALPHA = 0.15
BETA = 0.1  # every bias
ONES = np.ones((CLASSES, CLASSES))
EYE = np.eye(CLASSES)
CENTRING = EYE - ONES / CLASSES


def root(matrix: np.ndarray) -> np.ndarray:
    """The positive semidefinite square root of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def angle_of_weights() -> Evidence:
    """γ from the square root of the right side of (29) with equal biases."""
    biases = np.full((CLASSES, 1), BETA)
    mixed = biases @ np.ones((1, CLASSES))
    of_biases = CLASSES * biases @ biases.T - mixed - mixed.T
    square = EYE - ALPHA * ONES + (1 - ALPHA * CLASSES) * of_biases
    shrink = np.sqrt(1 - ALPHA * CLASSES)
    printed = (1 - abs(BETA * CLASSES) * shrink) / CLASSES
    corrected = (1 - abs(1 - BETA * CLASSES) * shrink) / CLASSES
    return exactly(-root(square)[0, 1], printed, corrected)


def second_of_squares() -> Evidence:
    """The second line of (56) for W H₁ = I - 1 1ᵀ/C."""
    m = 3
    eigenvalue = 1.4
    weights = generator("collapse-9").standard_normal((CLASSES, 6))
    means = np.linalg.pinv(weights) @ CENTRING
    truth = weights @ (eigenvalue * weights.T @ weights - m * means @ means.T) @ weights.T
    gram = weights @ weights.T
    printed = eigenvalue * gram @ gram - CENTRING @ CENTRING
    corrected = eigenvalue * gram @ gram - m * CENTRING @ CENTRING
    return exactly(truth[0, 0], printed[0, 0], corrected[0, 0])


def inverse_matrix() -> Evidence:
    """An off-diagonal entry of the inverse of I - φ 1 1ᵀ."""
    phi = (1 - np.sqrt(1 - ALPHA * CLASSES)) / CLASSES
    inverse = np.linalg.inv(EYE - phi * ONES)
    printed = -phi / (1 + phi * CLASSES)
    corrected = phi / (1 - phi * CLASSES)
    return exactly(inverse[0, 1], printed, corrected)


def angle_of_means() -> Evidence:
    """θ from the positive solution of (64)."""
    half = root(EYE - ALPHA * ONES)
    inner = half @ np.linalg.matrix_power(EYE - BETA * ONES, 2) @ half
    inverse = np.linalg.inv(half)
    solution = inverse @ root(inner) @ inverse
    shrink = np.sqrt(1 - ALPHA * CLASSES)
    off = abs(1 - BETA * CLASSES)
    printed = (1 - off / (2 - shrink)) / CLASSES
    corrected = (1 - off / shrink) / CLASSES
    return exactly(-solution[0, 1], printed, corrected)


def centred_means() -> Evidence:
    """MᵀM from (63) at α = 1/C with arbitrary biases: its square is P (63) P, P = I - 1 1ᵀ/C."""
    ratio = 2.5
    biases = generator("collapse-12").standard_normal((CLASSES, 1))
    mixed = biases @ np.ones((1, CLASSES))
    square = ratio * (EYE - mixed - mixed.T + (biases**2).sum() * ONES)
    truth = root(CENTRING @ square @ CENTRING)[0, 0]
    return exactly(truth, ratio * CENTRING[0, 0], ratio**0.5 * CENTRING[0, 0])


def distance_of_means() -> Evidence:
    """Squared distance of two class means whose Gram matrix is given by (58)."""
    ratio = 1.7
    means = root(ratio**0.5 * CENTRING)  # (n, C), of n = C features
    difference = means[:, 0] - means[:, 1]
    return exactly((difference**2).sum(), 0.0, 2 * ratio**0.5)


def many_classes() -> Evidence:
    """αC from 1 − αC, an eigenvalue of (𝕀 + κ_n m/μ_class 11ᵀ)⁻¹, for ever more classes."""
    m = 12
    kappa_d = 5.0
    kappa_c = 3.0
    kappa_n = 1.0
    mu_class = kappa_d - kappa_c + m * (kappa_c - kappa_n)
    values = []
    for classes in (64, 128, 256, 512, 1024):
        ones = np.ones((classes, classes))
        matrix = np.eye(classes) + kappa_n * m / mu_class * ones
        # the vector of ones is an eigenvector, so that each entry is the eigenvalue of the inverse
        values.append(np.linalg.solve(matrix, ones[0])[0])
    limit, error = extrapolated(values)
    return Evidence(1 - limit, error, 0.0, 1.0)
