"""Networks that grow, stay or shrink with depth against each other, job `beyond_shapes`.

Appendix B.2 of ``beyond`` states that the dispersion of the kernel is lower for growing networks.
The closed form shows where it is, which layers decide, and from which input dimension on a growing
network has a lower dispersion than its reverse.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from finitewidth.declarations import columns as shared
from finitewidth.kernels.ntk_init.initialisation import Initialisation
from finitewidth.kernels.ntk_init.moments import (
    layer_coefficients,
    leading_excess,
    log_moments,
    reversal_input,
)
from finitewidth.kernels.ntk_init.phases import phase
from finitewidth.papers.beyond import columns
from finitewidth.papers.beyond.experiments.grids import depths
from finitewidth.papers.beyond.experiments.theory import ARCHITECTURES, widths_of
from finitewidth.papers.beyond.settings import ComparedShapes, RandomShapes, Range
from finitewidth.records.provenance import seed_for
from finitewidth.records.tables import Table

INPUTS = ("own", "common")
# each against the constant one, and growing against shrinking
PAIRS = (("growing", "constant"), ("shrinking", "constant"), ("growing", "shrinking"))
DENSE = 1.5  # more depths where networks are shallow
EDGE = 2.0  # weight variance of the edge of chaos of ReLU networks
TABLES = {
    "dispersions": Table(
        columns.INPUT_KIND,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.ARCHITECTURE,
        columns.INPUT_WIDTH,
        columns.SHAPE_DISPERSION,
        columns.SHAPE_EXCESS,
    ),
    "ratios": Table(
        columns.INPUT_KIND,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.FIRST,
        columns.SECOND,
        columns.LOG10_RATIO,
        columns.EXCESS_DIFFERENCE,
    ),
    "layers": Table(
        columns.INPUT_KIND,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.ARCHITECTURE,
        columns.HIDDEN_LAYER,
        columns.LAYER_OVER_DEPTH,
        columns.COEFFICIENT,
    ),
    "inputs": Table(
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.INPUT_WIDTH,
        columns.LOG10_RATIO_TO_REVERSE,
    ),
    "thresholds": Table(
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.THRESHOLD_TO_FIRST_ORDER,
        columns.THRESHOLD,
    ),
    "random": Table(
        columns.SHAPE,
        columns.PHASE,
        columns.SIGMA_W2,
        shared.DEPTH,
        columns.NARROWEST,
        columns.WIDEST,
        columns.INPUT_WIDTH,
        columns.INPUT_OVER_WIDTH,
        columns.LOG10_RATIO_TO_REVERSE,
        columns.REVERSE_EXCESS,
    ),
    "counts": Table(
        columns.PHASE,
        columns.SHAPES,
        columns.HIGHER,
        columns.LARGEST_LOG10_RATIO,
        columns.LAST_INPUT_OVER_WIDTH,
    ),
}


def measure(inputs: Mapping[str, Any], settings: ComparedShapes) -> dict[str, pd.DataFrame]:
    """Exact dispersions r of the architectures of Figure 6, and the part of each layer.

    Two kinds of ``input`` are compared. ``own``: n_0 as in Figure 6, which differs between the
    architectures. ``common``: n_0 of the constant network in all of them, and the hidden layers of
    Figure 6. In ``inputs`` all input dimensions are compared, for the growing widths of Figure 6
    and the same widths reversed, and in ``random`` those of random widths.

    Returns:
        ``dispersions`` and their ``ratios``; ``layers``, the part of each in r - 1 to first order;
        ``inputs``, and ``thresholds`` up to which the growing network has the larger dispersion;
        ``random`` and ``counts`` for each phase of those widths. See `TABLES`.
    """
    dispersions = pd.DataFrame(_dispersions(settings))
    random = pd.DataFrame(_random(settings.random))
    return {
        "dispersions": dispersions,
        "ratios": pd.DataFrame(_ratios(dispersions)),
        "layers": pd.concat(_layers(settings), ignore_index=True),
        "inputs": pd.DataFrame(_inputs(settings)),
        "thresholds": pd.DataFrame(_thresholds(settings)),
        "random": random,
        "counts": pd.DataFrame(_counts(random)),
    }


@dataclass(frozen=True)
class Reversal:
    """Hidden widths that grow with depth, and the same widths reversed.

    Attributes:
        hidden: (n_1, ..., n_(L-1)), the widths of the growing network.
        sigma_w2: variance of a weight times its fan-in.
    """

    hidden: tuple[int, ...]
    sigma_w2: float

    @property
    def depth(self) -> int:
        """The number L of layers with weights."""
        return len(self.hidden) + 1

    def networks(self, input_width: int) -> tuple[Initialisation, Initialisation]:
        """Return the laws of the growing and of the reversed network with this n_0."""
        growing = (input_width, *self.hidden)
        reverse = (input_width, *self.hidden[::-1])
        return (
            Initialisation(widths=growing, sigma_w2=self.sigma_w2),
            Initialisation(widths=reverse, sigma_w2=self.sigma_w2),
        )

    def log_ratio(self, input_width: int) -> float:
        """Return log(r_growing / r_reversed), which is exact."""
        growing, reverse = (log_moments(init) for init in self.networks(input_width))
        return (growing.second - 2 * growing.mean) - (reverse.second - 2 * reverse.mean)

    def log10_ratio(self, input_width: int) -> float:
        """Return the decimal logarithm of r_growing / r_reversed."""
        return self.log_ratio(input_width) / np.log(10)

    def excess(self, input_width: int) -> float:
        """Return the difference r_growing - r_reversed to first order."""
        growing, reverse = self.networks(input_width)
        return leading_excess(growing) - leading_excess(reverse)

    def largest_input(self, most: int) -> int:
        """Return the largest n_0 up to ``most`` with r_growing > r_reversed; 0 without one.

        Input dimensions at which the growing network has the larger dispersion come first.
        """
        inputs = range(1, most + 1)
        return bisect_left(inputs, True, key=lambda width: self.log_ratio(width) <= 0)


def random_reversal(rng: np.random.Generator, sigma_w2: float, settings: RandomShapes) -> Reversal:
    """Draw a depth and growing widths, whose reciprocals have at most the sum ``most_reciprocals``.

    The logarithms of the depth, of the narrowest width and of the widest over the narrowest are
    uniform. A power of the place, whose logarithm is uniform, interpolates between both.
    """
    while True:
        depth = round(_log_uniform(rng, 3, settings.deepest))
        narrow = _log_uniform(rng, settings.narrowest, settings.widest)
        wide = narrow * _log_uniform(rng, 1, settings.growth)
        places = np.linspace(0, 1, depth - 1) ** _log_uniform(rng, 1 / 8, 8)
        widths = np.ceil(narrow + (wide - narrow) * places)
        if widths[0] < widths[-1] and (1 / widths).sum() <= settings.most_reciprocals:
            return Reversal(tuple(widths.astype(int).tolist()), sigma_w2)


def input_widths(mean: float, largest: float, points: int) -> list[int]:
    """Return input dimensions from 1 to ``largest`` times the mean of the hidden widths."""
    last = max(2, round(largest * mean))
    return np.unique(np.geomspace(1, last, points).round().astype(int)).tolist()


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _reversals(settings: ComparedShapes) -> Iterator[Reversal]:
    """Yield the growing widths of Figure 6 for each depth and weight variance."""
    narrow = settings.narrow
    wide = settings.wide
    lambdas = settings.inputs.lambdas
    for lam, variance in product(lambdas, _variances(settings.inputs.sigma_w2)):
        depth = round(lam * (narrow + wide) / 2)
        _, *hidden = widths_of("growing", depth, narrow, wide)
        yield Reversal(tuple(hidden), float(variance))


def _compared_inputs(settings: ComparedShapes) -> list[int]:
    """The input dimensions at which the widths of Figure 6 are compared with their reverse."""
    mean = (settings.narrow + settings.wide) / 2
    return input_widths(mean, settings.inputs.largest, settings.inputs.points)


def _inputs(settings: ComparedShapes) -> Iterator[dict[str, Any]]:
    for reversal, width in product(_reversals(settings), _compared_inputs(settings)):
        yield {
            "sigma_w2": reversal.sigma_w2,
            "depth": reversal.depth,
            "input_width": width,
            "y": reversal.log10_ratio(width),
        }


def _thresholds(settings: ComparedShapes) -> Iterator[dict[str, Any]]:
    last = _compared_inputs(settings)[-1]
    for reversal in _reversals(settings):
        yield {
            "sigma_w2": reversal.sigma_w2,
            "depth": reversal.depth,
            "first_order": reversal_input(reversal.hidden, reversal.sigma_w2),
            "exact": reversal.largest_input(last),
        }


def _random(settings: RandomShapes) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed_for("beyond/shapes/random"))
    ordered = (settings.sigma_w2.first, EDGE)
    critical = (EDGE, EDGE)
    chaotic = (EDGE, settings.sigma_w2.last)
    for shape in range(settings.shapes):
        low, high = (ordered, critical, chaotic)[shape % 3]
        reversal = random_reversal(rng, float(rng.uniform(low, high)), settings)
        mean = float(np.mean(reversal.hidden))
        key = {
            "shape": shape,
            "phase": phase("relu", reversal.sigma_w2),
            "sigma_w2": reversal.sigma_w2,
            "depth": reversal.depth,
            "narrow": reversal.hidden[0],
            "wide": reversal.hidden[-1],
        }
        for width in input_widths(mean, settings.largest, settings.points):
            yield key | {
                "input_width": width,
                "x": width / mean,
                "y": reversal.log10_ratio(width),
                "excess": reversal.excess(width),
            }


def _counts(random: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for name, rows in random.groupby("phase"):
        higher = rows[rows["y"] > 0]
        yield {
            "phase": name,
            "shapes": rows["shape"].nunique(),
            "higher": higher["shape"].nunique(),
            "largest": rows["y"].max(),
            "last": higher["x"].max() if len(higher) else 0.0,
        }


def networks(
    depth: int, narrow: int, wide: int, sigma_w2: float
) -> Iterator[tuple[str, str, Initialisation]]:
    """Yield kind of input, name and law of the network of each architecture."""
    (common_input,) = widths_of("constant", 1, narrow, wide)
    for architecture in ARCHITECTURES:
        own = widths_of(architecture, depth, narrow, wide)
        common = (common_input, *own[1:])
        yield "own", architecture, Initialisation(widths=own, sigma_w2=sigma_w2)
        yield "common", architecture, Initialisation(widths=common, sigma_w2=sigma_w2)


def _dispersions(settings: ComparedShapes) -> Iterator[dict[str, Any]]:
    narrow = settings.narrow
    wide = settings.wide
    maps = settings.maps
    grid = depths((narrow + wide) // 2, maps.max_lambda, maps.points, power=DENSE)
    for depth, variance in product(grid, _variances(maps.sigma_w2)):
        # the constant network is the same with both kinds of input
        known: dict[Initialisation, tuple[float, float]] = {}
        for kind, architecture, init in networks(depth, narrow, wide, float(variance)):
            if init not in known:
                known[init] = log_moments(init).dispersion, leading_excess(init)
            value, excess = known[init]
            yield {
                "input": kind,
                "sigma_w2": variance,
                "depth": depth,
                "architecture": architecture,
                "input_width": init.widths[0],
                "y": value,
                "excess": excess,
            }


def _variances(axis: Range) -> np.ndarray:
    """Return the weight variances of a map; rounded, so that 2 is on the grid exactly."""
    return np.linspace(axis.first, axis.last, axis.points).round(12)


def _ratios(dispersions: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for (kind, variance, depth), rows in dispersions.groupby(["input", "sigma_w2", "depth"]):
        architectures = rows.set_index("architecture")
        for first, second in PAIRS:
            one = architectures.loc[first]
            other = architectures.loc[second]
            yield {
                "input": kind,
                "sigma_w2": variance,
                "depth": depth,
                "first": first,
                "second": second,
                "y": np.log10(one["y"]) - np.log10(other["y"]),
                "excess": one["excess"] - other["excess"],
            }


def _layers(settings: ComparedShapes) -> Iterator[pd.DataFrame]:
    narrow = settings.narrow
    wide = settings.wide
    lam = settings.layers.lambda_
    depth = max(2, round(lam * (narrow + wide) / 2))
    layers = np.arange(1, depth)
    for variance in settings.layers.sigma_w2:
        for kind, architecture, init in networks(depth, narrow, wide, variance):
            yield pd.DataFrame(
                {
                    "input": kind,
                    "sigma_w2": variance,
                    "depth": depth,
                    "architecture": architecture,
                    "layer": layers,
                    "x": layers / depth,
                    "y": layer_coefficients(init),
                }
            )
