"""Read a folder of images, ``train/<class>/*`` and ``test/<class>/*``, as a dataset.

torchvision finds the pictures, as for its ImageFolder. Two things differ: pictures are turned as
their EXIF orientation says, and folders inside class folders are refused.
"""

import logging
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from finitewidth.common import torchvision_operators
from finitewidth.common.errors import DataError
from finitewidth.data.catalogue import SOURCES
from finitewidth.data.pictures import Picture, read_picture, shown
from finitewidth.data.places import SUFFIXES
from finitewidth.data.store import Dataset

LOG = logging.getLogger("finitewidth")
FEWEST = {"train": 2, "test": 1}  # pictures of each class
LARGEST_TREE = 8 * 2**30  # bytes of all pixels
_REMEDY = (
    "an image folder contains train/<class>/* and test/<class>/*; name it by --images or "
    "data.images, or below data.root (or FINITEWIDTH_DATA) by data.imagefolder"
)


def load_imagefolder(name: str, title: str, root: str | Path) -> Dataset:
    """Read all images below ``root``. The classes are the folder names in sorted order.

    Images are ordered by class, then by file name. Their shape is (n, H, W, 1) if all of them are
    grey, otherwise (n, H, W, 3). Hidden files, and files whose suffix is not in
    `finitewidth.data.places.SUFFIXES`, are passed over. The log tells how many pictures were
    converted or turned.

    Args:
        name: of the dataset.
        title: shown in figures.
        root: a folder with ``train`` and ``test``.

    Raises:
        DataError: a folder is missing or empty, there is only one class, a class has fewer pictures
            than `FEWEST`, the classes of train and test differ, a name is not UTF-8, a link leads
            out of ``root``, the pixels need more than `LARGEST_TREE` bytes, or an image is refused
            by `finitewidth.data.pictures.read_picture` or has another size than the first. The
            message names the first such file.
    """
    root = Path(root)
    classes, samples = _samples(root, "train")
    of_test, samples_of_test = _samples(root, "test")
    if differing := sorted({*classes} ^ {*of_test}):
        raise DataError(f"{shown(root)}: train and test have different class folders: {differing}")
    if len(classes) == 1:
        raise DataError(f"{shown(root / 'train')} has one class only ({classes[0]}); at least two "
                        "are needed")  # fmt: skip
    pictures = _read_all([file for file, _ in [*samples, *samples_of_test]])
    changes = Counter(change for picture in pictures for change in picture.changes)
    for change, count in sorted(changes.items()):
        LOG.info("%s: %d pictures: %s", name, count, change)
    pixels = [picture.pixels for picture in pictures]
    grey = all(image.ndim == 2 for image in pixels)
    return Dataset(
        name=name,
        title=title,
        train_images=_stack(pixels[: len(samples)], grey),
        train_labels=np.array([label for _, label in samples], dtype=np.int64),
        test_images=_stack(pixels[len(samples) :], grey),
        test_labels=np.array([label for _, label in samples_of_test], dtype=np.int64),
        class_names=classes,
        origin=SOURCES[name].origin if name in SOURCES else f"image folder {root.name}",
    )


def _samples(root: Path, split: str) -> tuple[tuple[str, ...], list[tuple[str, int]]]:
    """The names of the classes, and each picture with its label; what is hidden is left out."""
    torchvision_operators.install()
    from torchvision.datasets.folder import find_classes, make_dataset

    folder = root / split
    _check_folder(root, folder)
    try:
        classes = tuple(name for name in find_classes(folder)[0] if not name.startswith("."))
    except FileNotFoundError:
        raise DataError(f"{shown(folder)} has no class folders; {_REMEDY}") from None
    labels = {name: number for number, name in enumerate(classes)}
    samples = make_dataset(folder, labels, is_valid_file=_is_picture, allow_empty=True)
    counts = Counter(classes[label] for _, label in samples)
    for label in classes:
        if counts[label] < FEWEST[split]:
            raise DataError(f"{shown(folder / label)} has {counts[label]} images "
                            f"({', '.join(SUFFIXES)}); a class needs at least {FEWEST[split]} in "
                            f"{split}; {_REMEDY}")  # fmt: skip
    return classes, samples


def _is_picture(file: str) -> bool:
    path = Path(file)
    return not path.name.startswith(".") and path.suffix.lower() in SUFFIXES


def _check_folder(root: Path, folder: Path) -> None:
    """Refuse what torchvision would follow out of the tree, or pass over without a word."""
    _check_entry(root, folder)
    for place, folders, files in os.walk(folder, onerror=_refuse_unlisted, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        visible = sorted(name for name in files if not name.startswith("."))
        for name in (*folders, *visible):
            _check_entry(root, Path(place, name))
        if folders and Path(place) != folder:
            raise DataError(f"{shown(Path(place, folders[0]))} is a folder inside a class folder; "
                            f"put its pictures into {shown(place)}")  # fmt: skip
        if passed := sum(not _is_picture(name) for name in visible):
            LOG.info("%s: %d files are not pictures by their suffix and are passed over",
                     shown(place), passed)  # fmt: skip


def _refuse_unlisted(error: OSError) -> None:
    raise DataError(
        f"{shown(error.filename)} cannot be listed ({error.strerror}); {_REMEDY}"
    ) from error


def _check_entry(root: Path, path: Path) -> None:
    """Refuse a name that cannot be printed, and a link that leads out, nowhere or in a circle."""
    if shown(path.name) != path.name:
        raise DataError(f"{shown(path)}: the name is not UTF-8, or has characters that cannot be "
                        "printed; rename it")  # fmt: skip
    try:
        inside = not path.is_symlink() or path.resolve(strict=True).is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # RuntimeError: a circle, before Python 3.13
        raise DataError(f"{shown(path)} is a broken link; remove it") from None
    if not inside:
        raise DataError(f"{shown(path)} is a link out of {shown(root)}; copy the pictures there")


def _read_all(files: Sequence[str]) -> list[Picture]:
    """Read the pictures in order; all have the size of the first."""
    pictures: list[Picture] = []
    for file in map(Path, files):
        picture = read_picture(file)
        height, width = picture.pixels.shape[:2]
        first_height, first_width = (pictures or [picture])[0].pixels.shape[:2]
        if not pictures and 3 * height * width * len(files) > LARGEST_TREE:
            raise DataError(f"{len(files):,} pictures of {width}×{height} pixels need more than "
                            f"{LARGEST_TREE:,} bytes; make them smaller or use fewer")  # fmt: skip
        if (height, width) != (first_height, first_width):
            raise DataError(
                f"{shown(file)} is {width}×{height} pixels, the first image "
                f"{first_width}×{first_height}; resize all images to one size"
            )
        pictures.append(picture)
    return pictures


def _stack(images: list[np.ndarray], grey: bool) -> np.ndarray:
    if grey:
        return np.stack(images)[..., None]
    return np.stack([np.stack([i] * 3, axis=-1) if i.ndim == 2 else i for i in images])
