"""Can the infinite-width kernel be trusted for a torch network? ``trust`` of a function of modules.

The limit is that of this very architecture, and the networks are drawn by the user's own function.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from torch import nn

from finitewidth.common.arrays import Array
from finitewidth.common.errors import ConfigError
from finitewidth.kernels.ntk_init.initialisation import checked_count
from finitewidth.kernels.trained.batches import Inputs
from finitewidth.kernels.wide.law import Variance
from finitewidth.library.dispersion import Dispersion, interval_text
from finitewidth.library.drawn_networks import (
    Draws,
    Make,
    width_argument,
    with_width,
)
from finitewidth.library.intervals import (
    FEWEST,
    Interval,
    mean_interval,
    median_interval,
)
from finitewidth.library.network_changes import distances_of, growth_of, training_of
from finitewidth.library.study_draws import dispersion
from finitewidth.records.provenance import seed_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EIGENVALUE_DRAWS = 20
NAME_WIDTH = 21  # characters of the names of numbers in a printed answer
# distances up to which a kernel describes another
CLOSE = 0.1  # well
ROUGH = 0.3  # roughly


@dataclass(frozen=True, eq=False)
class NetworkTrust:
    """How well the infinite-width kernel describes the drawn kernels of a torch architecture.

    Theta is the kernel of the first output. Intervals are those of 95 % over networks.

    Attributes:
        inputs: N.
        draws: number of networks drawn.
        width: the width given to the function; None if it takes none.
        no_limit: why there is no infinite-width kernel; "" if there is one.
        limit: Theta of infinite width, (N, N), or None.
        diagonals: Theta(x, x) of each network, (draws, N).
        mean_kernel: mean of Theta over networks, (N, N).
        mean_error: its standard error, (N, N).
        mean: E[Theta(x, x)], mean over inputs.
        over_limit: E[Theta(x, x)] over that of infinite width, mean over inputs; None without one.
        dispersion: r = E[Theta(x, x)^2] / E[Theta(x, x)]^2, mean over inputs.
        distance: median over networks of |Theta - limit| / |limit|, Frobenius norms; or None.
        largest_step: median of 2 N / lambda_max of the kernel of all outputs, the largest stable
            step of gradient descent on (1/2N) sum |f - y|^2 near initialisation.
        growth: the distance at some widths: width, distance, low, high, draws; no rows without.
        slope: of log distance against log width, -1/2 for wide networks; or None.
        training: step, and the median of |Theta_t - Theta_0| / |Theta_0|: change, low, high; no
            rows without targets.
    """

    inputs: int
    draws: int
    width: int | None
    no_limit: str
    limit: np.ndarray | None
    diagonals: np.ndarray
    mean_kernel: np.ndarray
    mean_error: np.ndarray
    mean: Interval
    over_limit: Interval | None
    dispersion: Dispersion
    distance: Interval | None
    largest_step: Interval
    growth: pd.DataFrame
    slope: Interval | None
    training: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return a table: quantity, width, step, value, low, high."""
        intervals = {
            "mean": self.mean,
            "mean over limit": self.over_limit,
            "dispersion": self.dispersion,
            "distance": self.distance,
            "largest step": self.largest_step,
            "slope": self.slope,
        }
        rows: list[dict[str, Any]] = []
        for name, interval in intervals.items():
            if interval is not None:
                row = {"value": interval.value, "low": interval.low, "high": interval.high}
                rows.append({"quantity": name, **row})
        for row in self.growth.rename(columns={"distance": "value"}).to_dict("records"):
            rows.append({"quantity": "distance", **row})
        for row in self.training.rename(columns={"change": "value"}).to_dict("records"):
            rows.append({"quantity": "change", **row})
        columns = ["quantity", "width", "step", "value", "low", "high"]
        return pd.DataFrame(rows, columns=columns)

    def figure(self) -> "Figure":
        """Draw Theta(x, x), the mean kernel against the limit, growth with width, and training."""
        import matplotlib as mpl

        from finitewidth.figures import network_trust
        from finitewidth.figures.style import apply

        with mpl.rc_context():  # the settings of the user come back
            apply()
            return network_trust.panels(self)

    def write(self, folder: str | Path) -> Path:
        """Write the text, the table and the figure: ``answer.txt``, ``.csv``, ``.png``, ``.pdf``.

        Files of an earlier answer in the folder are overwritten.

        Raises:
            OSError: a file cannot be written.
        """
        import matplotlib as mpl

        from finitewidth.figures.picture_files import save
        from finitewidth.figures.style import apply

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "answer.txt").write_text(f"{self}\n", encoding="utf-8")
        self.to_frame().to_csv(folder / "answer.csv", index=False, float_format="%.8g")
        with mpl.rc_context():
            apply()
            figure = self.figure()
            for kind in ("png", "pdf"):
                save(
                    figure,
                    folder / f"answer.{kind}",
                    f"network beside its limit, {self.draws} networks",
                )
        return folder

    def __str__(self) -> str:
        """The answer in words, one fact per line."""
        lines = [f"{name:<{NAME_WIDTH}}{value}" for name, value in self._facts()]
        return "\n".join([*lines, "", self._verdict()])

    def _facts(self) -> list[tuple[str, str]]:
        """The name and the value of each fact."""
        width = "" if self.width is None else f", width {self.width}"
        facts = [
            ("networks", f"{self.draws} drawn{width}; {self.inputs} inputs; kernel of one output"),
            ("mean of Theta(x, x)", _text(self.mean)),
            ("dispersion", f"{self.dispersion} (E[Theta^2] / E[Theta]^2)"),
        ]
        if self.over_limit and self.distance:
            facts.append(("mean over limit", _text(self.over_limit)))
            facts.append(("distance to limit", f"{_percent(self.distance)}, median over networks"))
        else:
            facts.append(("infinite width", f"no limit: {self.no_limit}"))
        step = _text(self.largest_step)
        facts.append(("largest stable step", f"{step} for (1/2N) sum |f - y|^2"))
        for row in self.growth.itertuples():
            distance = _percent(Interval(row.distance, row.low, row.high))
            facts.append((f"distance at {row.width}", distance))
        if self.slope:
            ends = f"[{self.slope.low:.2f}, {self.slope.high:.2f}]"
            facts.append(("slope with width", f"{self.slope.value:.2f} {ends}; -1/2 in the end"))
        if len(self.training):
            last = self.training.iloc[-1]
            change = _percent(Interval(last["change"], last["low"], last["high"]))
            facts.append(("change in training", f"{change} after {last['step']:g} steps"))
        return facts

    def _verdict(self) -> str:
        """The sentence that answers the question."""
        if self.distance is None:
            start = "This architecture has no infinite-width kernel that is known."
        else:
            start = (
                f"The infinite-width kernel describes such networks {_words(self.distance.value)} "
                "at initialisation."
            )
        if not len(self.training):
            return f"{start} Training can change the kernel further."
        change = float(self.training["change"].iloc[-1])
        return f"{start} In training, the kernel at initialisation describes it {_words(change)}."


