"""Settings of collapse: trained networks, a section for each pair with a dataset."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.common.errors import ConfigError
from finitewidth.networks.normalised.specs import Network
from finitewidth.papers.collapse.settings.ranges import (
    Channels,
    Initialisation,
    Initialisations,
    Share,
    Sizes,
)
from finitewidth.settings.sections import (
    CODE,
    OURS,
    Distinct,
    Name,
    Section,
    Source,
    code,
    general,
    ours,
    paper,
    refused,
    section,
)


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
    convolutions: list[Channels | Literal["M"]] = paper(
        "output channels of 3×3 convolutions, and M for each 2×2 max-pool",
        min_length=1,
        max_length=100,
    )
    dense: Sizes = paper("units of each hidden dense layer")
    batch_momentum: float = code(
        "weight of the newest batch in running averages; Flax's momentum 0.9 is 0.1", gt=0, le=1
    )


class ResNet(NormalisedNetwork):
    """ResNet20."""

    kind: Literal["resnet"] = paper("kind of network, here ResNet")
    channels: Sizes = paper("output channels of each stage")
    blocks: Sizes = paper("number of blocks of each stage")
    batch_momentum: float = code(
        "weight of the newest batch in running averages; Flax's momentum 0.99 is 0.01", gt=0, le=1
    )


class DenseNet(NormalisedNetwork):
    """DenseNet40 with bottlenecks; its features are 132."""

    kind: Literal["densenet"] = paper("kind of network, here DenseNet")
    growth: Channels = paper("number of channels that a layer adds")
    blocks: Sizes = paper("number of layers of each dense block")
    bottleneck: int = code("channels inside a layer, in multiples of growth", ge=1, le=100)
    stem: Channels = code("output channels of the first convolution")
    compression: float = code("share of the channels that a transition keeps", gt=0, le=1)
    pooled_stem: bool = paper("whether 2×2 positions are averaged after the first convolution")
    batch_momentum: float = code(
        "weight of the newest batch in running averages; Flax's momentum 0.99 is 0.01", gt=0, le=1
    )


class FullyConnected(NormalisedNetwork):
    """Layers of ReLU without normalisation, and without biases but in the last layer."""

    kind: Literal["fully_connected"] = ours("kind of network, here fully connected")
    dense: Sizes = ours("units of each hidden layer")


class Images(Section):
    """Training images, averaged over squares of ``pool`` pixels, then resized to ``size``."""

    per_class: int | None = paper(
        "training images of each class; null: as many as the smallest class has", ge=2, le=1_000_000
    )
    pool: int = paper(
        "side, in pixels, of the squares that are averaged into one pixel", ge=1, le=1000
    )
    size: int | None = paper("pixels along a side after resizing; null: no resizing", ge=1, le=1000)
    test: int | None = paper("number of test images; null: all", ge=1, le=10_000_000)


class Rates(Section):
    """10^(first + (last - first) k / points) for k in ``indices``, or ``values``."""

    first: float = paper("log10 of the first rate of the grid", ge=-10, le=2)
    last: float = paper("log10 of the end of the grid, which is no rate itself", ge=-10, le=2)
    points: int = paper("number of rates of the whole grid", ge=1, le=1000)
    indices: Distinct[Annotated[int, Field(ge=0, le=1000)]] = paper(
        "numbers k of the rates that are trained; the grid leaves out its end, as captions show",
        min_length=1,
        max_length=1000,
    )
    values: Distinct[Annotated[float, Field(gt=0, le=100)]] | None = paper(
        "rates in place of the grid; null: the grid", min_length=1, max_length=1000
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
    epochs: int = paper("passes over the training images", ge=1, le=100_000)
    batch_per_class: int = paper("images of each class in a batch", ge=2, le=100_000)
    momentum: Annotated[float, Field(ge=0, lt=1)] = paper("momentum of stochastic gradient descent")
    decay: Share = paper("coefficient of the weight decay, which spares biases and gains")
    decay_rate_at: Distinct[Annotated[float, Field(gt=0, le=1)]] = paper(
        "shares of the epochs after which the rate falls by ten; every 120 of 400",
        min_length=1,
        max_length=100,
    )
    measure_every: int = paper("epochs between two measurements", code_also=[1], ge=1, le=100_000)
    kernel_per_class: int = paper("images of each class in the kernels", ge=2, le=1000)
    kernel_gib: float = ours("GiB of memory for the kernels; VGG16 needs most", gt=0, le=10_000)
    normalise_columns: bool = code("whether NC2 and NC3 normalise each class mean")
    stack: int | None = ours("number of networks trained at once; null: all", ge=1, le=1000)
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
            dataset = datasets[name.split("_")[1]]
            if pair.dataset != dataset:
                allowed = f"it must be {dataset}; data.{dataset} says which images play its part"
                raise refused(f"{name}.dataset", pair.dataset, allowed)
        return self


class Picking(Section):
    """The two models that the figures show of each initialisation; the paper chose by hand."""

    dead: Share = ours("largest share of features that are 0 on the last batch")
    within: Share = ours("largest distance of the collapsed model's test accuracy from the best")
    collapsed_nc3: float | None = ours(
        "largest NC3 of the collapsed model; null: no bound", ge=0, le=2
    )
    other_within: Share = ours("largest distance of the other model's test accuracy from the best")
    nc3: float = ours("least NC3 of the other model", ge=0, le=2)
    contrast: float = ours("least ratio of both models' NC3, other over collapsed", ge=1, le=100)
    train: Share = paper("least training accuracy of the other model")
    widened: Share = ours("value of other_within if no other model is found")
    relaxed_train: Share = ours("value of train if none is found then either")


class Smoothing(Section):
    """Savitzky-Golay; the paper's window is 10, which has no middle."""

    degree: int = ours("degree of the fitted polynomials", ge=0, le=5)
    window: int = ours("number of points of the window, which is odd", ge=7, le=101)
    fewest: int = ours("least number of points of a curve that is smoothed", ge=7, le=100_000)

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
    rate_index: int | None = paper(
        "number of the caption's rate on the grid of rates; null: the collapsed model",
        ge=0,
        le=1000,
    )
    per_class: int = paper("images of each class in the map", ge=2, le=1000)


class ShownModels(Models):
    """What the jobs `collapse_models_<pair>` read: a training, and how its models are shown."""

    trained: Share = general("least training accuracy of a network that counts")
    training: Pair
    maps: Map | None


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
