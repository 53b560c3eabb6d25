"""How far one kernel matrix is from another. All take (..., S, S), S inputs."""

from typing import Any

import numpy as np

from finitewidth.errors import ConfigError


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


def _norm(kernel: Any) -> np.ndarray:
    return np.linalg.norm(kernel, axis=(-2, -1))


def _size(wanted: Any) -> np.ndarray:
    size = _norm(wanted)
    if not (size > 0).all():
        raise ConfigError("the kernel to compare with is zero")
    return size