def _words(distance: float) -> str:
    if distance <= CLOSE:
        return f"well (the distance is at most {CLOSE:.0%})"
    if distance <= ROUGH:
        return f"roughly (the distance is between {CLOSE:.0%} and {ROUGH:.0%})"
    return f"poorly (the distance is above {ROUGH:.0%})"


def _text(interval: Interval) -> str:
    return f"{interval.value:.4g}, {interval_text(interval.low, interval.high)}"


def _percent(interval: Interval) -> str:
    return f"{interval.value:.1%} ({interval.low:.1%} to {interval.high:.1%})"


def trust_of_modules(
    make: Make,
    x: Inputs,
    y: Array | None = None,
    *,
    width: int | None = None,
    sigma_w2: Variance = "torch",
    sigma_b2: Variance = "torch",
    draws: int = 50,
    steps: int = 100,
    rate: float | None = None,
    seed: int = 0,
) -> NetworkTrust:
    """Compare networks that a function draws with their limit; see `finitewidth.trust`."""
    sized = _checked(make, width, draws, steps, seed)
    networks = Draws(with_width(make, *sized) if sized else make, x, seed)
    limit, no_limit = networks.limit(sigma_w2, sigma_b2)
    drawn = networks.kernels(draws, min(draws, EIGENVALUE_DRAWS))
    diagonals = np.diagonal(drawn.kernels, axis1=1, axis2=2)  # (draws, N)
    over_limit = None
    distance = None
    slope = None
    growth = pd.DataFrame(columns=["width", "distance", "low", "high", "draws"])
    if limit is not None:
        over_limit = mean_interval((diagonals / np.diagonal(limit)).mean(axis=1))
        distances = distances_of(drawn.kernels, limit)
        distance = median_interval(distances)
        if sized:
            growth, slope = growth_of(make, *sized, networks, sigma_w2, sigma_b2, distances)
    return NetworkTrust(
        inputs=len(networks.x),
        draws=draws,
        width=sized[1] if sized else None,
        no_limit=no_limit,
        limit=limit,
        diagonals=diagonals,
        mean_kernel=drawn.kernels.mean(axis=0),
        mean_error=drawn.kernels.std(axis=0, ddof=1) / draws**0.5,
        mean=mean_interval(diagonals.mean(axis=1)),
        over_limit=over_limit,
        dispersion=_dispersion(diagonals, seed),
        distance=distance,
        largest_step=median_interval(drawn.steps),
        growth=growth,
        slope=slope,
        training=training_of(networks, y, steps, rate),
    )


def _dispersion(diagonals: np.ndarray, seed: int) -> Dispersion:
    """The dispersion of Theta(x, x), (draws, N), mean over inputs."""
    ratio = dispersion(diagonals, seed_for("network trust", seed, "bootstrap"))
    return Dispersion(
        value=ratio["r"],
        standard_error=ratio["standard_error"],
        low=ratio["low"],
        high=ratio["high"],
        draws=int(ratio["draws"]),
        enough=int(ratio["enough"]),
    )


def _checked(
    make: Make, width: int | None, draws: int, steps: int, seed: int
) -> tuple[str, int] | None:
    """Check arguments; return the argument that is the width, and the width, if it has one."""
    checked_count("draws", draws, FEWEST)
    checked_count("steps", steps)
    checked_count("seed", seed, 0)
    if isinstance(make, nn.Module):
        raise ConfigError(
            "make_network: it is a module; give a function that makes one with new weights"
        )
    sized = width_argument(make, width)
    if sized:
        checked_count("width", sized[1], 2)
    return sized
