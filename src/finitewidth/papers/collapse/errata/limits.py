"""Errata of ``collapse`` in limits: equal biases, the remark on α, the definition of collapse."""

import numpy as np

from finitewidth.errata.evidence import Evidence, exactly, extrapolated, generator

CLASSES, ALPHA, BETA = 4, 0.15, 0.1
ONES, EYE = np.ones((CLASSES, CLASSES)), np.eye(CLASSES)


def root(matrix: np.ndarray) -> np.ndarray:
    """The positive semidefinite square root of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def angle_of_weights() -> Evidence:
    """γ from the square root of the right side of (29) with equal biases."""
    biases = np.full((CLASSES, 1), BETA)
    mixed = biases @ np.ones((1, CLASSES))
    square = EYE - ALPHA * ONES
    square = square + (1 - ALPHA * CLASSES) * (CLASSES * biases @ biases.T - mixed - mixed.T)
    shrink = np.sqrt(1 - ALPHA * CLASSES)
    forms = ((1 - abs(part) * shrink) / CLASSES for part in (BETA * CLASSES, 1 - BETA * CLASSES))
    return exactly(-root(square)[0, 1], *forms)


def second_of_squares() -> Evidence:
    """The second line of (56) for W H₁ = I - 1 1ᵀ/C."""
    m, eigenvalue = 3, 1.4
    weights = generator("collapse-9").standard_normal((CLASSES, 6))
    centring = EYE - ONES / CLASSES
    means = np.linalg.pinv(weights) @ centring
    whole = weights @ (eigenvalue * weights.T @ weights - m * means @ means.T) @ weights.T
    gram = weights @ weights.T
    forms = ((eigenvalue * gram @ gram - factor * centring @ centring)[0, 0] for factor in (1, m))
    return exactly(whole[0, 0], *forms)


def inverse_matrix() -> Evidence:
    """An off-diagonal entry of the inverse of I - φ 1 1ᵀ."""
    phi = (1 - np.sqrt(1 - ALPHA * CLASSES)) / CLASSES
    inverse = np.linalg.inv(EYE - phi * ONES)
    return exactly(inverse[0, 1], -phi / (1 + phi * CLASSES), phi / (1 - phi * CLASSES))


def angle_of_means() -> Evidence:
    """θ from the positive solution of (64)."""
    half = root(EYE - ALPHA * ONES)
    inner = half @ np.linalg.matrix_power(EYE - BETA * ONES, 2) @ half
    inverse = np.linalg.inv(half)
    solution = inverse @ root(inner) @ inverse
    shrink, off = np.sqrt(1 - ALPHA * CLASSES), abs(1 - BETA * CLASSES)
    forms = ((1 - off / denominator) / CLASSES for denominator in (2 - shrink, shrink))
    return exactly(-solution[0, 1], *forms)


def centred_means() -> Evidence:
    """MᵀM from (63) at α = 1/C with arbitrary biases: its square is P (63) P, P = I - 1 1ᵀ/C."""
    ratio = 2.5
    biases = generator("collapse-12").standard_normal((CLASSES, 1))
    mixed = biases @ np.ones((1, CLASSES))
    square = ratio * (EYE - mixed - mixed.T + (biases**2).sum() * ONES)
    centring = EYE - ONES / CLASSES
    truth = root(centring @ square @ centring)[0, 0]
    forms = (factor * centring[0, 0] for factor in (ratio, ratio**0.5))
    return exactly(truth, *forms)


def distance_of_means() -> Evidence:
    """Squared distance of two class means whose Gram matrix is given by (58)."""
    ratio = 1.7
    means = root(ratio**0.5 * (EYE - ONES / CLASSES))
    truth = float(((means[:, 0] - means[:, 1]) ** 2).sum())
    return exactly(truth, 0.0, 2 * ratio**0.5)


def many_classes() -> Evidence:
    """αC from 1 − αC, an eigenvalue of (𝕀 + κ_n m/μ_class 11ᵀ)⁻¹, for ever more classes."""
    m, kappa_d, kappa_c, kappa_n = 12, 5.0, 3.0, 1.0
    mu_class = kappa_d - kappa_c + m * (kappa_c - kappa_n)
    values = []
    for classes in (64, 128, 256, 512, 1024):
        ones = np.ones((classes, classes))
        values.append(np.linalg.solve(np.eye(classes) + kappa_n * m / mu_class * ones, ones[0])[0])
    limit, error = extrapolated(values)
    return Evidence(1 - limit, error, 0.0, 1.0)
