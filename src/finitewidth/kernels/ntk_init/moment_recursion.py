"""Moments of any order of the tangent kernel of a ReLU network without random biases.

Let T be the part of the weights, B the part of the biases without the 1 of the output layer,
D = |delta|^2 and R = f^2 / |x|^2. From the output layer down they obey

    D' = c D + A R,   R' = r R,   T' = r T + w D',   B' = A B + D',

where r, c and A are independent between layers. Hence the moments of one degree obey a linear
recursion whose coefficients are moments of r, c and A. Source: docs/theory.md, section 3.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb, perm, prod

import numpy as np

from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import checked_without_biases

Powers = tuple[int, int, int, int]  # exponents of T, B, D, R


def log_kernel_moments(
    init: Initialisation, order: int, *, input_norm2: float = 1.0
) -> dict[tuple[int, int], float]:
    """Return the logarithms of E[Theta_W^i Theta_b^j] by (i, j), for all i + j <= ``order``.

    The logarithm of a moment that is 0 is -inf. Moments of order 4 give the standard error of an
    estimated second moment. The network has one output and sigma_b2 = 0, and |x|^2 > 0. The cost is
    O(L m^2), where m = binomial(order + 3, 3) is the number of monomials of degree ``order``: 10
    for order 2, 35 for order 4.

    Raises:
        ConfigError: biases are random, or there are several outputs.
    """
    norm2 = checked_without_biases(init, input_norm2)
    log_tb = _log_moments_of_t_and_b(init, order)
    moments = {}
    for i in range(order + 1):
        for j in range(order + 1 - i):
            # Theta_b = bias gain (1 + B)
            terms = [np.log(comb(j, m)) + log_tb[i, m] for m in range(j + 1)]
            gain = j * _log(init.bias_gain) if j else 0.0
            moments[i, j] = float(np.logaddexp.reduce(terms)) + i * np.log(norm2) + gain
    return moments


def _log_moments_of_t_and_b(init: Initialisation, order: int) -> dict[tuple[int, int], float]:
    """Return log E[T^i B^j] by (i, j), for all i + j <= ``order``."""
    logs = {(0, 0): 0.0}
    for degree in range(1, order + 1):
        values, log_scale = _final_state(init, degree)
        for i in range(degree + 1):
            j = degree - i
            value = values[_monomials(degree).index((i, j, 0, 0))]
            logs[i, j] = _log(value) + log_scale
    return logs


def log_theta_moment(init: Initialisation, order: int, *, input_norm2: float = 1.0) -> float:
    """Return the logarithm of E[(Theta_W + Theta_b)^order].

    Arguments and errors are those of `log_kernel_moments`.
    """
    parts = log_kernel_moments(init, order, input_norm2=input_norm2)
    terms = [np.log(comb(order, i)) + parts[i, order - i] for i in range(order + 1)]
    return float(np.logaddexp.reduce(terms))


def _log(value: float) -> float:
    return float(np.log(value)) if value > 0 else -np.inf


@lru_cache(maxsize=16)
def _monomials(degree: int) -> tuple[Powers, ...]:
    """Return the exponents of all monomials T^i B^j D^p R^q of one degree."""
    monomials = []
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            for p in range(degree + 1 - i - j):
                monomials.append((i, j, p, degree - i - j - p))
    return tuple(monomials)


def _final_state(init: Initialisation, degree: int) -> tuple[np.ndarray, float]:
    """Return the moments of one degree in layer 1, divided by a factor, and its logarithm."""
    gains = init.weight_gains
    growth = max(1.0, init.sigma_w2 / 2)
    values = _output_state(init, degree)
    log_scale = 0.0
    for layer in range(init.depth - 1, 0, -1):
        step = _transfer(
            degree,
            init.widths[layer],
            forward=init.sigma_w2 / init.widths[layer - 1] / growth,
            back=init.sigma_w2 / init.widths[layer] / growth,
            shrink=1 / growth,
            gain=float(gains[layer - 1]),
        )
        values = step @ values
        top = values.max()
        values /= top
        log_scale += float(np.log(top)) + degree * float(np.log(growth))
    return values, log_scale


def _output_state(init: Initialisation, degree: int) -> np.ndarray:
    """Return the moments of one degree in the output layer: T = gain, B = 0, D = 1, R = ratio g^2.

    E[g^(2q)] of a standard normal variable g is 1 * 3 * ... * (2q - 1).
    """
    gain = init.weight_gains[-1]
    ratio = init.sigma_w2 / init.widths[-1]
    values = []
    for i, j, _, q in _monomials(degree):
        value = gain**i * ratio**q * prod(range(1, 2 * q, 2))
        values.append(0.0 if j else value)
    return np.array(values)


@lru_cache(maxsize=1024)
def _transfer(
    degree: int, width: int, forward: float, back: float, shrink: float, gain: float
) -> np.ndarray:
    """Return the matrix of the recursion of one layer, divided by growth^degree.

    r = forward * chi2_K, c = back * chi2_(K-1), A has the factor shrink = 1 / growth, and w = gain.
    """
    monomials = _monomials(degree)
    column = {powers: index for index, powers in enumerate(monomials)}
    matrix = np.zeros((len(monomials), len(monomials)))
    for row, powers in enumerate(monomials):
        for source, count, r, c, on, w in _terms(powers):
            moment = _layer_moment(width, r, c, on)
            coefficient = count * forward**r * back**c * shrink**on * gain**w
            matrix[row, column[source]] += coefficient * moment
    return matrix


@lru_cache(maxsize=1024)
def _terms(powers: Powers) -> list[tuple[Powers, int, int, int, int, int]]:
    """Return the terms of T'^i B'^j D'^p R'^q: old powers, coefficient, exponents of r, c, A, w.

    Each sum is multiplied out: T' = r T + w D', B' = A B + D', and D' = c D + A R.
    """
    i, j, p, q = powers
    terms = []
    for t in range(i + 1):  # exponent of T
        for b in range(j + 1):  # exponent of B
            errors = i - t + j - b + p  # exponent of D'
            for d in range(errors + 1):  # exponent of D
                count = comb(i, t) * comb(j, b) * comb(errors, d)
                old = (t, b, d, errors - d + q)
                r_power = t + q
                on_power = b + errors - d
                terms.append((old, count, r_power, d, on_power, i - t))
    return terms


@lru_cache(maxsize=4096)
def _layer_moment(width: int, r: int, c: int, on: int) -> float:
    """Return E[chi2_K^r chi2_(K-1)^c A^on] with K ~ Bin(width, 1/2) and A = 1{K >= 1}.

    Given K, E chi2_K^r = K (K+2) ... (K + 2r - 2), a polynomial in K. For K = 0 both chi-square
    variables are 0. The polynomial is expanded in 1, K, K (K-1), ..., whose means are
    width! / (width - p)! / 2^p, and all sums are computed with rational numbers.
    """
    falling = [1]
    for shift in (*range(0, 2 * r, 2), *range(-1, 2 * c - 1, 2)):
        # (K + shift) K_p = K_(p+1) + (p + shift) K_p for the basis element K_p = K ... (K - p + 1)
        same = [(power + shift) * factor for power, factor in enumerate(falling)]
        higher = [0, *falling]
        falling = [x + y for x, y in zip([*same, 0], higher, strict=True)]
    mean = Fraction(0)
    for power, factor in enumerate(falling):
        mean += Fraction(factor * perm(width, power), 2**power)
    if r + c + on > 0:
        mean -= Fraction(falling[0], 2**width)  # the term of K = 0 is 0
    return float(mean)
