"""Can the infinite-width kernel be trusted for a law of fully connected networks?

The answer is about networks at initialisation: how far a drawn kernel lies from its mean, from the
kernel of infinite width, and which step sizes are stable. Whether the kernel then stays as it is
during training is another question (``trust``, section 4).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.activations import ActivationLike
from finitewidth.kernels.ntk_init.infinite_width import infinite_width_of_gram
from finitewidth.kernels.ntk_init.initialisation import Initialisation, checked_count
from finitewidth.kernels.ntk_init.phases import border, phase
from finitewidth.library.dispersion import Dispersion, interval_text, log_interval
from finitewidth.library.initial import described, draw_ntk
from finitewidth.library.law_moments import distance_interval, estimated_moments, exact_moments
from finitewidth.records.provenance import seed_for

if TYPE_CHECKING:
    import pandas as pd

    from finitewidth.common.arrays import Array

EIGENVALUE_DRAWS = 20
# The median lies between the 6th and the 15th of 20 independent numbers with probability .959.
BELOW_MEDIAN = 5
ABOVE_MEDIAN = 14
NAME_WIDTH = 21  # characters of the names of numbers in a printed answer


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
        dispersion_error: its standard error; 0 if it is exact, nan if there are too few draws.
        dispersion_low: lower end of its 95 % interval; r itself if it is exact.
        dispersion_high: upper end; infinite if there are too few draws.
        infinite: Theta(x, x) of the mean-field recursions, to leading order in the widths.
        distance: root mean square of Theta(x, x) / ``infinite`` - 1 over networks.
        distance_low: lower end of its 95 % interval.
        distance_high: upper end; infinite if there are too few draws.
        largest_step: median of 2 S / lambda_max(Theta) over networks and random inputs, the largest
            stable step of gradient descent on (1/2S) sum |f - y|^2 near initialisation.
        largest_step_low: lower end of its 96 % interval, the 6th of the values of 20 networks.
        largest_step_high: upper end, the 15th.
        inputs: S, the number of inputs of ``largest_step``.
        draws: number of drawn networks; 0 if mean and dispersion are exact.
        enough: number of draws that would do if there are too few, about; otherwise ``draws``.
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
    dispersion_low: float
    dispersion_high: float
    infinite: float
    distance: float
    distance_low: float
    distance_high: float
    largest_step: float
    largest_step_low: float
    largest_step_high: float
    inputs: int
    draws: int
    enough: int

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
        lines = [f"{name:<{NAME_WIDTH}}{value}" for name, value in self._facts()]
        # of the standard deviation over the mean, sqrt(r - 1)
        deviation = _percent(
            self.relative_deviation,
            np.sqrt(max(self.dispersion_low - 1, 0)),
            np.sqrt(max(self.dispersion_high - 1, 0)),
        )
        distance = _percent(self.distance, self.distance_low, self.distance_high)
        lines += [
            "",
            f"The kernel of one such network deviates from the mean by {deviation} and from the "
            f"kernel of infinite width by {distance} (root mean squares).",
            "This is about initialisation; training can change the kernel further.",
        ]
        return "\n".join(lines)

    def _facts(self) -> list[tuple[str, str]]:
        """The name and the value of each fact; a name is empty where a value has two lines."""
        widths = "-".join(map(str, self.init.layer_widths))
        variances = f"sigma_w2 = {self.init.sigma_w2:g}, sigma_b2 = {self.init.sigma_b2:g}"
        mean = f"{self.mean:.4g} (exact)"
        if self.draws:
            low, high = log_interval(self.mean, self.mean_error, self.mean_error)
            mean = f"{self.mean:.4g}, {interval_text(low, high)}"
        ratio = Dispersion(
            value=self.dispersion,
            standard_error=self.dispersion_error,
            low=self.dispersion_low,
            high=self.dispersion_high,
            draws=self.draws,
            enough=self.enough,
        )
        loss = f"(1/2S) sum |f - y|^2 and S = {self.inputs} inputs"
        step_interval = f"[{self.largest_step_low:.3g}, {self.largest_step_high:.3g}]"
        return [
            ("network", f"{widths}, {self.activation}, {variances}"),
            ("phase", f"{self.phase} (border at sigma_w2 = {self.border:.4g})"),
            ("depth over width", f"{self.depth_over_width:.3g}"),
            ("mean of Theta(x, x)", f"{mean} at |x|^2 = {self.input_norm2:g}, one output"),
            ("dispersion", str(ratio)),
            ("", "(E[Theta^2] / E[Theta]^2)"),
            ("infinite width", f"Theta(x, x) = {self.infinite:.4g}"),
            ("largest stable step", f"{self.largest_step:.3g} for {loss}"),
            ("", f"(median of {EIGENVALUE_DRAWS} networks; 96 % interval {step_interval})"),
        ]


def _percent(value: float, low: float, high: float) -> str:
    """Return a share in per cent, with its interval or lower bound if it is not exact."""
    if np.isinf(high):
        return f"at least {low:.0%}"
    if high > low:
        return f"{value:.0%} ({low:.0%} to {high:.0%})"
    return f"{value:.0%}"


def trust_of_law(
    init: Initialisation | Sequence[int],
    *,
    activation: ActivationLike = "relu",
    input_norm2: float = 1.0,
    draws: int = 2000,
    inputs: "int | Array" = 32,
    seed: int = 0,
) -> Trust:
    """Answer for a law of fully connected networks; see `trust`."""
    init = described(init, activation)
    gram = np.array([[input_norm2 / init.widths[0]]])  # (1, 1): |x|^2 / n_0
    single = replace(init, outputs=1)
    infinite = float(infinite_width_of_gram(single, gram, activation=activation).ntk[0, 0])
    if activation == "relu":
        moments = exact_moments(single, input_norm2, infinite)
    else:
        moments = estimated_moments(single, activation, draws, seed, input_norm2, infinite)
    ratio = moments.ratio
    distance = float(np.sqrt(max(moments.square, 0)) / infinite)
    distance_low, distance_high = distance_interval(
        distance, moments.square, moments.square_error, ratio
    )
    steps, count = _largest_steps(inputs, init, activation, input_norm2, seed)
    return Trust(
        init=init,
        activation=_name_of(activation),
        input_norm2=float(input_norm2),
        phase=phase(activation, init.sigma_w2, init.sigma_b2),
        border=_border(activation, init.sigma_b2),
        depth_over_width=_depth_over_width(init),
        mean=moments.mean,
        mean_error=moments.mean_error,
        dispersion=ratio.value,
        dispersion_error=ratio.standard_error,
        dispersion_low=ratio.low,
        dispersion_high=ratio.high,
        infinite=infinite,
        distance=distance,
        distance_low=distance_low,
        distance_high=distance_high,
        largest_step=float(np.median(steps)),
        largest_step_low=float(steps[BELOW_MEDIAN]),
        largest_step_high=float(steps[ABOVE_MEDIAN]),
        inputs=count,
        draws=ratio.draws,
        enough=ratio.enough,
    )


def _name_of(activation: ActivationLike) -> str:
    if isinstance(activation, str):
        return activation
    return getattr(activation, "__name__", "callable")


def _depth_over_width(init: Initialisation) -> float:
    """L divided by the harmonic mean of the hidden widths; nan without hidden layers."""
    hidden = init.widths[1:]
    if not hidden:
        return float("nan")
    return float(init.depth * np.mean([1 / width for width in hidden]))


def _largest_steps(
    inputs: "int | Array",
    init: Initialisation,
    activation: ActivationLike,
    input_norm2: float,
    seed: int,
) -> tuple[np.ndarray, int]:
    """Return 2 S / lambda_max of independent networks, sorted, and S.

    Random inputs are drawn anew for each network, so that the median is one over inputs, too.
    """
    steps = []
    for number in range(EIGENVALUE_DRAWS):
        x = _inputs(inputs, init, input_norm2, (seed, number))
        (theta,) = draw_ntk(
            init, x, activation=activation, draws=1, seed=seed_for("largest step", seed, number)
        )
        steps.append(2 * len(x) / np.linalg.eigvalsh(theta)[-1])
    return np.sort(steps), len(x)


def _border(activation: ActivationLike, sigma_b2: float) -> float:
    """The sigma_w2 of the border of the phases; nan if there is none."""
    try:
        return border(activation, sigma_b2)
    except ConfigError:
        return float("nan")


def _inputs(
    inputs: "int | Array", init: Initialisation, input_norm2: float, seed: tuple[int, int]
) -> np.ndarray:
    """Return given inputs, or random ones on the sphere |x|^2 = ``input_norm2``."""
    if not isinstance(inputs, int | np.integer):
        return np.asarray(inputs, dtype=float)
    count = checked_count("inputs", inputs)
    normal = np.random.default_rng([*seed, 1]).standard_normal((count, init.widths[0]))
    return normal * np.sqrt(input_norm2) / np.linalg.norm(normal, axis=1, keepdims=True)
