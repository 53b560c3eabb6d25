"""Compare kernel matrices with each other and with labels.

All functions take matrices (..., S, S) for S inputs.
"""

from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError


def relative_error(found: Any, wanted: Any) -> np.ndarray:
    """Return |found - wanted|_F / |wanted|_F, (...,).

    Raises:
        ConfigError: ``wanted`` is zero.
    """
    return np.linalg.norm(np.subtract(found, wanted), axis=(-2, -1)) / _size(wanted)


def scale(found: Any, wanted: Any) -> np.ndarray:
    """Return the factor c that minimises |found - c wanted|_F, (...,).

    It is <found, wanted> / |wanted|_F^2.

    Raises:
        ConfigError: ``wanted`` is zero.
    """
    return np.multiply(found, wanted).sum(axis=(-2, -1)) / _size(wanted) ** 2


def correlation(found: Any, wanted: Any) -> np.ndarray:
    """Return Pearson's correlation of the entries on and above the diagonal, (...,).

    Raises:
        ConfigError: all these entries of a matrix are equal.
    """
    above = np.triu_indices(np.shape(wanted)[-1])
    parts = [np.asarray(kernel, dtype=float)[(..., *above)] for kernel in (found, wanted)]
    first, second = (part - part.mean(axis=-1, keepdims=True) for part in parts)
    sizes = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    if not (sizes > 0).all():
        raise ConfigError(
            "correlation: all entries of a kernel are equal; it needs two different values"
        )
    return (first * second).sum(axis=-1) / sizes


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
    return values[..., ::-1], (y @ vectors[..., ::-1]) ** 2 / (y @ y)


def _size(wanted: Any) -> np.ndarray:
    size = np.linalg.norm(wanted, axis=(-2, -1))
    if not (size > 0).all():
        raise ConfigError("wanted: the kernel to compare with is zero; it must not be")
    return size
