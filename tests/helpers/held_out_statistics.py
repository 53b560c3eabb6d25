"""Numbers of draws, statistics and error rates of the samplers' held-out tests."""

import numpy as np
from tests.helpers.error_rates import Ledger, same_law, same_mean
from tests.helpers.plain_autograd import Kernels

LEDGER = Ledger(false_alarm=1e-3, comparisons=10_000)
DRAWS = 50_000  # of networks with one input, and of pairs
MATRICES = 30_000  # of networks with several inputs
CHAIN = 1_000_000  # of the scalar chain, to compare with exact moments


def directions(rng, size):
    """Draw three directions in which joint laws are compared."""
    return rng.standard_normal((size, 3))


def compared(left, right):
    """Return p-values of two samples, each a pair of statistics {name: sample}.

    The laws of the first ones are compared, and the means of the second ones.
    """
    laws = {name: same_law(left[0][name], right[0][name]) for name in left[0]}
    means = {f"mean of {name}": same_mean(left[1][name], right[1][name]) for name in left[1]}
    return laws | means


def grown(draws):
    """Return draws of a sampler with the growth that it stores as a logarithm."""
    w, b, f = draws.arrays
    growth = np.exp(draws.log_growth)
    return Kernels(growth * w, growth * b, growth**0.5 * f)


def in_directions(numbers, axes):
    """Return the projections of numbers (draws, size) on axes (size, 3), by name."""
    projections = numbers @ axes
    return {f"direction {i}": projections[:, i] for i in range(3)}


def scalar_statistics(draws, axes):
    """Return statistics of the parts of a kernel of one input, each (draws,)."""
    w = np.ravel(draws.theta_w)
    b = np.ravel(draws.theta_b)
    f = np.ravel(draws.output)
    theta = w + b
    laws = {"W": w, "b": b, "f": f, "Theta": theta, "W b": w * b, "W f^2": w * f * f}
    joint = np.stack([np.log1p(w), np.log1p(b), np.arcsinh(f)], axis=1)  # (draws, 3)
    means = {
        "W": w,
        "b": b,
        "f": f,
        "W b": w * b,
        "Theta^2": theta**2,
        "f^2": f * f,
        "log Theta": np.log1p(theta),
    }
    return laws | in_directions(joint, axes), means


def kernel_statistics(draws, axes):
    """Return statistics of kernels (draws, S, S) of several inputs."""
    f = draws.output.reshape(len(draws.theta), -1)  # (draws, S)
    rows, columns = np.triu_indices(f.shape[1])
    entries_w = draws.theta_w[:, rows, columns]  # (draws, S (S + 1) / 2)
    entries_b = draws.theta_b[:, rows, columns]
    joint = np.arcsinh(np.concatenate([entries_w, entries_b, f], axis=1))
    first = draws.theta[:, 0, 0]
    off = draws.theta[:, 0, -1]
    w_off = draws.theta_w[:, 0, -1]
    b_off = draws.theta_b[:, 0, -1]
    outputs = f[:, 0] * f[:, -1]
    laws = {
        "first": first,
        "last": draws.theta[:, -1, -1],
        "W off": w_off,
        "b off": b_off,
        "largest eigenvalue": np.linalg.eigvalsh(draws.theta)[:, -1],
        "f f'": outputs,
        "f Theta f": np.einsum("ni,nij,nj->n", f, draws.theta, f),
    }
    means = {
        "first": first,
        "W off": w_off,
        "b off": b_off,
        "off^2": off**2,
        "f f'": outputs,
        "log first": np.log1p(first),
    }
    return laws | in_directions(joint, axes), means


def pair_statistics(theta, axes):
    """Return statistics of Theta(x, x) and Theta(x, x~), given as (2, draws)."""
    diagonal, off_diagonal = theta
    laws = {
        "Theta(x, x)": diagonal,
        "Theta(x, x~)": off_diagonal,
        "ratio": off_diagonal / diagonal,
    }
    means = laws | {"Theta(x, x~)^2": off_diagonal**2}
    return laws | in_directions(np.arcsinh(theta.T), axes), means


def extrapolated(narrow, wide, limits):
    """Return 2 g(2 M) - g(M), where g is K - limit in units of the limit's diagonal.

    If the mean of g(M) is c / M + O(1 / M^2), that of the result is O(1 / M^2).

    Args:
        narrow: kernels of networks of width M, (draws, S, S).
        wide: those of width 2 M.
        limits: the limits for both widths, which differ in the standard parametrisation.
    """
    parts = []
    for draws, limit in zip((narrow, wide), limits, strict=True):
        deviation = np.diagonal(limit) ** 0.5
        parts.append((draws - limit) / np.outer(deviation, deviation))
    return 2 * parts[1] - parts[0]
