"""Exact scaling of ReLU networks that removes their exponential growth with depth.

ReLU is positively homogeneous. If W is divided by sqrt(g) and b^l by g^(l/2), then x^l is divided
by g^(l/2) and delta^l by g^((L-l)/2). The samplers draw this scaled network and return the
logarithm of the factor of the kernel. At depth 2,000 their numbers neither overflow in the chaotic
phase nor underflow in the ordered phase.
"""

import math
from dataclasses import dataclass

from finitewidth.kernels.ntk_init.initialisation import Initialisation


@dataclass(frozen=True)
class Growth:
    """The factors by which a network of depth L is scaled.

    Attributes:
        depth: L.
        layer: g, the factor of |x^l|^2 and |delta^l|^2 per layer; 1 if phi is not homogeneous.
        kernel: G >= 1, the factor of the kernel per layer; exp(log_growth) = G^(L-1).
        sigma_b2: bias variance of the network before scaling.
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
    def of_theta_w(self) -> float:
        """(g/G)^(L-1), the factor from the sum over the scaled network to the stored Theta_W."""
        return (self.layer / self.kernel) ** (self.depth - 1)

    def of_theta_b(self, layer: int) -> float:
        """Return g^(L-l) / G^(L-1), the factor from scaled |delta^l|^2 to the stored Theta_b."""
        return math.exp((self.depth - layer) * math.log(self.layer) - self.log_growth)

    @property
    def of_output(self) -> float:
        """The factor from the output of the scaled network to the stored output.

        f and b^L are divided by g^((L-1)/2) and not by g^(L/2), so that |f|^2 has the same factor
        as Theta_W.
        """
        return self.of_theta_w**0.5


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
