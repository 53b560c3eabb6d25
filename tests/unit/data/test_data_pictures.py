"""Every kind of file that a user may put among pictures: read, or refused with a message."""

import io
import os
import socket
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from finitewidth.common.errors import DataError
from finitewidth.data import pictures
from finitewidth.data.pictures import read_picture, shown

COLOUR = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
GREY = COLOUR[..., 0]


def saved(path, pixels=COLOUR, form=None, **options):
    Image.fromarray(pixels).save(path, form, **options)
    return path


def refused(path, words):
    with pytest.raises(DataError, match=words) as caught:
        read_picture(path)
    assert shown(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "form", "options"),
    [
        ("png", "PNG", {}), ("bmp", "BMP", {}), ("ppm", "PPM", {}),
        ("webp", "WEBP", {"lossless": True}), ("tif", "TIFF", {}),
        ("tiff", "TIFF", {"compression": "tiff_lzw"}),
    ],
)  # fmt: skip
def test_formats_without_loss(tmp_path, suffix, form, options):
    found = read_picture(saved(tmp_path / f"a.{suffix}", form=form, **options))
    np.testing.assert_array_equal(found.pixels, COLOUR)
    assert found.changes == ()


def test_jpeg_and_grey_formats(tmp_path):
    flat = np.full((8, 8, 3), (200, 100, 50), np.uint8)
    found = read_picture(saved(tmp_path / "a.jpg", flat, quality=95)).pixels
    assert np.abs(found.astype(int) - flat).max() <= 4
    for name in ("a.png", "a.pgm", "a.bmp", "a.tif"):
        np.testing.assert_array_equal(read_picture(saved(tmp_path / name, GREY)).pixels, GREY)
    black = Image.fromarray(GREY > 127)
    black.save(tmp_path / "1.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "1.png").pixels, 255 * (GREY > 127))


def test_the_content_decides_and_not_the_name(tmp_path):
    saved(tmp_path / "a.jpg", form="PNG")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.jpg").pixels, COLOUR)


def test_postscript_never_starts_an_interpreter(tmp_path, monkeypatch):
    from PIL import EpsImagePlugin

    Image.fromarray(COLOUR).save(tmp_path / "a.png", "EPS")
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("started"))
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("started"))
    refused(tmp_path / "a.png", "not a readable image .*the formats are PNG, JPEG")


