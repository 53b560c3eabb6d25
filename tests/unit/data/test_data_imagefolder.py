import numpy as np
import pytest
from PIL import Image

from finitewidth.common.errors import DataError
from finitewidth.data.imagefolder import load_imagefolder
from finitewidth.data.store import problem_of


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
                paint(tmp_path / split / name / f"{number:02d}.png", np.full((4, 5, 3), colour))
    return tmp_path


def load(tree):
    return load_imagefolder("insects", "insects (image folder)", tree)


def test_reads_a_tree(tree):
    dataset = load(tree)
    assert problem_of(dataset) is None
    assert dataset.class_names == ("ant", "bee")
    assert dataset.shape == (4, 5, 3)
    assert dataset.train_labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert dataset.train_images[:, 0, 0].tolist() == [
        [10 * number, 100 * label, 200] for label in (0, 1) for number in (0, 1, 2)
    ]
    assert dataset.test_images[:, 0, 0, 2].tolist() == [250, 250]
    assert (dataset.name, dataset.title) == ("insects", "insects (image folder)")


def test_same_order_and_pixels_as_torchvision(tree):
    from finitewidth.data.torchvision_import import import_torchvision

    peer = import_torchvision().ImageFolder(str(tree / "train"))
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
    for split in ("train", "test"):
        paint(tmp_path / split / "a" / "0.png", np.arange(20).reshape(4, 5))
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


def test_one_size_only(tree):
    paint(tree / "test" / "bee" / "00.png", np.zeros((5, 4, 3)))
    with pytest.raises(DataError, match="is 4×5 pixels, the first image 5×4") as caught:
        load(tree)
    assert str(tree / "test" / "bee" / "00.png") in str(caught.value)


def test_sixteen_bits_are_refused(tree):
    Image.fromarray(np.full((4, 5), 999, np.uint16)).save(tree / "train" / "ant" / "00.png")
    with pytest.raises(DataError, match=r"00\.png has more than 8 bits"):
        load(tree)


def test_missing_folders_are_named(tree, tmp_path):
    with pytest.raises(DataError, match=r"nowhere.train cannot be listed .*data.imagefolder"):
        load(tmp_path / "nowhere")
    (tree / "test" / "bee" / "00.png").unlink()
    with pytest.raises(DataError, match=r"test.bee has no images"):
        load(tree)
    (tree / "test" / "bee").rmdir()
    with pytest.raises(DataError, match=r"different class folders: \['bee'\]"):
        load(tree)


def test_no_classes(tmp_path):
    (tmp_path / "train").mkdir()
    with pytest.raises(DataError, match="no class folders"):
        load(tmp_path)
