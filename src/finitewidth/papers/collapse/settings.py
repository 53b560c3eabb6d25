"""Settings of collapse: type, range, meaning and source. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.common.errors import ConfigError
from finitewidth.networks.normalised.specs import Network
from finitewidth.settings.sections import (
    CODE,
    OURS,
    Name,
    Runs,
    Section,
    Source,
    between,
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

Share = between(0, 1)
Positive = positive(1000)
Channels = whole(1, 10_000)
Sizes = several(Channels, 100)
Initialisation = Literal["lecun", "torch", "he"]
Initialisations = distinct(Initialisation, most=3)


def _check_kernel(key: str, values: list[float]) -> None:
    """Refuse three values that are no block kernel as in Definition 3.1."""
    if not values[0] > values[1] > values[2] >= 0:
        allowed = (
            "the values must fall from a sample with itself to two samples of a class to two of "
            "different classes, which is at least 0"
        )
        raise refused(key, values, allowed)


class Kernel(Section):
    """A block kernel; with the values of preset ``paper``, alpha C = 0.5."""

    diagonal: Positive = ours("kappa_d")
    same_class: Positive = ours("kappa_c")
    other_class: Positive = ours("kappa_n")


class Start(Section):
    """Random starts."""

    means: Positive = ours("standard deviation of class means")
    within: Positive = ours("standard deviation within classes")


class Frozen(Section):
    """Appendix B.4: equal biases that are held fixed, and a grid for the formulas around them."""

    other_class: distinct(Positive, most=20) = ours("kappa_n")
    biases: distinct(between(0, 100), most=20) = ours("equal biases")
    points: whole(2, 10_000) = ours("of the grid")
    margin: Share = ours("of the grid")


class Residuals(Section):
    """Section 4.1."""

    kernels: several(several(Positive, most=3, least=3), most=20) = ours(
        "gamma_d, gamma_c, gamma_n"
    )
    below: Annotated[float, Field(gt=0, lt=1)] = ours("when a component counts as converged")
    step: between(0.001, 1) = ours(
        "step size times the largest eigenvalue; the work grows with its inverse"
    )


class FlowSteps(Section):
    """Runge-Kutta of order 4."""

    time: positive(1000) = ours("end")
    steps: distinct(between(0.00001, 1), most=20) = ours("step sizes")

    @model_validator(mode="after")
    def _whole(self) -> "FlowSteps":
        for step in self.steps:
            if abs(self.time / step - round(self.time / step)) > 1e-6:
                raise refused("steps", step, f"time, {self.time}, must be a multiple of it")
        return self


class Flow(Section):
    """The flow of (25) under a block kernel; the paper has no such experiment."""

    runs: Runs = ours("random starts of each case")
    classes: whole(2, 100) = paper("C")
    samples: whole(2, 1000) = paper("m, per class")
    features: whole(2, 1000) = ours("n, at least as many as there are classes")
    kernel: Kernel
    start: Start
    weights: distinct(Positive, most=20) = ours("standard deviations of random W")
    excess: positive(1000) = ours(
        "trace of E over that of the features' terms, where E is positive semidefinite"
    )
    time: positive(100_000) = ours("end of the flow")
    halvings: whole(1, 30) = ours("of it, down to the first time that is shown; two times for each")
    tolerance: between(1e-13, 0.01) = ours("of a step of the integration, relative and absolute")
    probes: whole(1, 1_000_000) = ours("points at which NC4 is tried")
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

    classes: whole(2, 5) = ours("classes")
    samples: whole(2, 5) = ours("per class")


class BlockKernel(Section):
    """Table 1 in rational numbers."""

    classes: whole(2, 20) = ours("classes")
    samples: whole(2, 20) = ours("per class")
    kernel: several(whole(0, 1_000_000), most=3, least=3) = ours("gamma_d, gamma_c, gamma_n")
    symbols: Symbols

    @model_validator(mode="after")
    def _block_kernel(self) -> "BlockKernel":
        _check_kernel("kernel", self.kernel)
        return self


class NormalisedNetwork(Section):
    """A network with batch normalisation after every layer."""

    @model_validator(mode="after")
    def _consistent(self) -> "NormalisedNetwork":
        try:
            Network.from_mapping(self.model_dump(exclude_unset=True))
        except ConfigError as error:
            key, _, allowed = str(error).partition(": ")
            raise refused(key, getattr(self, key), allowed.split(" is refused; ")[-1]) from None
        return self


class Vgg(NormalisedNetwork):
    """VGG11 or VGG16, with two dense layers."""

    kind: Literal["vgg"] = paper("kind of network")
    convolutions: several(Channels | Literal["M"], 100) = paper(
        "output channels of 3×3 convolutions, and M for each 2×2 max-pool"
    )
    dense: Sizes = paper("units of the hidden dense layers")
    batch_momentum: positive(1) = code("weight of the newest batch; Flax's momentum 0.9 is 0.1")


class ResNet(NormalisedNetwork):
    """ResNet20."""

    kind: Literal["resnet"] = paper("kind of network")
    channels: Sizes = paper("of the stages")
    blocks: Sizes = paper("of each stage")
    batch_momentum: positive(1) = code("weight of the newest batch; Flax's momentum 0.99 is 0.01")


class DenseNet(NormalisedNetwork):
    """DenseNet40 with bottlenecks; its features are 132."""

    kind: Literal["densenet"] = paper("kind of network")
    growth: Channels = paper("channels that a layer adds")
    blocks: Sizes = paper("layers of each dense block")
    bottleneck: whole(1, 100) = code("channels inside a layer, in multiples of growth")
    stem: Channels = code("channels of the first convolution")
    compression: positive(1) = code("share of the channels that a transition keeps")
    pooled_stem: bool = paper("average 2×2 positions after the first convolution")
    batch_momentum: positive(1) = code("weight of the newest batch; Flax's momentum 0.99 is 0.01")


class FullyConnected(NormalisedNetwork):
    """Layers of ReLU without normalisation, and without biases but in the last layer."""

    kind: Literal["fully_connected"] = ours("kind of network")
    dense: Sizes = ours("units of the hidden layers")


class Images(Section):
    """Training images, averaged over squares of ``pool`` pixels, then resized to ``size``."""

    per_class: whole(2, 1_000_000) | None = paper("of each class; null: of the smallest class")
    pool: whole(1, 1000) = paper("side of the squares of pixels that are averaged into one")
    size: whole(1, 1000) | None = paper("pixels along a side; null: as they are")
    test: whole(1, 10_000_000) | None = paper("test images; null: all")


class Rates(Section):
    """10^(first + (last - first) k / points) for k in ``indices``, or ``values``."""

    first: between(-10, 2) = paper("of log10")
    last: between(-10, 2) = paper("of log10")
    points: whole(1, 1000) = paper("of the grid")
    indices: distinct(whole(0, 1000), most=1000) = paper(
        "without the end point, as the captions' rates show"
    )
    values: distinct(positive(100), most=1000) | None = paper("rates in place of the grid")

    @model_validator(mode="after")
    def _on_the_grid(self) -> "Rates":
        if self.values is None and max(self.indices) >= self.points:
            raise refused("indices", self.indices, f"they must be below points, {self.points}")
        return self


class Pair(Section):
    """Trainings of a network on a dataset, at all rates."""

    pair: Name = ours("the name of the section; it also names the random streams")
    dataset: Literal["mnist", "fashion_mnist", "cifar10"] = paper("that of the pair's name")
    network: Annotated[Vgg | ResNet | DenseNet, Field(discriminator="kind")] = section("network")
    images: Images
    loss: Literal["squared", "cross_entropy"] = paper(
        "the mean over batch and outputs is of the authors' code"
    )
    inits: Initialisations = paper("initialisations")
    rates: Rates
    epochs: whole(1, 100_000) = paper("passes over the training images")
    batch_per_class: whole(2, 100_000) = paper("images of each class in a batch")
    momentum: Annotated[float, Field(ge=0, lt=1)] = paper("of SGD")
    decay: Share = paper("of weights")
    decay_rate_at: distinct(positive(1), most=100) = paper("shares of the epochs; every 120 of 400")
    measure_every: whole(1, 100_000) = paper("epochs", code_also=[1])
    kernel_per_class: whole(2, 1000) = paper("images of each class in the kernels")
    kernel_gib: positive(10_000) = ours("GiB for the kernels; the norms of VGG16 need most")
    normalise_columns: bool = code("of the class means in NC2 and NC3")
    stack: whole(1, 1000) | None = ours("networks trained at once; null: all")
    keep: Initialisations = ours("initialisations whose weights are kept")

    @model_validator(mode="after")
    def _consistent(self) -> "Pair":
        batch = self.batch_per_class
        if not set(self.keep) <= set(self.inits):
            raise refused("keep", self.keep, f"it must be among inits, {self.inits}")
        if self.measure_every > self.epochs:
            allowed = f"it must be at most epochs, {self.epochs}"
            raise refused("measure_every", self.measure_every, allowed)
        if self.kernel_per_class > batch:
            allowed = f"kernels are of images of the last batch; at most batch_per_class, {batch}"
            raise refused("kernel_per_class", self.kernel_per_class, allowed)
        images = self.images.per_class
        if images is not None and images < batch:
            allowed = f"so many of each class make no batch of batch_per_class = {batch}"
            raise refused("images.per_class", images, allowed)
        return self


FROM_CODE = dict.fromkeys(
    ("images__per_class", "images__pool", "images__size", "images__test"), CODE
)


class Pairs(Section):
    """Trainings of Figures 1 to 20."""

    vgg_mnist: Pair = section(
        "VGG11 on MNIST",
        images__per_class=CODE,
        images__size=CODE,
        images__test=Source("paper", code_also=[9960]),
    )
    vgg_fashion: Pair = section("VGG11 on FashionMNIST")
    vgg_cifar: Pair = section("VGG16 on CIFAR-10")
    resnet_mnist: Pair = section("ResNet20 on MNIST", **FROM_CODE)
    resnet_fashion: Pair = section("ResNet20 on FashionMNIST")
    resnet_cifar: Pair = section("ResNet20 on CIFAR-10")
    densenet_mnist: Pair = section("DenseNet40 on MNIST", **FROM_CODE)
    densenet_fashion: Pair = section("DenseNet40 on FashionMNIST")
    densenet_cifar: Pair = section("DenseNet40 on CIFAR-10")
    resnet_mnist_ce: Pair = section("Figure 12: cross entropy; its rates are ours", **FROM_CODE)

    @model_validator(mode="after")
    def _names(self) -> "Pairs":
        """Names of pairs are those of their sections, and name their datasets."""
        datasets = {"mnist": "mnist", "fashion": "fashion_mnist", "cifar": "cifar10"}
        for name, pair in self:
            if pair.pair != name:
                raise refused(f"{name}.pair", pair.pair, f"it must be {name}, its key")
            wanted = datasets[name.split("_")[1]]
            if pair.dataset != wanted:
                allowed = f"it must be {wanted}; data.{wanted} says which images play its part"
                raise refused(f"{name}.dataset", pair.dataset, allowed)
        return self


class Picking(Section):
    """The two models that the figures show of each initialisation; the paper chose by hand."""

    dead: Share = ours("largest share of features that are 0 on the last batch")
    within: Share = ours("test accuracy of the collapsed model, below the best")
    collapsed_nc3: between(0, 2) | None = ours("largest NC3 of the collapsed model; null: no bound")
    other_within: Share = ours("test accuracy of the other model, below the best")
    nc3: between(0, 2) = ours("least NC3 of the other model")
    contrast: between(1, 100) = ours("least ratio of its NC3 to that of the collapsed model")
    train: Share = paper("least training accuracy of the other model")
    widened: Share = ours("other_within where none is found")
    relaxed_train: Share = ours("train where none is found then")


class Smoothing(Section):
    """Savitzky-Golay; the paper's window is 10, which has no middle."""

    degree: whole(0, 5) = ours("of the polynomials")
    window: whole(7, 101) = ours("points, an odd number")
    fewest: whole(7, 100_000) = ours("points of a curve that is smoothed")

    @model_validator(mode="after")
    def _odd(self) -> "Smoothing":
        if self.window % 2 == 0:
            raise refused("window", self.window, "it must be odd")
        if self.fewest < self.window:
            raise refused("fewest", self.fewest, f"it must be at least window, {self.window}")
        return self


