"""Ratios of moments with standard errors, from sums over draws.

Only the sums are stored, so the memory needed does not depend on the number of draws.
"""

import numpy as np

from finitewidth.kernels.ntk_init.tail_errors import LogSums, robust_error


class PowerSums:
    """Sums of the powers of u = theta / ``about`` - 1.

    ``about`` should be close to the mean of theta, to avoid cancellation.
    """

    def __init__(self, about: float):
        self.about = about
        self.count = 0
        self.sums = np.zeros(4)  # of u, u^2, u^3, u^4

    def add(self, theta: np.ndarray) -> None:
        """Add a block of draws, (n,)."""
        u = theta / self.about - 1
        square = u * u
        self.count += len(u)
        self.sums += [u.sum(), square.sum(), square @ u, square @ square]

    def dispersion(self) -> tuple[float, float]:
        """Mean square divided by squared mean, and its standard error by the delta method.

        With t = theta / mean the ratio r has the influence function t^2 - r - 2 r (t - 1). This is
        a quadratic polynomial in u, so its variance needs moments up to the fourth.
        """
        u1, u2, u3, u4 = self.sums / self.count
        mean = 1 + u1  # of theta / about
        ratio = (1 + 2 * u1 + u2) / mean**2
        # the influence function is a u^2 + b u + c
        a = 1 / mean**2
        b = 2 / mean**2 - 2 * ratio / mean
        c = 1 / mean**2 + ratio - 2 * ratio / mean
        variance = a * a * u4 + 2 * a * b * u3 + (b * b + 2 * a * c) * u2 + 2 * b * c * u1 + c * c
        error = np.sqrt(max(variance, 0.0) / self.count)
        return float(ratio), float(error)


class TailedSums:
    """`PowerSums` of an off-diagonal kernel, with the logarithms of the diagonal one.

    The off-diagonal kernel may be negative, and it is at most the larger of its two diagonal ones.
    Its upper tail is therefore taken from theirs.
    """

    def __init__(self, about: float):
        self.powers = PowerSums(about)
        self.logs = LogSums()

    def add(self, diagonal: np.ndarray, off_diagonal: np.ndarray) -> None:
        """Add a block of draws, (n,) each."""
        self.powers.add(off_diagonal)
        self.logs.add(diagonal)

    def estimate(self) -> tuple[float, float]:
        """The dispersion of the off-diagonal kernel, with the standard error of `robust_error`."""
        value, error = self.powers.dispersion()
        return value, robust_error(value, error, self.logs.variance(), self.powers.count)


class PairSums:
    """Sums over paired draws of d = theta(x, x) and o = theta(x, x~), for the ratio of means."""

    def __init__(self) -> None:
        self.count = 0
        self.sums = np.zeros(5)  # of d, o, d^2, d o, o^2

    def add(self, diagonal: np.ndarray, off_diagonal: np.ndarray) -> None:
        """Add a block of draws, (n,) each."""
        d = diagonal
        o = off_diagonal
        self.count += len(d)
        self.sums += [d.sum(), o.sum(), d @ d, d @ o, o @ o]

    def estimate(self) -> tuple[float, float]:
        """Mean off-diagonal over mean diagonal, and its standard error by the delta method."""
        d, o, dd, do, oo = self.sums / self.count
        ratio = o / d
        # of the influence function (o - ratio d) / mean d
        variance = (oo - 2 * ratio * do + ratio**2 * dd) / d**2
        error = np.sqrt(max(variance, 0.0) / self.count)
        return float(ratio), float(error)
