"""Read a folder of images, ``train/<class>/*`` and ``test/<class>/*``, as a dataset.

torchvision finds the pictures, as for its ImageFolder. Two things differ: pictures are turned as
their EXIF orientation says, and folders inside class folders are refused. Files of a user may be
damaged or huge: the content decides the format, and sizes are checked before pixels are decoded.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from finitewidth.common import torchvision_operators
from finitewidth.common.errors import DataError
from finitewidth.data.catalogue import SOURCES
from finitewidth.data.places import SUFFIXES
from finitewidth.data.store import Dataset

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "WEBP", "TIFF")  # as Pillow names them
GREY = ("1", "L", "LA", "La")
COLOUR = ("RGB", "RGBA", "RGBa", "RGBX", "P", "PA", "CMYK", "YCbCr")
LARGEST_PIXELS = 1024 * 1024  # per picture
FEWEST = {"train": 2, "test": 1}  # pictures of each class
_REMEDY = (
    "an image folder contains train/<class>/* and test/<class>/*; name it by --images or "
    "data.images, or below data.root (or FINITEWIDTH_DATA) by data.imagefolder"
)


def load_imagefolder(name: str, title: str, root: str | Path) -> Dataset:
    """Read all images below ``root``. The classes are the folder names in sorted order.

    Images are ordered by class, then by file name. Their shape is (n, H, W, 1) if all of them are
    grey, otherwise (n, H, W, 3). Hidden files, and files whose suffix is not in
    `finitewidth.data.places.SUFFIXES`, are passed over.

    Raises:
        DataError: a folder is missing or empty, there is only one class, a class has fewer pictures
            than `FEWEST`, the classes of train and test differ, a picture is a link out of
            ``root``, is refused by `read_picture` or has another size than the first. The message
            names the first such file.
    """
    root = Path(root)
    classes, samples = _samples(root / "train")
    of_test, samples_of_test = _samples(root / "test")
    if differing := sorted({*classes} ^ {*of_test}):
        raise DataError(f"{root}: train and test have different class folders: {differing}")
    if len(classes) == 1:
        raise DataError(f"{root / 'train'} has one class only ({classes[0]}); at least two are "
                        "needed")  # fmt: skip
    files = [Path(file) for file, _ in (*samples, *samples_of_test)]
    for file in files:
        if not file.resolve().is_relative_to(root.resolve()):
            raise DataError(f"{file} is a link out of {root}; copy the pictures there")
    pixels = [read_picture(file) for file in files]
    for file, image in zip(files, pixels, strict=True):
        size, first = ("{1}×{0}".format(*each.shape) for each in (image, pixels[0]))
        if size != first:
            raise DataError(f"{file} is {size} pixels, the first image {first}; resize all images "
                            "to one size")  # fmt: skip
    if any(image.ndim == 3 for image in pixels):
        pixels = [np.stack([i] * 3, axis=-1) if i.ndim == 2 else i for i in pixels]
    else:
        pixels = [image[..., None] for image in pixels]
    return Dataset(
        name=name,
        title=title,
        train_images=np.stack(pixels[: len(samples)]),
        train_labels=np.array([label for _, label in samples], dtype=np.int64),
        test_images=np.stack(pixels[len(samples) :]),
        test_labels=np.array([label for _, label in samples_of_test], dtype=np.int64),
        class_names=classes,
        origin=SOURCES[name].origin if name in SOURCES else f"image folder {root.name}",
    )


def _samples(folder: Path) -> tuple[tuple[str, ...], list[tuple[str, int]]]:
    """The names of the classes, and each picture with its label; what is hidden is left out."""
    torchvision_operators.install()
    from torchvision.datasets.folder import find_classes, make_dataset

    try:
        classes = tuple(name for name in find_classes(folder)[0] if not name.startswith("."))
    except OSError:
        raise DataError(f"{folder} has no class folders; {_REMEDY}") from None
    for name in classes:
        if inner := [entry.name for entry in sorted((folder / name).iterdir()) if entry.is_dir()]:
            raise DataError(f"{folder / name / inner[0]} is a folder inside a class folder; put "
                            f"its pictures into {folder / name}")  # fmt: skip
    labels = {name: number for number, name in enumerate(classes)}
    samples = make_dataset(
        folder, labels, allow_empty=True,
        is_valid_file=lambda file: not Path(file).name.startswith(".")
        and Path(file).suffix.lower() in SUFFIXES,
    )  # fmt: skip
    counts, fewest = Counter(classes[label] for _, label in samples), FEWEST[folder.name]
    for name in classes:
        if counts[name] < fewest:
            raise DataError(f"{folder / name} has {counts[name]} images ({', '.join(SUFFIXES)}); a "
                            f"class needs at least {fewest} in {folder.name}; "
                            f"{_REMEDY}")  # fmt: skip
    return classes, samples


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
            frames = 1 if picture.format == "MPO" else getattr(picture, "n_frames", 1)
            if width * height > LARGEST_PIXELS:
                problem = f"has {width}×{height} pixels; make it at most {LARGEST_PIXELS:,}"
            elif frames > 1:
                problem = f"has {frames} frames; save one of them as a picture"
            elif picture.mode not in GREY + COLOUR:
                problem = "has more than 8 bits per channel; convert it to 8-bit grey or RGB"
            else:
                picture.load()
                # Pillow itself turns TIFF files when it loads them
                upright = picture if picture.format == "TIFF" else ImageOps.exif_transpose(picture)
                return np.asarray(upright.convert("L" if picture.mode in GREY else "RGB"))
    except Exception as error:  # Pillow raises many types of exception on damaged files
        reason = " ".join(str(error).split())
        raise DataError(
            f"{file} is not a readable image ({reason}); the formats are {', '.join(FORMATS)}; "
            "copy it again or convert it"
        ) from error
    raise DataError(f"{file} {problem}")
