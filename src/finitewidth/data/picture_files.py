"""The picture files of a folder of images, found and checked without opening any of them.

A pipe or a device among the pictures would keep whoever opens it waiting, and a file may be larger
than any picture. Planning a run and reading a dataset therefore both take the files from here.

This module imports only the standard library, because the workflow imports it at every start.
"""

import os
import stat
from pathlib import Path

from finitewidth.common.errors import DataError

SUFFIXES = (
    ".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
LARGEST_FILE = 64 * 2**20  # bytes; a picture of 1024 × 1024 pixels has 4 MiB uncompressed


def picture_files(split: Path) -> dict[str, list[Path]]:
    """Return the pictures ``split/<class>/*`` of each class, both in sorted order.

    Hidden entries, and files whose suffix is not in `SUFFIXES`, are passed over. A folder that does
    not exist has no classes.

    Raises:
        DataError: a folder cannot be listed, or contains a broken link or a folder inside a class;
            or a picture is no regular file or larger than `LARGEST_FILE`. The message names the
            first such entry and the remedy.
    """
    classes = {}
    for entry in _listed(split):
        if stat.S_ISDIR(_state_of(entry).st_mode):
            classes[entry.name] = _pictures_of(entry)
    return classes


def _pictures_of(folder: Path) -> list[Path]:
    pictures = []
    for entry in _listed(folder):
        if os.path.isdir(entry):
            raise DataError(
                f"{entry} is a folder inside a class folder; put its pictures into {folder}"
            )
        if entry.suffix.lower() in SUFFIXES:
            _check(entry)
            pictures.append(entry)
    return pictures


def _listed(folder: Path) -> list[Path]:
    """The entries of a folder by name, without the hidden ones."""
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise DataError(
            f"{folder} cannot be listed ({error.strerror}); change its owner or mode"
        ) from error
    return [folder / name for name in names if not name.startswith(".")]


def _check(picture: Path) -> None:
    found = _state_of(picture)
    if not stat.S_ISREG(found.st_mode):
        raise DataError(f"{picture} is {_kind(found.st_mode)} and no picture; remove it")
    if found.st_size > LARGEST_FILE:
        raise DataError(
            f"{picture} has {found.st_size:,} bytes, a picture has at most {LARGEST_FILE:,}; "
            "make it smaller or remove it"
        )


def _state_of(entry: Path) -> os.stat_result:
    try:
        return entry.stat()
    except OSError as error:
        if os.path.islink(entry):
            raise DataError(
                f"{entry} is a broken link ({error.strerror}); put its target there or remove it"
            ) from error
        raise DataError(
            f"{entry} cannot be read ({error.strerror}); change the owner or mode of its folder"
        ) from error


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
