"""Settings of trust: type, range, meaning and source. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.settings import sections as types
from finitewidth.settings.sections import OURS, Draws, Section, ours, paper, refused, section

Depth = Annotated[int, Field(ge=1, le=100_000)]
Depths = Annotated[types.Distinct[Depth], Field(min_length=1, max_length=100)]
ManyDepths = Annotated[types.Distinct[Depth], Field(min_length=1, max_length=1000)]
Widths = Annotated[types.Distinct[types.Width], Field(min_length=1, max_length=100)]
WeightVariance = Annotated[float, Field(gt=0, le=1000)]
BiasVariance = Annotated[float, Field(ge=0, le=1000)]
BiasVariances = Annotated[types.Distinct[BiasVariance], Field(min_length=1, max_length=20)]
Covariances = Annotated[
    types.Distinct[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1, max_length=1000)
]
VariancePair = Annotated[
    list[Annotated[float, Field(ge=0, le=1000)]], Field(min_length=2, max_length=2)
]
Counts = Annotated[
    types.Distinct[Annotated[int, Field(ge=1, le=100_000_000)]], Field(min_length=1, max_length=100)
]


class Grid(Section):
    """Equally spaced values."""

    first: WeightVariance = ours("first weight variance of the grid")
    last: WeightVariance = ours("last weight variance of the grid")
    points: int = ours("number of weight variances of the grid", ge=2, le=1000)


class Grids(Section):
    """Weight variances on both sides of the borders, 3.44 and 2 at sigma_b2 = 1."""

    tanh: Grid
    relu: Grid


class Heat(Section):
    """Dispersion over weight variance and depth."""

    draws: Draws = paper(
        "number of networks drawn; more are the same estimate with a smaller error", or_more=True
    )
    paper_draws: Draws = paper(
        "number of networks in the estimates shown beside ours where we draw more"
    )
    widths: Widths = paper("units of each hidden layer")
    sigma_b2: BiasVariances = paper("variances of the biases, sigma_b^2")
    depths: types.Distinct[Depth] = ours(
        "depths L of the networks, in layers", min_length=2, max_length=1000
    )
    sigma_w2: Grids


class Border(Section):
    """Cells of the ReLU map of Figure 1 at the border, with enough draws to tell r from 2 (T03)."""

    draws: Draws = ours("number of networks drawn, 500 times the paper's")
    sigma_w2: WeightVariance = ours("weight variance of the border")
    sigma_b2: BiasVariance = paper("variance of the biases, sigma_b^2")
    widths: Widths = paper("units of each hidden layer")
    depths: ManyDepths = ours("depths in layers: one of Section 4, and the deepest of the map")


class DepthCurves(Section):
    """Figure 2: dispersion of ReLU networks against depth and against depth over width."""

    draws: Draws = paper("number of networks that are drawn", or_more=True)
    paper_draws: Draws = paper(
        "number of networks in the estimates shown beside ours where we draw more"
    )
    pairs: types.Distinct[VariancePair] = paper(
        "pairs (sigma_w2, sigma_b2) of weight and bias variance", min_length=1, max_length=20
    )
    widths: Widths = ours('units of each hidden layer, "a wider range" than in Figure 1')
    largest_depth: Depth = ours("largest depth of a network, in layers")
    largest_lambda: float = ours("largest ratio of depth to width", gt=0, le=100)
    points: int = ours("number of depths of each curve", ge=2, le=1000)


# "border" is the weight variance between the phases
Phase = Annotated[
    list[Annotated[float, Field(ge=0, le=1000)] | Literal["border"]],
    Field(min_length=2, max_length=2),
]
Phases = Annotated[types.Distinct[Phase], Field(min_length=1, max_length=20)]


class Widest(Section):
    """Descents at the largest width."""

    runs: types.Runs = ours("number of networks of a cell")


class Descent(Section):
    """Networks trained by gradient descent, by depth and weight variance.

    Not given in the paper and ours: 10 outputs, the loss 1/(2S) sum |f - y|^2, pixels in [0, 1],
    balanced classes.
    """

    activation: Literal["tanh", "relu"] = paper("activation of the hidden layers")
    dataset: types.Dataset = paper("dataset, by its name in the papers")
    samples: int = paper("number S of training images", ge=2, le=100_000)
    runs: types.Runs = ours("number of networks of a cell; the paper shows one")
    widths: Widths = paper("units of each hidden layer, in Figure 10")
    widest: Widest
    width: types.Width = paper("units of each hidden layer, in Figures 3 and 8")
    sigma_b2: BiasVariances = ours(
        "bias variances; all widths have the first, and the others are of width only"
    )
    sigma_w2: types.Distinct[WeightVariance] = ours(
        "weight variances; the border is 3.44 for tanh, 2 for ReLU", min_length=2, max_length=1000
    )
    depths: Depths = ours("depths in layers; some are beyond 20, up to which the paper speaks")
    steps: int = paper("largest number of steps of gradient descent", ge=1, le=100_000_000)
    rate_rule: Literal["common", "scaled"] = paper(
        "unit of rate: common for all networks; scaled: 1/lambda_max of each network"
    )
    rate: types.StepSize = paper("step size; if scaled, 1 is half of the largest stable one")
    times: Counts = paper("steps that Figures 8 and 9 show")
    stop: Literal["window", "each"] = ours(
        "reading of the stopping rule; window: the lowest loss has not fallen by fall within "
        "patience steps; each: each of patience steps lowered the loss by less than fall"
    )
    fall: float = paper("fall of the loss that the stopping rule asks for", gt=0, le=1)
    patience: int = paper("number of steps of the stopping rule", ge=1, le=1_000_000)
    mode: Literal["steps", "graded", "flow"] = paper(
        "how steps are made: one by one; graded and flow: see training/descent_state.py"
    )
    cap: float = ours("largest graded step, in units of 1/lambda_max", ge=0, le=0.5)
    share: int = ours(
        "bound of a graded step: after t steps it makes at most t/share at once", ge=1, le=1_000_000
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Descent":
        if self.width not in self.widths:
            raise refused("width", self.width, f"it must be among the widths, {self.widths}")
        if max(self.times) > self.steps:
            raise refused("times", self.times, f"they must be at most steps, {self.steps}")
        if self.mode == "flow" and self.activation != "tanh":
            raise refused("mode", "flow", "it is accurate for tanh only")
        return self


class MeanFieldPairs(Section):
    """Variances in the ordered phase, at the border and in the chaotic phase, by activation."""

    erf: Phases = ours("pairs (sigma_w2, sigma_b2); border: the weight variance between the phases")
    relu: Phases = ours(
        "pairs (sigma_w2, sigma_b2); border: the weight variance between the phases"
    )


class MeanField(Section):
    """Figures 5 and 6: kappa_1 and kappa_2 of infinitely wide networks, by depth."""

    depth: int = ours("largest depth in layers; kappa_2 of one layer may vanish", ge=2, le=100_000)
    covariances: Covariances = ours(
        "covariances of two inputs; the paper has the range from 0 to 1"
    )
    pairs: MeanFieldPairs


class Solutions(Section):
    """Theorem 5.3: variance of trained infinitely wide networks, against its formula."""

    draws: Draws = ours("number of random outputs at initialisation")
    datasets: int = ours("number of datasets, each of random directions", ge=2, le=100_000)
    samples: int = ours("number S of training samples", ge=1, le=1000)
    input_width: int = ours("input dimension n_0; on a line, inputs are the same", ge=2, le=100_000)
    depths: Depths = ours("depths L of the networks, in layers")
    pairs: MeanFieldPairs


class Settings(Section):
    """Can we trust NTK theory (trust): the tangent kernel at initialisation and in training.

    The paper states widths, the number of draws, steps, rate and what is shown; grids of the
    figures and the input at initialisation are not given anywhere. Ours too: this input has
    |x|^2 = n_0 and n_0 = M, and variances are divided by the fan-in (as in equation 5; equation 1
    prints the layer's own width). No code is public.
    """

    heat_widths: Heat = section("dispersion in Figure 1: four widths")
    heat_biases: Heat = section(
        "dispersion in Figure 7: one width and several bias variances", sigma_b2=OURS
    )
    border: Border
    depth: DepthCurves
    mean_field: MeanField
    descent_tanh: Descent = section("trainings of Figures 3, 8 and 10: tanh, at a common rate")
    descent_relu: Descent = section("trainings of Figures 4, 9 and 11: ReLU, at a common rate")
    descent_scaled_tanh: Descent = section(
        "trainings of trust_extra_scaled: tanh, each network at the rate that its kernel at "
        "the start allows",
        rate_rule=OURS,
        rate=OURS,
        steps=OURS,
        times=OURS,
    )
    descent_scaled_relu: Descent = section(
        "trainings of trust_extra_scaled: ReLU, each network at the rate that its kernel at "
        "the start allows",
        rate_rule=OURS,
        rate=OURS,
        steps=OURS,
        times=OURS,
    )
    solutions: Solutions
