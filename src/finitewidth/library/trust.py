"""Can the infinite-width kernel be trusted for a given network? The question of ``trust``.

The answer is about networks at initialisation: how far a drawn kernel lies from its mean, from the
kernel of infinite width, and which step sizes are stable. Whether the kernel then stays as it is
during training is another question (``trust``, section 4).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.estimators import dispersion
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_count
from finitewidth.kernels.ntk_init.moments import log_moments
from finitewidth.kernels.ntk_init.phases import border, phase
from finitewidth.library.initial import described, draw_ntk

if TYPE_CHECKING:
    import pandas as pd

EIGENVALUE_DRAWS = 8


@dataclass(frozen=True)
class Trust:
    """How well the infinite-width kernel describes the drawn kernels of a network.

    Attributes:
        init: the law of the network.
        activation: its name.
        input_norm2: |x|^2 of the input of Theta(x, x).
        phase: "ordered", "critical" or "chaotic", of the network of infinite width.
        border: the sigma_w2 of the border of the phases at this sigma_b2; nan if there is none.
        depth_over_width: L divided by the harmonic mean of the hidden widths; nan without any.
        mean: E[Theta(x, x)] of one output.
        mean_error: its standard error; 0 if it is exact.
        dispersion: r = E[Theta^2] / E[Theta]^2, which is at least 1.
        dispersion_error: its standard error; 0 if it is exact.
        infinite: Theta(x, x) of the mean-field recursions, to leading order in the widths.
        distance: root mean square of Theta(x, x) / ``infinite`` - 1 over networks.
        largest_step: median over networks of 2 S / lambda_max(Theta), the largest stable step of
            gradient descent on (1/2S) sum |f - y|^2 near initialisation, for ``inputs`` inputs.
        inputs: S, the number of inputs of ``largest_step``.
        draws: number of drawn networks; 0 if mean and dispersion are exact.
    """

    init: Initialisation
    activation: str
    input_norm2: float
    phase: str
    border: float
    depth_over_width: float
    mean: float
    mean_error: float
    dispersion: float
    dispersion_error: float
    infinite: float
    distance: float
    largest_step: float
    inputs: int
    draws: int

    @property
    def relative_deviation(self) -> float:
        """Standard deviation of Theta(x, x) over its mean, sqrt(r - 1)."""
        return float(np.sqrt(max(self.dispersion - 1, 0)))

    def to_frame(self) -> "pd.DataFrame":
        """Return the numbers as a table with the columns ``quantity`` and ``value``."""
        import pandas as pd

        values = asdict(self)
        del values["init"]
        values["relative_deviation"] = self.relative_deviation
        return pd.DataFrame({"quantity": list(values), "value": list(values.values())})

    def __str__(self) -> str:
        """The answer in words, one fact per line."""
        exact = "exact" if not self.draws else f"{self.draws:,} networks drawn"
        widths = "-".join(map(str, self.init.layer_widths))
        lines = [
            f"network              {widths}, {self.activation}, "
            f"sigma_w2 = {self.init.sigma_w2:g}, sigma_b2 = {self.init.sigma_b2:g}",
            f"phase                {self.phase} (border at sigma_w2 = {self.border:.4g})",
            f"depth over width     {self.depth_over_width:.3g}",
            f"mean of Theta(x, x)  {_pm(self.mean, self.mean_error)} at |x|^2 = "
            f"{self.input_norm2:g}, one output ({exact})",
            f"dispersion           {_pm(self.dispersion, self.dispersion_error)} = "
            "E[Theta^2] / E[Theta]^2",
            f"infinite width       Theta(x, x) = {self.infinite:.4g}",
            f"largest stable step  {self.largest_step:.3g} for (1/2S) sum |f - y|^2 and S = "
            f"{self.inputs} random inputs",
            "",
            "The kernel of one such network deviates from the mean by "
            f"{self.relative_deviation:.0%} and from the kernel of infinite width by "
            f"{self.distance:.0%} (root mean squares).",
            "This is about initialisation; training can change the kernel further.",
        ]
        return "\n".join(lines)


def _pm(value: float, error: float) -> str:
    return f"{value:.4g}" + (f" ± {error:.2g}" if error else "")


def trust(
    init: Initialisation | Sequence[int],
    *,
    activation: "str | Callable" = "relu",
    input_norm2: float = 1.0,
    draws: int = 2000,
    inputs: Any = 32,
    seed: int = 0,
) -> Trust:
    """Say how far the tangent kernels of drawn networks lie from that of infinite width.

    Mean and dispersion are exact for ReLU without random biases, otherwise estimated from draws of
    the exact law. For the kernel at one input, all outputs have the same law, so they are those of
    one output.

    Args:
        init: the law of the network, from `network` or `constant_width`; or a list of all widths,
            for the network without biases at the border of the phases (sigma_w2 = 2 for ReLU).
        activation: "relu", "tanh", "erf" or an elementwise torch callable.
        input_norm2: |x|^2 > 0 of the input of Theta(x, x), and of random inputs.
        draws: number of networks to draw where there is no closed form, at least 3.
        inputs: inputs (S, n_0) for the largest stable step, or the number S of random ones.
        seed: of all draws.

    Raises:
        ConfigError: an argument is out of range, or a number overflows float64.

    Examples:
        >>> import finitewidth as fw
        >>> answer = fw.trust([784, 500, 500, 10])  # or fw.network([784, ..], sigma_w2=1.5)
        >>> answer.phase
        'critical'
        >>> round(answer.relative_deviation, 3)
        0.087
    """
    name = (
        activation if isinstance(activation, str) else getattr(activation, "__name__", "callable")
    )
    init = described(init, activation)
    single = replace(init, outputs=1)
    gram = np.array([[input_norm2 / init.widths[0]]])
    infinite = float(infinite_width_of_gram(single, gram, activation=activation).ntk[0, 0])
    exact = activation == "relu" and init.sigma_b2 == 0
    if exact:
        moments = log_moments(single, input_norm2=input_norm2)
        mean, mean_error = float(np.exp(moments.mean)), 0.0
        ratio, ratio_error = moments.dispersion, 0.0
    else:
        checked_count("draws", draws, 3)
        theta = draw_ntk(
            single, activation=activation, draws=draws, seed=seed, input_norm2=input_norm2
        )
        estimate = dispersion(theta, seed=seed)
        mean, mean_error = float(theta.mean()), float(theta.std(ddof=1) / np.sqrt(draws))
        ratio, ratio_error = estimate.value, estimate.standard_error
    squares = ratio * mean**2 - 2 * mean * infinite + infinite**2
    x = _inputs(inputs, init, input_norm2, seed)
    several = draw_ntk(init, x, activation=activation, draws=EIGENVALUE_DRAWS, seed=seed)
    largest_step = float(np.median(2 * len(x) / np.linalg.eigvalsh(several)[:, -1]))
    hidden = init.widths[1:]
    over_width = init.depth * np.mean([1 / n for n in hidden]) if hidden else np.nan
    return Trust(
        init=init, activation=name, input_norm2=float(input_norm2),
        phase=phase(activation, init.sigma_w2, init.sigma_b2),
        border=_border(activation, init.sigma_b2), depth_over_width=float(over_width),
        mean=mean, mean_error=mean_error, dispersion=ratio, dispersion_error=ratio_error,
        infinite=infinite, distance=float(np.sqrt(max(squares, 0)) / infinite),
        largest_step=largest_step, inputs=len(x),
        draws=0 if exact else draws,
    )  # fmt: skip


def _border(activation: Any, sigma_b2: float) -> float:
    try:
        return border(activation, sigma_b2)
    except ConfigError:
        return float("nan")


def _inputs(inputs: Any, init: Initialisation, input_norm2: float, seed: int) -> np.ndarray:
    """Return given inputs, or random ones on the sphere |x|^2 = ``input_norm2``."""
    if not isinstance(inputs, int | np.integer):
        return np.asarray(inputs, dtype=float)
    normal = np.random.default_rng([seed, 1]).standard_normal(
        (checked_count("inputs", inputs), init.widths[0])
    )
    return normal * np.sqrt(input_norm2) / np.linalg.norm(normal, axis=1, keepdims=True)
