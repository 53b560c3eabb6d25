"""How the values of a kernel off its diagonal compare with those on it."""

from typing import Any

import numpy as np


def over_smaller_diagonal(kernel: Any) -> np.ndarray:
    """Return the values of all pairs of different inputs over the smaller of their diagonal ones.

    These shares are below 1 if the diagonal values are larger than all others. In any kernel, the
    value of a pair is at most the geometric mean of its two diagonal values. A share is therefore
    above 1 only if these two differ.

    Args:
        kernel: (S, S), or the norms of the blocks of a positive semidefinite matrix, as a matrix.

    Returns:
        The shares, (S (S - 1)/2,).
    """
    theta = np.asarray(kernel, float)
    row, column = np.triu_indices(len(theta), 1)
    diagonal = np.diag(theta)
    return theta[row, column] / np.minimum(diagonal[row], diagonal[column])
