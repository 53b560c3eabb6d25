"""Settings of the thesis: type, range, meaning and source. Imports no torch."""

import itertools
from typing import Annotated

from pydantic import Field, model_validator

from finitewidth.settings.sections import (
    Distinct,
    Section,
    ours,
    paper,
    refused,
)

Units = Annotated[int, Field(ge=1, le=9)]  # of a layer in a drawing
Ratios = Annotated[
    Distinct[Annotated[float, Field(ge=0.001, le=100)]], Field(min_length=1, max_length=100)
]
Variance = Annotated[float, Field(gt=0, le=1_000_000)]


class Image(Section):
    """A window that slides over an image."""

    size: int = ours("pixels along a side of the image", ge=2, le=6)
    window: int = ours("pixels along a side of the window", ge=1, le=6)

    @model_validator(mode="after")
    def _inside(self) -> "Image":
        if self.window > self.size:
            raise refused("window", self.window, f"it must be at most size, {self.size}")
        return self


class Recurrent(Section):
    """A recurrent network."""

    inputs: int = ours("number of input units", ge=1, le=2)
    units: int = ours("number of units of the state", ge=1, le=3)
    outputs: int = ours("number of output units", ge=1, le=3)


class Residual(Section):
    """A residual network."""

    inputs: int = ours("number of input units", ge=1, le=3)
    units: int = ours("number of units of each layer in the block", ge=1, le=3)
    hidden: int = ours("number of layers of the block beside the first", ge=1, le=3)
    outputs: int = ours("number of output units", ge=1, le=3)


class Concepts(Section):
    """Figures 2.1 and 2.2: drawings."""

    network: list[Units] = paper(
        "units of the input, the four hidden layers and the output", min_length=2, max_length=7
    )
    convolution: Image
    recurrent: Recurrent
    residual: Residual


class Classical(Section):
    """Figure 2.3: polynomials fitted to noisy values of sin(pi (frequency x + phase)).

    x is uniform in [-1, 1].
    """

    draws: int = ours("number of datasets that are drawn", ge=3, le=1_000_000)
    samples: int = ours("number of points of a dataset", ge=2, le=1000)
    frequency: float = ours("frequency of the sine, in periods over the range of x", gt=0, le=20)
    phase: float = ours(
        "phase of the sine; with it neither even nor odd, so that every degree helps", ge=-1, le=1
    )
    noise: Variance = ours("variance of the noise in the values")
    largest_degree: int = ours("largest degree of the polynomials", ge=1, le=40)

    @model_validator(mode="after")
    def _few_coefficients(self) -> "Classical":
        degree = self.largest_degree
        if degree >= self.samples:
            raise refused("largest_degree", degree, f"it must be below samples, {self.samples}")
        return self


class Descent(Section):
    """Theorem 2.4: gradient descent at the largest rate."""

    ratios: Ratios = ours("parameters over samples, P / N")
    tolerance: float = ours(
        "remaining share of the slowest direction at which descent ends", ge=1e-13, le=0.1
    )


class Risk(Section):
    """Figure 2.4: linear regression with Gaussian inputs, its weights of least norm."""

    draws: int = ours("number of input matrices drawn at each ratio", ge=3, le=1_000_000)
    targets: int = ours(
        "number of true weights and noises for each matrix, over which the risk is averaged",
        ge=1,
        le=10_000,
    )
    samples: int = ours("number of samples N", ge=5, le=10_000)
    ratios: Ratios = ours("parameters over samples, P / N")
    signal: Variance = ours("r^2, squared norm of the true weights")
    noises: Distinct[Variance] = ours(
        "variances sigma^2 of the noise, below and above r^2; a panel each",
        min_length=1,
        max_length=3,
    )
    points: int = ours("number of points of the curves", ge=2, le=10_000)
    doubled: list[Annotated[int, Field(ge=5, le=100_000_000)]] = ours(
        "N from which the exact mean is followed to its limit; each is twice the one before",
        min_length=1,
        max_length=20,
    )
    descent: Descent

    @model_validator(mode="after")
    def _parameters(self) -> "Risk":
        if any(b != 2 * a for a, b in itertools.pairwise(self.doubled)):
            raise refused("doubled", self.doubled, "each number must be twice the one before")
        if set(self.ratios) == {1}:
            allowed = "one at least must differ from 1, where the mean is infinite"
            raise refused("ratios", self.ratios, allowed)
        sizes = f"{self.samples} (samples) and {self.doubled[0]} (doubled)"
        for key, ratios in (("ratios", self.ratios), ("descent.ratios", self.descent.ratios)):
            for ratio in ratios:
                if not _whole(ratio * self.samples) or not _whole(ratio * self.doubled[0]):
                    allowed = f"times {sizes} it must be a whole number of parameters"
                    raise refused(key, ratio, allowed)
        if 1 in self.descent.ratios:
            allowed = "it must differ from 1, where descent takes millions of steps"
            raise refused("descent.ratios", 1, allowed)
        return self


def _whole(number: float) -> bool:
    return round(number) >= 1 and abs(number - round(number)) < 1e-6


class Settings(Section):
    """The thesis: chapter 2, which describes Figures 2.2 to 2.4 in words only."""

    concepts: Concepts
    classical: Classical
    risk: Risk
