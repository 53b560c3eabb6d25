"""Read one picture of an image folder safely.

The files of a user may be damaged, huge or something else than their names say. The content decides
the format, only the formats in `FORMATS` are tried, and sizes are checked before pixels are
decoded.
"""

import os
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from finitewidth.common.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "WEBP", "TIFF")  # as Pillow names them
LARGEST_PIXELS = 1024 * 1024  # per picture
LARGEST_FILE = 64 * 2**20  # bytes
GREY, COLOUR = ("1", "L", "LA", "La"), ("RGB", "RGBA", "RGBa", "RGBX", "P", "PA", "CMYK", "YCbCr")
PNG_DEPTH = 24  # offset of the bit depth in a PNG file
TIFF_BITS, TIFF_ORIENTATION = 258, 274
ROTATED = range(2, 9)  # values of the EXIF orientation that turn or mirror


@dataclass(frozen=True, eq=False)
class Picture:
    """The pixels of one picture.

    Attributes:
        pixels: uint8, (H, W) of a grey picture, (H, W, 3) of any other.
        changes: what was done to the content of the file, such as ``palette colours read as RGB``.
    """

    pixels: np.ndarray
    changes: tuple[str, ...]


def shown(path: str | Path) -> str:
    """Return a path as printable text; other characters and bytes are escaped."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return text if text.isprintable() else ascii(text)


def read_picture(file: Path) -> Picture:
    """Read a picture in one of the formats `FORMATS`, whatever its name.

    A picture with an EXIF orientation is turned as the orientation says. Palette, CMYK and YCbCr
    pictures become RGB, and an alpha channel is left out.

    Args:
        file: a regular file, or a link to one.

    Raises:
        DataError: the file is no regular file or cannot be read, it is larger than `LARGEST_FILE`
            or has more than `LARGEST_PIXELS` pixels, its format is another, or it has several
            frames or more than 8 bits per channel. The message names the file and the remedy.
    """
    with _opened(file) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow, on sizes that are checked here
        return _decoded(file, stream)


def _opened(file: Path) -> BinaryIO:
    """Open a regular file; never wait for the other end of a pipe, and never open a device."""
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise DataError(f"{shown(file)} is {_kind(mode)}, not a picture; move it elsewhere")
        stream = os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise DataError(f"{shown(file)} cannot be read ({error.strerror}); copy it again, or check "
                        "its owner and mode") from error  # fmt: skip
    found = os.fstat(stream.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
        stream.close()
        raise DataError(f"{shown(file)} has {found.st_size:,} bytes; a picture may have at most "
                        f"{LARGEST_FILE:,}; make it smaller")  # fmt: skip
    return stream


def _kind(mode: int) -> str:
    names = {
        stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket",
        stat.S_ISCHR: "a device", stat.S_ISBLK: "a device",
    }  # fmt: skip
    return next((name for test, name in names.items() if test(mode)), "no regular file")


def _decoded(file: Path, stream: BinaryIO) -> Picture:
    from PIL import Image, ImageOps

    try:
        with Image.open(stream, formats=FORMATS) as picture:
            _check_header(file, picture, stream)
            turned = picture.getexif().get(TIFF_ORIENTATION) in ROTATED
            picture.load()
            # Pillow itself turns TIFF files when it loads them
            upright = picture if picture.format == "TIFF" else ImageOps.exif_transpose(picture)
            pixels = np.asarray(upright.convert("L" if picture.mode in GREY else "RGB"))
            changes = (*_changes(picture.mode, picture.info),
                       *(["turned by its EXIF orientation"] if turned else []))  # fmt: skip
    except DataError:
        raise
    except Image.DecompressionBombError:
        raise DataError(_too_large(file, "far more")) from None
    except Exception as error:  # Pillow raises many types of exception on damaged files
        reason = " ".join(str(error).split()).replace(repr(stream), "its content")
        raise DataError(
            f"{shown(file)} is not a readable image ({reason}); the formats are PNG, JPEG, BMP, "
            "GIF, PPM, PGM, WebP and TIFF; copy it again or convert it"
        ) from error
    return Picture(pixels, changes)


def _check_header(file: Path, picture: "Image", stream: BinaryIO) -> None:
    """Refuse a picture by its header, before its pixels are decoded."""
    width, height = picture.size
    if width * height > LARGEST_PIXELS:
        raise DataError(_too_large(file, f"{width}×{height}"))
    # an MPO file is a JPEG picture with previews or a second view behind it
    if picture.format != "MPO" and (frames := getattr(picture, "n_frames", 1)) > 1:
        raise DataError(f"{shown(file)} has {frames} frames; save one of them as a picture")
    deep = _more_than_8_bits(picture, stream)
    if deep or picture.mode not in GREY + COLOUR:
        raise DataError(f"{shown(file)} has more than 8 bits per channel, or unusual channels "
                        f"(mode {picture.mode}); convert it to 8-bit grey or RGB")  # fmt: skip


def _too_large(file: Path, size: str) -> str:
    return (f"{shown(file)} has {size} pixels; a picture may have at most {LARGEST_PIXELS:,} "
            "(1024×1024); make all pictures smaller")  # fmt: skip


def _more_than_8_bits(picture: "Image", stream: BinaryIO) -> bool:
    """Whether the file has deeper channels, which Pillow would reduce without a word."""
    if picture.format == "TIFF":
        return max(picture.tag_v2.get(TIFF_BITS, (1,))) > 8
    if picture.format == "PPM":
        # the arguments of the decoder end with the largest value, where it is not 255
        last = picture.tile[0].args if picture.tile else None
        return isinstance(last, tuple) and isinstance(last[-1], int) and last[-1] > 255
    if picture.format == "PNG":
        place = stream.tell()
        stream.seek(PNG_DEPTH)
        depth = stream.read(1)
        stream.seek(place)
        return depth > b"\x08"
    return False


def _changes(mode: str, info: dict) -> tuple[str, ...]:
    found = []
    if mode in ("P", "PA"):
        found.append("palette colours read as RGB")
    if mode in ("CMYK", "YCbCr"):
        found.append(f"{mode} colours converted to RGB")
    if mode in ("LA", "La", "RGBA", "RGBa", "PA") or "transparency" in info:
        found.append("alpha channel left out")
    return tuple(found)