class Models(Section):
    """Which models the figures show."""

    picking: Picking
    smoothing: Smoothing
    threshold: Share = paper("training accuracy of the vertical lines")


class Map(Section):
    """The network and the images of a heat map."""

    init: Initialisation = paper("initialisation")
    rate_index: whole(0, 1000) | None = paper("the rate in the caption, on the grid of the rates")
    per_class: whole(2, 1000) = paper("images of each class")


class Maps(Section):
    """Figures 1 and 13 to 20."""

    vgg_mnist: Map
    vgg_fashion: Map
    vgg_cifar: Map
    resnet_mnist: Map = section("as the others", init=OURS, rate_index=OURS, per_class=OURS)
    resnet_fashion: Map
    resnet_cifar: Map
    densenet_mnist: Map
    densenet_fashion: Map
    densenet_cifar: Map
    resnet_mnist_ce: None = ours("no figure shows maps")


class DecayedTraining(Section):
    """Networks of one kind at equal tau with several weight decays, of several seeds."""

    dataset: Literal["mnist", "cifar10"] = ours("which images")
    network: Annotated[Vgg | ResNet | FullyConnected, Field(discriminator="kind")] = section(
        "network"
    )
    images: Images = section(
        "training images, as in pairs", per_class=OURS, pool=OURS, size=OURS, test=OURS
    )
    loss: Literal["squared", "cross_entropy"] = ours("as in pairs")
    init: Initialisation = ours("initialisation")
    runs: Runs = ours("of weights and batches")
    decays: distinct(positive(1), most=20) = ours("of weights")
    taus: distinct(positive(1000), most=20) = ours(
        "sums over steps of rate * decay / (1 - momentum)"
    )
    largest_rate: positive(100) = ours("initial rate up to which a decay is trained at a tau")
    batch_per_class: whole(2, 100_000) = ours("images of each class in a batch")
    momentum: Annotated[float, Field(ge=0, lt=1)] = ours("of SGD")
    decay_rate_at: distinct(positive(1), most=100) = ours("shares of the epochs; as in pairs")


