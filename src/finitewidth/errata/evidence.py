"""What the checks of errata compute: one number in three ways, and what several checks share.

The three ways are a route that uses neither formula (enumeration, quadrature, exact moments, an
integrated differential equation, or random networks), the printed formula and the corrected one.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from scipy.integrate import quad
from scipy.optimize import brentq

from finitewidth.kernels.npk import overlap
from finitewidth.records.provenance import fixed_seed_for


@dataclass(frozen=True)
class Evidence:
    """One number, computed in three ways."""

    truth: float  # by a route that uses neither formula
    truth_error: float  # of a sample: standard, of an extrapolated limit: numerical, otherwise 0
    printed: float  # by the printed formula
    corrected: float  # by the corrected formula

    @property
    def confirms(self) -> bool:
        """Whether the corrected value agrees with the truth and the printed one does not.

        Two values agree if they differ by at most 1e-8 of the largest of the three numbers, or by
        at most 4 errors. They disagree if they differ by more than 1e-3 of it and by more than 6
        errors.
        """
        values = self.truth, self.printed, self.corrected
        if not np.isfinite([*values, self.truth_error]).all():
            return False
        scale = max(map(abs, values))
        error_of_corrected = abs(self.corrected - self.truth)
        error_of_printed = abs(self.printed - self.truth)
        agrees = error_of_corrected <= max(1e-8 * scale, 4 * self.truth_error)
        disagrees = error_of_printed > max(1e-3 * scale, 6 * self.truth_error)
        return agrees and disagrees


def exactly(truth: float, printed: float, corrected: float) -> Evidence:
    """Evidence from a truth without error, apart from rounding."""
    return Evidence(float(truth), 0.0, float(printed), float(corrected))


def on_average(sample: np.ndarray, printed: float, corrected: float) -> Evidence:
    """Evidence from the mean of independent draws, with its standard error."""
    mean = float(np.mean(sample))
    count = len(sample)
    error = float(np.std(sample, ddof=1)) / count**0.5 if count > 1 else float("inf")
    return Evidence(mean, error, float(printed), float(corrected))


def extrapolated(values: list[float]) -> tuple[float, float]:
    """Limit of a sequence at M, 2 M, 4 M, … that is smooth in 1/M.

    Richardson extrapolation: each column of the table removes one more power of 1/M. The second
    number is the numerical error: the change in the last step, but at least 1e-12 of the value.
    """
    column = list(values)
    earlier = values[-1]
    for power in range(1, len(values)):
        earlier = column[-1]
        column = [
            (2**power * fine - coarse) / (2**power - 1)
            for coarse, fine in itertools.pairwise(column)
        ]
    return column[-1], max(abs(column[-1] - earlier), 1e-12 * abs(column[-1]))


def generator(erratum: str) -> np.random.Generator:
    """Random generator for the check of an erratum; it does not depend on the base seed."""
    return np.random.default_rng(fixed_seed_for("errata", erratum))


def relu_pass(
    rng: np.random.Generator, widths: tuple[int, ...], draws: int, sigma_w2: float = 2.0
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Draw Gaussian ReLU networks without biases and propagate x = (1, 0, ..) through them.

    The widths are n_0, ..., n_(L-1), and there is one output. The variance of the weights is
    ``sigma_w2`` over fan-in. The result is |x^l|^2 for l = 0..L-1, |delta^l|^2 for l = 1..L, and
    the outputs f; each (draws,).
    """
    x = np.zeros((draws, widths[0]))
    x[:, 0] = 1.0
    weights = []
    signals = [x]  # x^l, each (draws, n_l)
    fan_outs = (*widths[1:], 1)
    for fan_in, fan_out in zip(widths, fan_outs, strict=True):
        scale = (sigma_w2 / fan_in) ** 0.5
        weight = rng.standard_normal((draws, fan_out, fan_in)) * scale
        h = np.einsum("dij,dj->di", weight, signals[-1])
        weights.append(weight)
        signals.append(np.maximum(h, 0.0))
    squared_signals = [(signal**2).sum(axis=1) for signal in signals[:-1]]
    delta = np.ones((draws, 1))  # delta^L
    squared_errors = [np.ones(draws)]
    for layer in range(len(widths) - 1, 0, -1):
        # delta^l = (W^(l+1) transposed, times delta^(l+1)) * phi'(h^l)
        delta = np.einsum("dij,di->dj", weights[layer], delta) * (signals[layer] > 0)
        squared_errors.insert(0, (delta**2).sum(axis=1))
    return squared_signals, squared_errors, h[:, 0]


def mean_overlaps(mu: float) -> np.ndarray:
    """E Lambda of two inputs, (2, 2), over all hard gates of probability ``mu``, w = 2, d = 3.

    Lambda counts the paths that are active for both inputs (npf Definition 2.2).
    """
    all_gates = list(itertools.product((0.0, 1.0), repeat=8))
    patterns = torch.tensor(all_gates, dtype=torch.float64)  # (256, 8)
    probability = (mu**patterns * (1 - mu) ** (1 - patterns)).prod(dim=1)  # (256,)
    by_layer = patterns.reshape(-1, 2, 2, 2).unbind(dim=1)  # 2 layers, each (256, inputs, units)
    return torch.einsum("g,gst->st", probability, overlap(list(by_layer))).numpy()


def edge_of_chaos_of_relu() -> Evidence:
    """Weight variance at which errors neither grow nor shrink for ReLU, found as a root."""
    share = quad(lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi), 0, 40)[0]
    root = brentq(lambda variance: variance * share - 1, 0.1, 10, xtol=1e-14)
    return exactly(root, 2.0**2, 2.0)
