"""How far one kernel matrix is from another, and from labels. All take (..., S, S), S inputs."""

from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError


def relative_error(found: Any, wanted: Any) -> np.ndarray:
    """|found - wanted|_F / |wanted|_F.

    Raises:
        ConfigError: ``wanted`` is zero.
    """
    return _norm(np.subtract(found, wanted)) / _size(wanted)


def scale(found: Any, wanted: Any) -> np.ndarray:
    """The factor by which ``wanted`` comes closest to ``found``, <found, wanted> / |wanted|_F^2.

    Raises:
        ConfigError: ``wanted`` is zero.
    """
    return np.multiply(found, wanted).sum(axis=(-2, -1)) / _size(wanted) ** 2


def correlation(found: Any, wanted: Any) -> np.ndarray:
    """Pearson's correlation of the entries on and above the diagonal.

    Raises:
        ConfigError: all these entries of a matrix are equal.
    """
    above = np.triu_indices(np.shape(wanted)[-1])
    parts = [np.asarray(kernel, dtype=float)[(..., *above)] for kernel in (found, wanted)]
    first, second = (part - part.mean(axis=-1, keepdims=True) for part in parts)
    sizes = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    if not (sizes > 0).all():
        raise ConfigError("correlation: a kernel has only one value")
    return (first * second).sum(axis=-1) / sizes


def label_energy(labels: Any, kernel: Any) -> tuple[np.ndarray, np.ndarray]:
    """Share of |y|^2 along each eigenvector of a kernel, that of the largest eigenvalue first.

    ``npf``, section 6.2 (5): nu = y^T (K / tr K)^-1 y is the sum of these energies, each over its
    eigenvalue, and falls as energy moves to the eigenvectors of the largest ones. Where eigenvalues
    are equal only the sum of their shares means something.

    Args:
        labels: y, (S,).
        kernel: symmetric (..., S, S).

    Returns:
        eigenvalues (..., S), descending, and shares (..., S), adding up to 1.

    Raises:
        ConfigError: the labels are all zero, or the kernel is not finite.
    """
    y = np.asarray(labels, dtype=float)
    if not y.any():
        raise ConfigError("labels: all are zero and have no energy")
    if not np.isfinite(kernel).all():
        raise ConfigError("kernel: an entry is not finite")
    values, vectors = np.linalg.eigh(np.asarray(kernel, dtype=float))  # ascending
    return values[..., ::-1], (y @ vectors[..., ::-1]) ** 2 / (y @ y)


def _norm(kernel: Any) -> np.ndarray:
    return np.linalg.norm(kernel, axis=(-2, -1))


def _size(wanted: Any) -> np.ndarray:
    size = _norm(wanted)
    if not (size > 0).all():
        raise ConfigError("the kernel to compare with is zero")
    return size
