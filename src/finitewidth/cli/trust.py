"""``finitewidth trust``: a network of the user beside its limit, `finitewidth.trust`."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from finitewidth.cli.network import dataset_of, folder_beside
from finitewidth.cli.options import ONE_SOURCE, Data, File, ImageFolder, Seed, Whole
from finitewidth.cli.outputs import try_folder, written
from finitewidth.common.errors import ConfigError
from finitewidth.networks.user_network import UserNetwork, read_user_network

if TYPE_CHECKING:
    import numpy as np


@Parameter(name="*")
@dataclass(frozen=True)
class Trust:
    """What is computed, and where.

    Attributes:
        inputs: an array of NumPy (N, ...), in place of images
        targets: an array (N, K) of targets of --inputs, for the change in training
        images: images of your own, {train,test}/<class>/*
        data: mnist, fashion_mnist, cifar10, or digits (default)
        train: number of images, with the class shares of all
        width: value of the argument width of the function (default: its own default)
        sigma_w2: variance of a weight times its fan-in, or torch for torch's initialisation
        sigma_b2: variance of a bias, or torch
        draws: number of random initialisations
        steps: number of training steps
        rate: step size of gradient descent (default: half of the largest stable one)
        seed: seed of all random numbers
        output: the folder to write (default: <network>_<source>_limit, beside the network)
    """

    inputs: Annotated[File | None, Parameter(group=ONE_SOURCE)] = None
    targets: File | None = None
    images: ImageFolder = None
    data: Data | None = None
    train: Whole = 20
    width: Whole | None = None
    sigma_w2: str = "torch"
    sigma_b2: str = "torch"
    draws: Whole = 50
    steps: Whole = 100
    rate: float | None = None
    seed: Seed = 0
    output: File | None = None


def trust(file: str, /, *, options: Trust = Trust()) -> None:
    """How far a network of your own is from its limit of infinite width.

    Example: finitewidth trust my_net.py:make --width 64

    Args:
        file: my_net.py:function, which takes (input_shape, classes), and may take width=
    """
    import finitewidth as fw

    user = read_user_network(file)
    folder = options.output or _folder(user, options)
    try_folder(folder, "--output")
    sigma_w2 = _variance("--sigma-w2", options.sigma_w2)
    sigma_b2 = _variance("--sigma-b2", options.sigma_b2)
    x, y = _data(options)
    make = _function(user, x.shape[1:], 1 if y is None else y.shape[1])
    try:
        answer = fw.trust(
            make,
            x,
            y,
            width=options.width,
            draws=options.draws,
            steps=options.steps,
            rate=options.rate,
            seed=options.seed,
            sigma_w2=sigma_w2,
            sigma_b2=sigma_b2,
        )
    except ConfigError as error:
        message = re.sub("^(network|make_network):", f"{user.name}:", str(error))
        raise ConfigError(message) from error
    with written(folder):
        answer.write(folder)
    print(answer)
    print(folder)


def _folder(user: UserNetwork, options: Trust) -> Path:
    if options.inputs:
        return user.file.parent / f"{user.file.stem}_{options.inputs.stem}_limit"
    return folder_beside(user, options.images, options.data or "digits", "limit")


def _variance(option: str, text: str) -> Any:
    """A number, or "torch"."""
    if text == "torch":
        return text
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{option} {text}: must be a number or torch") from None


def _function(user: UserNetwork, shape: tuple[int, ...], classes: int) -> Callable[..., Any]:
    """Return the function of the user as `fw.trust` calls it: without arguments, or with a width.

    Its default for the width stays.
    """
    make = user.factory()
    width_of_user = inspect.signature(make).parameters.get("width")
    if width_of_user is None:
        return lambda: make(shape, classes)

    def of_width(width: int) -> Any:
        return make(shape, classes, width=width)

    width = inspect.Parameter(
        "width", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=width_of_user.default
    )
    of_width.__signature__ = inspect.Signature([width])  # type: ignore[attr-defined]  # of inspect
    return of_width


def _data(options: Trust) -> "tuple[np.ndarray, np.ndarray | None]":
    """Return inputs (N, ...) in float32, and targets (N, K), one-hot for images."""
    import numpy as np

    from finitewidth.data.select import channels_first, scaled, stratified_subset

    if options.inputs:
        x = _read(options.inputs, "--inputs")
        if not options.targets:
            return x, None
        y = _read(options.targets, "--targets")
        return x, y.reshape(len(y), -1) if y.ndim else y.reshape(1, 1)
    if options.targets:
        raise ConfigError("--targets: they belong to --inputs; images have their classes")
    dataset = dataset_of(options.images, options.data or "digits", {})
    dataset = stratified_subset(dataset, options.train or None, None, ("limit",))
    x = channels_first(scaled(dataset.train_images)).astype(np.float32)
    one_hot = np.eye(len(dataset.class_names), dtype=np.float32)
    return x, one_hot[dataset.train_labels]


def _read(file: Path, option: str) -> "np.ndarray":
    import numpy as np

    try:
        return np.load(file, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(f"{option} {file}: is no array of NumPy ({error})") from error
