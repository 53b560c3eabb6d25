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

    diagonal: Positive = ours("kernel kappa_d of a sample with itself")
    same_class: Positive = ours("kernel kappa_c of two samples of one class")
    other_class: Positive = ours("kernel kappa_n of two samples of different classes")


class Start(Section):
    """Random starts."""

    means: Positive = ours("standard deviation of class means")
    within: Positive = ours("standard deviation within classes")


class Frozen(Section):
    """Appendix B.4: equal biases that are held fixed, and a grid for the formulas around them."""

    other_class: distinct(Positive, most=20) = ours("values of kappa_n, the kernel between classes")
    biases: distinct(between(0, 100), most=20) = ours("values of the equal biases")
    points: whole(2, 10_000) = ours("number of points of the grid of biases")
    margin: Share = ours("distance by which the grid exceeds the biases on both sides")


class Residuals(Section):
    """Section 4.1."""

    kernels: several(several(Positive, most=3, least=3), most=20) = ours(
        "values gamma_d, gamma_c, gamma_n of each block kernel"
    )
    below: Annotated[float, Field(gt=0, lt=1)] = ours(
        "fraction of its start at which a component counts as converged"
    )
    step: between(0.001, 1) = ours(
        "step size times the largest eigenvalue; the work grows with its inverse"
    )


class FlowSteps(Section):
    """Runge-Kutta of order 4."""

    time: positive(1000) = ours("time at which the integration ends")
    steps: distinct(between(0.00001, 1), most=20) = ours("step sizes of the integration")

    @model_validator(mode="after")
    def _whole(self) -> "FlowSteps":
        for step in self.steps:
            if abs(self.time / step - round(self.time / step)) > 1e-6:
                raise refused("steps", step, f"time, {self.time}, must be a multiple of it")
        return self


class Flow(Section):
    """The flow of (25) under a block kernel; the paper has no such experiment."""

    runs: Runs = ours("number of random starts of each case")
    classes: whole(2, 100) = paper("number of classes C")
    samples: whole(2, 1000) = paper("number of samples per class, m")
    features: whole(2, 1000) = ours("number of features n, at least as many as classes")
    kernel: Kernel
    start: Start
    weights: distinct(Positive, most=20) = ours("standard deviations of the random starts of W")
    excess: positive(1000) = ours(
        "trace of E over that of the features' terms, where E is positive semidefinite"
    )
    time: positive(100_000) = ours("time at which the flow ends")
    halvings: whole(1, 30) = ours(
        "number of halvings from the end time to the first time shown; two times each"
    )
    tolerance: between(1e-13, 0.01) = ours("relative and absolute tolerance of the integration")
    probes: whole(1, 1_000_000) = ours("number of points at which NC4 is tried")
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

    classes: whole(2, 5) = ours("number of classes C")
    samples: whole(2, 5) = ours("number of samples per class, m")


class BlockKernel(Section):
    """Table 1 in rational numbers."""

    classes: whole(2, 20) = ours("number of classes C")
    samples: whole(2, 20) = ours("number of samples per class, m")
    kernel: several(whole(0, 1_000_000), most=3, least=3) = ours(
        "values gamma_d, gamma_c, gamma_n of the kernel"
    )
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

    kind: Literal["vgg"] = paper("kind of network, here VGG")
    convolutions: several(Channels | Literal["M"], 100) = paper(
        "output channels of 3×3 convolutions, and M for each 2×2 max-pool"
    )
    dense: Sizes = paper("units of each hidden dense layer")
    batch_momentum: positive(1) = code(
        "weight of the newest batch in running averages; Flax's momentum 0.9 is 0.1"
    )


class ResNet(NormalisedNetwork):
    """ResNet20."""

    kind: Literal["resnet"] = paper("kind of network, here ResNet")
    channels: Sizes = paper("output channels of each stage")
    blocks: Sizes = paper("number of blocks of each stage")
    batch_momentum: positive(1) = code(
        "weight of the newest batch in running averages; Flax's momentum 0.99 is 0.01"
    )


class DenseNet(NormalisedNetwork):
    """DenseNet40 with bottlenecks; its features are 132."""

    kind: Literal["densenet"] = paper("kind of network, here DenseNet")
    growth: Channels = paper("number of channels that a layer adds")
    blocks: Sizes = paper("number of layers of each dense block")
    bottleneck: whole(1, 100) = code("channels inside a layer, in multiples of growth")
    stem: Channels = code("output channels of the first convolution")
    compression: positive(1) = code("share of the channels that a transition keeps")
    pooled_stem: bool = paper("whether 2×2 positions are averaged after the first convolution")
    batch_momentum: positive(1) = code(
        "weight of the newest batch in running averages; Flax's momentum 0.99 is 0.01"
    )


