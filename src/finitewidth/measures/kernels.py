"""Compare kernel matrices with each other and with labels.

All functions take matrices (..., S, S) for S inputs.
"""

from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError


def relative_error(kernel: Any, reference: Any) -> np.ndarray:
    """Return |kernel - reference|_F / |reference|_F, (...,).

    Raises:
        ConfigError: ``reference`` is zero.
    """
    difference = np.linalg.norm(np.subtract(kernel, reference), axis=(-2, -1))
    return difference / _norm(reference)


def scale(kernel: Any, reference: Any) -> np.ndarray:
    """Return the factor c that minimises |kernel - c reference|_F, (...,).

    It is <kernel, reference> / |reference|_F^2.

    Raises:
        ConfigError: ``reference`` is zero.
    """
    return np.multiply(kernel, reference).sum(axis=(-2, -1)) / _norm(reference) ** 2


def correlation(kernel: Any, reference: Any) -> np.ndarray:
    """Return Pearson's correlation of the entries on and above the diagonal, (...,).

    Raises:
        ConfigError: all these entries of a matrix are equal.
    """
    first = _deviations(kernel)
    second = _deviations(reference)
    norms = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    if not (norms > 0).all():
        raise ConfigError(
            "correlation: all entries of a kernel are equal; it needs two different values"
        )
    return (first * second).sum(axis=-1) / norms


def _deviations(kernel: Any) -> np.ndarray:
    """Return the entries on and above the diagonal less their mean, (..., S (S + 1)/2)."""
    rows, columns = np.triu_indices(np.shape(kernel)[-1])
    entries = np.asarray(kernel, dtype=float)[..., rows, columns]
    return entries - entries.mean(axis=-1, keepdims=True)


def label_energy(labels: Any, kernel: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of |y|^2 along each eigenvector of a kernel.

    For a kernel K of trace 1 the quantity nu = y^T K^-1 y (``npf``, section 6.2 (5)) is |y|^2
    times the sum of these shares, each divided by its eigenvalue. It falls as the share of the
    eigenvectors with large eigenvalues rises. If eigenvalues are equal, only the sum of their
    shares is well defined.

    Labels y are (S,), and kernels symmetric matrices (..., S, S). The result is the eigenvalues,
    (..., S) in descending order, and the shares, (..., S), which sum to 1.
    """
    y = np.asarray(labels, dtype=float)
    values, vectors = np.linalg.eigh(np.asarray(kernel, dtype=float))  # ascending
    shares = (y @ vectors[..., ::-1]) ** 2 / (y @ y)
    return values[..., ::-1], shares


def _norm(reference: Any) -> np.ndarray:
    """Return |reference|_F, (...,); refuse 0."""
    norm = np.linalg.norm(reference, axis=(-2, -1))
    if not (norm > 0).all():
        raise ConfigError("reference: the kernel to compare with is zero; it must not be")
    return norm
