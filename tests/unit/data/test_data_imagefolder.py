import io
import shutil
import struct
import zlib
from itertools import product

import numpy as np
import pytest
from PIL import GifImagePlugin, Image, TiffImagePlugin

from finitewidth.common.errors import DataError
from finitewidth.data.imagefolder import load_imagefolder, read_picture


def paint(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels, np.uint8)).save(path)


@pytest.fixture
def tree(tmp_path):
    """Two classes, three training pictures and one test picture each, (4, 5, 3), lossless."""
    for split, count in (("train", 3), ("test", 1)):
        for label, name in enumerate(("ant", "bee")):
            for number in range(count):
                colour = (10 * number, 100 * label, 200 if split == "train" else 250)
                file = tmp_path / "tree" / split / name / f"{number:02d}.png"
                paint(file, np.full((4, 5, 3), colour))
    return tmp_path / "tree"


def load(tree):
    return load_imagefolder("insects", "insects (your images)", tree)


def test_reads_a_tree(tree):
    dataset = load(tree)
    assert dataset.class_names == ("ant", "bee")
    assert dataset.shape == (4, 5, 3)
    assert dataset.train_labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert dataset.train_images[:, 0, 0].tolist() == [
        [10 * number, 100 * label, 200] for label in (0, 1) for number in (0, 1, 2)
    ]
    assert dataset.test_images[:, 0, 0, 2].tolist() == [250, 250]
    assert (dataset.name, dataset.title) == ("insects", "insects (your images)")


def test_same_order_and_pixels_as_torchvision(tree):
    from torchvision.datasets import ImageFolder

    peer = ImageFolder(str(tree / "train"))
    dataset = load(tree)
    assert tuple(peer.classes) == dataset.class_names
    for index, (picture, label) in enumerate(peer):
        np.testing.assert_array_equal(np.asarray(picture), dataset.train_images[index])
        assert label == dataset.train_labels[index]


def test_the_place_of_the_tree_leaves_no_trace(tree):
    assert str(tree.parent) not in load(tree).origin


def test_other_and_hidden_files_are_passed_over(tree):
    before = load(tree)
    (tree / "train" / "ant" / "notes.txt").write_text("not a picture")
    (tree / "train" / "ant" / "._00.png").write_text("not a picture")
    (tree / "train" / ".cache").mkdir()
    np.testing.assert_array_equal(load(tree).train_images, before.train_images)


def test_grey_pictures_have_one_channel(tmp_path):
    for split, label, number in product(("train", "test"), "ab", range(2)):
        paint(tmp_path / split / label / f"{number}.png", np.arange(20).reshape(4, 5))
    dataset = load(tmp_path)
    assert dataset.shape == (4, 5, 1)
    np.testing.assert_array_equal(dataset.train_images[0, ..., 0], np.arange(20).reshape(4, 5))


def test_a_grey_picture_among_coloured_ones_gets_three_equal_channels(tree):
    paint(tree / "train" / "ant" / "00.png", np.full((4, 5), 77))
    dataset = load(tree)
    assert dataset.shape == (4, 5, 3)
    assert np.unique(dataset.train_images[0]).tolist() == [77]


@pytest.mark.parametrize("damage", ["empty", "cut", "text"])
def test_the_first_unreadable_file_is_named(tree, damage):
    for name in ("ant/01.png", "bee/02.png"):
        path = tree / "train" / name
        content = path.read_bytes()
        path.write_bytes({"empty": b"", "cut": content[:50], "text": b"hello"}[damage])
    with pytest.raises(DataError, match="not a readable image") as caught:
        load(tree)
    assert str(tree / "train" / "ant" / "01.png") in str(caught.value)


def bare(tree, label, *numbers):
    for number in numbers:
        (tree / label / f"{number:02d}.png").unlink()


def linked_out(tree):
    path = tree / "train/ant/00.png"
    path.rename(tree.with_name("elsewhere.png"))
    path.symlink_to(tree.with_name("elsewhere.png"))


def broken_link(tree):
    (tree / "train/ant/00.png").unlink()
    (tree / "train/ant/00.png").symlink_to("nowhere.png")


