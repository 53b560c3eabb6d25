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
    ".bmp",
    ".gif",
    ".jpeg",
    ".jpg",
    ".pgm",
    ".png",
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
)
LARGEST_FILE = 64 * 2**20  # bytes; a picture of 1024 × 1024 pixels has 4 MiB uncompressed


def picture_files(split: Path) -> dict[str, list[str]]:
    """Return the names of the pictures ``split/<class>/*`` of each class, both in sorted order.

    Hidden entries, and files whose suffix is not in `SUFFIXES`, are left out. A folder that does
    not exist has no classes.

    Raises:
        DataError: a folder cannot be listed, or contains a broken link or a folder inside a class;
            or a picture is no regular file or larger than `LARGEST_FILE`. The message names the
            first such entry and the remedy.
    """
    classes = {}
    for name in _listed(split):
        entry = os.path.join(split, name)
        if stat.S_ISDIR(_state_of(entry).st_mode):
            classes[name] = _pictures_of(entry)
    return classes


def _pictures_of(folder: str) -> list[str]:
    """Return the names of the pictures of one class."""
    pictures = []
    for name in _listed(folder):
        entry = os.path.join(folder, name)
        if name.lower().endswith(SUFFIXES):
            _check(entry)
            pictures.append(name)
        elif os.path.isdir(entry):
            raise _nested(entry)
    return pictures


def _listed(folder: str | Path) -> list[str]:
    """Return the sorted names of the entries of a folder that are not hidden."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise DataError(
            f"{folder} cannot be listed ({error.strerror}); change its owner or mode"
        ) from error
    return sorted(name for name in names if not name.startswith("."))


def _check(picture: str) -> None:
    """Refuse a picture that is no regular file or too large."""
    state = _state_of(picture)
    if stat.S_ISDIR(state.st_mode):
        raise _nested(picture)
    if not stat.S_ISREG(state.st_mode):
        raise DataError(f"{picture} is {_kind(state.st_mode)} and no picture; remove it")
    if state.st_size > LARGEST_FILE:
        raise DataError(
            f"{picture} has {state.st_size:,} bytes, a picture has at most {LARGEST_FILE:,}; "
            "make it smaller or remove it"
        )


def _state_of(entry: str) -> os.stat_result:
    """Return the state of an entry, of its target if it is a link."""
    try:
        return os.stat(entry)
    except OSError as error:
        if os.path.islink(entry):
            raise DataError(
                f"{entry} is a broken link ({error.strerror}); put its target there or remove it"
            ) from error
        raise DataError(
            f"{entry} cannot be read ({error.strerror}); change the owner or mode of its folder"
        ) from error


def _nested(folder: str) -> DataError:
    return DataError(
        f"{folder} is a folder inside a class folder; put its pictures into "
        f"{os.path.dirname(folder)}"
    )


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
