"""``finitewidth kernel``: the tangent kernel of many images, in tiles, each a job of Snakemake."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from cyclopts import Parameter

from finitewidth.cli import running
from finitewidth.cli.network import dataset_of, folder_beside
from finitewidth.cli.options import Cores, Data, DryRun, File, ImageFolder, More, Seed, Whole
from finitewidth.cli.outputs import try_folder
from finitewidth.common.errors import ConfigError
from finitewidth.common.machine import usable_cores
from finitewidth.library.tile_files import KERNEL, named
from finitewidth.networks.user_network import UserNetwork, read_user_network
from finitewidth.settings.yaml_files import read_yaml

if TYPE_CHECKING:
    import numpy as np

RUN = "run.yaml"


@Parameter(name="*")
@dataclass(frozen=True)
class Kernel:
    """What is computed, and where.

    Attributes:
        images: images of your own, {train,test}/<class>/*
        data: a dataset, such as mnist or digits
        train: number of training images, with the class shares of all (default: all)
        test: number of test images, which follow the training images (default: none)
        seed: seed of the random weights
        float64: compute in float64, not float32
        tile: number of images in a block
        budget: MiB of memory for temporary arrays of a tile
        output: the folder to write (default: <network>_<images>_kernel, beside the network)
    """

    images: ImageFolder = None
    data: Data | None = None
    train: Whole | None = None
    test: Whole | None = None
    seed: Seed = 0
    float64: bool = False
    tile: Whole = 250
    budget: Whole = 1536
    output: File | None = None


def kernel(
    network: File,
    /,
    *,
    options: Kernel = Kernel(),
    cores: Cores | None = None,
    profile: str | None = None,
    dry_run: DryRun = False,
    more: More = (),
) -> int:
    """The tangent kernel of a network of your own, in tiles, as a file.

    What follows -- is passed on to Snakemake.

    Example: finitewidth kernel my_net.py:make --data mnist --train 1000 --cores 2

    Args:
        network: my_net.py:function, which takes (input_shape, classes) and returns a torch module
        cores: number of tiles at the same time, or all (default: all cores that may be used)
        profile: profile of Snakemake, such as profiles/slurm for a cluster
        dry_run: show what would be done
    """
    folder = prepare(network, options)
    if not dry_run:
        _remove_outdated(folder)
    words = ["snakemake", "--snakefile", "workflow/kernel/Snakefile", "--directory", str(folder)]
    words += ["--workflow-profile", "none", "--rerun-incomplete", "--show-failed-logs"]
    words += ["--quiet", "rules", "host"]
    # a lock stays after a kill; tiles are written atomically, and all alike
    words.append("--nolock")
    if profile:
        words += ["--profile", profile]
    if cores or not profile:
        words += ["--cores", str(cores or usable_cores())]
    if dry_run:
        words.append("--dry-run")
    status = running.call([*words, *more])
    if status:
        print(f"Finished tiles are kept in {folder}. Run the same command again to go on.")
    elif not dry_run:
        print(folder / KERNEL)
    return status


def prepare(network: Path, options: Kernel) -> Path:
    """Write images, labels, weights and options of a run; return its folder.

    A file whose content stays the same keeps its time, so that finished tiles stay up to date.

    Raises:
        ConfigError: no images are named, the folder cannot be used, or the network is refused.
    """
    import torch

    from finitewidth.kernels.trained import traced_kernel
    from finitewidth.library.tiles import budget_in_mib, checked_blocks
    from finitewidth.networks.user_network import draw

    user = read_user_network(str(network))
    if not (options.images or options.data):
        raise ConfigError("name the images: --images FOLDER or --data NAME")
    folder = _folder(options, user)
    x, labels, classes = _images_of(options)
    budget = options.budget * 2**20  # bytes
    record = {
        "network": str(network),
        "classes": classes,
        "seed": options.seed,
        "budget": budget,
        "blocks": [named(block) for block in checked_blocks(len(x), options.tile)],
    }
    make = user.factory()
    shape = x.shape[1:]
    pair = torch.from_numpy(x[:2])
    module = draw(lambda: make(shape, classes), pair, classes, options.seed)
    # a network without a kernel is refused here, and not in every job
    with budget_in_mib():
        traced_kernel(module, pair, budget=budget)
    weights = io.BytesIO()
    torch.save(module.state_dict(), weights)
    _write_if_changed(folder / "images.npy", _npy(x))
    _write_if_changed(folder / "labels.npy", _npy(labels))
    _write_if_changed(folder / "weights.pt", weights.getvalue())
    _write_if_changed(folder / RUN, yaml.safe_dump(record).encode())
    return folder


def _images_of(options: Kernel) -> "tuple[np.ndarray, np.ndarray, int]":
    """Return inputs (N, C, H, W), labels (N,) and the number of classes.

    The training images come first, then the test images.
    """
    import numpy as np

    from finitewidth.data.select import channels_first, scaled, stratified_subset

    settings = read_yaml(Path("config/config.yaml"))["data"]
    dataset = dataset_of(options.images, options.data, settings)
    dataset = stratified_subset(dataset, options.train, options.test, ("kernel",))
    pixels = [dataset.train_images]
    labels = [dataset.train_labels]
    if options.test:
        pixels.append(dataset.test_images)
        labels.append(dataset.test_labels)
    x = channels_first(scaled(np.concatenate(pixels)))
    x = x.astype(np.float64 if options.float64 else np.float32)
    return x, np.concatenate(labels), len(dataset.class_names)


def _npy(array: "np.ndarray") -> bytes:
    """The content of the NumPy file of an array."""
    import numpy as np

    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _write_if_changed(file: Path, content: bytes) -> None:
    """Write a file; one that has this content already keeps its time."""
    from finitewidth.records.result_files import atomic

    if file.is_file() and file.read_bytes() == content:
        return
    with atomic(file) as temporary:
        temporary.write_bytes(content)


def _folder(options: Kernel, user: UserNetwork) -> Path:
    """The folder to write; refuse one that has other files or cannot be written."""
    folder = options.output or folder_beside(user, options.images, options.data, "kernel")
    if folder.suffix == ".npy" or folder.is_file():
        raise ConfigError(f"--output {folder}: name a folder; the kernel is {KERNEL} in it")
    if folder.is_dir() and not (folder / RUN).is_file() and any(folder.iterdir()):
        raise ConfigError(f"--output {folder}: this folder has other files; name a new one")
    try_folder(folder, "--output")
    return folder


def _remove_outdated(folder: Path) -> None:
    """Remove a kernel of other images or another network, which would lie beside new labels."""
    kernel = folder / KERNEL
    changed = max((folder / name).stat().st_mtime for name in (RUN, "images.npy", "weights.pt"))
    if kernel.is_file() and kernel.stat().st_mtime < changed:
        kernel.unlink()
