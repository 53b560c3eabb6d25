"""Settings of collapse: flows and block kernels. Imports no torch."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, model_validator

from finitewidth.papers.collapse.settings.ranges import Positive, Share
from finitewidth.settings.sections import Distinct, Runs, Section, ours, paper, refused


def _check_kernel(key: str, values: Sequence[float]) -> None:
    """Refuse three values that are no block kernel as in Definition 3.1."""
    if not values[0] > values[1] > values[2] >= 0:
        allowed = (
            "the values must fall from a sample with itself to two samples of a class to two of "
            "different classes, which is at least 0"
        )
        raise refused(key, values, allowed)


class Kernel(Section):
    """A block kernel; with the values of preset ``paper``, alpha C = 0.5."""

    diagonal: Positive = ours("kernel kappa_d of a sample with itself")
    same_class: Positive = ours("kernel kappa_c of two samples of one class")
    other_class: Positive = ours("kernel kappa_n of two samples of different classes")


class Start(Section):
    """Random starts."""

    means: Positive = ours("standard deviation of class means")
    within: Positive = ours("standard deviation within classes")


class Frozen(Section):
    """Appendix B.4: equal biases that are held fixed, and a grid for the formulas around them."""

    other_class: Distinct[Positive] = ours(
        "values of kappa_n, the kernel between classes", min_length=1, max_length=20
    )
    biases: Distinct[Annotated[float, Field(ge=0, le=100)]] = ours(
        "values of the equal biases", min_length=1, max_length=20
    )
    points: int = ours("number of points of the grid of biases", ge=2, le=10_000)
    margin: Share = ours("distance by which the grid exceeds the biases on both sides")


class Residuals(Section):
    """Section 4.1."""

    kernels: list[Annotated[list[Positive], Field(min_length=3, max_length=3)]] = ours(
        "values gamma_d, gamma_c, gamma_n of each block kernel", min_length=1, max_length=20
    )
    below: Annotated[float, Field(gt=0, lt=1)] = ours(
        "fraction of its start at which a component counts as converged"
    )
    step: float = ours(
        "step size times the largest eigenvalue; the work grows with its inverse", ge=0.001, le=1
    )


class FlowSteps(Section):
    """Runge-Kutta of order 4."""

    time: float = ours("time at which the integration ends", gt=0, le=1000)
    steps: Distinct[Annotated[float, Field(ge=0.00001, le=1)]] = ours(
        "step sizes of the integration", min_length=1, max_length=20
    )

    @model_validator(mode="after")
    def _whole(self) -> "FlowSteps":
        for step in self.steps:
            if abs(self.time / step - round(self.time / step)) > 1e-6:
                raise refused("steps", step, f"time, {self.time}, must be a multiple of it")
        return self


class Flow(Section):
    """The flow of (25) under a block kernel; the paper has no such experiment."""

    runs: Runs = ours("number of random starts of each case")
    classes: int = paper("number of classes C", ge=2, le=100)
    samples: int = paper("number of samples per class, m", ge=2, le=1000)
    features: int = ours("number of features n, at least as many as classes", ge=2, le=1000)
    kernel: Kernel
    start: Start
    weights: Distinct[Positive] = ours(
        "standard deviations of the random starts of W", min_length=1, max_length=20
    )
    excess: float = ours(
        "trace of E over that of the features' terms, where E is positive semidefinite",
        gt=0,
        le=1000,
    )
    time: float = ours("time at which the flow ends", gt=0, le=100_000)
    halvings: int = ours(
        "number of halvings from the end time to the first time shown; two times each", ge=1, le=30
    )
    tolerance: float = ours("relative and absolute tolerance of the integration", ge=1e-13, le=0.01)
    probes: int = ours("number of points at which NC4 is tried", ge=1, le=1_000_000)
    frozen: Frozen
    residuals: Residuals
    steps: FlowSteps

    @model_validator(mode="after")
    def _possible(self) -> "Flow":
        if self.features < self.classes:
            allowed = f"it must be at least classes, {self.classes}"
            raise refused("features", self.features, allowed)
        diagonal, same, other = (value for _, value in self.kernel)
        _check_kernel("kernel", [diagonal, same, other])
        for values in self.residuals.kernels:
            _check_kernel("residuals.kernels", values)
        for value in self.frozen.other_class:
            _check_kernel("frozen.other_class", [diagonal, same, value])
        return self


class Symbols(Section):
    """The characteristic polynomial."""

    classes: int = ours("number of classes C", ge=2, le=5)
    samples: int = ours("number of samples per class, m", ge=2, le=5)


class BlockKernel(Section):
    """Table 1 in rational numbers."""

    classes: int = ours("number of classes C", ge=2, le=20)
    samples: int = ours("number of samples per class, m", ge=2, le=20)
    kernel: list[Annotated[int, Field(ge=0, le=1_000_000)]] = ours(
        "values gamma_d, gamma_c, gamma_n of the kernel", min_length=3, max_length=3
    )
    symbols: Symbols

    @model_validator(mode="after")
    def _block_kernel(self) -> "BlockKernel":
        _check_kernel("kernel", self.kernel)
        return self