class FullyConnected(NormalisedNetwork):
    """Layers of ReLU without normalisation, and without biases but in the last layer."""

    kind: Literal["fully_connected"] = ours("kind of network, here fully connected")
    dense: Sizes = ours("units of each hidden layer")


class Images(Section):
    """Training images, averaged over squares of ``pool`` pixels, then resized to ``size``."""

    per_class: whole(2, 1_000_000) | None = paper(
        "training images of each class; null: as many as the smallest class has"
    )
    pool: whole(1, 1000) = paper("side, in pixels, of the squares that are averaged into one pixel")
    size: whole(1, 1000) | None = paper("pixels along a side after resizing; null: no resizing")
    test: whole(1, 10_000_000) | None = paper("number of test images; null: all")


class Rates(Section):
    """10^(first + (last - first) k / points) for k in ``indices``, or ``values``."""

    first: between(-10, 2) = paper("log10 of the first rate of the grid")
    last: between(-10, 2) = paper("log10 of the end of the grid, which is no rate itself")
    points: whole(1, 1000) = paper("number of rates of the whole grid")
    indices: distinct(whole(0, 1000), most=1000) = paper(
        "numbers k of the rates that are trained; the grid leaves out its end, as captions show"
    )
    values: distinct(positive(100), most=1000) | None = paper(
        "rates in place of the grid; null: the grid"
    )

    @model_validator(mode="after")
    def _on_the_grid(self) -> "Rates":
        if self.values is None and max(self.indices) >= self.points:
            raise refused("indices", self.indices, f"they must be below points, {self.points}")
        return self


class Pair(Section):
    """Trainings of a network on a dataset, at all rates."""

    pair: Name = ours("name of this section, which also names the random streams")
    dataset: Literal["mnist", "fashion_mnist", "cifar10"] = paper("dataset of the pair's name")
    network: Annotated[Vgg | ResNet | DenseNet, Field(discriminator="kind")] = section(
        "network that is trained, by its kind"
    )
    images: Images
    loss: Literal["squared", "cross_entropy"] = paper(
        "loss function; its mean over batch and outputs is of the authors' code"
    )
    inits: Initialisations = paper("distributions of the initial weights, each at all rates")
    rates: Rates
    epochs: whole(1, 100_000) = paper("passes over the training images")
    batch_per_class: whole(2, 100_000) = paper("images of each class in a batch")
    momentum: Annotated[float, Field(ge=0, lt=1)] = paper("momentum of stochastic gradient descent")
    decay: Share = paper("coefficient of the weight decay, which spares biases and gains")
    decay_rate_at: distinct(positive(1), most=100) = paper(
        "shares of the epochs after which the rate falls by ten; every 120 of 400"
    )
    measure_every: whole(1, 100_000) = paper("epochs between two measurements", code_also=[1])
    kernel_per_class: whole(2, 1000) = paper("images of each class in the kernels")
    kernel_gib: positive(10_000) = ours("GiB of memory for the kernels; VGG16 needs most")
    normalise_columns: bool = code("whether NC2 and NC3 normalise each class mean")
    stack: whole(1, 1000) | None = ours("number of networks trained at once; null: all")
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
        "trainings of VGG11 on MNIST",
        images__per_class=CODE,
        images__size=CODE,
        images__test=Source("paper", code_also=[9960]),
    )
    vgg_fashion: Pair = section("trainings of VGG11 on FashionMNIST")
    vgg_cifar: Pair = section("trainings of VGG16 on CIFAR-10")
    resnet_mnist: Pair = section("trainings of ResNet20 on MNIST", **FROM_CODE)
    resnet_fashion: Pair = section("trainings of ResNet20 on FashionMNIST")
    resnet_cifar: Pair = section("trainings of ResNet20 on CIFAR-10")
    densenet_mnist: Pair = section("trainings of DenseNet40 on MNIST", **FROM_CODE)
    densenet_fashion: Pair = section("trainings of DenseNet40 on FashionMNIST")
    densenet_cifar: Pair = section("trainings of DenseNet40 on CIFAR-10")
    resnet_mnist_ce: Pair = section("Figure 12 by cross entropy; its rates are ours", **FROM_CODE)

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
    within: Share = ours("largest distance of the collapsed model's test accuracy from the best")
    collapsed_nc3: between(0, 2) | None = ours("largest NC3 of the collapsed model; null: no bound")
    other_within: Share = ours("largest distance of the other model's test accuracy from the best")
    nc3: between(0, 2) = ours("least NC3 of the other model")
    contrast: between(1, 100) = ours("least ratio of both models' NC3, other over collapsed")
    train: Share = paper("least training accuracy of the other model")
    widened: Share = ours("value of other_within if no other model is found")
    relaxed_train: Share = ours("value of train if none is found then either")


