"""``finitewidth network``: the study of a network of the user, `finitewidth.library.study`."""

import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.data.places import name_of
from finitewidth.networks.user_network import read_user_network

PASSED_ON = (
    "draws", "steps", "times", "per_class", "optimiser", "rate", "batch_size", "loss", "seed",
    "device",
)  # fmt: skip


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command; those of `PASSED_ON` have the defaults of the function."""
    parser.add_argument("network", metavar="FILE",
                        help="my_net.py:function, which takes (input_shape, classes) and returns "
                        "a torch.nn.Module")  # fmt: skip
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--images", type=Path, metavar="FOLDER",
                        help="images of your own, {train,test}/<class>/*")  # fmt: skip
    source.add_argument("--data", metavar="NAME", default="digits",
                        help="mnist, fashion_mnist, cifar10, or digits (default)")  # fmt: skip
    parser.add_argument("--train", type=int, metavar="N", default=500,
                        help="training images, with the class shares of all; 0 for all "
                        "(default: 500)")  # fmt: skip
    parser.add_argument("--test", type=int, metavar="N", default=0, help="likewise (default: all)")
    parser.add_argument("--draws", type=int, help="random initialisations")
    parser.add_argument("--steps", type=int, help="length of the training")
    parser.add_argument("--times", type=int, nargs="+", metavar="STEP",
                        help="steps at which kernels are computed")  # fmt: skip
    parser.add_argument("--per-class", type=int, metavar="N", help="images in the kernels")
    parser.add_argument("--optimiser", choices=("adam", "sgd"))
    parser.add_argument("--rate", type=float, help="of the optimiser")
    parser.add_argument("--batch-size", type=int, metavar="N")
    parser.add_argument("--loss", choices=("squared", "cross_entropy"))
    parser.add_argument("--seed", type=int, help="of all random numbers")
    parser.add_argument("--device", help="cpu, cuda, or auto: cuda where there is one (default)")
    parser.add_argument("--output", type=Path, metavar="FOLDER",
                        help="default: <network>_<images>_study, beside the network")  # fmt: skip


def run(options: Namespace) -> int:
    """Compute and draw the study of a network; return the exit status.

    Args:
        options: of `add_options`.

    Raises:
        ConfigError: the network, the images or an option is refused.
        DataError: the images are missing or damaged.
    """
    user = read_user_network(options.network)
    make = user.factory()
    data = _dataset(options)
    height, width, channels = data.shape

    from finitewidth.data.select import channels_first, scaled
    from finitewidth.library.study import study

    train, test = (
        (channels_first(scaled(getattr(data, f"{split}_images"))), getattr(data, f"{split}_labels"))
        for split in ("train", "test")
    )  # fmt: skip
    given = {name: value for name in PASSED_ON if (value := getattr(options, name)) is not None}
    try:
        result = study(lambda: make((channels, height, width), len(data.class_names)), train,
                       test=test, progress=sys.stderr.isatty(), **given)  # fmt: skip
    except ConfigError as error:
        raise ConfigError(re.sub("^network:", f"{user.name}:", str(error))) from error
    folder = options.output or user.file.with_name(f"{user.file.stem}_{data.name}_study")
    result.write(folder, network=user.name, sha256=user.digest, data=data.title)
    for part, reason in result.left_out.items():
        print(f"no {part}: {reason}")
    print(folder)
    return 0


def _dataset(options: Namespace) -> Any:
    """The images, a `finitewidth.data.store.Dataset`, which do not depend on the seed."""
    from finitewidth.data.build import build_dataset
    from finitewidth.data.select import stratified_subset

    settings = {"images": str(options.images.absolute())} if options.images else {}
    name = name_of(options.images.absolute()) if options.images else options.data
    dataset = build_dataset(name, settings)
    return stratified_subset(dataset, options.train or None, options.test or None, ("study",))
