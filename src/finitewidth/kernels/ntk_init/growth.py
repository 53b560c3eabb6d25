"""Taking a ReLU network's exponential growth with depth out of the numbers, exactly.

ReLU is positively homogeneous: dividing W by sqrt(g) and b^l by g^(l/2) divides x^l by g^(l/2) and
delta^l by g^((L-l)/2). The samplers work on the divided network, so neither the chaotic nor the
ordered phase leaves float64 at depth 2,000, and the factor of the kernel is kept as a logarithm.
"""

import math
from dataclasses import dataclass

from finitewidth.kernels.ntk_init.initialisation import Initialisation


@dataclass(frozen=True)
class Growth:
    """Factors of one network of depth L.

    Attributes:
        depth: L.
        layer: g, taken out of |x^l|^2 and |delta^l|^2 per layer; 1 where phi is not homogeneous.
        kernel: G >= 1, taken out of the kernel per layer: exp(log_growth) = G^(L-1).
        sigma_b2: bias variance of the network itself.
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
        """Variance of b^l / g^(l/2) in layer l (0 to rounding where g^l is huge)."""
        return self.sigma_b2 * self.layer**-layer if self.sigma_b2 else 0.0

    @property
    def of_theta_w(self) -> float:
        """(g/G)^(L-1): from divided numbers to the scaled Theta_W."""
        return (self.layer / self.kernel) ** (self.depth - 1)

    def of_theta_b(self, layer: int) -> float:
        """g^(L-l) / G^(L-1): from |delta^l|^2, divided, to its part in the scaled Theta_b."""
        return math.exp((self.depth - layer) * math.log(self.layer) - self.log_growth)

    @property
    def of_output(self) -> float:
        """From the divided output to the scaled one.

        f and b^L belong to layer L; dividing them by g^((L-1)/2) only keeps |f|^2 beside Theta_W.
        """
        return self.of_theta_w**0.5


def growth_of(init: Initialisation, relu: bool, depth: int | None = None) -> Growth:
    """The factors for a network; 1 unless its activation is ReLU."""
    a = init.sigma_w2 / 2
    depth = init.depth if depth is None else depth
    if not relu:
        return Growth(depth, 1.0, 1.0, init.sigma_b2)
    layer = a if init.sigma_b2 == 0 else max(1.0, a)
    return Growth(depth, layer, max(1.0, a), init.sigma_b2)
