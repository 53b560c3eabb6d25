"""``finitewidth network``: the kernels and gates of a network of the user, in one command."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from finitewidth.cli import running
from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import merged, preset_only, results_folder
from finitewidth.data.places import registered
from finitewidth.networks.own_file import KEY, own_file
from finitewidth.networks.own_yaml import read_own_yaml
from finitewidth.pipeline.own import OWN, images_of

TARGETS = ("own", "captions_own", "datapackage_own")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("network", type=Path, metavar="FILE",
                        help="my_net.yaml, or my_net.py:function, which takes (input_shape, "
                        "classes) and returns a torch.nn.Module")  # fmt: skip
    parser.add_argument("--data", metavar="NAME",
                        help="images: mnist, fashion_mnist, cifar10, or a source such as digits "
                        "(default: the setting own.data)")  # fmt: skip
    parser.add_argument("--cores", type=int, help="default: all")
    parser.add_argument("-n", "--dry-run", action="store_true", help="show what would be done")
    parser.add_argument("--no-report", action="store_true", help="make no report")
    parser.add_argument(
        "--config", nargs="+", default=[], metavar="KEY=VALUE", help="override settings"
    )


def run(options: Namespace) -> int:
    """Make the figures of a network and the report; return the exit status.

    Args:
        options: of `add_options`, with ``preset``, ``seed`` and ``more``; the current folder is
            that of the project.

    Raises:
        ConfigError: the network's file is refused; its message says why.
    """
    chosen = overrides(options.config, options.network, options.data)
    try_out(options.preset, chosen)
    words = running.command(TARGETS, options.preset, options.seed, options.cores, options.dry_run,
                            chosen, ["--keep-going", *options.more])  # fmt: skip
    status = running.run(words)
    if options.dry_run:
        return status
    folder = f"{results_folder(options.preset, options.seed)}/own"
    print(f"{folder}/figures" if status == 0 else f"what was made is in {folder}")
    if options.no_report:
        return status
    return running.report(options.preset, options.seed, *chosen) or status


def try_out(preset: str, chosen: Sequence[str]) -> None:
    """Make the network once, and its kernel at two images, so that a mistake is told at once.

    Images of a folder of the user have no known size before they are read; for these only the file
    of the network is checked.

    Args:
        preset: of sizes.
        chosen: overrides of the settings, ``key=value``.

    Raises:
        ConfigError: the network cannot be made, or it has no tangent kernel.
    """
    config = preset_only(preset, "config")
    for text in chosen:
        key, _, value = text.partition("=")
        config = merged(config, {key: yaml.safe_load(value)})
    own = own_file(config[OWN]["network"])
    if not own.function:
        read_own_yaml(own.file)
    config["data"] = registered(config["data"])
    images = images_of(config)
    if images.shape is None:
        return
    import torch

    from finitewidth.kernels.trained import traced_kernel
    from finitewidth.networks.own import draw, factory_of, seeded

    height, width, channels = images.shape
    network = draw(own, factory_of(own), (channels, height, width), images.classes, 0)
    with seeded(0):
        x = torch.rand(2, channels, height, width)
    try:
        traced_kernel(network, x)
    except ConfigError as error:
        raise ConfigError(f"{KEY}: {own.name}: {error}") from error


def overrides(given: Sequence[str], network: Path, data: str | None) -> list[str]:
    """Return all overrides of the settings, as for Snakemake's ``--config``.

    Args:
        given: those of the user; what they say of ``own`` is kept.
        network: the file.
        data: name of the images; None for those of the settings.
    """
    own: dict[str, Any] = {}
    for setting in given:
        if setting.startswith("own="):
            own = merged(own, yaml.safe_load(setting.removeprefix("own=")))
    own |= {"network": _told(network)} | ({"data": data} if data else {})
    others = [setting for setting in given if not setting.startswith("own=")]
    return [*others, "own=" + yaml.safe_dump(own, default_flow_style=True, width=10**6).strip()]


def _told(network: Path) -> str:
    """The path, relative to the project if it lies below it, so that a project can be moved."""
    path = Path(network)
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
