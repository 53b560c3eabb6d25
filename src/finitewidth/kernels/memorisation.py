"""The mean kernel of the memorisation network (npf appendix D, dgn section 2).

The input is the constant 1 and the gates are external, each open with probability mu. For
sigma = 1/sqrt(mu w), the diagonal entries of E[K_0]/d are 1 and all other entries are mu^(d-1).
"""

import numpy as np


def ideal_overlap(depth: int, mu: float) -> float:
    """Return the off-diagonal entry of E[K_0]/d, which is mu^(d-1) (npf equation 23)."""
    return mu ** (depth - 1)


def ideal_eigenvalues(samples: int, depth: int, mu: float) -> np.ndarray:
    """Return the n eigenvalues of E[K_0]/d in ascending order.

    The first n - 1 are 1 - mu^(d-1). The last is 1 + (n-1) mu^(d-1).
    """
    overlap = ideal_overlap(depth, mu)
    values = np.full(samples, 1 - overlap)
    values[-1] = 1 + (samples - 1) * overlap
    return values