DEEP = np.full((4, 5), 999, np.uint16)
REFUSED = {
    "size": (
        lambda t: paint(t / "test/bee/00.png", np.zeros((5, 4, 3))),
        r"test.bee.00\.png is 4×5 pixels, the first image 5×4",
    ),
    "bits": (
        lambda t: Image.fromarray(DEEP).save(t / "train/ant/00.png"),
        r"00\.png has more than 8 bits",
    ),
    "no pictures": (
        lambda t: bare(t, "test/bee", 0),
        r"test.bee has 0 images .*; a class needs at least 1",
    ),
    "one picture": (
        lambda t: bare(t, "train/bee", 1, 2),
        r"train.bee has 1 images .*; a class needs at least 2 in train",
    ),
    "no folder": (lambda t: shutil.rmtree(t / "test/bee"), r"different class folders: \['bee'\]"),
    "one class": (
        lambda t: [shutil.rmtree(t / s / "bee") for s in ("train", "test")],
        r"train has one class only \(ant\); at least two",
    ),
    "no classes": (
        lambda t: [shutil.rmtree(t / "train" / name) for name in ("ant", "bee")],
        r"train has no class folders; .*data.imagefolder",
    ),
    "inner": (
        lambda t: paint(t / "train/ant/more/0.png", np.zeros((4, 5, 3))),
        r"more is a folder inside a class folder; put its pict",
    ),
    "outside": (linked_out, r"00\.png is a link out of .*; copy the pictures there"),
    "link": (broken_link, r"00\.png is a broken link \(No such file"),
}


@pytest.mark.parametrize("change", REFUSED)
def test_a_tree_that_is_no_dataset_is_refused_by_its_first_fault(tree, change):
    spoil, message = REFUSED[change]
    spoil(tree)
    with pytest.raises(DataError, match=message):
        load(tree)


def test_links_inside_the_tree_are_read(tree, tmp_path_factory):
    (tree / "test" / "ant" / "01.png").symlink_to("../../train/ant/01.png")
    place = tmp_path_factory.mktemp("place") / "link"
    place.symlink_to(tree)
    dataset = load(place)
    np.testing.assert_array_equal(dataset.test_images[1], dataset.train_images[1])


COLOUR_PIXELS = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)


def saved(path, form=None, pixels=COLOUR_PIXELS, **options):
    Image.fromarray(pixels).save(path, form, **options)
    return path


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("PNG", {}),
        ("BMP", {}),
        ("PPM", {}),
        ("WEBP", {"lossless": True}),
        ("TIFF", {}),
        ("TIFF", {"compression": "tiff_lzw"}),
    ],
)
def test_the_content_decides_on_the_format_and_not_the_name(tmp_path, form, options):
    found = read_picture(saved(tmp_path / "a.jpg", form, **options))
    np.testing.assert_array_equal(found, COLOUR_PIXELS)


def test_palettes_are_read_as_colours_and_alpha_is_left_out(tmp_path):
    picture = Image.fromarray(COLOUR_PIXELS).quantize(20)
    picture.save(tmp_path / "a.gif")
    np.testing.assert_array_equal(
        read_picture(tmp_path / "a.gif"), np.asarray(picture.convert("RGB"))
    )
    alpha = np.dstack([COLOUR_PIXELS, COLOUR_PIXELS[..., 0]])
    found = read_picture(saved(tmp_path / "a.png", pixels=alpha))
    np.testing.assert_array_equal(found, COLOUR_PIXELS)


@pytest.mark.parametrize("form", ["EPS", "PDF", "ICO"])
def test_other_formats_are_refused_whatever_their_name(tmp_path, form):
    with pytest.raises(DataError, match=r"not a readable image .*the formats are PNG, JPEG"):
        read_picture(saved(tmp_path / "a.png", form))


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_frames_are_refused_before_they_are_counted(tmp_path, monkeypatch, form):
    counted = property(lambda picture: pytest.fail("counted"))
    monkeypatch.setattr(GifImagePlugin.GifImageFile, "n_frames", counted)
    monkeypatch.setattr(TiffImagePlugin.TiffImageFile, "n_frames", counted)
    second = Image.fromarray(255 - COLOUR_PIXELS)
    saved(tmp_path / "a.png", form, save_all=True, append_images=[second])
    with pytest.raises(DataError, match=r"a\.png has several frames; save one of them"):
        read_picture(tmp_path / "a.png")


