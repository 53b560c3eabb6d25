"""``finitewidth network``: the study of a network of the user, `finitewidth.library.study`."""

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from cyclopts import Parameter

from finitewidth.cli.options import Data, File, ImageFolder, Seed, Whole, Wholes
from finitewidth.cli.outputs import try_folder, written
from finitewidth.common.errors import ConfigError
from finitewidth.data.places import name_of
from finitewidth.networks.user_network import UserNetwork, read_user_network


@Parameter(name="*")
@dataclass(frozen=True)
class Study:
    """Arguments of `finitewidth.library.study.study`; None for its default.

    Attributes:
        draws: number of random initialisations
        steps: number of training steps
        times: steps at which kernels are computed
        per_class: images of each class in the kernels
        optimiser: optimiser of the training
        rate: step size of the optimiser
        batch_size: number of images in a step
        loss: loss of the training
        seed: seed of all random numbers
        device: cpu, cuda, or auto (default): cuda if there is one
    """

    draws: Whole | None = None
    steps: Whole | None = None
    times: Wholes | None = None
    per_class: Whole | None = None
    optimiser: Literal["adam", "sgd"] | None = None
    rate: float | None = None
    batch_size: Whole | None = None
    loss: Literal["squared", "cross_entropy"] | None = None
    seed: Seed | None = None
    device: str | None = None


def network(
    file: str,
    /,
    *,
    images: ImageFolder = None,
    data: Data = "digits",
    train: Whole = 500,
    test: Whole = 0,
    output: File | None = None,
    options: Study = Study(),
) -> None:
    """Kernels and gates of a network of your own, over draws and in training.

    Example: finitewidth network my_net.py:make --images ~/pictures --steps 300

    Args:
        file: my_net.py:function, which takes (input_shape, classes) and returns a torch.nn.Module
        images: images of your own, {train,test}/<class>/*
        data: mnist, fashion_mnist, cifar10, or digits
        train: number of training images, with the class shares of all; 0 for all
        test: number of test images, with the class shares of all; 0 for all
        output: the folder to write (default: <network>_<images>_study, beside the network)
    """
    from finitewidth.data.select import channels_first, scaled, stratified_subset
    from finitewidth.library.study import study

    user = read_user_network(file)
    folder = output or folder_beside(user, images, data, "study")
    try_folder(folder, "--output")
    make = user.factory()
    dataset = dataset_of(images, data, {})
    dataset = stratified_subset(dataset, train or None, test or None, ("study",))
    height, width, channels = dataset.shape
    classes = len(dataset.class_names)
    arguments = {name: value for name, value in asdict(options).items() if value is not None}
    try:
        result = study(
            lambda: make((channels, height, width), classes),
            (channels_first(scaled(dataset.train_images)), dataset.train_labels),
            test=(channels_first(scaled(dataset.test_images)), dataset.test_labels),
            progress=sys.stderr.isatty(),
            **arguments,
        )
    except ConfigError as error:
        raise ConfigError(re.sub("^network:", f"{user.name}:", str(error))) from error
    with written(folder):
        result.write(folder, network=user.name, sha256=user.digest, data=dataset.title)
    for part, reason in result.left_out.items():
        print(f"no {part}: {reason}")
    print(folder)


def folder_beside(user: UserNetwork, images: Path | None, data: str | None, kind: str) -> Path:
    """Return the folder to write by default, beside the network: ``my_net_digits_study``."""
    source = name_of(images) if images else data
    return user.file.parent / f"{user.file.stem}_{source}_{kind}"


def dataset_of(images: Path | None, data: str | None, settings: Mapping[str, Any]) -> Any:
    """Return the folder ``images`` or the dataset ``data``, a `finitewidth.data.store.Dataset`."""
    from finitewidth.data.build import build_dataset

    if images:
        return build_dataset(name_of(images), {**settings, "images": str(images)})
    assert data is not None
    return build_dataset(data, settings)