@pytest.mark.parametrize("form", ["PDF", "ICO", "TGA", "PCX", "JPEG2000", "AVIF"])
def test_other_formats_are_refused_whatever_their_name(tmp_path, form):
    try:
        saved(tmp_path / "a.png", form=form)
    except (OSError, KeyError):
        pytest.skip(f"Pillow was built without {form}")
    refused(tmp_path / "a.png", "not a readable image")


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "folder"])
def test_what_is_no_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "a.png"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        short = tmp_path.parent / "s"
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(os.path.relpath(short))
        short.rename(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    words = {"pipe": "a named pipe", "socket": "a socket", "device": "a device",
             "folder": "a folder"}  # fmt: skip
    refused(path, f"is {words[kind]}, not a picture")


def test_a_file_that_turns_into_a_pipe_is_refused(tmp_path, monkeypatch):
    path, real = saved(tmp_path / "a.png"), os.open

    def swapped(file, flags):
        path.unlink()
        os.mkfifo(path)
        return real(file, flags)

    monkeypatch.setattr(pictures.os, "open", swapped)
    refused(path, "may have at most|not a picture")


def header_only(width, height):
    """A PNG whose header promises a picture and whose pixels are missing."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 100)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels)


@pytest.mark.parametrize(
    ("width", "height", "words"),
    [
        (1025, 1024, "has 1025×1024 pixels; a picture may have at most 1,048,576"),
        (13_000, 13_000, "has 13000×13000 pixels"),
        (60_000, 60_000, "has far more pixels"),
    ],
)
def test_bombs_are_refused_by_their_header(tmp_path, monkeypatch, width, height, words):
    from PIL import PngImagePlugin

    (tmp_path / "a.png").write_bytes(header_only(width, height))
    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", lambda _: pytest.fail("decoded"))
    refused(tmp_path / "a.png", words)


def test_the_largest_picture_is_read(tmp_path):
    path = saved(tmp_path / "a.png", np.zeros((1024, 1024), np.uint8))
    assert read_picture(path).pixels.shape == (1024, 1024)


def test_a_huge_file_is_not_read(tmp_path):
    path = saved(tmp_path / "a.png")
    with path.open("r+b") as stream:
        stream.truncate(pictures.LARGEST_FILE + 1)  # a hole, no disk is used
    refused(path, "has 67,108,865 bytes; a picture may have at most 67,108,864")


def deep_png(colour_type, channels):
    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", 2, 1, 16, colour_type, 0, 0, 0)
    line = b"\0" + b"\x12\x34" * 2 * channels
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(line)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize(("colour_type", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_png_of_16_bits_is_refused(tmp_path, colour_type, channels):
    (tmp_path / "a.png").write_bytes(deep_png(colour_type, channels))
    with Image.open(tmp_path / "a.png") as picture:
        picture.load()  # Pillow itself reads it
    refused(tmp_path / "a.png", "more than 8 bits per channel")


@pytest.mark.parametrize("colour", [False, True])
def test_netpbm_of_16_bits_is_refused(tmp_path, colour):
    kind, count = (b"P6", 3) if colour else (b"P5", 1)
    for most in (1000, 65535):
        (tmp_path / "a.ppm").write_bytes(kind + b" 1 1 %d\n" % most + b"\x01\x02" * count)
        refused(tmp_path / "a.ppm", "more than 8 bits per channel")
    (tmp_path / "a.ppm").write_bytes(kind + b" 1 1 100\n" + b"\x32" * count)
    assert read_picture(tmp_path / "a.ppm").pixels.ravel()[0] in (127, 128)


def test_tiff_of_16_bits_and_of_floats_is_refused(tmp_path):
    saved(tmp_path / "a.tif", np.full((4, 5), 999, np.uint16))
    refused(tmp_path / "a.tif", "more than 8 bits per channel")
    saved(tmp_path / "b.tif", np.full((4, 5), 0.5, np.float32))
    refused(tmp_path / "b.tif", "more than 8 bits per channel")
    deep = io.BytesIO()
    Image.fromarray(COLOUR).save(deep, "TIFF")
    content = bytearray(deep.getvalue())
    place = content.find(struct.pack("<HHHHHH", 8, 8, 8, 0, 0, 0)[:6])
    content[place : place + 6] = struct.pack("<HHH", 16, 16, 16)
    (tmp_path / "c.tif").write_bytes(content)
    refused(tmp_path / "c.tif", "more than 8 bits|not a readable image")


def test_palettes_are_read_as_colours_and_told(tmp_path):
    for name in ("a.png", "a.gif", "a.bmp"):
        picture = Image.fromarray(COLOUR).quantize(20)
        picture.save(tmp_path / name)
        found = read_picture(tmp_path / name)
        np.testing.assert_array_equal(found.pixels, np.asarray(picture.convert("RGB")))
        assert found.changes == ("palette colours read as RGB",)


def test_alpha_is_left_out_and_told(tmp_path):
    alpha = np.dstack([COLOUR, GREY])
    found = read_picture(saved(tmp_path / "a.png", alpha))
    np.testing.assert_array_equal(found.pixels, COLOUR)
    assert found.changes == ("alpha channel left out",)
    found = read_picture(saved(tmp_path / "b.png", np.dstack([GREY, GREY])))
    np.testing.assert_array_equal(found.pixels, GREY)
    Image.fromarray(COLOUR).convert("CMYK").save(tmp_path / "c.tif")
    assert read_picture(tmp_path / "c.tif").changes == ("CMYK colours converted to RGB",)


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_several_frames_are_refused(tmp_path, form):
    first, second = (Image.fromarray(255 - COLOUR * sign) for sign in (0, 1))
    first.save(tmp_path / "a.png", form, save_all=True, append_images=[second])
    refused(tmp_path / "a.png", "has 2 frames; save one of them")


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_rotation_is_applied_and_told(tmp_path, form, orientation):
    wide = np.zeros((8, 16, 3), np.uint8)
    wide[:, 8:] = 200
    exif = Image.Exif()
    exif[pictures.TIFF_ORIENTATION] = orientation
    options = {"lossless": True} if form == "WEBP" else {}
    found = read_picture(saved(tmp_path / "a.jpg", wide, form, exif=exif, **options))
    across = wide.transpose(1, 0, 2)
    wanted = [
        wide, wide[:, ::-1], wide[::-1, ::-1], wide[::-1],
        across, across[:, ::-1], across[::-1, ::-1], across[::-1],
    ][orientation - 1]  # fmt: skip
    assert found.pixels.shape == wanted.shape
    assert np.abs(found.pixels.astype(int) - wanted).max() <= 4
    told = "turned by its EXIF orientation" in found.changes
    assert told == (orientation > 1)


@pytest.mark.parametrize("damage", ["empty", "cut", "text"])
def test_damaged_files_are_refused(tmp_path, damage):
    content = saved(tmp_path / "a.png").read_bytes()
    new = {"empty": b"", "cut": content[:50], "text": b"hello"}[damage]
    (tmp_path / "a.png").write_bytes(new)
    refused(tmp_path / "a.png", "not a readable image")


def test_a_file_without_permission_and_one_that_is_missing(tmp_path):
    refused(tmp_path / "no.png", "cannot be read .No such file")


def test_paths_are_printable():
    assert shown("a/b ü.png") == "a/b ü.png"
    assert shown(os.fsdecode(b"a\xff.png")) == r"a\xff.png"
    assert shown("a\nb") == r"'a\nb'"
