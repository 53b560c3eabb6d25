"""Read a folder of images, ``train/<class>/*`` and ``test/<class>/*``, as a dataset.

Layout and order are those of torchvision's ImageFolder. Reading with Pillow directly is faster.
"""

from pathlib import Path

import numpy as np

from finitewidth.common.errors import DataError
from finitewidth.data.catalogue import SOURCES
from finitewidth.data.store import Dataset

SUFFIXES = (".bmp", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


def load_imagefolder(name: str, title: str, root: str | Path) -> Dataset:
    """Read all images below ``root``. The classes are the folder names in sorted order.

    Images are ordered by class, then by file name. Their shape is (n, H, W, 1) if all of them are
    grey, otherwise (n, H, W, 3). Hidden files and files that are not images are ignored.

    Args:
        name: of the dataset.
        title: shown in figures.
        root: a folder with ``train`` and ``test``.

    Raises:
        DataError: a folder is missing or empty, the classes of train and test differ, or an image
            is unreadable, has more than 8 bits or a different size. The message names the first
            such file.
    """
    root = Path(root)
    classes = _classes(root / "train")
    if _classes(root / "test") != classes:
        differing = sorted(set(_classes(root / "test")) ^ set(classes))
        raise DataError(f"{root}: train and test have different class folders: {differing}")
    images, labels = {}, {}
    for split in ("train", "test"):
        files = [_pictures(root / split / label) for label in classes]
        images[split] = [_read(file) for group in files for file in group]
        _check_sizes(images[split], images["train"][0], [file for group in files for file in group])
        labels[split] = np.repeat(np.arange(len(classes)), [len(group) for group in files])
    grey = all(image.ndim == 2 for group in images.values() for image in group)
    return Dataset(
        name=name,
        title=title,
        train_images=_stack(images["train"], grey),
        train_labels=labels["train"].astype(np.int64),
        test_images=_stack(images["test"], grey),
        test_labels=labels["test"].astype(np.int64),
        class_names=classes,
        origin=SOURCES[name].origin if name in SOURCES else f"image folder {root.name}",
    )


def _classes(folder: Path) -> tuple[str, ...]:
    try:
        inside = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
        classes = tuple(sorted(entry.name for entry in inside if entry.is_dir()))
    except OSError as error:
        raise DataError(f"{folder} cannot be listed ({error.strerror}); {_REMEDY}") from error
    if not classes:
        raise DataError(f"{folder} has no class folders; {_REMEDY}")
    return classes


_REMEDY = (
    "an image folder contains train/<class>/* and test/<class>/*; set data.root (or "
    "FINITEWIDTH_DATA) and data.imagefolder to its path"
)


def _pictures(folder: Path) -> list[Path]:
    files = sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
    )
    if not files:
        raise DataError(f"{folder} has no images ({', '.join(SUFFIXES)}); {_REMEDY}")
    return files


def _read(file: Path) -> np.ndarray:
    """Return the pixels, uint8: (H, W) of a grey image, (H, W, 3) of any other."""
    from PIL import Image

    try:
        with Image.open(file) as picture:
            mode = picture.mode
            pixels = np.asarray(picture.convert("L" if mode in ("1", "L") else "RGB"))
    except Exception as error:  # Pillow raises many types of exception on damaged files
        raise DataError(f"{file} is not a readable image ({error}); copy it again") from error
    if mode.startswith(("I", "F")):
        raise DataError(f"{file} has more than 8 bits per channel (mode {mode}); convert it to 8")
    return pixels


def _check_sizes(images: list[np.ndarray], first: np.ndarray, files: list[Path]) -> None:
    for image, file in zip(images, files, strict=True):
        if image.shape[:2] != first.shape[:2]:
            raise DataError(
                f"{file} is {image.shape[1]}×{image.shape[0]} pixels, the first image "
                f"{first.shape[1]}×{first.shape[0]}; resize all images to one size"
            )


def _stack(images: list[np.ndarray], grey: bool) -> np.ndarray:
    if grey:
        return np.stack(images)[..., None]
    return np.stack([np.stack([i] * 3, axis=-1) if i.ndim == 2 else i for i in images])
