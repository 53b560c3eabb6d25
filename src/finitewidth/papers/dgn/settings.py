"""Settings of dgn: type, range, meaning and source. Imports no torch."""

from typing import Literal

from pydantic import model_validator

from finitewidth.common.errors import one_of
from finitewidth.settings import sections as types
from finitewidth.settings.sections import Section, code, ours, paper, section

MAX_SIGNED_WEIGHTS = 8  # all signs of so many weights are listed


class Narrowing(Section):
    """A fully connected network whose layers differ in width."""

    kind: Literal["fully_connected"] = paper("kind of network")
    widths: types.several(types.Width, 100) = paper(
        "units of the hidden layers; d=7 with the output"
    )
    bias: bool = ours("as npf; the paper's equations have none", paper_also=[False])
    init: types.Init = ours("distribution of the initial weights, as npf")


class Mnist(Section):
    """Figure 5: ReLU and GaLU on MNIST, with random labels and with random pixels.

    The gates of GaLU are those of a frozen random network.
    """

    dataset: Literal["mnist"] = paper("data.mnist says which images play its part")
    network: Narrowing
    runs: types.Runs = ours("seeds")
    train: types.CountOrAll = paper('training images; null: all, "standard MNIST"')
    test: types.Tested = paper("test images; null: all")
    optimiser: types.Optimiser = ours("sgd with a step of 0.1 or 0.01 is as likely")
    step_size: types.StepSize = ours("of the optimiser")
    batch_size: types.Count = ours("images of a step")
    epochs: types.Epochs = ours("passes over the images; random labels may need 300")
    pixels: Literal["random_pixels", "permuted_pixels"] = ours(
        "uniform; permuted_pixels: each image by its own permutation"
    )
    select: types.Select = ours("epoch whose test accuracy is reported")
    trained: types.Trained = ours("best train accuracy from which a run is trained")


class Binary(types.Evaluated):
    """Figures 7 and 8, experiments 3 to 5: two digits, with gates adaptable, learnt or frozen."""

    network: types.FullyConnected = section(
        "d=6: 5 hidden layers and the output", hidden=types.PAPER, init=types.PAPER
    )
    dataset: types.Dataset = paper("a dataset as the papers call it")
    classes: types.Classes = paper("two classes; the first becomes -1")
    gate: types.Gate = section(
        "soft gates; eps is that of Table 4. Gates lie below 1 in Table 3, so 0",
        eps=types.Source("ours", paper_also=[0]),
    )
    feature_hidden: Literal["soft", "hard"] = paper(
        "hidden units of the gating network: as in Table 2; hard: as npf"
    )
    runs: types.Runs = paper("seeds")
    train: types.CountOrAll = paper("training images of the two digits; null: all")
    test: types.Tested = paper("test images of the two digits; null: all")
    optimiser: types.Optimiser = paper("rule of the steps")
    step_size: types.StepSize = paper("of the optimiser")
    batch_size: types.Count = code("images of a step")
    epochs: types.Epochs = paper("of the ReLU network that learns gates; not given for the rest")
    every: types.Epochs = ours("epochs between evaluations of nu")
    per_class: types.Count = paper("200 examples; the notebooks take the first of each class")
    trained: types.Trained = ours("best train accuracy from which a run is trained")