class Smoothing(Section):
    """Savitzky-Golay; the paper's window is 10, which has no middle."""

    degree: whole(0, 5) = ours("degree of the fitted polynomials")
    window: whole(7, 101) = ours("number of points of the window, which is odd")
    fewest: whole(7, 100_000) = ours("least number of points of a curve that is smoothed")

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

    init: Initialisation = paper("distribution of the network's initial weights")
    rate_index: whole(0, 1000) | None = paper(
        "number of the caption's rate on the grid of rates; null: the collapsed model"
    )
    per_class: whole(2, 1000) = paper("images of each class in the map")


class Maps(Section):
    """Figures 1 and 13 to 20."""

    vgg_mnist: Map
    vgg_fashion: Map
    vgg_cifar: Map
    resnet_mnist: Map = section(
        "map of ResNet20 on MNIST, as the others", init=OURS, rate_index=OURS, per_class=OURS
    )
    resnet_fashion: Map
    resnet_cifar: Map
    densenet_mnist: Map
    densenet_fashion: Map
    densenet_cifar: Map
    resnet_mnist_ce: None = ours("no map, since no figure shows one")


class DecayedTraining(Section):
    """Networks of one kind at equal tau with several weight decays, of several seeds."""

    dataset: Literal["mnist", "cifar10"] = ours("dataset of the training images")
    network: Annotated[Vgg | ResNet | FullyConnected, Field(discriminator="kind")] = section(
        "network that is trained, by its kind"
    )
    images: Images = section(
        "training images, as in pairs", per_class=OURS, pool=OURS, size=OURS, test=OURS
    )
    loss: Literal["squared", "cross_entropy"] = ours("loss function, as in collapse.pairs")
    init: Initialisation = ours("distribution of the initial weights")
    runs: Runs = ours("number of seeds of weights and batches")
    decays: distinct(positive(1), most=20) = ours(
        "coefficients of the weight decay, which spares biases and gains"
    )
    taus: distinct(positive(1000), most=20) = ours(
        "values of tau, the sum over steps of rate * decay / (1 - momentum)"
    )
    largest_rate: positive(100) = ours(
        "largest initial rate; a decay that needs a larger one for a tau is left out"
    )
    batch_per_class: whole(2, 100_000) = ours("images of each class in a batch")
    momentum: Annotated[float, Field(ge=0, lt=1)] = ours("momentum of stochastic gradient descent")
    decay_rate_at: distinct(positive(1), most=100) = ours(
        "shares of the epochs after which the rate falls by ten, as in collapse.pairs"
    )


class Sweep(DecayedTraining):
    """Networks of one kind at equal tau with several weight decays, of several seeds."""

    sweep: Literal["vgg", "resnet", "fully_connected", "patches"] = ours(
        "name of this section, which also names the random streams"
    )
    control_rates: Annotated[list[positive(100)], Field(max_length=20)] = ours(
        "initial rates of networks without decay"
    )
    epochs: whole(1, 100_000) = ours("passes over the training images")


class Lengths(DecayedTraining):
    """Networks of one kind at equal tau, trained for several lengths."""

    epochs: distinct(whole(1, 100_000), most=20) = ours(
        "passes over the training images, one length of training each"
    )
    start_decay: positive(1) | None = ours(
        "decay d: normalised weights start at sqrt(d / decay) times those drawn; null: as drawn"
    )


class Sweeps(Section):
    """Trainings of collapse_extra_decay."""

    vgg: Sweep = section("trainings of a small VGG")
    resnet: Sweep = section("trainings of a ResNet20")
    fully_connected: Sweep = section("trainings of a network without batch normalisation")
    patches: Sweep = section("trainings of a small VGG on CIFAR-10; at preset quick on patches")


class Decay(Section):
    """collapse_extra_decay and collapse_extra_length."""

    trained: Share = ours("least training accuracy of a network that counts")
    end: positive(1000) = ours("tau up to which powers are fitted")
    small_tau: positive(1000) = ours("tau up to which NC3 is said to be nearly a function of tau")
    strong_decay: positive(1) = ours("weight decay from which the same is tried at larger tau")


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
