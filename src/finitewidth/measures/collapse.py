"""Neural collapse of a classifier, and the invariant of its last two layers.

Source: ``collapse``, sections 2.1 and 5. A batch has m inputs of each of C classes, N = C m in all.
Features h (N, n) are the inputs of the last layer, which has the weights W (C, n) and the biases b
(C,). Row c of W belongs to class c. All functions take plain arrays and compute in float64.

The scale of the invariant is that of the authors' code: their H2 is sqrt(m) times that of the
paper, and their invariant is m E.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.measures.blocks import block_means, label_alignment

COLLAPSE = (
    "nc1",
    "nc1_ratio",
    "nc2",
    "nc3",
    "nc4",
    "e_norm",
    "e_relative",
    "invariant_alignment",
    "residual",
    "h1",
    "h2",
    "hbar",
    "alpha_c",
    "bias_gap",
    "dead",
)
KERNELS = (
    "kappa_d",
    "kappa_c",
    "kappa_n",
    "gamma_d",
    "gamma_c",
    "gamma_n",
    "alignment_theta",
    "alignment_theta_h",
)


@dataclass(frozen=True)
class ClassParts:
    """Features divided into class means and deviations (``collapse`` equations 23 and 24).

    ``means`` (n, C) is H1, the mean of the features of each class, and ``deviations`` (C, m, n) are
    the features minus it. ``mean`` (n,) is the global mean <h>, and ``per_class`` is m.
    """

    means: np.ndarray
    deviations: np.ndarray
    mean: np.ndarray
    per_class: int

    @property
    def centred(self) -> np.ndarray:
        """M, the class means minus the global mean, columns not normalised, (n, C)."""
        return self.means - self.mean[:, None]

    @property
    def scatter(self) -> np.ndarray:
        """H2 H2^T in the authors' scale, the sum of all products of deviations, (n, n)."""
        flat = self.deviations.reshape(-1, len(self.means))
        return flat.T @ flat


def class_parts(features: Any, labels: Any, classes: int) -> ClassParts:
    """Divide features h (N, n) into class means and deviations.

    The labels are classes 0 .. C-1, (N,), each equally often, and C is at least two.

    Raises:
        ConfigError: the shapes do not match, or the classes have different numbers of inputs.
    """
    h = np.asarray(features, dtype=float)
    y = np.asarray(labels)
    if h.ndim != 2 or y.shape != h.shape[:1]:
        raise ConfigError(f"features: shape {h.shape} must be (N, n) for labels (N,), {y.shape}")
    counts = np.bincount(y, minlength=classes)
    if len(counts) > classes or classes < 2 or not counts[0] or (counts != counts[0]).any():
        raise ConfigError(
            f"labels: numbers of inputs by class {counts.tolist()}; {classes} classes must have "
            "equally many, at least one, and there must be two classes"
        )
    by_class = np.argsort(y, kind="stable")
    grouped = h[by_class].reshape(classes, counts[0], -1)  # (C, m, n)
    means = grouped.mean(axis=1)  # (C, n)
    return ClassParts(
        means=means.T,
        deviations=grouped - means[:, None],
        mean=means.mean(axis=0),
        per_class=int(counts[0]),
    )


def nc1(parts: ClassParts) -> float:
    """Return the mean over classes and features of the standard deviation within a class.

    It is that of ``collapse`` Figure 2 c and of the authors' code. It scales with the features.
    """
    return float(np.sqrt((parts.deviations**2).mean(axis=1)).mean())


def nc1_ratio(parts: ClassParts) -> float:
    """Return the variance within classes over that of the class means, summed over features.

    It does not depend on the scale of the features. It is nan if all class means are equal.
    """
    classes = parts.means.shape[1]
    within = (parts.deviations**2).sum() / (classes * parts.per_class)
    between = (parts.centred**2).sum() / classes
    return float(within / between) if between else np.nan


def nc2(parts: ClassParts, *, normalise_columns: bool = False) -> float:
    """Return |M^T M / |M^T M|_F - Phi|_F with Phi = (I - 1 1^T / C) / sqrt(C - 1).

    Source: ``collapse`` Figure 2 d. It is 0 if the centred class means form a simplex equiangular
    tight frame, and nan if they are 0. The columns of M may be normalised first, as in the
    definition of M in section 2.1. The authors' code does not.
    """
    M = _columns(parts, normalise_columns)
    classes = M.shape[1]
    frame = (np.eye(classes) - 1 / classes) / np.sqrt(classes - 1)
    return float(np.linalg.norm(_normalised(M.T @ M) - frame))


