"""Settings of the thesis: type, range, meaning and source. Imports no torch."""

import itertools

from pydantic import model_validator

from finitewidth.settings.sections import (
    Section,
    between,
    distinct,
    ours,
    paper,
    positive,
    refused,
    several,
    whole,
)

Units = whole(1, 9)  # of a layer in a drawing
Ratios = distinct(between(0.001, 100), most=100)
Variance = positive(1_000_000)


class Image(Section):
    """A window that slides over an image."""

    size: whole(2, 6) = ours("pixels along a side of the image")
    window: whole(1, 6) = ours("pixels along a side of the window")

    @model_validator(mode="after")
    def _inside(self) -> "Image":
        if self.window > self.size:
            raise refused("window", self.window, f"it must be at most size, {self.size}")
        return self


class Recurrent(Section):
    """A recurrent network."""

    inputs: whole(1, 2) = ours("number of input units")
    units: whole(1, 3) = ours("number of units of the state")
    outputs: whole(1, 3) = ours("number of output units")


class Residual(Section):
    """A residual network."""

    inputs: whole(1, 3) = ours("number of input units")
    units: whole(1, 3) = ours("number of units of each layer in the block")
    hidden: whole(1, 3) = ours("number of layers of the block beside the first")
    outputs: whole(1, 3) = ours("number of output units")


class Concepts(Section):
    """Figures 2.1 and 2.2: drawings."""

    network: several(Units, most=7, least=2) = paper(
        "units of the input, the four hidden layers and the output"
    )
    convolution: Image
    recurrent: Recurrent
    residual: Residual


class Classical(Section):
    """Figure 2.3: polynomials fitted to noisy values of sin(pi (frequency x + phase)).

    x is uniform in [-1, 1].
    """

    draws: whole(3, 1_000_000) = ours("number of datasets that are drawn")
    samples: whole(2, 1000) = ours("number of points of a dataset")
    frequency: positive(20) = ours("frequency of the sine, in periods over the range of x")
    phase: between(-1, 1) = ours(
        "phase of the sine; with it neither even nor odd, so that every degree helps"
    )
    noise: Variance = ours("variance of the noise in the values")
    largest_degree: whole(1, 40) = ours("largest degree of the polynomials")

    @model_validator(mode="after")
    def _few_coefficients(self) -> "Classical":
        degree = self.largest_degree
        if degree >= self.samples:
            raise refused("largest_degree", degree, f"it must be below samples, {self.samples}")
        return self


class Descent(Section):
    """Theorem 2.4: gradient descent at the largest rate."""

    ratios: Ratios = ours("parameters over samples, P / N")
    tolerance: between(1e-13, 0.1) = ours(
        "remaining share of the slowest direction at which descent ends"
    )


class Risk(Section):
    """Figure 2.4: linear regression with Gaussian inputs, its weights of least norm."""

    draws: whole(3, 1_000_000) = ours("number of input matrices drawn at each ratio")
    targets: whole(1, 10_000) = ours(
        "number of true weights and noises for each matrix, over which the risk is averaged"
    )
    samples: whole(5, 10_000) = ours("number of samples N")
    ratios: Ratios = ours("parameters over samples, P / N")
    signal: Variance = ours("r^2, squared norm of the true weights")
    noises: distinct(Variance, most=3) = ours(
        "variances sigma^2 of the noise, below and above r^2; a panel each"
    )
    points: whole(2, 10_000) = ours("number of points of the curves")
    doubled: several(whole(5, 100_000_000), most=20) = ours(
        "N from which the exact mean is followed to its limit; each is twice the one before"
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
