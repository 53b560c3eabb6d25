"""Blocks of kernel matrices: means over pairs of inputs by their classes, and label alignment.

All functions take kernels (..., S, S) and the labels of the inputs.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.common.errors import ConfigError

if TYPE_CHECKING:
    from finitewidth.common.arrays import Array


@dataclass(frozen=True)
class BlockMeans:
    """Means of the entries of kernels over kinds of pairs of inputs, each (...,).

    Means over pairs are taken for each class first and then over classes, so that each class counts
    the same (``beyond`` equation 23). Classes with one input are left out of ``same_class``. A mean
    over no pairs is nan: ``same_class`` if no class has two inputs, ``other_class`` if there is one
    class.

    Attributes:
        diagonal: over pairs of an input with itself; gamma_d, kappa_d in ``collapse``, Theta_d in
            ``beyond``.
        same_class: over pairs of different inputs of one class; gamma_c, Theta_c.
        same_class_with_diagonal: over all pairs of one class, the diagonal included. The authors'
            code for ``beyond`` Figure 4 computes this one.
        other_class: over pairs of different classes; gamma_n, Theta_n.
        spread_diagonal: standard deviation of the diagonal.
        spread_same: standard deviation over the pairs of ``same_class``.
        spread_other: standard deviation over the pairs of ``other_class``.
    """

    diagonal: np.ndarray
    same_class: np.ndarray
    same_class_with_diagonal: np.ndarray
    other_class: np.ndarray
    spread_diagonal: np.ndarray
    spread_same: np.ndarray
    spread_other: np.ndarray


def block_means(kernel: "Array", labels: "Array") -> BlockMeans:
    """Return the means of a block-structured kernel over kinds of pairs of inputs.

    The result has ``diagonal``, ``same_class``, ``other_class`` and others, each (...,).

    Source: ``beyond`` equation 23, ``collapse`` Definition 3.1.

    Args:
        kernel: (..., S, S).
        labels: the classes, (S,).

    Raises:
        ConfigError: the shapes do not match.

    Examples:
        >>> import finitewidth as fw
        >>> means = fw.block_means([[2, 1, 0], [1, 2, 0], [0, 0, 2]], labels=[0, 0, 1])
        >>> float(means.diagonal), float(means.same_class), float(means.other_class)
        (2.0, 1.0, 0.0)
    """
    theta, same_class = _checked(kernel, labels)
    same_input = np.eye(len(same_class), dtype=bool)
    diagonal, spread_diagonal = _moments(theta, same_input / 1.0)
    same, spread_same = _moments(theta, _per_class(same_class & ~same_input, same_class))
    other, spread_other = _moments(theta, _per_class(~same_class, same_class))
    with_diagonal, _ = _moments(theta, _per_class(same_class, same_class))
    return BlockMeans(
        diagonal=diagonal,
        same_class=same,
        same_class_with_diagonal=with_diagonal,
        other_class=other,
        spread_diagonal=spread_diagonal,
        spread_same=spread_same,
        spread_other=spread_other,
    )


def gap(means: BlockMeans) -> np.ndarray:
    """Return (same class - other class) / diagonal, (...,).

    It is 0 for a constant kernel and 1 if classes are orthogonal and inputs of a class alike. A
    kernel that does not know the labels can have a positive gap, if inputs of a class are similar.
    """
    return (means.same_class - means.other_class) / means.diagonal


def label_alignment(kernel: "Array", targets: "Array", *, centred: bool = False) -> Any:
    """Return the cosine of kernels and of the target matrix, <K, Y Y^T> / (|K| |Y Y^T|).

    Classes: Y Y^T is 1 for pairs of one class and 0 otherwise (thesis, equation 2.63), as with
    one-hot rows Y. A constant kernel has 1/sqrt(C) if the C classes are of equal size. Real targets
    y: the matrix is y y^T, or Y Y^T for several columns (Cristianini et al. 2001).

    Args:
        kernel: (..., S, S).
        targets: integers, booleans or names (S,) are classes. Floating-point numbers (S,), whole or
            not, are real targets; so is every array (S, C), such as one-hot rows.
        centred: whether to subtract the means of rows and columns of both matrices first (Cortes,
            Mohri and Rostamizadeh 2012). A constant kernel is then zero.

    Returns:
        (...,).

    Raises:
        ConfigError: the shapes do not match, targets are not finite, or a kernel or the target
            matrix is zero.

    Examples:
        >>> import numpy as np
        >>> import finitewidth as fw
        >>> float(fw.label_alignment(np.ones((2, 2)), [0, 0]))  # classes
        1.0
        >>> float(fw.label_alignment(np.eye(2), [1.0, -1.0]).round(3))  # real targets
        0.707
    """
    theta = _numbers("kernel", kernel)
    matrix = _target_matrix(targets)
    _check_shapes(theta, len(matrix), np.shape(targets))
    theta, _ = _in_range(theta, (-2, -1))
    matrix, _ = _in_range(matrix, (-2, -1))
    # a constant matrix leaves only rounding after centring
    rounding = len(matrix) * np.finfo(float).eps
    least_norm = rounding * _norm(theta)
    least_matrix_norm = rounding * _norm(matrix)
    if centred:
        theta = _centred(theta)
        matrix = _centred(matrix)
    norm = _norm(theta)
    matrix_norm = _norm(matrix)
    after = " after centring" if centred else ""
    if (norm <= least_norm).any():
        raise ConfigError(f"kernel: it is zero{after}; alignment needs a kernel that is not")
    if matrix_norm <= least_matrix_norm:
        raise ConfigError(f"targets: all are zero{after}; alignment needs targets that are not")
    return (theta * matrix).sum(axis=(-2, -1)) / (norm * matrix_norm)


def _target_matrix(targets: Any) -> np.ndarray:
    """Return Y Y^T, (S, S), of classes or of real targets."""
    values = _array(targets)
    if values.ndim == 1 and values.dtype.kind != "f":
        return (values[:, None] == values) / 1.0
    if values.ndim not in (1, 2):
        raise ConfigError(f"targets: shape {values.shape} must be (S,) or (S, C)")
    columns = _numbers("targets", values).reshape(len(values), -1)
    if not np.isfinite(columns).all():
        raise ConfigError("targets: all must be finite numbers; leave such inputs out")
    return columns @ columns.T


def _centred(matrix: np.ndarray) -> np.ndarray:
    """Subtract the means of rows and of columns from matrices (..., S, S)."""
    rows = matrix - matrix.mean(axis=-1, keepdims=True)
    return rows - rows.mean(axis=-2, keepdims=True)


def _norm(matrix: np.ndarray) -> np.ndarray:
    """Return the Frobenius norm, (...,)."""
    return np.linalg.norm(matrix, axis=(-2, -1))


def _in_range(values: np.ndarray, axis: int | tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return values whose squares are in the range of float64, and exponents e.

    They are the given ones times 2^-e. The exponent is one for all values along the axes, and 0 if
    their squares are in the range already.
    """
    largest = np.abs(values).max(axis=axis, keepdims=True, initial=0.0)
    usual = (largest > 1e-100) & (largest < 1e100)
    exponent = np.where(usual | ~np.isfinite(largest), 0, np.frexp(largest)[1])
    return np.ldexp(values, -exponent), exponent


