"""The result of the samplers: draws of the tangent kernel, with their growth as a logarithm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finitewidth.common.errors import ConfigError

LOG_MAX = float(np.log(np.finfo(np.float64).max))


@dataclass(frozen=True)
class NtkDraws:
    """Independent draws of the tangent kernel, Theta = Theta_W + Theta_b, and of the output f.

    For one input, kernel and output have the shape (draws,). For S inputs and C outputs, the kernel
    is a symmetric positive semidefinite matrix, (draws, S C, S C), where index s C + k is output k
    at input s, and the output has the shape (draws, S, C).

    The stored kernel is divided by exp(``log_growth``) and the stored output by the square root of
    this factor. For ReLU, ``log_growth`` is (L - 1) log max(1, sigma_w2 / 2); otherwise it is 0.
    Ratios of moments do not depend on the factor, and the stored numbers remain finite at depth
    2,000 in the chaotic phase.

    Attributes:
        scaled_theta_w: part of the weights, divided by the factor.
        scaled_theta_b: part of the biases, divided by the factor.
        scaled_output: f, drawn jointly with the kernel, divided by the root of the factor.
        log_growth: natural logarithm of the factor.
        depth: L, used in error messages.
    """

    scaled_theta_w: np.ndarray
    scaled_theta_b: np.ndarray
    scaled_output: np.ndarray
    log_growth: float
    depth: int

    @property
    def scaled_theta(self) -> np.ndarray:
        """Theta / exp(log_growth)."""
        return self.scaled_theta_w + self.scaled_theta_b

    @property
    def theta_w(self) -> np.ndarray:
        """Theta_W. Raises ConfigError if it overflows float64."""
        return self._grown("theta_w", self.scaled_theta_w)

    @property
    def theta_b(self) -> np.ndarray:
        """Theta_b. Raises ConfigError if it overflows float64."""
        return self._grown("theta_b", self.scaled_theta_b)

    @property
    def theta(self) -> np.ndarray:
        """Theta = Theta_W + Theta_b. Raises ConfigError if it overflows float64."""
        return self._grown("theta", self.scaled_theta)

    @property
    def output(self) -> np.ndarray:
        """The output f. Raises ConfigError if it overflows float64."""
        return self._grown("output", self.scaled_output, 0.5)

    def __len__(self) -> int:
        return len(self.scaled_theta_w)

    def first(self, count: int) -> "NtkDraws":
        """Return the first ``count`` draws."""
        return NtkDraws(
            self.scaled_theta_w[:count],
            self.scaled_theta_b[:count],
            self.scaled_output[:count],
            self.log_growth,
            self.depth,
        )

    def _grown(self, name: str, scaled: np.ndarray, power: float = 1.0) -> np.ndarray:
        growth = self.log_growth * power
        largest = float(np.max(np.abs(scaled), initial=0.0))
        if growth and largest > 0 and np.log(largest) + growth > LOG_MAX:
            rate = growth / (self.depth - 1)
            last = max(1, int((LOG_MAX - np.log(largest)) / rate) + 1)
            raise ConfigError(
                f"{name} overflows float64 at depth {self.depth} (at this rate of growth it is "
                f"finite up to about depth {last}); use scaled_{name}, which is {name} divided by "
                f"exp({growth:.6g}), or the logarithms of the moments"
            )
        return scaled * np.exp(growth)


def joined(parts: Sequence[NtkDraws]) -> NtkDraws:
    """Join several blocks of draws of the same network."""
    return NtkDraws(
        np.concatenate([part.scaled_theta_w for part in parts]),
        np.concatenate([part.scaled_theta_b for part in parts]),
        np.concatenate([part.scaled_output for part in parts]),
        parts[0].log_growth,
        parts[0].depth,
    )


def checked_finite(draws: NtkDraws) -> NtkDraws:
    """Return draws; refuse kernels that overflow, in the chaotic phase without ReLU."""
    if np.isfinite(draws.scaled_theta).all():
        return draws
    raise ConfigError(
        f"the tangent kernel overflows float64 at depth {draws.depth} (chaotic phase); use a "
        "smaller depth or sigma_w2, or infinite_width, which stores the growth as a logarithm"
    )