def nc3(parts: ClassParts, head_weight: Any, *, normalise_columns: bool = False) -> float:
    """Return |W^T / |W|_F - M / |M|_F|_F with W (C, n) and M as for `nc2`.

    Source: ``collapse`` Figure 2 e.

    It is 0 if W^T and M are equal up to a positive factor, and nan if one of them is 0.
    """
    M = _columns(parts, normalise_columns)
    W = np.asarray(head_weight, dtype=float)
    return float(np.linalg.norm(_normalised(W.T) - _normalised(M)))


def nc4(parts: ClassParts, features: Any, head_weight: Any, head_bias: Any) -> float:
    """Return the share of inputs whose largest output is that of the nearest class mean (NC4)."""
    h = np.asarray(features, dtype=float)
    W = np.asarray(head_weight, dtype=float)
    b = np.asarray(head_bias, dtype=float)
    outputs = h @ W.T + b  # (N, C)
    # |h - mean|^2 without |h|^2, which is the same for all classes
    distances = (parts.means**2).sum(axis=0) - 2 * h @ parts.means  # (N, C)
    agree = outputs.argmax(axis=1) == distances.argmin(axis=1)
    return float(agree.mean())


def invariant(
    parts: ClassParts, head_weight: Any, kappa: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Compute both terms of the invariant of Theorem 5.1 in the authors' scale, and alpha.

    m E = W^T W - B with B = m/mu_class H1 (I - alpha 1 1^T) H1^T + 1/mu_single H2 H2^T, where H2
    has the authors' scale. Equation (28) prints a minus before H2 and leaves out alpha; both terms
    are taken from equation (26). mu_single is kappa_d - kappa_c, and mu_class is mu_single +
    m (kappa_c - kappa_n), with the block means ``kappa`` = (kappa_d, kappa_c, kappa_n) of the
    kernel of one feature.

    Returns:
        W^T W and B, (n, n), and alpha = kappa_n m / (mu_class + C kappa_n m). They are nan or
        infinite where they do not exist, as for mu_single = 0.
    """
    W = np.asarray(head_weight, dtype=float)
    H1 = parts.means  # (n, C)
    m = parts.per_class
    classes = H1.shape[1]
    diagonal, same, other = (np.float64(value) for value in kappa)
    mu_single = diagonal - same
    mu_class = mu_single + m * (same - other)
    with np.errstate(all="ignore"):
        gram = W.T @ W
        alpha = other * m / (mu_class + classes * other * m)
        # H1 (I - alpha 1 1^T) H1^T, for H1 1 = C <h>
        spread = H1 @ H1.T - alpha * classes**2 * np.outer(parts.mean, parts.mean)
        terms = m / mu_class * spread + parts.scatter / mu_single
    return gram, terms, float(alpha)


def bias_gap(head_bias: Any) -> float:
    """Return the largest |b_c - 1/C|; Theorem 5.2 has b = 1/C for centred features."""
    b = np.asarray(head_bias, dtype=float)
    return float(np.abs(b - 1 / len(b)).max())


def collapse_measures(
    features: Any,
    labels: Any,
    head_weight: Any,
    head_bias: Any,
    kappa: tuple[float, float, float],
    *,
    normalise_columns: bool = False,
) -> dict[str, float]:
    """Compute the metrics of neural collapse and the terms of the invariant for one batch.

    Features are (N, n), labels (N,) as for `class_parts`, weights (C, n) and biases (C,). ``kappa``
    is as for `invariant`, see `kernel_measures`. ``normalise_columns`` is for NC2 and NC3.

    Returns:
        The keys `COLLAPSE`. ``e_norm`` is |m E|_F and ``e_relative`` |m E|_F / |W^T W|_F;
        ``invariant_alignment`` is the cosine of W^T W and B of `invariant`, and ``residual`` the
        least |W^T W - c B|_F / |W^T W|_F over all c. ``h1``, ``h2`` and ``hbar`` are |H1 H1^T|_F,
        |H2 H2^T|_F in the authors' scale and |<h> <h>^T|_F; ``alpha_c`` is alpha C; ``dead`` is the
        number of features that are 0 for every input. All are nan if a feature or a weight is not
        finite.

    Raises:
        ConfigError: the shapes do not match, or the classes have different numbers of inputs.
    """
    if not all(np.isfinite(array).all() for array in (features, head_weight, head_bias)):
        return dict.fromkeys(COLLAPSE, np.nan)
    parts = class_parts(features, labels, len(head_weight))
    is_dead = (np.asarray(features) == 0).all(axis=0)  # (n,)
    measures = {
        "nc1": nc1(parts),
        "nc1_ratio": nc1_ratio(parts),
        "nc2": nc2(parts, normalise_columns=normalise_columns),
        "nc3": nc3(parts, head_weight, normalise_columns=normalise_columns),
        "nc4": nc4(parts, features, head_weight, head_bias),
    }
    measures |= _invariant_measures(parts, head_weight, kappa)
    measures["bias_gap"] = bias_gap(head_bias)
    measures["dead"] = int(is_dead.sum())
    return measures


def _invariant_measures(
    parts: ClassParts, head_weight: Any, kappa: tuple[float, float, float]
) -> dict[str, float]:
    """Return the sizes of the invariant and of its terms, ``e_norm`` to ``alpha_c`` of `COLLAPSE`.

    The factor c that brings c B nearest to W^T W is <W^T W, B> / |B|_F^2. What is left then has the
    size sqrt(1 - cosine^2) |W^T W|_F.
    """
    gram, terms, alpha = invariant(parts, head_weight, kappa)  # W^T W and B, (n, n)
    with np.errstate(all="ignore"):
        size = np.linalg.norm(gram)
        norm = np.linalg.norm(gram - terms)
        relative = norm / size
        cosine = (gram * terms).sum() / (size * np.linalg.norm(terms))
        # rounding can leave a cosine above 1
        residual = np.sqrt(np.maximum(1 - cosine**2, 0))
    return {
        "e_norm": float(norm),
        "e_relative": float(relative),
        "invariant_alignment": float(cosine),
        "residual": float(residual),
        "h1": float(np.linalg.norm(parts.means @ parts.means.T)),
        "h2": float(np.linalg.norm(parts.scatter)),
        "hbar": float(parts.mean @ parts.mean),
        "alpha_c": alpha * len(head_weight),
    }


def kernel_measures(
    theta: Any, theta_h: Any, labels: Any, *, outputs: int, features: int
) -> dict[str, float]:
    """Compute block means and label alignments of two traced kernels, (S, S), by labels (S,).

    ``theta`` is the sum of the tangent kernels of C = ``outputs`` outputs, and ``theta_h`` that of
    the kernels of n = ``features`` features.

    Returns:
        The keys `KERNELS`. kappa and gamma are means over the n features and C outputs
        (Definition 3.1): d for an input with itself, c for two inputs of one class, n for two of
        different classes. All are nan if an entry of a kernel is not finite. The alignment of a
        kernel that is 0 is nan.

    Raises:
        ConfigError: the shapes do not match.
    """
    measures = dict.fromkeys(KERNELS, np.nan)
    if not (np.isfinite(theta).all() and np.isfinite(theta_h).all()):
        return measures
    measures |= _block_measures("gamma", theta, outputs, labels)
    measures |= _block_measures("kappa", theta_h, features, labels)
    if np.any(theta):
        measures["alignment_theta"] = float(label_alignment(theta, labels))
    if np.any(theta_h):
        measures["alignment_theta_h"] = float(label_alignment(theta_h, labels))
    return measures


def _block_measures(name: str, kernel: Any, count: int, labels: Any) -> dict[str, float]:
    """Return the block means d, c and n of a kernel (S, S) that is a sum over ``count`` outputs."""
    means = block_means(np.asarray(kernel, dtype=float) / count, labels)
    return {
        f"{name}_d": float(means.diagonal),
        f"{name}_c": float(means.same_class),
        f"{name}_n": float(means.other_class),
    }


def _columns(parts: ClassParts, normalise: bool) -> np.ndarray:
    """Return M, whose columns have norm 1 with ``normalise``."""
    M = parts.centred
    if not normalise:
        return M
    with np.errstate(invalid="ignore"):
        return M / np.linalg.norm(M, axis=0)


def _normalised(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix over its Frobenius norm; nan if that is 0."""
    with np.errstate(invalid="ignore"):
        return matrix / np.linalg.norm(matrix)