def test_large_pictures_are_refused_before_they_are_decoded(tmp_path):
    saved(tmp_path / "b.png", pixels=np.zeros((1024, 1025), np.uint8))
    with pytest.raises(DataError, match="has 1025×1024 pixels; make it at most 1,048,576"):
        read_picture(tmp_path / "b.png")


def png_of_16_bits(colour_type):
    """A picture of 16-bit channels: 2 for RGB, 4 for grey and alpha, 6 for RGB and alpha."""
    channels = {2: 3, 4: 2, 6: 4}[colour_type]
    header = struct.pack(">IIBBBBB", 5, 4, 16, colour_type, 0, 0, 0)
    lines = (b"\0" + bytes(2 * channels * 5)) * 4
    parts = b""
    for name, content in ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")):
        check = zlib.crc32(name + content)
        parts += struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)
    return b"\x89PNG\r\n\x1a\n" + parts


def tiff_of_16_bits():
    """Header of a TIFF picture of 5 × 4 pixels whose three channels have 16 bits."""
    stream = io.BytesIO()
    Image.new("RGB", (5, 4)).save(stream, "TIFF")
    eight = struct.pack("<HHH", 8, 8, 8)
    sixteen = struct.pack("<HHH", 16, 16, 16)
    assert stream.getvalue().count(eight) == 1
    return stream.getvalue().replace(eight, sixteen) + bytes(60)


OF_16_BITS = {
    "PNG, RGB": png_of_16_bits(2),
    "PNG, grey and alpha": png_of_16_bits(4),
    "PNG, RGBA": png_of_16_bits(6),
    "TIFF": tiff_of_16_bits(),
    "PPM": b"P6\n5 4\n65535\n" + bytes(120),
    "PPM of 10 bits": b"P6\n5 4\n1023\n" + bytes(120),
    "PPM in ASCII": b"P3\n5 4\n65535\n" + b"0 " * 60,
}


@pytest.mark.parametrize("kind", OF_16_BITS)
def test_channels_of_16_bits_are_refused(tmp_path, kind):
    (tmp_path / "a.png").write_bytes(OF_16_BITS[kind])
    with pytest.raises(DataError, match=r"a\.png has more than 8 bits per channel; convert it"):
        read_picture(tmp_path / "a.png")


def test_channels_of_fewer_bits_are_read(tmp_path):
    """A BMP file of 16 bits per pixel has 5 bits per channel; a PPM file says its largest value."""
    (tmp_path / "a.ppm").write_bytes(b"P6\n5 4\n100\n" + bytes([100, 50, 0] * 20))
    assert np.unique(read_picture(tmp_path / "a.ppm")[..., 0]).tolist() == [255]
    header = struct.pack("<IiiHHIIiiII", 40, 4, 4, 1, 16, 0, 32, 0, 0, 0, 0)
    lines = struct.pack("<16H", *[0b0111110000000000] * 16)
    file_header = b"BM" + struct.pack("<IHHI", 54 + len(lines), 0, 0, 54)
    (tmp_path / "a.bmp").write_bytes(file_header + header + lines)
    assert np.unique(read_picture(tmp_path / "a.bmp")[..., 0]).tolist() == [255]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_rotation_is_applied(tmp_path, form, orientation):
    wide = np.zeros((8, 16, 3), np.uint8)
    wide[:, 8:] = 200
    exif = Image.Exif()
    exif[274] = orientation
    found = read_picture(saved(tmp_path / "a.jpg", form, wide, exif=exif))
    across = wide.transpose(1, 0, 2)
    expected = [
        wide,
        wide[:, ::-1],
        wide[::-1, ::-1],
        wide[::-1],
        across,
        across[:, ::-1],
        across[::-1, ::-1],
        across[::-1],
    ][orientation - 1]
    assert found.shape == expected.shape
    assert np.abs(found.astype(int) - expected).max() <= 4
