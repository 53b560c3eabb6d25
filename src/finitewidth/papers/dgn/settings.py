"""Settings of dgn: type, range, meaning and source. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.common.errors import one_of
from finitewidth.settings import sections as types
from finitewidth.settings.sections import Section, code, general, ours, paper, section

MAX_SIGNED_WEIGHTS = 8  # all signs of so many weights are listed


class Narrowing(Section):
    """A fully connected network whose layers differ in width."""

    kind: Literal["fully_connected"] = paper("kind of network, here fully connected")
    widths: list[types.Width] = paper(
        "units of each hidden layer; d=7 with the output", min_length=1, max_length=100
    )
    bias: bool = ours(
        "whether layers have biases, as in npf; the paper's equations have none", paper_also=[False]
    )
    init: types.Init = ours("distribution of the initial weights, as in npf")


class Mnist(Section):
    """Figure 5: ReLU and GaLU on MNIST, with random labels and with random pixels.

    The gates of GaLU are those of a frozen random network.
    """

    dataset: Literal["mnist"] = paper("dataset; data.mnist says which images play its part")
    network: Narrowing
    runs: types.Runs = ours("number of runs, each from another seed")
    train: types.CountOrAll = paper('number of training images; null: all, "standard MNIST"')
    test: types.Tested = paper("number of test images; null: all")
    optimiser: types.Optimiser = ours(
        "optimiser that trains the networks; sgd with a step of 0.1 or 0.01 is as likely"
    )
    step_size: types.StepSize = ours("step size of the optimiser")
    batch_size: types.Count = ours("images in each batch")
    epochs: types.Epochs = ours("passes over the images; random labels may need 300")
    pixels: Literal["random_pixels", "permuted_pixels"] = ours(
        "images with random pixels: uniform noise; permuted_pixels: each image in another "
        "random order"
    )
    select: types.Select = ours("epoch whose test accuracy is reported")
    trained: types.Trained = ours("best train accuracy from which a run counts as trained")


class Binary(types.Evaluated):
    """Figures 7 and 8, experiments 3 to 5: two digits, with gates adaptable, learnt or frozen."""

    network: types.FullyConnected = section(
        "fully connected network with d=6: 5 hidden layers and the output",
        hidden=types.PAPER,
        init=types.PAPER,
    )
    dataset: types.Dataset = paper("dataset, by its name in the papers")
    classes: types.Classes = paper("two digits to tell apart; the first has the label -1")
    gate: types.Gate = section(
        "soft gates; eps is that of Table 4. Gates lie below 1 in Table 3, so 0",
        eps=types.Source("ours", paper_also=[0]),
    )
    feature_hidden: Literal["soft", "hard"] = paper(
        "hidden units of the gating network: soft as in Table 2; hard as in npf"
    )
    runs: types.Runs = paper("number of runs, each from another seed")
    train: types.CountOrAll = paper("number of training images of the two digits; null: all")
    test: types.Tested = paper("number of test images of the two digits; null: all")
    optimiser: types.Optimiser = paper("optimiser that trains the networks")
    step_size: types.StepSize = paper("step size of the optimiser")
    batch_size: types.Count = code("images in each batch")
    epochs: types.Epochs = paper(
        "epochs of the ReLU network that learns gates; the paper gives none for the others"
    )
    every: types.Epochs = ours("epochs between two evaluations of nu")
    per_class: types.Count = paper(
        "images of each class in the kernel, 200 together; the notebooks take the first ones"
    )
    trained: types.Trained = ours("best train accuracy from which a run counts as trained")


class Sweep(Section):
    """Table 4: deep linear, ReLU and soft-ReLU networks."""

    network: types.Convolutional = section(
        "convolutions of 3×3 with 64, 64, 128, 128 channels, then Flatten(), 256, 256, 10 units"
    )
    dataset: Literal["cifar10"] = paper("dataset; data.cifar10 says which images play its part")
    pool: int = paper(
        "side, in pixels, of the squares that are averaged into one pixel; 1: no averaging",
        ge=1,
        le=32,
    )
    beta: types.Distinct[types.Beta] = paper("slopes of the gates", min_length=1, max_length=50)
    eps: types.Distinct[types.Eps] = paper("offsets of the gates", min_length=1, max_length=10)
    runs: types.Runs = paper("number of runs, each from another seed")
    train: types.CountOrAll = paper("number of training images; null: all")
    test: types.Tested = paper("number of test images; null: all")
    optimiser: types.Optimiser = paper("optimiser that trains the networks")
    step_size: types.StepSize = paper("step size of the optimiser")
    batch_size: types.Count = code("images in each batch")
    epochs: types.Epochs = code("passes over the training images")
    select: types.Select = paper("epoch whose test accuracy of each run is reported")
    trained: types.Trained = ours(
        "best train accuracy from which a run counts as trained; Table 4 prints .99, which "
        "the claims use"
    )
    in_text: types.Gate = section(
        'network that stands for "moderately large beta" where the text says 72 %',
        beta=types.OURS,
        eps=types.OURS,
    )

    @model_validator(mode="after")
    def _network_of_text(self) -> "Sweep":
        for key, value in self.in_text:
            if value not in getattr(self, key):
                allowed = f"{one_of(getattr(self, key))}, as dgn.sweep.{key}"
                raise types.refused(f"in_text.{key}", value, allowed)
        return self


class GatesOnly(Section):
    """Experiment 6: the same network with random weights that stay, only its gates learn."""

    network: types.Convolutional = section("convolutional network, as in Table 4")
    dataset: Literal["cifar10"] = paper("dataset; data.cifar10 says which images play its part")
    pool: int = paper(
        "side, in pixels, of the squares that are averaged into one pixel; as in Table 4",
        ge=1,
        le=32,
    )
    gate: types.Gate = section(
        "soft gates, by sections 1 and 3 (item 5); experiment 6 writes beta = infinity, "
        "which has no gradient",
        beta=types.OURS,
        eps=types.OURS,
    )
    train_output: bool = ours("whether the output layer learns; it stays random otherwise")
    runs: types.Runs = ours("number of runs, each from another seed")
    train: types.CountOrAll = paper("number of training images; null: all")
    test: types.Tested = paper("number of test images; null: all")
    optimiser: types.Optimiser = ours(
        "optimiser that trains the networks: that of Table 4, whose network is the same. "
        "Section 3 says RMSprop with a step of 1e-4, and fully connected networks, of all "
        "experiments below it",
        paper_also=["rmsprop"],
    )
    step_size: types.StepSize = ours("step size of the optimiser, likewise", paper_also=[0.0001])
    batch_size: types.Count = code("images in each batch")
    epochs: types.Epochs = code("passes over the training images")
    select: types.Select = ours("epoch whose test accuracy is reported, as in Table 4")
    trained: types.Trained = ours(
        "best train accuracy from which a run counts as trained, as in Table 4"
    )


class SelectInText(Section):
    """The epochs whose test accuracies job `dgn_text` reports, by the section of the training."""

    mnist: types.Select = general("epoch whose test accuracy is reported, as in `Mnist`")
    sweep: types.Select = general("epoch whose test accuracy is reported, as in `Sweep`")
    gates_only: types.Select = general("epoch whose test accuracy is reported, as in `GatesOnly`")


class NumbersInText(Section):
    """The settings of job `dgn_text`."""

    in_text: types.Gate
    trained: types.Trained = general(
        "best train accuracy from which a run counts as trained, as in `GatesOnly`"
    )
    select: SelectInText


class FittedNetwork(Section):
    """A network that is fitted to two points."""

    hidden: types.Hidden = ours("number of hidden layers")
    width: types.Width = ours("units of each hidden layer")


class Fit(Section):
    """(x, 1) and (2x, -1): with biases, as a control, and without."""

    networks: list[FittedNetwork] = ours(
        "hidden layers and width of each network", min_length=1, max_length=20
    )
    n0: types.Width = ours("input dimension of the networks")
    steps: types.Count = ours("number of steps of Adam")
    step_size: types.StepSize = ours("step size of Adam")


class Overlaps(Section):
    """Corollary 8.1."""

    width: types.Width = paper("units of each hidden layer: the narrow width of experiment 1")
    mu: float = paper("share of open gates", gt=0, le=1)
    depths: types.TheoryDepths = ours("depths, in weight layers, among those of experiment 1")
    draws: types.TheoryDraws = ours("number of networks drawn at each depth")


class Linear(Section):
    """Lemma 2.4, for the networks of experiment 8."""

    width: types.Width = paper("units of each hidden layer")
    depths: types.TheoryDepths = paper("depths, in weight layers")
    draws: types.TheoryDraws = ours("number of networks drawn at each depth")


class Theory(Section):
    """Section 1, Lemma 2.4 and Corollary 8.1, checked: no figure of the paper, no data."""

    runs: types.Runs = ours("number of trainings of each network")
    fit: Fit
    overlaps: Overlaps
    linear: Linear


class Spectra(Section):
    """Further GaLU networks of experiment 2, not trained, for claim D07."""

    draws: int = ours("number of networks of each depth", ge=2, le=1000)


class Planar(Section):
    """Experiment 2, Figure 4: GaLU and ReLU networks fit random points of the plane."""

    runs: types.Runs = paper("number of runs, each from another seed")
    samples: types.Samples = paper("number of random points in the plane")
    width: types.Width = paper("units of each hidden layer")
    depths: types.GatedDepths = ours("depths, in weight layers, those of experiment 1")
    weights: Literal["signed", "gaussian"] = paper(
        "distribution of the weights: ±sigma by assumption 1, or Gaussian"
    )
    gain: float = ours(
        "variance of the weights times w: sigma^2 = gain/w in all layers", gt=0, le=1000
    )
    rate: float = paper("step size times rho_max", gt=0, le=1000)
    rho: types.Rho = ours("kernel whose largest eigenvalue is rho_max: K_0 of that run, or K_0/d")
    loss_half: bool = ours(
        "whether the loss is 1/2 sum e^2; the paper prints sum e^2, against its own recursion",
        paper_also=[False],
    )
    steps: types.Steps = ours("steps of full-batch gradient descent")
    linear_steps: types.Steps = ours("steps of the linear recursion")
    precision: types.Precision = ours(
        "precision of the arithmetic; errors stay far above where float32 stalls"
    )
    spectra: Spectra


class FurtherSpectra(Planar, Spectra):
    """The settings of job `dgn_planar_spectra`: networks of experiment 2, and how many."""


class DeepLinear(Section):
    """Experiment 8, Figure 10: a deep linear network and one example, (x, y) = (1, 1)."""

    runs: types.Runs = ours(
        "number of runs for verdicts; the figure averages those shown", paper_also=[5]
    )
    shown: types.Runs = paper("number of runs that the figure shows")
    width: types.Width = paper("units w of each hidden layer; the weights are ±1/√w")
    depths: types.GatedDepths = paper("depths, in weight layers")
    rate: float = paper("step size times the depth d", gt=0, le=1000)
    loss_half: bool = paper("whether the loss is 1/2 sum e^2, as the ideal ratio 0.81 implies")
    steps: types.Steps = ours("steps of full-batch gradient descent")


class Convolution(Section):
    """Figure 9."""

    inputs: int = paper("number of inputs, and of units of each layer", ge=2, le=6)
    kernel: int = paper("number of weights of a layer", ge=1, le=5)
    layers: int = paper("number of convolutional layers", ge=1, le=4)
    examples: list[
        Annotated[list[Annotated[int, Field(ge=-100, le=100)]], Field(min_length=2, max_length=6)]
    ] = ours(
        "inputs whose expected kernel is computed; whole numbers make it exact",
        min_length=1,
        max_length=4,
    )

    @model_validator(mode="after")
    def _listable(self) -> "Convolution":
        """Inputs as long as the network is wide, and few enough signs to list."""
        for example in self.examples:
            if len(example) != self.inputs:
                allowed = f"it needs as many entries as inputs, {self.inputs}"
                raise types.refused("examples", example, allowed)
        if self.kernel > self.inputs:
            raise types.refused("kernel", self.kernel, f"it must be at most inputs, {self.inputs}")
        if (weights := self.kernel * self.layers) > MAX_SIGNED_WEIGHTS:
            allowed = f"kernel times layers must be at most {MAX_SIGNED_WEIGHTS}, as all signs of "
            raise types.refused("layers", self.layers, f"{allowed}the {weights} weights are listed")
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
