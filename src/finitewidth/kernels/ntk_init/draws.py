"""What the samplers return: draws of the tangent kernel, common growth kept as a logarithm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finitewidth.common.errors import ConfigError

LOG_MAX = float(np.log(np.finfo(np.float64).max))


@dataclass(frozen=True)
class NtkDraws:
    """Independent draws of the tangent kernel, Theta = Theta_W + Theta_b, and of the output f.

    For one input the kernel is a number, shape (draws,). For S inputs and C outputs it is a
    symmetric positive semidefinite matrix, shape (draws, S C, S C), index s C + k standing for
    output k at input s, and the output has shape (draws, S, C).

    The kernel is divided by exp(``log_growth``) and the output by its square root, where
    ``log_growth`` = (L - 1) log max(1, sigma_w2 / 2) for ReLU and 0 otherwise: ratios of moments
    need no more, and depth 2,000 in the chaotic phase stays finite.

    Attributes:
        scaled_theta_w, scaled_theta_b: the weights' and the biases' part, divided.
        scaled_output: f, drawn jointly with the kernel, divided.
        log_growth: natural logarithm of the factor taken out.
        depth: L, named when a kernel overflows.
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
        """Theta_W. ConfigError where it exceeds float64."""
        return self._grown("theta_w", self.scaled_theta_w)

    @property
    def theta_b(self) -> np.ndarray:
        """Theta_b. ConfigError where it exceeds float64."""
        return self._grown("theta_b", self.scaled_theta_b)

    @property
    def theta(self) -> np.ndarray:
        """Theta = Theta_W + Theta_b. ConfigError where it exceeds float64."""
        return self._grown("theta", self.scaled_theta)

    @property
    def output(self) -> np.ndarray:
        """The output f. ConfigError where it exceeds float64."""
        return self._grown("output", self.scaled_output, 0.5)

    def __len__(self) -> int:
        return len(self.scaled_theta_w)

    def first(self, count: int) -> "NtkDraws":
        """The first ``count`` draws."""
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
                f"{name} overflows float64 at depth {self.depth} (at this growth it fits to about "
                f"depth {last}); use scaled_{name}, which is {name} divided by exp({growth:.6g}), "
                "or the moments in logarithms"
            )
        return scaled * np.exp(growth)


def joined(parts: Sequence[NtkDraws]) -> NtkDraws:
    """Several blocks of draws of one network as one."""
    return NtkDraws(
        np.concatenate([part.scaled_theta_w for part in parts]),
        np.concatenate([part.scaled_theta_b for part in parts]),
        np.concatenate([part.scaled_output for part in parts]),
        parts[0].log_growth,
        parts[0].depth,
    )


def checked_finite(draws: NtkDraws) -> NtkDraws:
    """``draws`` if all numbers are finite.

    Raises:
        ConfigError: the kernel overflowed (chaotic phase, activation not ReLU).
    """
    if np.isfinite(draws.scaled_theta).all():
        return draws
    raise ConfigError(
        f"the tangent kernel overflows float64 at depth {draws.depth} (chaotic phase); take "
        "a smaller depth or sigma_w2; infinite_width keeps its growth as a logarithm"
    )
