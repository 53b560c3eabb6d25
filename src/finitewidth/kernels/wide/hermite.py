"""Means of products of any activation over two Gaussian variables, as series in the correlation.

With normalised Hermite polynomials h_k and a standard normal z, phi(sqrt(a) z) is the sum of
alpha_k(a) h_k(z). By Mehler's formula, for variances a and b and the correlation c,

    E phi(u) phi(v) = sum_k alpha_k(a) alpha_k(b) c^k

(Daniely, Frostig and Singer 2016, "Toward Deeper Understanding of Neural Networks").
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil

import numpy as np
import torch
from torch import Tensor

from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float, Int
from finitewidth.kernels.ntk_init.activations import ActivationLike, TensorMap, activation_of
from finitewidth.kernels.trained.budget import pieces
from finitewidth.kernels.wide.duals import Dual, correlation

REACH = 13.0  # of the integrals, in standard deviations
PANEL = 0.5  # width of a panel; one ends at 0, where some activations have a kink
PANEL_NODES = 16
FIRST = 32  # terms of the first try
MOST = 1024  # largest number of terms
TOLERANCE = 1e-15  # the part of E phi^2 that the last quarter of the terms may have
NEGLIGIBLE = 1e-16  # the part of the sum that terms left out may have
BIN = 4.0  # largest width of a bin of logarithms of variances
NARROWEST = 1e-3  # smallest width
CHEBYSHEV = 32  # polynomials in each bin
TINY = 1e-30  # replaces smaller variances
AT_ONCE = 32  # terms whose coefficients are held
BLOCK = 2**20  # numbers of a function at once


def by_series(activation: ActivationLike) -> Dual:
    """Return the means of any elementwise activation.

    Terms are added until their last quarter has less than `TOLERANCE` of E phi^2. What is left out
    is the relative error at c = 1; it is smaller at other correlations. For tanh `MOST` terms are
    enough up to a variance of about 10, and at 40 the errors are 4e-9 (value) and 2e-7 (slope).
    Where the function or its slope jumps, they are not enough: for ReLU, which has a closed form,
    the errors would be up to 3e-6 and 5e-3 near c = 1 and -1.
    """
    function = activation_of(activation)
    value = partial(_mean, function.value)
    slope = partial(_mean, function.slope)

    def means(q: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return value(q, a, b), slope(q, a, b)

    return Dual(means, value)


def _mean(
    function: TensorMap,
    q: Float[Tensor, "*#shape"],
    a: Float[Tensor, "*#shape"],
    b: Float[Tensor, "*#shape"],
) -> Float[Tensor, "*#shape"]:
    """Return E f(u) f(v) for covariances q and variances a and b of u and v."""
    c, _ = correlation(q, a, b)
    same = a.shape == b.shape and torch.equal(a, b)
    variances = a.reshape(-1) if same else torch.cat([a.reshape(-1), b.reshape(-1)])
    coefficients = _coefficients(function, variances)
    if not bool(coefficients.largest.isfinite().all()):
        raise ConfigError("network: an activation grows too fast; its square has no finite mean")
    terms = _terms(coefficients.largest, float(c.abs().max()))
    power = c.square() if terms.step == 2 else c
    total = torch.zeros_like(c)
    # Horner's scheme, from the last term to the first
    for piece in reversed(list(pieces(len(terms), AT_ONCE))):
        alpha = coefficients.at_terms(terms[piece])  # (k, number of variances)
        alpha_a = alpha[:, : a.numel()].reshape(-1, *a.shape)
        alpha_b = alpha_a if same else alpha[:, a.numel() :].reshape(-1, *b.shape)
        for k in reversed(range(len(alpha_a))):
            total.mul_(power).addcmul_(alpha_a[k], alpha_b[k])
    return total.mul_(c) if terms.start else total


def _terms(largest: Float[Tensor, "k"], c: float) -> range:
    """Return the numbers of the terms that matter up to a correlation c.

    Odd and even functions have terms of one parity alone.
    """
    bounds = largest.square() * c ** torch.arange(len(largest), device=largest.device)
    small = NEGLIGIBLE * bounds.sum()
    stop = int((bounds.flip(0).cumsum(0).flip(0) > small).sum())
    for parity in (0, 1):
        if bounds[1 - parity :: 2].sum() <= small:
            return range(parity, stop, 2)
    return range(stop)


@dataclass(frozen=True)
class _Coefficients:
    """Hermite coefficients of a function of each of n variances.

    Attributes:
        series: (bins, k, d), those of Chebyshev polynomials in the logarithm of the variance.
        polynomials: (d, n), these polynomials.
        bins: the bin of each variance, (n,).
        largest: (k,), the largest coefficients.
    """

    series: Float[Tensor, "bins k d"]
    polynomials: Float[Tensor, "d n"]
    bins: Int[Tensor, "n"]
    largest: Float[Tensor, "k"]

    def at_terms(self, terms: range) -> Float[Tensor, "k n"]:
        """Return the coefficients of the terms k of a range, (k, n)."""
        series = self.series[:, terms.start : terms.stop : terms.step]
        if len(series) == 1:
            return series[0] @ self.polynomials
        alpha = series.new_empty(series.shape[1], len(self.bins))
        for number, series_of_bin in enumerate(series):
            in_bin = self.bins == number
            alpha[:, in_bin] = series_of_bin @ self.polynomials[:, in_bin]
        return alpha


def _coefficients(function: TensorMap, variances: Float[Tensor, "n"]) -> _Coefficients:
    """Return the coefficients for variances (n,).

    Those of many variances are interpolated in the logarithm of the variance, of which they are
    analytic functions up to a distance pi from the real axis. Chebyshev polynomials on a bin of
    at most the width 4 then have the error 3.4^-d, where d is their number.
    """
    n = len(variances)
    device = variances.device
    if n <= 4 * CHEBYSHEV:
        alpha = _integrated(function, variances)  # (k, n)
        return _Coefficients(
            series=alpha[None],  # one bin, with a polynomial for each variance that is 1 there
            polynomials=torch.eye(n, dtype=alpha.dtype, device=device),
            bins=torch.zeros(n, dtype=torch.long, device=device),
            largest=alpha.abs().amax(1),
        )
    logs = variances.clamp_min(TINY).log()
    low = float(logs.min())
    high = float(logs.max())
    count = max(1, ceil((high - low) / BIN))
    width = max((high - low) / count, NARROWEST)
    # the bins that hold a variance, and the number of its bin for each variance
    filled, bins = ((logs - low) / width).floor().unique(return_inverse=True)
    centres = low + (filled + 0.5) * width
    # coefficients at the roots of the Chebyshev polynomial of degree d in each bin
    angles = torch.pi * (torch.arange(CHEBYSHEV, device=device).double() + 0.5) / CHEBYSHEV
    roots = (centres[:, None] + width / 2 * angles.cos()).exp()  # (bins, d)
    alpha = _integrated(function, roots.flatten())  # (k, bins d)
    # discrete cosine transform: from values at the roots to coefficients of polynomials
    degrees = torch.arange(CHEBYSHEV, device=device).double()[:, None]
    transform = (degrees * angles).cos() * 2 / CHEBYSHEV  # (d, d)
    transform[0] /= 2
    series = alpha.view(-1, len(filled), CHEBYSHEV).transpose(0, 1) @ transform.mT
    # T_d(cos t) = cos(d t), where cos t goes from -1 to 1 in a bin
    t = ((logs - centres[bins]) / (width / 2)).clamp(-1, 1).acos()
    polynomials = (degrees * t).cos()  # (d, n)
    return _Coefficients(series, polynomials, bins, alpha.abs().amax(1))


def _integrated(function: TensorMap, variances: Float[Tensor, "n"]) -> Float[Tensor, "k n"]:
    """Return the coefficients (k, n) for variances (n,), by integrals."""
    terms = FIRST
    size = max(1, BLOCK // len(_nodes()[0]))
    while True:
        parts = []
        all_enough = True
        for piece in variances.split(size):
            coefficients, enough = _coefficients_at(function, piece, terms)
            parts.append(coefficients)
            all_enough = all_enough and enough
        if all_enough or terms >= MOST:
            return torch.cat(parts, dim=1)
        terms *= 2


def _coefficients_at(
    function: TensorMap, variances: Float[Tensor, "n"], terms: int
) -> tuple[Float[Tensor, "k n"], bool]:
    """Return the coefficients (k, n) for variances (n,), and whether they are enough."""
    z, weights = (tensor.to(variances.device) for tensor in _nodes())
    polynomials = _polynomials(terms).to(variances.device)  # (k, nodes), times the weights
    values = function((variances.sqrt()[:, None] * z).contiguous())  # (n, nodes)
    alpha = polynomials @ values.mT
    squares = values.square() @ weights  # E f^2
    last = alpha[-(terms // 4) :].square().sum(0)  # E f^2 minus all terms would be rounding
    return alpha, bool((last <= TOLERANCE * squares).all())


@lru_cache(maxsize=1)
def _nodes() -> tuple[Float[Tensor, "nodes"], Float[Tensor, "nodes"]]:
    """Return nodes and weights for means over a standard normal variable."""
    points, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    starts = np.arange(-REACH, REACH, PANEL)[:, None]
    z = (starts + PANEL * (points + 1) / 2).ravel()
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    over_panels = np.tile(weights * PANEL / 2, len(starts))
    return torch.from_numpy(z), torch.from_numpy(density * over_panels)


@lru_cache(maxsize=8)
def _polynomials(terms: int) -> Float[Tensor, "k nodes"]:
    """Return h_k at the nodes, times their weights, (terms, nodes)."""
    z, weights = _nodes()
    rows = [torch.ones_like(z), z]
    for k in range(1, terms - 1):
        rows.append((z * rows[k] - k**0.5 * rows[k - 1]) / (k + 1) ** 0.5)
    return torch.stack(rows) * weights
