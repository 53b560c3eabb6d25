"""Settings of beyond: type, range, meaning and source. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.settings import sections as types
from finitewidth.settings.sections import Section, Source, code, ours, paper, refused, section

MAPS = 4  # heat maps beside each other
Draws = Annotated[int, Field(ge=3, le=1_000_000_000)]
PaperDraws = Annotated[int, Field(ge=3, le=2048)]
Resamples = Annotated[int, Field(ge=2, le=100_000)]
Sizes = Annotated[
    types.Distinct[Annotated[int, Field(ge=3, le=100_000)]], Field(min_length=1, max_length=1000)
]
Lambda = Annotated[
    float, Field(ge=0.001, le=20)
]  # depth over width; networks are as wide as its inverse says
Lambdas = Annotated[types.Distinct[Lambda], Field(min_length=1, max_length=50)]
Depths = Annotated[int, Field(ge=2, le=1_000_000)] | None
Points = Annotated[int, Field(ge=2, le=10_000)]
Widths = Annotated[types.Distinct[types.Width], Field(min_length=1, max_length=20)]
Number = Annotated[float, Field(gt=0, le=100)]
Numbers = Annotated[types.Distinct[Number], Field(min_length=1, max_length=50)]
Cosines = Annotated[
    types.Distinct[Annotated[float, Field(gt=-1, lt=1)]], Field(min_length=1, max_length=50)
]
Layers = Annotated[
    types.Distinct[Annotated[int, Field(ge=2, le=1000)]], Field(min_length=1, max_length=1000)
]
Times = Annotated[
    types.Distinct[Annotated[int, Field(ge=0, le=10_000_000)]], Field(min_length=1, max_length=1000)
]


def _among(key: str, chosen: list[float], name: str, known: list[float]) -> None:
    if not set(chosen) <= set(known):
        raise refused(key, chosen, f"all of it must be in {name}, {known}")


class DiagonalGroup(Section):
    """Networks of one figure, and of its bands."""

    widths: Widths = paper("units of each hidden layer")
    alpha_0: Numbers = paper("width of the first layer over that of the last")
    sigma_w2: Numbers = ours("weight variances sigma_w^2, among those of the script")
    banded: Numbers = ours("weight variances shown with bands in Figure 9 or 10; fewer lines")

    @model_validator(mode="after")
    def _bands(self) -> "DiagonalGroup":
        _among("banded", self.banded, "sigma_w2", self.sigma_w2)
        return self


class Sampled(Section):
    """Networks drawn at initialisation."""

    draws: Draws = paper(
        "number of networks; all depths, variances and cosines share one pass", or_more=True
    )
    paper_draws: PaperDraws = paper(
        "number of networks in the paper's estimates, shown beside ours: from a stream for "
        "every depth, or the first of the pairs"
    )
    resamples: Resamples = ours("number of bootstrap samples of the paper-sized estimates")
    max_lambda: Lambda = code("largest ratio L / M of depth to width")
    points: Depths = ours("number of depths of each network; null: every depth", code_also=[None])


class Diagonal(Sampled):
    """Dispersion of diagonal elements: Figures 1 and 9 (phases), 2 and 10 (edge of chaos)."""

    phases: DiagonalGroup
    near: DiagonalGroup


class PairGroup(Section):
    """Networks of one figure."""

    widths: Widths = paper("units of each hidden layer")
    alpha_0: Numbers = paper("width of the first layer over that of the last")
    sigma_w2: Numbers = ours("weight variances sigma_w^2, one line of each phase for each cosine")
    cosines: Cosines = paper("cosines of the pairs of inputs")


class RatioBands(Section):
    """Figure 11."""

    sigma_w2: Numbers = ours("weight variances sigma_w^2 shown with bands")
    cosines: Cosines = ours("cosines of the pairs shown with bands")


class Ratio(PairGroup):
    """Figures 3 and 11: ratio of means."""

    banded: RatioBands

    @model_validator(mode="after")
    def _bands(self) -> "Ratio":
        for key, chosen in self.banded:
            _among(f"banded.{key}", chosen, key, getattr(self, key))
        return self


class OffDiagonal(Sampled):
    """Off-diagonal elements: Figures 3 and 11 (ratio of means), 7 and 8 (dispersion).

    Cosines are exact; the script draws the second input at random, so that they fluctuate.
    """

    ratio: Ratio
    phases: PairGroup = section(
        "dispersion in Figure 7, as its text has it: analogous to Figure 1. Its caption, the "
        "same as that of Figure 8, has M = 200 and alpha_0 of 2, 0.5 and 0.1",
        widths=Source("paper", paper_also=[[200]]),
        alpha_0=Source("paper", paper_also=[[2.0, 0.5, 0.1]]),
    )
    near: PairGroup = section("dispersion in Figure 8, near the edge of chaos")


class TheoryLimits(Section):
    """Figure 5."""

    max_lambda: Lambda = ours("largest ratio of depth to width")
    points: Points = ours("number of points of the curves")
    alpha_0: Numbers = ours(
        "width of the first layer over that of the last; the paper has the range from 1 to 0.1"
    )


class Architectures(Section):
    """Figure 6."""

    narrow: types.Width = paper("units of the narrowest layer, M1")
    wide: types.Width = paper("units of the widest layer, M2")
    max_lambda: Lambda = ours("largest lambda = 2 L / (M1 + M2)")
    points: Points = ours("number of points of the curves")
    sigma_w2: Numbers = ours("weight variances sigma_w^2 of the networks")
    drawn_depth: int = ours("depth L of the networks in the drawings", ge=2, le=100)

    @model_validator(mode="after")
    def _ascending(self) -> "Architectures":
        if self.narrow >= self.wide:
            raise refused("narrow", self.narrow, f"it must be below wide, {self.wide}")
        return self


class Theory(Section):
    """Closed forms: Figures 5 (limits) and 6 (architectures)."""

    limits: TheoryLimits
    architectures: Architectures


class Doubled(Section):
    """Exact values from which the limits are computed."""

    lambdas: Lambdas = ours("ratios L / M, within and beyond the range of Figure 1")
    widths: Widths = ours("units of each hidden layer")
    sigma_w2: Numbers = ours("weight variances sigma_w^2 of the networks")


class Small(Section):
    """Networks drawn in full."""

    width: int = ours("units of each hidden layer", ge=1, le=1000)
    depths: Layers = ours("depths, in weight layers")
    sigma_w2: Numbers = ours("weight variances sigma_w^2 of the networks")


class Theorem31(Section):
    """Theorem 3.1 printed, corrected and exact: beyond the paper."""

    draws: Draws = ours("number of networks drawn in full at each depth")
    max_lambda: Lambda = ours("largest ratio of depth to width")
    points: Points = ours("number of points of the curves")
    sigma_w2: Numbers = ours("weight variances sigma_w^2 of the networks")
    widths: Widths = ours("units of each hidden layer, for the exact curves")
    doubled: Doubled
    small: Small


class Range(Section):
    """Weight variances around the edge of chaos, where signs change."""

    first: Number = ours("first weight variance of the map")
    last: Number = ours("last weight variance of the map")
    points: Points = ours("number of weight variances of the map")


class ShapeMaps(Section):
    """Maps of which architecture has the larger dispersion."""

    max_lambda: Lambda = ours("largest 2 L / (M1 + M2): twice the range of Figure 6")
    points: Points = ours("number of depths, denser where they are small")
    sigma_w2: Range


class ShapeLayers(Section):
    """Coefficients of single layers."""

    lambda_: Lambda = ours("ratio 2 L / (M1 + M2) at the end of Figure 6", alias="lambda")
    sigma_w2: types.Distinct[Number] = ours(
        "weight variances sigma_w^2, one of each phase", min_length=3, max_length=3
    )


class ShapeInputs(Section):
    """Growing widths against the same widths reversed, at all input dimensions."""

    lambdas: types.Distinct[Lambda] = ours(
        "ratios 2 L / (M1 + M2), a map each", min_length=2, max_length=2
    )
    largest: float = ours("largest input dimension over (M1 + M2) / 2", gt=0, le=100)
    points: Points = ours("number of input dimensions from 1 on, denser where they are small")
    sigma_w2: Range


class RandomRange(Section):
    """Ends of the ordered and of the chaotic phase; the edge of chaos lies between them."""

    first: float = ours("smallest weight variance of the ordered phase", ge=0.01, le=1.99)
    last: float = ours("largest weight variance of the chaotic phase", ge=2.01, le=100)


class RandomShapes(Section):
    """Random widths that grow with depth, against the same widths reversed."""

    shapes: int = ours(
        "number of shapes; a third in each phase, the edge of chaos included", ge=3, le=1_000_000
    )
    deepest: int = ours("largest depth L, in weight layers", ge=3, le=10_000)
    narrowest: types.Width = ours("least units of the narrowest layer")
    widest: types.Width = ours("most units of the narrowest layer")
    growth: float = ours("largest ratio of the widest to the narrowest layer", ge=1.5, le=1000)
    most_reciprocals: float = ours("largest sum of the reciprocal widths", gt=0, le=100)
    largest: float = ours(
        "largest input dimension over the mean of the hidden widths", gt=0, le=100
    )
    points: Points = ours(
        "number of input dimensions of each shape from 1 on, denser where they are small"
    )
    sigma_w2: RandomRange

    @model_validator(mode="after")
    def _possible(self) -> "RandomShapes":
        if self.narrowest >= self.widest:
            raise refused("narrowest", self.narrowest, f"it must be below widest, {self.widest}")
        if self.most_reciprocals * self.narrowest < 2:
            allowed = f"two layers of {self.narrowest} units need at least {2 / self.narrowest:g}"
            raise refused("most_reciprocals", self.most_reciprocals, allowed)
        return self


class Shapes(Section):
    """The architectures of Figure 6, with its widths, against each other: beyond the paper."""

    maps: ShapeMaps
    layers: ShapeLayers
    inputs: ShapeInputs
    random: RandomShapes


class ComparedShapes(Shapes, Architectures):
    """What `beyond_shapes` reads: the comparisons, and the widths of Figure 6."""


class Training(Section):
    """Figure 4, and Figure 2.5 of the thesis: training by Adam with full batches."""

    dataset: Literal["mnist"] = paper("dataset; data.mnist says which images play its part")
    train: types.CountOrAll = paper("number of training images; null: all")
    test: types.CountOrAll = paper("number of test images; null: all")
    sigma_w2: Numbers = paper("weight variances sigma_w^2 of the networks")
    hidden: types.Hidden = code(
        "number of hidden layers; the paper's L = 20 weight layers have 19", paper_also=[19]
    )
    width: types.Width = paper("units of each hidden layer")
    runs: types.Runs = ours("number of networks of each variance; the paper shows one")
    rate: Number = code(
        "step size of Adam; the published curves are those of the script's", paper_also=[0.00001]
    )
    times: Times = code(
        "steps at which networks are observed; one epoch of the paper is one step with all images"
    )
    per_class: int = paper("training images of each class in the kernel", ge=2, le=100)
    maps: Times = paper("steps at which kernels are shown", code_also=[[0, 100, 500, 2000]])

    @model_validator(mode="after")
    def _rising(self) -> "Training":
        times, maps = self.times, self.maps
        if times != sorted(times) or times[0] != 0 or len(times) < 2:
            raise refused("times", times, "it must rise from 0")
        if not set(maps) <= set(times) or maps != sorted(maps) or len(maps) > MAPS:
            allowed = f"write at most {MAPS} of beyond.training.times, {times}, in their order"
            raise refused("maps", maps, allowed)
        return self


class Moments(Section):
    """Lemmas A.1 to A.4: moments of norm ratios."""

    draws: Draws = ours("number of networks that are drawn")
    width: int = ours("units of each hidden layer", ge=2, le=1000)
    layers: int = ours("number of hidden layers", ge=1, le=1000)
    sigma_w2: Number = ours("weight variance sigma_w^2 of the networks")


class Products(Section):
    """Lemma A.4, exactly."""

    ratio: Lambda = ours("ratio of hidden layers to width")
    widths: Widths = ours("units of each hidden layer")


class GradientSteps(Section):
    """Theorem 4.1: one gradient step; the width is the depth over the ratio."""

    draws: Draws = ours("number of networks drawn at each depth")
    depths: Layers = ours("depths, in weight layers")
    ratio: Lambda = ours("ratio lambda of depth to width")
    sigma_w2: Numbers = ours("weight variances sigma_w^2: ordered, chaotic")
    rate: float = ours("step size of the gradient step", gt=0, le=1000)


class Estimators(Section):
    """Appendix C.3: estimators of the dispersion, on lognormal kernels."""

    draws: Draws = ours("number of samples that are drawn")
    sizes: Sizes = ours("number of kernel values of a sample; the paper has 500")
    dispersions: types.Distinct[Annotated[float, Field(ge=1, le=1000)]] = ours(
        "true dispersions: e^(1/2), e and e^(3/2)", min_length=1, max_length=1000
    )


class Lemmas(Section):
    """Statements without a figure, for the claims."""

    moments: Moments
    products: Products
    steps: GradientSteps
    estimators: Estimators


class Settings(Section):
    """The NTK beyond the infinite-width limit (beyond): the tangent kernel at initialisation.

    ReLU, biases 0 but counted as parameters, standard parametrisation, |x| = 1, one output. Depth L
    counts weight layers (the script's hidden layers plus one).
    """

    diagonal: Diagonal
    off_diagonal: OffDiagonal
    theory: Theory
    theorem31: Theorem31
    shapes: Shapes
    training: Training
    lemmas: Lemmas

    @model_validator(mode="after")
    def _maps_of_several_depths(self) -> "Settings":
        """Refuse maps of a single depth; depths start at 2."""
        architectures = self.theory.architectures
        mean = (architectures.narrow + architectures.wide) // 2
        largest = self.shapes.maps.max_lambda
        if round(largest * mean) < 3:
            allowed = (
                f"times {mean}, the mean of the widths in beyond.theory.architectures, it must "
                "give 3 layers at least"
            )
            raise refused("shapes.maps.max_lambda", largest, allowed)
        lambdas = self.shapes.inputs.lambdas
        if any(round(lam * mean) < 3 for lam in lambdas):
            allowed = f"each times {mean} must give 3 layers at least"
            raise refused("shapes.inputs.lambdas", lambdas, allowed)
        return self