class Sweep(Section):
    """Table 4: deep linear, ReLU and soft-ReLU networks."""

    network: types.Convolutional = section(
        "conv(3,3) of 64, 64, 128, 128, then Flatten(), 256, 256, 10"
    )
    dataset: Literal["cifar10"] = paper("data.cifar10 says which images play its part")
    pool: types.whole(1, 32) = paper("side of the squares of pixels averaged into one; 1: none")
    beta: types.distinct(types.Beta, most=50) = paper("slopes of the gates")
    eps: types.distinct(types.Eps, most=10) = paper("offsets of the gates")
    runs: types.Runs = paper("seeds")
    train: types.CountOrAll = paper("training images; null: all")
    test: types.Tested = paper("test images; null: all")
    optimiser: types.Optimiser = paper("rule of the steps")
    step_size: types.StepSize = paper("of the optimiser")
    batch_size: types.Count = code("images of a step")
    epochs: types.Epochs = code("passes over the training images")
    select: types.Select = paper("epoch whose test accuracy of each run is reported")
    trained: types.Trained = ours(
        "best train accuracy from which a run is trained; Table 4 prints .99, which the claims use"
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

    network: types.Convolutional = section("that of Table 4")
    dataset: Literal["cifar10"] = paper("data.cifar10 says which images play its part")
    pool: types.whole(1, 32) = paper("side of the squares of pixels averaged into one; as Table 4")
    gate: types.Gate = section(
        "soft by sections 1 and 3 (item 5); experiment 6 writes beta = infinity, which has no "
        "gradient",
        beta=types.OURS,
        eps=types.OURS,
    )
    train_output: bool = ours("whether the output layer learns; it stays random otherwise")
    runs: types.Runs = ours("seeds")
    train: types.CountOrAll = paper("training images; null: all")
    test: types.Tested = paper("test images; null: all")
    optimiser: types.Optimiser = ours(
        "as Table 4, which has the same network. Section 3 says RMSprop with a step of 1e-4, and "
        "fully connected networks, of all experiments below it",
        paper_also=["rmsprop"],
    )
    step_size: types.StepSize = ours("of the optimiser, likewise", paper_also=[0.0001])
    batch_size: types.Count = code("images of a step")
    epochs: types.Epochs = code("passes over the training images")
    select: types.Select = ours("epoch whose test accuracy is reported, as Table 4")
    trained: types.Trained = ours("best train accuracy from which a run is trained, as Table 4")


class FittedNetwork(Section):
    """A network that is fitted to two points."""

    hidden: types.Hidden = ours("hidden layers")
    width: types.Width = ours("units of a hidden layer")


class Fit(Section):
    """(x, 1) and (2x, -1): with biases, as a control, and without."""

    networks: types.several(FittedNetwork, 20) = ours("hidden layers and width of each")
    n0: types.Width = ours("inputs")
    steps: types.Count = ours("steps of Adam")
    step_size: types.StepSize = ours("of Adam")


class Overlaps(Section):
    """Corollary 8.1."""

    width: types.Width = paper("the narrow one of experiment 1")
    mu: types.positive(1) = paper("share of open gates")
    depths: types.TheoryDepths = ours("weight layers, among those of experiment 1")
    draws: types.TheoryDraws = ours("networks")


class Linear(Section):
    """Lemma 2.4, for the networks of experiment 8."""

    width: types.Width = paper("units of a hidden layer")
    depths: types.TheoryDepths = paper("weight layers")
    draws: types.TheoryDraws = ours("networks")


class Theory(Section):
    """Section 1, Lemma 2.4 and Corollary 8.1, checked: no figure of the paper, no data."""

    runs: types.Runs = ours("trainings per network")
    fit: Fit
    overlaps: Overlaps
    linear: Linear


class Spectra(Section):
    """Further GaLU networks of experiment 2, not trained, for claim D07."""

    draws: types.whole(2, 1000) = ours("networks of each depth")


class Planar(Section):
    """Experiment 2, Figure 4: GaLU and ReLU networks fit random points of the plane."""

    runs: types.Runs = paper("seeds")
    samples: types.Samples = paper("points")
    width: types.Width = paper("units of a hidden layer")
    depths: types.GatedDepths = ours("weight layers, those of experiment 1")
    weights: Literal["signed", "gaussian"] = paper("±sigma, assumption 1; or gaussian")
    gain: types.positive(1000) = ours("sigma^2 = gain/w in all layers")
    rate: types.positive(1000) = paper("step size times rho_max")
    rho: types.Rho = ours("whose largest eigenvalue: of that run's K_0, or of K_0/d")
    loss_half: bool = ours(
        "1/2 sum e^2; the paper prints sum e^2, against its own recursion", paper_also=[False]
    )
    steps: types.Steps = ours("of full-batch gradient descent")
    linear_steps: types.Steps = ours("of the linear recursion")
    precision: types.Precision = ours(
        "of the arithmetic; errors stay far above where float32 stalls"
    )
    spectra: Spectra


class DeepLinear(Section):
    """Experiment 8, Figure 10: a deep linear network and one example, (x, y) = (1, 1)."""

    runs: types.Runs = ours("for verdicts; the figure averages those shown", paper_also=[5])
    shown: types.Runs = paper("runs that the figure shows")
    width: types.Width = paper("weights are ±1/√w")
    depths: types.GatedDepths = paper("weight layers")
    rate: types.positive(1000) = paper("step size times d")
    loss_half: bool = paper("1/2 sum e^2, implied by the ideal ratio 0.81")
    steps: types.Steps = ours("of full-batch gradient descent")


class Convolution(Section):
    """Figure 9."""

    inputs: types.whole(2, 6) = paper("inputs, as many as units of a layer")
    kernel: types.whole(1, 5) = paper("weights of a layer")
    layers: types.whole(1, 4) = paper("layers")
    examples: types.several(types.several(types.whole(-100, 100), most=6, least=2), most=4) = ours(
        "inputs whose expected kernel is computed; whole numbers make it exact"
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
