"""Read a folder of images, ``train/<class>/*`` and ``test/<class>/*``, as a dataset.

Layout and order are those of torchvision's ImageFolder. Two things differ: pictures are turned as
their EXIF orientation says, and folders inside class folders are refused. Files of a user may be
damaged or huge: the content decides the format, and sizes are checked before pixels are decoded.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from finitewidth.common.errors import DataError
from finitewidth.data.catalogue import SOURCES
from finitewidth.data.picture_files import SUFFIXES, picture_files
from finitewidth.data.store import Dataset

if TYPE_CHECKING:
    pass

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "WEBP", "TIFF")  # as Pillow names them
GREY = ("1", "L", "LA", "La")
COLOUR = ("RGB", "RGBA", "RGBa", "RGBX", "P", "PA", "CMYK", "YCbCr")
LARGEST_PIXELS = 1024 * 1024  # per picture
BITS_PER_SAMPLE = 258  # tag of TIFF
FEWEST = {"train": 2, "test": 1}  # pictures of each class
_REMEDY = (
    "an image folder contains train/<class>/* and test/<class>/*; name it by --images or "
    "data.images, or below data.root (or FINITEWIDTH_DATA) by data.imagefolder"
)


def load_imagefolder(name: str, title: str, root: str | Path) -> Dataset:
    """Read all images below ``root``. The classes are the folder names in sorted order.

    Images are ordered by class, then by file name. Their shape is (n, H, W, 1) if all of them are
    grey, otherwise (n, H, W, 3).

    Raises:
        DataError: a folder is missing or empty, there is only one class, a class has fewer pictures
            than `FEWEST`, the classes of train and test differ, an entry is refused by
            `finitewidth.data.picture_files.picture_files`, or a picture is a link out of ``root``,
            is refused by `read_picture` or has another size than the first. The message names the
            first such file.
    """
    root = Path(root)
    train = _pictures(root / "train")
    test = _pictures(root / "test")
    if differing := sorted(train.keys() ^ test.keys()):
        raise DataError(f"{root}: train and test have different class folders: {differing}")
    classes = tuple(train)
    if len(classes) == 1:
        raise DataError(
            f"{root / 'train'} has one class only ({classes[0]}); at least two are needed"
        )
    train_files, train_labels = _labelled(train)
    test_files, test_labels = _labelled(test)
    files = train_files + test_files
    for file in files:
        if not file.resolve().is_relative_to(root.resolve()):
            raise DataError(f"{file} is a link out of {root}; copy the pictures there")
    images = _read_alike(files)
    return Dataset(
        name=name,
        title=title,
        train_images=images[: len(train_files)],
        train_labels=train_labels,
        test_images=images[len(train_files) :],
        test_labels=test_labels,
        class_names=classes,
        origin=SOURCES[name].origin if name in SOURCES else f"image folder {root.name}",
    )


def _read_alike(files: list[Path]) -> np.ndarray:
    """Read pictures of one size, (n, H, W, C); C is 1 if all are grey, and 3 otherwise."""
    pictures = [read_picture(file) for file in files]
    first = pictures[0]
    for file, picture in zip(files, pictures, strict=True):
        if picture.shape[:2] != first.shape[:2]:
            raise DataError(
                f"{file} is {_size(picture)} pixels, the first image {_size(first)}; "
                "resize all images to one size"
            )
    if all(picture.ndim == 2 for picture in pictures):
        return np.stack(pictures)[..., None]
    return np.stack([_as_colour(picture) for picture in pictures])


def _size(picture: np.ndarray) -> str:
    """Return width and height, such as 32×24."""
    height, width = picture.shape[:2]
    return f"{width}×{height}"


def _as_colour(picture: np.ndarray) -> np.ndarray:
    """Return a picture as (H, W, 3); a grey one has three equal channels."""
    return np.stack([picture] * 3, axis=-1) if picture.ndim == 2 else picture


def _pictures(split: Path) -> dict[str, list[Path]]:
    """Return the pictures of each class; refuse a class that has too few."""
    classes = {}
    fewest = FEWEST[split.name]
    for label, names in picture_files(split).items():
        if len(names) < fewest:
            raise DataError(
                f"{split / label} has {len(names)} images ({', '.join(SUFFIXES)}); a class needs "
                f"at least {fewest} in {split.name}; {_REMEDY}"
            )
        classes[label] = [split / label / name for name in names]
    if not classes:
        raise DataError(f"{split} has no class folders; {_REMEDY}")
    return classes


def _labelled(classes: Mapping[str, list[Path]]) -> tuple[list[Path], np.ndarray]:
    """Return the pictures of all classes, and their labels, int64 (n,)."""
    files: list[Path] = []
    labels: list[int] = []
    for label, pictures in enumerate(classes.values()):
        files += pictures
        labels += [label] * len(pictures)
    return files, np.array(labels, dtype=np.int64)


def read_picture(file: Path) -> np.ndarray:
    """Read a picture in one of the formats `FORMATS`, whatever its name.

    A picture with an EXIF orientation is turned as the orientation says. Palette, CMYK and YCbCr
    pictures become RGB, and an alpha channel is left out. Returns uint8, (H, W) of a grey picture,
    (H, W, 3) of any other.

    Raises:
        DataError: the file cannot be read, its format is another, or it has more than
            `LARGEST_PIXELS` pixels, several frames, or more than 8 bits per channel. The message
            names the file and the remedy.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(file, formats=FORMATS) as picture:
            width, height = picture.size
            # an MPO file is a JPEG picture with previews or a second view behind it
            animated = picture.format != "MPO" and getattr(picture, "is_animated", False)
            if width * height > LARGEST_PIXELS:
                problem = f"has {width}×{height} pixels; make it at most {LARGEST_PIXELS:,}"
            elif animated:  # its frames are not counted: there may be millions
                problem = "has several frames; save one of them as a picture"
            elif picture.mode not in GREY + COLOUR or _deep(picture):
                problem = "has more than 8 bits per channel; convert it to 8-bit grey or RGB"
            else:
                picture.load()
                # Pillow itself turns TIFF files when it loads them
                upright = picture if picture.format == "TIFF" else ImageOps.exif_transpose(picture)
                mode = "L" if picture.mode in GREY else "RGB"
                return np.asarray(upright.convert(mode))
    except Exception as error:  # Pillow raises many types of exception on damaged files
        reason = " ".join(str(error).split())
        raise DataError(
            f"{file} is not a readable image ({reason}); the formats are {', '.join(FORMATS)}; "
            "copy it again or convert it"
        ) from error
    raise DataError(f"{file} {problem}")


def _deep(picture: Any) -> bool:
    """Tell whether a file has more than 8 bits per channel; Pillow would keep the upper 8."""
    if picture.format == "TIFF":
        bits = picture.tag_v2.get(BITS_PER_SAMPLE, (1,))
        return max(bits) > 8
    layout = picture.tile[0][3] if picture.tile else ""  # such as RGB;16B
    if picture.format == "PPM" and isinstance(layout, tuple):
        return layout[1] > 255  # the largest value of a channel
    return picture.format == "PNG" and layout.endswith(";16B")