class Sweep(DecayedTraining):
    """Networks of one kind at equal tau with several weight decays, of several seeds."""

    sweep: Literal["vgg", "resnet", "fully_connected", "patches"] = ours(
        "the name of the section; it also names the random streams"
    )
    control_rates: Annotated[list[positive(100)], Field(max_length=20)] = ours(
        "initial rates of networks without decay"
    )
    epochs: whole(1, 100_000) = ours("passes over the training images")


class Lengths(DecayedTraining):
    """Networks of one kind at equal tau, trained for several lengths."""

    epochs: distinct(whole(1, 100_000), most=20) = ours("passes over the training images")
    start_decay: positive(1) | None = ours(
        "normalised weights start at sqrt(it / decay) times the drawn ones; null: as drawn"
    )


class Sweeps(Section):
    """Trainings of collapse_extra_decay."""

    vgg: Sweep = section("a VGG")
    resnet: Sweep = section("a ResNet")
    fully_connected: Sweep = section("a network without batch normalisation")
    patches: Sweep = section("a VGG on the images of CIFAR-10, which are patches at preset quick")


class Decay(Section):
    """collapse_extra_decay and collapse_extra_length."""

    trained: Share = ours("least training accuracy of a network that counts")
    end: positive(1000) = ours("tau up to which powers are fitted")
    small_tau: positive(1000) = ours("tau up to which NC3 is said to be nearly a function of tau")
    strong_decay: positive(1) = ours("decay from which that is tried at larger tau")


class Settings(Section):
    """Neural (tangent kernel) collapse."""

    flow: Flow
    block_kernel: BlockKernel
    pairs: Pairs
    sweeps: Sweeps
    lengths: Lengths
    models: Models
    maps: Maps
    decay: Decay

    @model_validator(mode="after")
    def _kept_weights(self) -> "Settings":
        for name, shown in self.maps:
            keep = getattr(self.pairs, name).keep
            if shown and shown.init not in keep:
                allowed = f"its weights are not kept; add it to collapse.pairs.{name}.keep"
                raise refused(f"maps.{name}.init", shown.init, allowed)
        return self
