"""Settings of dgn: type, range, meaning and source. Imports no torch."""

from typing import Literal

from pydantic import model_validator

from finitewidth.common.setting_types import (
    OURS,
    PAPER,
    Beta,
    Classes,
    Convolutional,
    Count,
    CountOrAll,
    Dataset,
    Epochs,
    Eps,
    Evaluated,
    FullyConnected,
    Gate,
    GatedDepths,
    Hidden,
    Init,
    Optimiser,
    Precision,
    Rho,
    Runs,
    Samples,
    Section,
    Select,
    Source,
    Steps,
    StepSize,
    Tested,
    TheoryDepths,
    TheoryDraws,
    Trained,
    Width,
    code,
    distinct,
    ours,
    paper,
    positive,
    refused,
    section,
    several,
    whole,
)
from finitewidth.common.settings import one_of

MAX_SIGNED_WEIGHTS = 8  # all signs of so many weights are listed


class Narrowing(Section):
    """A fully connected network whose layers differ in width."""

    kind: Literal["fully_connected"] = paper("kind of network")
    widths: several(Width, 100) = paper("units of the hidden layers; d=7 with the output")
    bias: bool = ours("as npf; the paper's equations have none", paper_also=[False])
    init: Init = ours("distribution of the initial weights, as npf")


class Mnist(Section):
    """Figure 5: ReLU and GaLU on MNIST, with random labels and with random pixels.

    The gates of GaLU are those of a frozen random network.
    """

    dataset: Literal["mnist"] = paper("data.mnist says which images play its part")
    network: Narrowing
    runs: Runs = ours("seeds")
    train: CountOrAll = paper('training images; null: all, "standard MNIST"')
    test: Tested = paper("test images; null: all")
    optimiser: Optimiser = ours("sgd with a step of 0.1 or 0.01 is as likely")
    step_size: StepSize = ours("of the optimiser")
    batch_size: Count = ours("images of a step")
    epochs: Epochs = ours("passes over the images; random labels may need 300")
    pixels: Literal["random_pixels", "permuted_pixels"] = ours(
        "uniform; permuted_pixels: each image by its own permutation"
    )
    select: Select = ours("epoch whose test accuracy is reported")
    trained: Trained = ours("best train accuracy from which a run is trained")


class Binary(Evaluated):
    """Figures 7 and 8, experiments 3 to 5: two digits, with gates adaptable, learnt or frozen."""

    network: FullyConnected = section(
        "d=6: 5 hidden layers and the output", hidden=PAPER, init=PAPER
    )
    dataset: Dataset = paper("a dataset as the papers call it")
    classes: Classes = paper("two classes; the first becomes -1")
    gate: Gate = section(
        "soft gates; eps is that of Table 4. Gates lie below 1 in Table 3, so 0",
        eps=Source("ours", paper_also=[0]),
    )
    feature_hidden: Literal["soft", "hard"] = paper(
        "hidden units of the gating network: as in Table 2; hard: as npf"
    )
    runs: Runs = paper("seeds")
    train: CountOrAll = paper("training images of the two digits; null: all")
    test: Tested = paper("test images of the two digits; null: all")
    optimiser: Optimiser = paper("rule of the steps")
    step_size: StepSize = paper("of the optimiser")
    batch_size: Count = code("images of a step")
    epochs: Epochs = paper("of the ReLU network that learns gates; not given for the rest")
    every: Epochs = ours("epochs between evaluations of nu")
    per_class: Count = paper("200 examples; the notebooks take the first of each class")
    trained: Trained = ours("best train accuracy from which a run is trained")


class Sweep(Section):
    """Table 4: deep linear, ReLU and soft-ReLU networks."""

    network: Convolutional = section("conv(3,3) of 64, 64, 128, 128, then Flatten(), 256, 256, 10")
    dataset: Literal["cifar10"] = paper("data.cifar10 says which images play its part")
    pool: whole(1, 32) = paper("side of the squares of pixels averaged into one; 1: none")
    beta: distinct(Beta, most=50) = paper("slopes of the gates")
    eps: distinct(Eps, most=10) = paper("offsets of the gates")
    runs: Runs = paper("seeds")
    train: CountOrAll = paper("training images; null: all")
    test: Tested = paper("test images; null: all")
    optimiser: Optimiser = paper("rule of the steps")
    step_size: StepSize = paper("of the optimiser")
    batch_size: Count = code("images of a step")
    epochs: Epochs = code("passes over the training images")
    select: Select = paper("epoch whose test accuracy of each run is reported")
    trained: Trained = ours(
        "best train accuracy from which a run is trained; Table 4 prints .99, which the claims use"
    )
    in_text: Gate = section(
        'network that stands for "moderately large beta" where the text says 72 %',
        beta=OURS, eps=OURS,
    )  # fmt: skip

    @model_validator(mode="after")
    def _network_of_text(self) -> "Sweep":
        for key, value in self.in_text:
            if value not in getattr(self, key):
                raise refused(
                    f"in_text.{key}", value, f"{one_of(getattr(self, key))}, as dgn.sweep.{key}"
                )
        return self


