"""The memorisation network's kernel at infinite width (npf appendix D, dgn section 2).

Its input is the constant 1 and its gates are external, open with probability mu. At
sigma = 1/sqrt(mu w), E[K_0]/d has ones on its diagonal and mu^(d-1) everywhere else.
"""

import numpy as np


def ideal_overlap(depth: int, mu: float) -> float:
    """Off-diagonal entry of E[K_0]/d, for ``depth`` weight layers: mu^(d-1) (npf equation 23)."""
    return mu ** (depth - 1)


def ideal_eigenvalues(samples: int, depth: int, mu: float) -> np.ndarray:
    """Eigenvalues of E[K_0]/d, ascending: 1 - mu^(d-1), and last 1 + (n-1) mu^(d-1)."""
    overlap = ideal_overlap(depth, mu)
    values = np.full(samples, 1 - overlap)
    values[-1] = 1 + (samples - 1) * overlap
    return values
