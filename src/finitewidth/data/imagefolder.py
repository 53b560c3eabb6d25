"""Read a folder of images, ``train/<class>/*`` and ``test/<class>/*``, as a dataset.

Layout and order are those of torchvision's ImageFolder. Two things differ: pictures are turned as
their EXIF orientation says, and folders inside class folders are refused.
"""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

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
    classes = _classes(root)
    files = {split: [_pictures(root, split, each) for each in classes] for split in FEWEST}
    pixels = {split: [] for split in FEWEST}
    changes: Counter[str] = Counter()
    for split, picture in _read_all(files):
        pixels[split].append(picture.pixels)
        changes.update(picture.changes)
    for change, count in sorted(changes.items()):
        LOG.info("%s: %d pictures: %s", name, count, change)
    grey = all(image.ndim == 2 for group in pixels.values() for image in group)
    labels = {
        split: np.repeat(np.arange(len(classes), dtype=np.int64), [len(group) for group in groups])
        for split, groups in files.items()
    }
    return Dataset(
        name=name,
        title=title,
        train_images=_stack(pixels["train"], grey),
        train_labels=labels["train"],
        test_images=_stack(pixels["test"], grey),
        test_labels=labels["test"],
        class_names=classes,
        origin=SOURCES[name].origin if name in SOURCES else f"image folder {root.name}",
    )


def _classes(root: Path) -> tuple[str, ...]:
    """The names of the class folders of train, which are those of test, too."""
    found = {split: _class_folders(root, root / split) for split in FEWEST}
    if differing := sorted(set(found["train"]) ^ set(found["test"])):
        raise DataError(f"{shown(root)}: train and test have different class folders: {differing}")
    if len(found["train"]) == 1:
        raise DataError(f"{shown(root / 'train')} has one class only ({found['train'][0]}); at "
                        "least two are needed")  # fmt: skip
    return found["train"]


def _class_folders(root: Path, folder: Path) -> tuple[str, ...]:
    inside = [entry for entry in _listed(root, folder) if os.path.isdir(entry)]
    if not inside:
        raise DataError(f"{shown(folder)} has no class folders; {_REMEDY}")
    return tuple(entry.name for entry in inside)


def _listed(root: Path, folder: Path) -> list[Path]:
    """What a folder contains, in sorted order and without what is hidden."""
    _refuse_outside(root, folder)
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
        for entry in entries:
            entry.lstat()  # not allowed without the right to search the folder
    except OSError as error:
        raise DataError(
            f"{shown(folder)} cannot be listed ({error.strerror}); {_REMEDY}"
        ) from error
    for entry in entries:
        try:
            entry.name.encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"{shown(entry)}: the name is not UTF-8; rename it") from None
        if not entry.name.isprintable():
            raise DataError(f"{shown(entry)}: the name has characters that cannot be printed; "
                            "rename it")  # fmt: skip
        _refuse_outside(root, entry)
    return entries


def _refuse_outside(root: Path, path: Path) -> None:
    """Refuse a link that leads out of the tree, and one that leads nowhere or in a circle."""
    if not path.is_symlink():
        return
    try:
        inside = path.resolve(strict=True).is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # RuntimeError: a circle, before Python 3.13
        raise DataError(f"{shown(path)} is a broken link; remove it") from None
    if not inside:
        raise DataError(f"{shown(path)} is a link out of {shown(root)}; copy the pictures there")


def _pictures(root: Path, split: str, label: str) -> list[Path]:
    folder = root / split / label
    entries = _listed(root, folder)
    files = [entry for entry in entries if entry.suffix.lower() in SUFFIXES]
    if below := [entry for entry in entries
                 if entry.suffix.lower() not in SUFFIXES and os.path.isdir(entry)]:  # fmt: skip
        raise DataError(f"{shown(below[0])} is a folder inside a class folder; put its pictures "
                        f"into {shown(folder)}")  # fmt: skip
    if not files:
        raise DataError(f"{shown(folder)} has no images ({', '.join(SUFFIXES)}); {_REMEDY}")
    if len(files) < FEWEST[split]:
        raise DataError(f"{shown(folder)} has {len(files)} image; a class needs at least "
                        f"{FEWEST[split]} in {split}")  # fmt: skip
    if passed := len(entries) - len(files):
        LOG.info("%s: %d files are not pictures by their suffix and are passed over",
                 shown(folder), passed)  # fmt: skip
    return files


def _read_all(files: dict[str, list[list[Path]]]) -> Iterator[tuple[str, Picture]]:
    """Read the pictures in order; all have the size of the first."""
    count = sum(len(group) for groups in files.values() for group in groups)
    size: Sequence[int] | None = None
    for split, groups in files.items():
        for file in (file for group in groups for file in group):
            picture = read_picture(file)
            height, width = picture.pixels.shape[:2]
            if size is None:
                size = height, width
                if 3 * height * width * count > LARGEST_TREE:
                    raise DataError(
                        f"{count:,} pictures of {width}×{height} pixels need more than "
                        f"{LARGEST_TREE:,} bytes; make them smaller or use fewer"
                    )
            if (height, width) != size:
                raise DataError(
                    f"{shown(file)} is {width}×{height} pixels, the first image "
                    f"{size[1]}×{size[0]}; resize all images to one size"
                )
            yield split, picture


def _stack(images: list[np.ndarray], grey: bool) -> np.ndarray:
    if grey:
        return np.stack(images)[..., None]
    return np.stack([np.stack([i] * 3, axis=-1) if i.ndim == 2 else i for i in images])