def _per_class(pairs: np.ndarray, same_class: np.ndarray) -> np.ndarray:
    """Return weights (S, S) of pairs (i, j), with the same sum over all i of a class.

    ``pairs`` and ``same_class`` are booleans (S, S): which pairs count, and which are of one class.
    """
    pairs_of_input = pairs.sum(axis=1, keepdims=True)
    inputs_of_class = same_class.sum(axis=1, keepdims=True)
    return pairs / (pairs_of_input * inputs_of_class).clip(1)


def _moments(theta: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the entries with the given weights."""
    pairs = weights > 0
    if not pairs.any():
        nothing = np.full(theta.shape[:-2], np.nan)
        return nothing, nothing
    entries = theta[..., pairs]
    shares = weights[pairs] / weights.sum()
    mean = (entries * shares).sum(axis=-1)
    deviations, exponent = _in_range(entries - mean[..., None], -1)
    spread = np.sqrt((deviations**2 * shares).sum(axis=-1))
    return mean, np.ldexp(spread, exponent[..., 0])


def _checked(kernel: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the kernel in float64, and the pairs of one class, (S, S)."""
    theta = _numbers("kernel", kernel)
    classes = _array(labels)
    inputs = len(classes) if classes.ndim == 1 else -1  # -1 fits no kernel
    _check_shapes(theta, inputs, classes.shape)
    if classes.dtype.kind == "f" and not (classes == classes.round()).all():
        raise ConfigError("labels: must be classes; these are real numbers that are not whole")
    return theta, classes[:, None] == classes


def _check_shapes(theta: np.ndarray, inputs: int, shape: tuple[int, ...]) -> None:
    """Check that kernels belong to as many inputs as labels or targets of a shape."""
    if theta.ndim < 2 or theta.shape[-2:] != (inputs, inputs):
        raise ConfigError(
            f"kernel: shape {theta.shape} must be (..., S, S), for S inputs; their labels have the "
            f"shape {shape}"
        )


def _array(values: Any) -> np.ndarray:
    """Return an array, or a tensor on any device, as an array."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _numbers(name: str, values: Any) -> np.ndarray:
    """Return real numbers as float64."""
    array = _array(values)
    if array.dtype.kind not in "biuf":
        raise ConfigError(f"{name}: must be an array of real numbers, not of {array.dtype}")
    return array.astype(float)
