"""``finitewidth kernel``: the tangent kernel of many images, in tiles, each a job of Snakemake."""

import io
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from finitewidth.cli import images, running
from finitewidth.common.errors import ConfigError
from finitewidth.common.result_files import atomic
from finitewidth.common.settings import read_yaml
from finitewidth.networks.user_network import UserNetwork, read_user_network

SNAKEFILE = "workflow/kernel/Snakefile"
RUN, IMAGES, LABELS, WEIGHTS = "run.yaml", "images.npy", "labels.npy", "weights.pt"
KERNEL = "kernel.npy"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("network", type=Path, metavar="FILE",
                        help="my_net.py:function, which takes (input_shape, classes) and returns "
                        "a torch.nn.Module")  # fmt: skip
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--images", type=Path, metavar="FOLDER",
                        help="images of your own, {train,test}/<class>/*")  # fmt: skip
    source.add_argument("--data", metavar="NAME", help="a dataset, such as mnist or digits")
    parser.add_argument("--train", type=int, metavar="N",
                        help="training images, with the class shares of all "
                        "(default: all)")  # fmt: skip
    parser.add_argument("--test", type=int, metavar="N",
                        help="test images, which follow the training images "
                        "(default: none)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of the random weights (default: 0)")
    parser.add_argument("--float64", action="store_true", help="compute in float64, not float32")
    parser.add_argument("--tile", type=int, default=250, metavar="N",
                        help="images of a block (default: 250)")  # fmt: skip
    parser.add_argument("--budget", type=int, default=1536, metavar="MIB",
                        help="memory for temporary arrays of a tile (default: 1536)")  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="FOLDER",
                        help="default: <network>_<images>_kernel, beside the network")  # fmt: skip
    parser.add_argument("--cores", type=int, help="tiles at the same time (default: all cores)")
    parser.add_argument("--profile", help="of Snakemake, such as profiles/slurm for a cluster")
    parser.add_argument("-n", "--dry-run", action="store_true", help="show what would be done")


def run(options: Namespace) -> int:
    """Prepare the folder of a run and compute what is missing; return the exit status.

    Args:
        options: of `add_options`, with ``more``; the current folder is that of the project.

    Raises:
        ConfigError: an option is out of range, the network is refused, or the folder has other
            files.
        DataError: the images are missing or damaged.
    """
    folder = prepare(options)
    if not options.dry_run:
        _remove_outdated(folder)
    words = ["snakemake", "--snakefile", SNAKEFILE, "--directory", str(folder)]
    words += ["--workflow-profile", "none", "--rerun-incomplete", "--show-failed-logs"]
    words += ["--quiet", "rules", "host"]
    words += ["--nolock"]  # a lock stays after a kill; tiles are written atomically, and all alike
    words += ["--profile", options.profile] if options.profile else []
    cores = options.cores or (None if options.profile else os.cpu_count())
    words += ["--cores", str(cores)] if cores else []
    status = running.run([*words, *["--dry-run"] * options.dry_run, *options.more])
    if status:
        print(f"finished tiles are kept in {folder}; the same command goes on")
    elif not options.dry_run:
        print(folder / KERNEL)
    return status


def prepare(options: Namespace) -> Path:
    """Write images, labels, weights and options of a run; return its folder.

    A file whose content stays the same keeps its time, so that finished tiles stay up to date.

    Raises:
        ConfigError: see `run`.
        DataError: see `run`.
    """
    import numpy as np
    import torch

    from finitewidth.data.select import channels_first, scaled
    from finitewidth.kernels.trained import traced_kernel
    from finitewidth.library.tiles import blocks
    from finitewidth.networks.user_network import draw

    user = read_user_network(str(options.network))
    dataset = _dataset(options)
    folder = _folder(options, user, dataset.name)
    splits = ("train", "test") if options.test else ("train",)
    pixels = np.concatenate([getattr(dataset, f"{split}_images") for split in splits])
    labels = np.concatenate([getattr(dataset, f"{split}_labels") for split in splits])
    x = channels_first(scaled(pixels)).astype(np.float64 if options.float64 else np.float32)
    classes = len(dataset.class_names)
    record = {
        "network": str(options.network), "classes": classes, "seed": options.seed,
        "budget": options.budget * 2**20,
        "blocks": [f"{block.start}-{block.stop}" for block in blocks(len(x), options.tile)],
    }  # fmt: skip
    pair, make = torch.from_numpy(x[:2]), user.factory()
    network = draw(lambda: make(x.shape[1:], classes), pair, classes, options.seed)
    # a network without a kernel is refused here, and not in every job
    traced_kernel(network, pair, budget=record["budget"])
    _write(folder / IMAGES, lambda stream: np.save(stream, x))
    _write(folder / LABELS, lambda stream: np.save(stream, labels))
    _write(folder / WEIGHTS, lambda stream: torch.save(network.state_dict(), stream))
    _write(folder / RUN, lambda stream: stream.write(yaml.safe_dump(record).encode()))
    return folder


def _dataset(options: Namespace) -> Any:
    """The images, a `finitewidth.data.store.Dataset`, which do not depend on the seed."""
    from finitewidth.data.build import build_dataset
    from finitewidth.data.select import stratified_subset

    name, settings = options.data, read_yaml(Path("config/config.yaml"))["data"]
    if options.images:
        (name,) = images.names(options.images)
        settings["images"] = str(options.images)
    dataset = build_dataset(name, settings)
    return stratified_subset(dataset, options.train, options.test, ("kernel",))


def _folder(options: Namespace, user: UserNetwork, data: str) -> Path:
    folder = options.output or user.file.with_name(f"{user.file.stem}_{data}_kernel")
    if folder.suffix == ".npy" or folder.is_file():
        raise ConfigError(f"--output {folder}: name a folder; the kernel is {KERNEL} in it")
    if folder.is_dir() and not (folder / RUN).is_file() and any(folder.iterdir()):
        raise ConfigError(f"--output {folder}: this folder has other files; name a new one")
    return folder


def _write(file: Path, save: Callable[[BinaryIO], Any]) -> None:
    content = io.BytesIO()
    save(content)
    if not file.is_file() or file.read_bytes() != content.getvalue():
        with atomic(file) as temporary:
            temporary.write_bytes(content.getvalue())


def _remove_outdated(folder: Path) -> None:
    """Remove a kernel of other images or another network, which would lie beside the new labels."""
    kernel = folder / KERNEL
    changed = max((folder / name).stat().st_mtime for name in (RUN, IMAGES, WEIGHTS))
    if kernel.is_file() and kernel.stat().st_mtime < changed:
        kernel.unlink()
