"""Settings of collapse: trainings with several weight decays and lengths. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field

from finitewidth.papers.collapse.settings.pairs import FullyConnected, Images, ResNet, Vgg
from finitewidth.papers.collapse.settings.ranges import Initialisation, Share
from finitewidth.settings.sections import OURS, Distinct, Runs, Section, ours, section


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
    decays: Distinct[Annotated[float, Field(gt=0, le=1)]] = ours(
        "coefficients of the weight decay, which spares biases and gains",
        min_length=1,
        max_length=20,
    )
    taus: Distinct[Annotated[float, Field(gt=0, le=1000)]] = ours(
        "values of tau, the sum over steps of rate * decay / (1 - momentum)",
        min_length=1,
        max_length=20,
    )
    largest_rate: float = ours(
        "largest initial rate; a decay that needs a larger one for a tau is left out", gt=0, le=100
    )
    batch_per_class: int = ours("images of each class in a batch", ge=2, le=100_000)
    momentum: Annotated[float, Field(ge=0, lt=1)] = ours("momentum of stochastic gradient descent")
    decay_rate_at: Distinct[Annotated[float, Field(gt=0, le=1)]] = ours(
        "shares of the epochs after which the rate falls by ten, as in collapse.pairs",
        min_length=1,
        max_length=100,
    )


class Sweep(DecayedTraining):
    """Networks of one kind at equal tau with several weight decays, of several seeds."""

    sweep: Literal["vgg", "resnet", "fully_connected", "patches"] = ours(
        "name of this section, which also names the random streams"
    )
    control_rates: list[Annotated[float, Field(gt=0, le=100)]] = ours(
        "initial rates of networks without decay", max_length=20
    )
    epochs: int = ours("passes over the training images", ge=1, le=100_000)


class Lengths(DecayedTraining):
    """Networks of one kind at equal tau, trained for several lengths."""

    epochs: Distinct[Annotated[int, Field(ge=1, le=100_000)]] = ours(
        "passes over the training images, one length of training each", min_length=1, max_length=20
    )
    start_decay: float | None = ours(
        "decay d: normalised weights start at sqrt(d / decay) times those drawn; null: as drawn",
        gt=0,
        le=1,
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
    end: float = ours("tau up to which powers are fitted", gt=0, le=1000)
    small_tau: float = ours(
        "tau up to which NC3 is said to be nearly a function of tau", gt=0, le=1000
    )
    strong_decay: float = ours(
        "weight decay from which the same is tried at larger tau", gt=0, le=1
    )