class GatesOnly(Section):
    """Experiment 6: the same network with random weights that stay, only its gates learn."""

    network: Convolutional = section("that of Table 4")
    dataset: Literal["cifar10"] = paper("data.cifar10 says which images play its part")
    pool: whole(1, 32) = paper("side of the squares of pixels averaged into one; as Table 4")
    gate: Gate = section(
        "soft by sections 1 and 3 (item 5); experiment 6 writes beta = infinity, which has no "
        "gradient",
        beta=OURS, eps=OURS,
    )  # fmt: skip
    train_output: bool = ours("whether the output layer learns; it stays random otherwise")
    runs: Runs = ours("seeds")
    train: CountOrAll = paper("training images; null: all")
    test: Tested = paper("test images; null: all")
    optimiser: Optimiser = ours(
        "as Table 4, which has the same network. Section 3 says RMSprop with a step of 1e-4, and "
        "fully connected networks, of all experiments below it",
        paper_also=["rmsprop"],
    )
    step_size: StepSize = ours("of the optimiser, likewise", paper_also=[0.0001])
    batch_size: Count = code("images of a step")
    epochs: Epochs = code("passes over the training images")
    select: Select = ours("epoch whose test accuracy is reported, as Table 4")
    trained: Trained = ours("best train accuracy from which a run is trained, as Table 4")


class FittedNetwork(Section):
    """A network that is fitted to two points."""

    hidden: Hidden = ours("hidden layers")
    width: Width = ours("units of a hidden layer")


class Fit(Section):
    """(x, 1) and (2x, -1): with biases, as a control, and without."""

    networks: several(FittedNetwork, 20) = ours("hidden layers and width of each")
    n0: Width = ours("inputs")
    steps: Count = ours("steps of Adam")
    step_size: StepSize = ours("of Adam")


class Overlaps(Section):
    """Corollary 8.1."""

    width: Width = paper("the narrow one of experiment 1")
    mu: positive(1) = paper("share of open gates")
    depths: TheoryDepths = ours("weight layers, among those of experiment 1")
    draws: TheoryDraws = ours("networks")


class Linear(Section):
    """Lemma 2.4, for the networks of experiment 8."""

    width: Width = paper("units of a hidden layer")
    depths: TheoryDepths = paper("weight layers")
    draws: TheoryDraws = ours("networks")


class Theory(Section):
    """Section 1, Lemma 2.4 and Corollary 8.1, checked: no figure of the paper, no data."""

    runs: Runs = ours("trainings per network")
    fit: Fit
    overlaps: Overlaps
    linear: Linear


class Planar(Section):
    """Experiment 2, Figure 4: GaLU and ReLU networks fit random points of the plane."""

    runs: Runs = paper("seeds")
    samples: Samples = paper("points")
    width: Width = paper("units of a hidden layer")
    depths: GatedDepths = ours("weight layers, those of experiment 1")
    weights: Literal["signed", "gaussian"] = paper("±sigma, assumption 1; or gaussian")
    gain: positive(1000) = ours("sigma^2 = gain/w in all layers")
    rate: positive(1000) = paper("step size times rho_max")
    rho: Rho = ours("whose largest eigenvalue: of that run's K_0, or of K_0/d")
    loss_half: bool = ours(
        "1/2 sum e^2; the paper prints sum e^2, against its own recursion", paper_also=[False]
    )
    steps: Steps = ours("of full-batch gradient descent")
    linear_steps: Steps = ours("of the linear recursion")
    precision: Precision = ours("of the arithmetic; errors stay far above where float32 stalls")


class DeepLinear(Section):
    """Experiment 8, Figure 10: a deep linear network and one example, (x, y) = (1, 1)."""

    runs: Runs = ours("for verdicts; the figure averages those shown", paper_also=[5])
    shown: Runs = paper("runs that the figure shows")
    width: Width = paper("weights are ±1/√w")
    depths: GatedDepths = paper("weight layers")
    rate: positive(1000) = paper("step size times d")
    loss_half: bool = paper("1/2 sum e^2, implied by the ideal ratio 0.81")
    steps: Steps = ours("of full-batch gradient descent")


class Convolution(Section):
    """Figure 9."""

    inputs: whole(2, 6) = paper("inputs, as many as units of a layer")
    kernel: whole(1, 5) = paper("weights of a layer")
    layers: whole(1, 4) = paper("layers")
    examples: several(several(whole(-100, 100), most=6, least=2), most=4) = ours(
        "inputs whose expected kernel is computed; whole numbers make it exact"
    )

    @model_validator(mode="after")
    def _listable(self) -> "Convolution":
        """Inputs as long as the network is wide, and few enough signs to list."""
        for example in self.examples:
            if len(example) != self.inputs:
                allowed = f"it needs as many entries as inputs, {self.inputs}"
                raise refused("examples", example, allowed)
        if self.kernel > self.inputs:
            raise refused("kernel", self.kernel, f"it must be at most inputs, {self.inputs}")
        if (weights := self.kernel * self.layers) > MAX_SIGNED_WEIGHTS:
            allowed = f"kernel times layers must be at most {MAX_SIGNED_WEIGHTS}, as all signs of "
            raise refused("layers", self.layers, f"{allowed}the {weights} weights are listed")
        return self


class Concepts(Section):
    """Figure 9 and Tables 1, 2, 3, 5: what explains the paper; nothing is random."""

    convolution: Convolution


class Settings(Section):
    """Deep Gated Networks (dgn). The choices are discussed in docs/disagreements.md."""

    mnist: Mnist
    binary: Binary
    sweep: Sweep
    gates_only: GatesOnly
    theory: Theory
    planar: Planar
    deep_linear: DeepLinear
    concepts: Concepts
