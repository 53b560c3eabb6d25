"""Draws of the tangent kernel, and the exact scaling that removes their growth with depth.

ReLU is positively homogeneous. If W is divided by sqrt(g) and b^l by g^(l/2), then x^l is divided
by g^(l/2) and delta^l by g^((L-l)/2). The samplers draw this scaled network and return the
logarithm of the factor of the kernel. At depth 2,000 their numbers neither overflow in the chaotic
phase nor underflow in the ordered phase.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.common.shapes import Float
from finitewidth.kernels.ntk_init.initialisation import Initialisation, refuse

LOG_MAX = float(np.log(np.finfo(np.float64).max))


@dataclass(frozen=True)
class Growth:
    """The factors by which a network of depth L is scaled, with its bias variance before scaling.

    ``layer`` is g, the factor of |x^l|^2 and |delta^l|^2 per layer; 1 if phi is not homogeneous.
    ``kernel`` is G >= 1, the factor of the kernel per layer; exp(log_growth) = G^(L-1).
    """

    depth: int
    layer: float
    kernel: float
    sigma_b2: float

    @property
    def log_growth(self) -> float:
        """Logarithm of the factor that results are divided by."""
        return (self.depth - 1) * math.log(self.kernel)

    def bias_variance(self, layer: int) -> float:
        """Return the variance of b^l / g^(l/2) in layer l. It underflows to 0 if g^l is huge."""
        return self.sigma_b2 * self.layer**-layer if self.sigma_b2 else 0.0

    @property
    def theta_w_factor(self) -> float:
        """(g/G)^(L-1), the factor from the sum over the scaled network to the stored Theta_W."""
        return (self.layer / self.kernel) ** (self.depth - 1)

    def theta_b_factor(self, layer: int) -> float:
        """Return g^(L-l) / G^(L-1), the factor from scaled |delta^l|^2 to the stored Theta_b."""
        return math.exp((self.depth - layer) * math.log(self.layer) - self.log_growth)

    @property
    def output_factor(self) -> float:
        """The factor from the output of the scaled network to the stored output.

        f and b^L are divided by g^((L-1)/2) and not by g^(L/2), so that |f|^2 has the same factor
        as Theta_W.
        """
        return self.theta_w_factor**0.5


def growth_of(init: Initialisation, relu: bool, depth: int | None = None) -> Growth:
    """Return the factors of a network, or of the one with its first ``depth`` layers.

    Without ``relu``, for other activations, all factors are 1.
    """
    a = init.sigma_w2 / 2
    depth = init.depth if depth is None else depth
    if not relu:
        return Growth(depth, 1.0, 1.0, init.sigma_b2)
    layer = a if init.sigma_b2 == 0 else max(1.0, a)
    return Growth(depth, layer, max(1.0, a), init.sigma_b2)


def grown(
    name: str, scaled: Float[np.ndarray, "*shape"], log_growth: Any, depth: int, remedy: str
) -> Float[np.ndarray, "*shape"]:
    """Return numbers times exp(log_growth); refuse those that overflow float64."""
    with np.errstate(divide="ignore"):
        largest = float(np.max(np.log(np.abs(scaled)) + log_growth))
    if largest > LOG_MAX:
        raise refuse(name, f"exp({largest:.6g}) at depth {depth}", "within float64", remedy)
    return scaled * np.exp(log_growth)


@dataclass(frozen=True)
class NtkDraws:
    """Independent draws of the tangent kernel, Theta = Theta_W + Theta_b, and of the output f.

    For one input, kernel and output have the shape (draws,). For S inputs and C outputs, the kernel
    is a symmetric positive semidefinite matrix, (draws, S C, S C), where index s C + k is output k
    at input s, and the output has the shape (draws, S, C).

    The stored kernel is divided by exp(``log_growth``) and the stored output by the square root of
    this factor. For ReLU, ``log_growth`` is (L - 1) log max(1, sigma_w2 / 2); otherwise it is 0.
    Ratios of moments do not depend on the factor.

    Attributes:
        scaled_theta_w: part of the weights, divided by the factor.
        scaled_theta_b: part of the biases, divided by the factor.
        scaled_output: f, drawn jointly with the kernel, divided by the root of the factor.
        log_growth: natural logarithm of the factor.
        depth: L, used in error messages.
    """

    scaled_theta_w: Float[np.ndarray, "draws *kernel"]
    scaled_theta_b: Float[np.ndarray, "draws *kernel"]
    scaled_output: Float[np.ndarray, "draws *outputs"]
    log_growth: float
    depth: int

    @property
    def scaled_theta(self) -> Float[np.ndarray, "draws *kernel"]:
        """Theta / exp(log_growth)."""
        return self.scaled_theta_w + self.scaled_theta_b

    @property
    def theta(self) -> Float[np.ndarray, "draws *kernel"]:
        """Theta = Theta_W + Theta_b. Raises ConfigError if it overflows float64."""
        remedy = "use a smaller depth or sigma_w2, or ntk_moments, whose results are logarithms"
        return grown("theta", self.scaled_theta, self.log_growth, self.depth, remedy)

    @property
    def arrays(
        self,
    ) -> tuple[
        Float[np.ndarray, "draws *kernel"],
        Float[np.ndarray, "draws *kernel"],
        Float[np.ndarray, "draws *outputs"],
    ]:
        """The two parts of the kernel and the output, as they are stored."""
        return self.scaled_theta_w, self.scaled_theta_b, self.scaled_output

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


def concatenated(parts: Sequence[NtkDraws]) -> NtkDraws:
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
