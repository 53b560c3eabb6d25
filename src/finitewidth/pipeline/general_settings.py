"""Settings that all papers share: type, range and meaning. Imports no torch."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from finitewidth.common.setting_types import (
    Name,
    Path,
    Section,
    general,
    positive,
    whole,
)
from finitewidth.common.settings import LARGEST_SEED


def _below(folder: str) -> str:
    """Check that a folder lies below the data root."""
    if folder.startswith(("/", "~")) or ".." in folder.split("/"):
        raise PydanticCustomError("below", "write a path below data.root, without ..")
    return folder


Folder = Annotated[Path, Field(max_length=500), AfterValidator(_below)]


class Errata(Section):
    """How misprints of the papers are checked."""

    networks: whole(200, 100_000_000) = general(
        "small networks that a check of a misprint draws; wide ones are fewer"
    )


class Data(Section):
    """Where datasets come from, and which source plays the part of each of the papers."""

    root: Path | None = general(
        "where original datasets are or go; null: $FINITEWIDTH_DATA, else resources/"
    )
    download: bool = general("fetch what is missing there; false: say what is missing and stop")
    images: Path | None = general(
        "a folder of images, {train,test}/<class>/*, for all datasets; null: none"
    )
    mnist: Name = general("source that plays the part of MNIST")
    fashion_mnist: Name = general("source that plays the part of FashionMNIST")
    cifar10: Name = general("source that plays the part of CIFAR-10")
    imagefolder: dict[Name, Folder] = general("name of a source -> folder below data.root")


class General(Section):
    """What all papers share."""

    preset: Literal["smoke", "quick", "laptop", "paper"] = general("sizes of a run")
    seed: whole(0, LARGEST_SEED) = general(
        "base seed, from which all random numbers of trainings and experiments are derived"
    )
    device: Literal["cpu", "cuda", "auto"] = general(
        "where networks train; auto takes a GPU where there is one"
    )
    checkpoint_seconds: positive(1_000_000) = general("between two checkpoints of a training")
    training_minutes: whole(15, 1_000_000) = general(
        "the longest wall time that jobs which resume ask a cluster for"
    )
    errata: Errata
    data: Data
